"""ctx_grep: where in stored objects a pattern is found, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from castore.digest import Digest
from castore.mcp.answers import Answer, again, call_text, left_out_text
from castore.mcp.failures import described
from castore.retrieve.grep import GrepOptions, grep_page
from castore.store import Store

__all__ = ["grep"]

_PROBLEMS_MAX = 3
"""Objects that could not be searched and are told of."""

_END_BYTES = 200
"""Kept back in a page for what stands around the hits, but for what it repeats of the call."""


def grep(store: Store, arguments: Mapping[str, Any]) -> Answer:
    """A page of hits. Raises InvalidOption for a pattern that is none, what `Store.find` raises for refs, and
    LimitExceeded. Objects that could not be searched are told beside the hits."""
    refs, pattern = arguments.get("refs"), arguments["pattern"]
    # No REF that names a file: what a client can ask for is in the store.
    digests = None if not refs else [digest for ref in refs for digest in _objects(store, ref)]
    options = GrepOptions(
        ignore_case=arguments.get("ignore_case", False),
        fixed=arguments.get("fixed", False),
        context=arguments.get("context", 0),
        hits_max=arguments["max_hits"],
        skip=arguments.get("skip", 0),
    )
    found = grep_page(store, pattern, digests, options, arguments["max_bytes"] - _END_BYTES)
    hits = [_told(each) for each in found.hits]
    told: dict[str, Any] = {"hits": hits, "objects": found.objects}
    if found.problems:
        told["problems"] = [described(each)["message"] for each in found.problems[:_PROBLEMS_MAX]]
    lines = [line for hit in hits for line in _lines(hit)]
    lines += [f"[not searched: {each}]" for each in told.get("problems", ())]
    if found.next_skip is not None:
        onwards = [again("ctx_grep", arguments, skip=found.next_skip)]
        told |= {"left_out": found.left_out, "next": onwards}
        lines.append(left_out_text(found.left_out, "ctx_grep", onwards))
    return Answer(told, "\n".join(lines) or f"no hits in {found.objects:,} objects")


# --- Helpers ---------------------------------------------------------------------------------------


def _objects(store: Store, ref: str) -> list[Digest]:
    """The object, or all those of a folded document, a root, or a name."""
    found = store.find(ref)
    if isinstance(found, Digest):
        return [found]
    return [digest for root in found for one in store.based_chain(root) for digest in one.objects]


def _told(hit: Mapping[str, Any]) -> dict[str, Any]:
    """A hit with arguments of ctx_read in place of words of `ctx cat`: never longer than it was."""
    ref, *words = hit["address"]
    call: dict[str, Any] = {"ref": ref}
    for option, value in zip(words[::2], words[1::2], strict=True):
        name = option.removeprefix("--")
        if name == "select":
            call.setdefault("select", []).append(value)
        else:
            call[name] = value
    beside = {name: hit[name] for name in ("before", "after") if name in hit}
    return {"read": call, "excerpt": hit["excerpt"], **beside}


def _lines(hit: Mapping[str, Any]) -> list[str]:
    return [
        *hit.get("before", ()),
        f"{call_text('ctx_read', hit['read'])}  {hit['excerpt']}",
        *hit.get("after", ()),
    ]
