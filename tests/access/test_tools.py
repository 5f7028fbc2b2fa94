"""The scope matrix of the MCP tools: what each tells and leaves is what it does where the others never were.

A tool without a row fails the first test.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from castore.digest import Digest
from castore.mcp.calls import Place, answer
from castore.mcp.tools import TOOLS
from tests.access.conftest import Twins
from tests.access.world import (
    DIGESTS,
    OBJECTS,
    OTHER,
    OTHER_DOCUMENT,
    OTHER_TWIN,
    OWN,
    OWN_DOCUMENT,
    OWN_TWIN,
    STATES,
    ctx,
    opened,
    reference,
)

REF, TEXT, DOC = "{ref}", "{text}", "{doc}"
"""In a row: the object by its digest; its bytes; a document with a reference to it."""

ROWS: dict[str, list[dict[str, Any]]] = {
    "ctx_read": [
        {"ref": REF},
        {"ref": REF, "lines": "1:3"},
        {"ref": REF, "select": "$"},
        {"ref": REF, "max_bytes": 700},
    ],
    "ctx_grep": [
        {"pattern": "bytes|secret|once", "refs": [REF]},
        {"pattern": "bytes|secret|once|the others"},
        {"pattern": "nobody", "refs": [REF, str(DIGESTS["own"])]},
    ],
    "ctx_show": [{"ref": REF}, {"ref": REF, "max_bytes": 4000}],
    "ctx_list": [{}, {"what": "objects"}, {"limit": 2}, {"what": "objects", "after": REF}],
    "ctx_put": [{"text": TEXT}, {"text": TEXT, "name": "new"}, {"text": TEXT, "name": "theirs"}],
    "ctx_fold": [
        {"document": DOC},
        {"document": OWN_DOCUMENT.decode(), "name": "theirs"},
        {"document": OTHER_DOCUMENT.decode(), "name": "new", "keep_for": "1d"},
    ],
}
WHATS = list(OBJECTS)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def filled(arguments: dict[str, Any], what: str) -> dict[str, Any]:
    values = {REF: str(DIGESTS[what]), TEXT: OBJECTS[what].decode(), DOC: reference(OBJECTS[what]).decode()}

    def one(value: Any) -> Any:
        return [one(each) for each in value] if isinstance(value, list) else values.get(value, value)

    return {key: one(value) for key, value in arguments.items()}


def told(folder: Any, request: dict[str, Any], grants: tuple[str, ...] = (OWN,)) -> str:
    """All that a client is told, but for where the store is and what time it is."""
    found = answer(Place(str(folder), grants=grants), request)
    return _TIME.sub("TIME", json.dumps(found, ensure_ascii=False).replace(str(folder), "STORE"))


def compare(twins: Twins, request: dict[str, Any]) -> str:
    shared = told(twins.shared, request)
    assert shared == told(twins.alone, request), request
    return shared


def requests(tools: list[str]) -> list[Any]:
    return [
        pytest.param({"tool": tool, "arguments": filled(row, what)}, what, id=f"{tool} {number} ({what})")
        for tool in tools
        for number, row in enumerate(ROWS[tool])
        for what in (WHATS if any(mark in json.dumps(row) for mark in (REF, TEXT, DOC)) else ["none"])
    ]


class TestTheTableIsWhole:
    def test_every_tool_has_a_row(self) -> None:
        assert ROWS.keys() == TOOLS.keys()


READS = [name for name, tool in TOOLS.items() if not tool.writes]
WRITES = [name for name, tool in TOOLS.items() if tool.writes]


class TestReads:
    @pytest.mark.parametrize(("request_", "what"), requests(READS))
    def test_tell_what_they_tell_where_the_others_never_were(
        self, built: Twins, request_: dict[str, Any], what: str
    ) -> None:
        said = compare(built, request_)
        assert OTHER not in said
        if what.startswith("other") and request_["tool"] in ("ctx_read", "ctx_show"):
            none = compare(
                built, {**request_, "arguments": {**request_["arguments"], "ref": str(DIGESTS["none"])}}
            )
            for mine, theirs in ((DIGESTS[what], DIGESTS["none"]),):
                assert said.replace(mine.hex, theirs.hex).replace(mine.short, theirs.short) == none
            assert '"not_found"' in said

    @pytest.mark.parametrize("state", list(STATES)[1:])
    def test_whatever_is_the_matter_with_the_others(self, twins: Twins, state: str) -> None:
        STATES[state](twins.shared)
        for each in requests(READS):
            compare(twins, each.values[0])

    @pytest.mark.parametrize("what", ["other", "other purged", "own expired", "none"])
    def test_however_it_is_spelt(self, built: Twins, what: str) -> None:
        digest = DIGESTS[what]
        spelt = [
            digest.hex[:6],
            digest.hex[:12],
            f"[ctx {digest.short}: a result, 1 bytes]",
            reference(OBJECTS[what]).decode()[6:-1],
            digest.hex.upper(),
            *(["theirs", "same", "short", "folded"] if what == "other" else []),
        ]
        for ref in spelt:
            compare(built, {"tool": "ctx_read", "arguments": {"ref": ref}})
            compare(built, {"tool": "ctx_show", "arguments": {"ref": ref}})
            compare(built, {"tool": "ctx_grep", "arguments": {"pattern": "o", "refs": [ref]}})
            compare(built, {"act": "resource", "uri": f"ctx://{ref}"})

    def test_a_prefix_shared_with_an_object_of_others_is_not_ambiguous(self, built: Twins) -> None:
        said = compare(built, {"tool": "ctx_read", "arguments": {"ref": Digest.of(OWN_TWIN).hex[:6]}})
        assert OWN_TWIN.decode() in said
        assert '"not_found"' in compare(
            built, {"tool": "ctx_read", "arguments": {"ref": Digest.of(OTHER_TWIN).hex}}
        )

    def test_roots_and_documents_of_others(self, built: Twins) -> None:
        theirs = opened(built.shared, OTHER)
        found = theirs.roots()
        theirs.close()
        for root in found:
            for ref in (root.id, root.id[:8]):
                said = compare(built, {"tool": "ctx_show", "arguments": {"ref": ref}})
                assert '"not_found"' in said
            compare(built, {"tool": "ctx_list", "arguments": {"after": root.id}})

    def test_resources(self, built: Twins) -> None:
        assert OTHER not in compare(built, {"act": "resources"})
        for what in WHATS:
            compare(built, {"act": "resource", "uri": f"ctx://{DIGESTS[what].hex}"})


class TestWrites:
    @pytest.mark.parametrize(("request_", "what"), requests(WRITES))
    def test_tell_and_leave_what_they_do_where_the_others_never_were(
        self, twins: Twins, request_: dict[str, Any], what: str
    ) -> None:
        compare(twins, request_)
        compare(twins, request_)
        for look in (["log"], ["ls"], ["stats"], ["show", str(DIGESTS[what])], ["cat", "mine"]):
            assert ctx(twins.shared, *look) == ctx(twins.alone, *look)


class TestGrants:
    def test_a_scope_that_is_not_granted_is_denied_whether_or_not_it_is_there(self, built: Twins) -> None:
        for scope in (OTHER, "team/none"):
            place = Place(str(built.shared), grants=(OWN,), scopes=(scope,))
            failure = answer(place, {"tool": "ctx_list", "arguments": {}})["structured"]
            assert failure["error"] == "denied"

    def test_several_scopes_are_seen_together(self, built: Twins) -> None:
        place = Place(str(built.shared), grants=("team/*",), scopes=(OWN, OTHER))
        for what in ("own", "other"):
            found = answer(place, {"tool": "ctx_read", "arguments": {"ref": str(DIGESTS[what])}})
            assert found["structured"]["text"].encode() == OBJECTS[what]
