"""Calls: a tool's name and arguments in, an answer or a described error out.

Laws: each call opens the store anew, so that it sees what other processes stored, granted and set until then,
and its reads are noted when it ends; what is granted is settled by whoever started the server, never by a
call. Nothing that a call holds ends the process: what is nobody's fault is logged, and told as `internal`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from castore.errors import InvalidOption
from castore.mcp.answers import Answer
from castore.mcp.arguments import checked
from castore.mcp.failures import described, text_of
from castore.mcp.tools import TOOLS
from castore.remote.on_demand import OnDemand
from castore.store import Access, Store, StoreHandle

__all__ = ["Place", "answer"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server's store is, and what was granted. grants: None: what the store says. scopes:
    selected within them. may_create: a write may make the store. may_write: none of the tools that write
    is refused. is_offline: nothing is fetched from a remote."""

    folder: str
    may_create: bool = False
    grants: tuple[str, ...] | None = None
    scopes: tuple[str, ...] = ()
    may_write: bool = True
    is_offline: bool = False

    @property
    def access(self) -> Access:
        return Access(self.grants, scopes=self.scopes)

    def handle(self) -> StoreHandle:
        return StoreHandle(
            self.folder,
            may_create=self.may_create and self.may_write,
            access=self.access,
            fetcher=OnDemand(offline=self.is_offline),
        )


def answer(place: Place, request: Mapping[str, Any]) -> dict[str, Any]:
    """What the request gives, as JSON values: of a tool `structured` and `text`, and `is_error` if it failed;
    of `resource` its contents, of `resources` their list, or `failure`."""
    try:
        return _answer(place, request)
    except Exception as error:  # one call's failure must not end the server
        failure = described(error)
        if failure["error"] == "internal":
            logger.exception("the call of '%s' failed", request.get("tool") or request.get("act"))
        if "tool" in request:
            return {"structured": failure, "text": text_of(failure), "is_error": True}
        return {"failure": failure}


def _answer(place: Place, request: Mapping[str, Any]) -> dict[str, Any]:
    handle = place.handle()
    try:
        if "tool" in request:
            found = _call(handle, place, request["tool"], request["arguments"])
            return {"structured": found.structured, "text": found.text}
        if request["act"] == "resource":
            from castore.mcp.reading import resource

            return resource(handle.get(), request["uri"])
        from castore.mcp.listing import resources

        return {"resources": resources(handle.get()) if handle.exists else []}
    finally:
        handle.close()


def _call(handle: StoreHandle, place: Place, name: str, given: Mapping[str, Any]) -> Answer:
    tool = TOOLS.get(name)
    if tool is None or (tool.writes and not place.may_write):
        raise InvalidOption(f"no tool '{name[:40]}'", hint="the server was started to read only")
    arguments = checked(name, tool.arguments, given)
    if tool.writes:
        return _WRITES[name](handle, arguments)
    return _READS[name](handle.get(), arguments)


# --- The tools: each loads what it needs when it is first called ------------------------------------


def _read(store: Store, arguments: Mapping[str, Any]) -> Answer:
    from castore.mcp.reading import read

    return read(store, arguments)


def _grep(store: Store, arguments: Mapping[str, Any]) -> Answer:
    from castore.mcp.searching import grep

    return grep(store, arguments)


def _show(store: Store, arguments: Mapping[str, Any]) -> Answer:
    from castore.mcp.reading import show

    return show(store, arguments)


def _list(store: Store, arguments: Mapping[str, Any]) -> Answer:
    from castore.mcp.listing import list_stored

    return list_stored(store, arguments)


def _put(handle: StoreHandle, arguments: Mapping[str, Any]) -> Answer:
    from castore.mcp.storing import put

    return put(handle, arguments)


def _fold(handle: StoreHandle, arguments: Mapping[str, Any]) -> Answer:
    from castore.mcp.storing import fold

    return fold(handle, arguments)


_READS: dict[str, Callable[[Store, Mapping[str, Any]], Answer]] = {
    "ctx_read": _read,
    "ctx_grep": _grep,
    "ctx_show": _show,
    "ctx_list": _list,
}
_WRITES: dict[str, Callable[[StoreHandle, Mapping[str, Any]], Answer]] = {"ctx_put": _put, "ctx_fold": _fold}
