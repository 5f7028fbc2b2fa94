"""ctx_grep: where in stored objects a pattern is found, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from castore.digest import Digest
from castore.mcp.answers import Answer, call_text, json_bytes, left_out_text, read_call
from castore.mcp.failures import described
from castore.retrieve.grep import GrepOptions, Hit, Pager, Search
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
    pager = Pager(
        lambda wider: Search(store, pattern, digests, wider), options, arguments["max_bytes"] - _END_BYTES
    )
    hits = [_told(hit, is_brief) for hit, is_brief in pager.pages(_length)]
    told: dict[str, Any] = {"hits": hits, "objects": pager.search.objects}
    if problems := pager.search.problems:
        told["problems"] = [described(each)["message"] for each in problems[:_PROBLEMS_MAX]]
    lines = [line for hit in hits for line in _lines(hit)]
    lines += [f"[not searched: {each}]" for each in told.get("problems", ())]
    if pager.next_skip is not None:
        again = {**arguments, "skip": pager.next_skip}
        told |= {"left_out": f"the hits after the first {pager.next_skip:,}", "next": [again]}
        lines.append(left_out_text(told["left_out"], "ctx_grep", [again]))
    return Answer(told, "\n".join(lines) or f"no hits in {pager.search.objects:,} objects")


# --- Helpers ---------------------------------------------------------------------------------------


def _objects(store: Store, ref: str) -> list[Digest]:
    """The object, or all those of a folded document, a root, or a name."""
    found = store.find(ref)
    if isinstance(found, Digest):
        return [found]
    return [digest for root in found for one in store.based_chain(root) for digest in one.objects]


def _told(hit: Hit, is_brief: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "read": read_call(hit.digest, hit.address),
        "excerpt": hit.brief if is_brief else hit.excerpt,
    }
    if hit.before or hit.after:
        told |= {"before": list(hit.before), "after": list(hit.after)}
    return told


def _length(hit: Hit, is_brief: bool) -> int:
    return json_bytes(_told(hit, is_brief)) + 1


def _lines(hit: Mapping[str, Any]) -> list[str]:
    return [
        *hit.get("before", ()),
        f"{call_text('ctx_read', hit['read'])}  {hit['excerpt']}",
        *hit.get("after", ()),
    ]
