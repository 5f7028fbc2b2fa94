"""What calls give: pages that are whole together, bounded, of the right shape; errors with code and hint."""

from __future__ import annotations

import base64
import json
import logging
import os
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from castore import api
from castore.digest import Digest
from castore.mcp import calls
from castore.mcp.answers import json_bytes
from castore.mcp.calls import Place, answer
from castore.mcp.tools import TOOLS
from castore.store import Access, Store
from tests.mcp.conftest import RAW, ROWS, SAMPLES

VALIDATORS = {name: jsonschema.Draft202012Validator(dict(tool.output)) for name, tool in TOOLS.items()}


def ask(place: Place, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured content of a call that succeeds: it fits the schema, and the bytes asked for."""
    found = answer(place, {"tool": tool, "arguments": arguments})
    assert "is_error" not in found, found
    content: dict[str, Any] = found["structured"]
    VALIDATORS[tool].validate(content)
    repeated = json_bytes(
        [*arguments.get("select", ()), arguments.get("pattern", ""), arguments.get("refs", [])]
    )
    most = arguments.get("max_bytes", 8000)
    assert json_bytes(content) <= most + 2 * repeated + (most if tool == "ctx_fold" else 0)
    assert len(found["text"].encode()) <= most + 400 + 2 * repeated
    return content


def fail(place: Place, tool: str, **arguments: Any) -> dict[str, Any]:
    found = answer(place, {"tool": tool, "arguments": arguments})
    assert found["is_error"], found
    content: dict[str, Any] = found["structured"]
    assert content.keys() - {"hint"} == {"error", "message", "exit_code", "fields"}
    assert json_bytes(content) < 20_000
    return content


def read_all(place: Place, **arguments: Any) -> tuple[bytes, int]:
    """What the pages give together, and how many they were."""
    data, pages, waiting = b"", 0, [arguments]
    while waiting:
        found = ask(place, "ctx_read", **waiting.pop(0), max_bytes=arguments.get("max_bytes", 8000))
        data += base64.b64decode(found["base64"]) if "base64" in found else found["text"].encode()
        waiting = [{**each, "max_bytes": None} for each in found.get("next", [])] + waiting
        waiting = [{key: value for key, value in each.items() if value is not None} for each in waiting]
        assert ("next" in found) == ("left_out" in found)
        pages += 1
        assert pages < 2000
    return data, pages


class TestReading:
    @pytest.mark.parametrize("name", SAMPLES)
    def test_pages_are_whole_together(self, place: Place, name: str) -> None:
        data, pages = read_all(place, ref=name)
        if name == "rows":  # Items are a line each.
            assert [json.loads(line) for line in data.splitlines()] == json.loads(ROWS)
        else:
            assert data == SAMPLES[name]
        assert (pages > 1) == (len(SAMPLES[name]) > 8000)

    @pytest.mark.parametrize("bytes_max", [700, 900, 4000, 65536])
    def test_whatever_their_length(self, place: Place, bytes_max: int) -> None:
        store = Store.open(place.folder)
        for name, data in {
            "quotes": b'"\\' * 3000,
            "han": "订单".encode() * 900,
            "long": b"x" * 9000,
        }.items():
            api.put(store, data, name=name)
        store.close()
        for name in ("controls", "raw", "quotes", "han", "long", "inner"):
            found = ask(place, "ctx_read", ref=name, max_bytes=bytes_max)
            assert "left_out" not in found or len(found.get("text", found.get("base64"))) > bytes_max // 20

    def test_parts(self, place: Place) -> None:
        row = {"id": 1234, "status": 500, "note": "row 1234"}
        assert json.loads(ask(place, "ctx_read", ref="rows", items=1234)["text"]) == row
        assert json.loads(ask(place, "ctx_read", ref="rows", items="1234")["text"]) == row
        assert (
            ask(place, "ctx_read", ref="log", lines="-1")["text"]
            == SAMPLES["log"].decode().splitlines(True)[-1]
        )
        assert base64.b64decode(ask(place, "ctx_read", ref="raw", bytes="250:260")["base64"]) == RAW[250:260]
        found = ask(place, "ctx_read", ref="inner", select=["$.result", "$.note"])
        assert "订单 88123" in found["text"]
        assert ask(place, "ctx_read", ref="rows", select="$[?@.status == 500].note")["text"] == '"row 1234"\n'

    def test_what_names_it(self, place: Place) -> None:
        digest = Digest.of(ROWS)
        marker = f"[ctx {digest.short}: tool result, 9 bytes]"
        reference = json.dumps({"$ctx": {"kind": "array", "digest": str(digest), "size": len(ROWS)}})
        for ref in ("rows", digest.hex, str(digest), digest.short, digest.hex[:6], marker, reference):
            assert ask(place, "ctx_read", ref=ref, items="0")["ref"] == digest.short


class TestSearching:
    def test_a_hit_is_read_by_its_call(self, place: Place) -> None:
        for pattern, name in (("row 1234", "rows"), ("INFO step 2999$", "log"), ("订单 [0-9]+", "inner")):
            (hit,) = ask(place, "ctx_grep", pattern=pattern, refs=[name])["hits"]
            told = ask(place, "ctx_read", **hit["read"])
            assert pattern.split("[")[0].rstrip("$") in told["text"]
            assert len(told["text"]) < 1000

    @pytest.mark.parametrize("limits", [{"max_hits": 7}, {"max_bytes": 700, "max_hits": 1000}])
    def test_pages_are_whole_together(self, place: Place, limits: dict[str, int]) -> None:
        arguments: dict[str, Any] = {"pattern": "step 1.7", "refs": ["log"], **limits}
        found, pages = [], 0
        while True:
            page = ask(place, "ctx_grep", **arguments)
            found += page["hits"]
            pages += 1
            if "next" not in page:
                break
            (arguments,) = page["next"]
        assert [each["read"]["lines"] for each in found] == [
            str(number)
            for number in range(3000)
            if b"step 1" in (b"step %d" % number)[:6] and _is_hit(number)
        ]
        assert pages > 2

    def test_options(self, place: Place) -> None:
        assert ask(place, "ctx_grep", pattern="STEP 77", refs=["log"])["hits"] == []
        assert ask(place, "ctx_grep", pattern="STEP 77", refs=["log"], ignore_case=True, max_hits=1)["hits"]
        assert ask(place, "ctx_grep", pattern="step [0-9]+", refs=["log"], fixed=True)["hits"] == []
        (hit,) = ask(place, "ctx_grep", pattern="step 77$", refs=["log"], context=2)["hits"]
        assert (len(hit["before"]), len(hit["after"])) == (2, 2)

    def test_all_that_is_stored_and_all_of_a_document(self, place: Place) -> None:
        told = ask(
            place, "ctx_fold", document=json.dumps({"a": "needle " * 900, "b": ["needle"] * 900}), name="doc"
        )
        assert ask(place, "ctx_grep", pattern="nobody says this")["objects"] == len(SAMPLES) + 2
        found = ask(place, "ctx_grep", pattern="needle", refs=["doc"], max_hits=1000)
        assert {each["read"]["ref"] for each in found["hits"]} == set(told["refs"])

    def test_what_can_not_be_searched_is_told_beside_the_hits(self, place: Place) -> None:
        digest = Digest.of(SAMPLES["log"])
        path = Path(place.folder) / "objects" / digest.hex[:2] / digest.hex
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:-9])
        found = ask(place, "ctx_grep", pattern="1234", refs=["rows", "log"])
        assert found["hits"]
        assert digest.short in found["problems"][0]

    @pytest.mark.parametrize("pattern", ["(", "[a", "*", "(?P<n>", "a{99999999999}", "\\"])
    def test_patterns_that_are_none(self, place: Place, pattern: str) -> None:
        assert fail(place, "ctx_grep", pattern=pattern, refs=["rows"])["error"] == "invalid"


def _is_hit(number: int) -> bool:
    digits = str(number)
    return len(digits) >= 3 and digits[0] == "1" and digits[2] == "7"


class TestShowing:
    def test_says_what_stands_apart(self, place: Place) -> None:
        told = ask(place, "ctx_show", ref="rows")
        assert (told["kind"], told["size"]) == ("array", len(ROWS))
        assert "items=1234" in told["text"]

    @pytest.mark.parametrize("name", SAMPLES)
    def test_every_kind(self, place: Place, name: str) -> None:
        for bytes_max in (700, 2000):
            told = ask(place, "ctx_show", ref=name, max_bytes=bytes_max)
            assert told["ref"] == Digest.of(SAMPLES[name]).short

    def test_a_document_is_what_it_keeps(self, place: Place) -> None:
        folded = ask(
            place,
            "ctx_fold",
            document=json.dumps({f"k{n}": list(range(900 + n)) for n in range(40)}),
            name="doc",
        )
        told = ask(place, "ctx_show", ref="doc")
        assert folded["refs"][0] in told["text"]
        assert "20 more objects" in told["text"]


class TestStoring:
    def test_put_is_read_back(self, place: Place) -> None:
        told = ask(place, "ctx_put", text="订单\nsecond\n", name="note", keep_for="30d")
        assert told["is_new"]
        assert told["digest"] == str(Digest.of("订单\nsecond\n".encode()))
        assert ask(place, "ctx_read", ref="note")["text"] == "订单\nsecond\n"
        assert not ask(place, "ctx_put", text="订单\nsecond\n", name="note")["is_new"]
        raw = ask(place, "ctx_put", base64=base64.b64encode(RAW[:300]).decode())
        assert base64.b64decode(ask(place, "ctx_read", ref=raw["ref"])["base64"]) == RAW[:300]

    def test_fold_is_unfolded(self, place: Place) -> None:
        document = json.dumps({"rows": list(range(3000)), "note": "x" * 5000})
        told = ask(place, "ctx_fold", document=document, name="folded")
        store = Store.open(place.folder)
        assert api.unfold_bytes(store, told["text"].encode()).decode() == document
        store.close()
        assert (told["folded"], len(told["refs"]), told["size"]) == (2, 2, len(document))
        assert ask(place, "ctx_read", ref=told["refs"][0], max_bytes=700)["left_out"]

    def test_a_folded_document_that_is_too_long_stores_nothing(self, place: Place) -> None:
        document = json.dumps({f"k{number}": number for number in range(2000)})
        before = sorted(Path(place.folder).rglob("*"))
        failure = fail(place, "ctx_fold", document=document, max_bytes=700)
        assert (failure["error"], failure["exit_code"]) == ("limit", 17)
        assert sorted(Path(place.folder).rglob("*")) == before
        assert ask(place, "ctx_fold", document=document, max_bytes=65536)["text"] == document

    @pytest.mark.parametrize(
        ("tool", "arguments", "code"),
        [
            ("ctx_put", {}, "invalid"),
            ("ctx_put", {"text": "a", "base64": "YQ=="}, "invalid"),
            ("ctx_put", {"base64": "not base64!"}, "invalid"),
            ("ctx_put", {"base64": "订单"}, "invalid"),
            ("ctx_put", {"text": "\ud800"}, "invalid"),
            ("ctx_put", {"text": "other", "name": "rows"}, "conflict"),
            ("ctx_put", {"text": "other", "name": "../../etc"}, "invalid"),
            ("ctx_put", {"text": "other", "keep_for": "soon"}, "invalid"),
            ("ctx_put", {"text": "other", "keep_for": "9" * 30 + "d"}, "invalid"),
            ("ctx_fold", {"document": "{nope"}, "invalid"),
            ("ctx_fold", {"document": "[" * 5000}, "limit"),
            ("ctx_fold", {"document": '"\ud800"'}, "invalid"),
            ("ctx_fold", {"document": "[1]", "bytes_over": -1}, "invalid"),
        ],
    )
    def test_what_is_wrong_stores_nothing(
        self, place: Place, tool: str, arguments: dict[str, Any], code: str
    ) -> None:
        before = len(list(Path(place.folder).glob("o*/*/*")))
        assert fail(place, tool, **arguments)["error"] == code
        assert len(list(Path(place.folder).glob("o*/*/*"))) == before


class TestListing:
    def test_the_latest_come_first(self, place: Place) -> None:
        ask(place, "ctx_fold", document=json.dumps({"rows": list(range(3000)), "note": "x" * 5000}))
        found = ask(place, "ctx_list")["entries"]
        assert (found[0]["kind"], found[0]["objects"], len(found[0]["refs"])) == ("document", 2, 2)
        assert [each["title"] for each in found[1:]] == list(SAMPLES)[::-1]
        assert ask(place, "ctx_read", ref=found[-1]["ref"], items="0")

    @pytest.mark.parametrize("what", ["stored", "objects"])
    @pytest.mark.parametrize("limits", [{"limit": 3}, {"max_bytes": 700}, {"limit": 1}])
    def test_pages_are_whole_together(self, place: Place, what: str, limits: dict[str, int]) -> None:
        store = Store.open(place.folder)
        for number in range(90):
            api.put(store, b"object number %d" % number)
        store.close()
        whole = ask(place, "ctx_list", what=what, limit=200, max_bytes=65536)
        assert "next" not in whole
        found, arguments = [], {"what": what, **limits}
        while True:
            page = ask(place, "ctx_list", **arguments)
            found += page["entries"]
            if "next" not in page:
                break
            (arguments,) = page["next"]
        assert found == whole["entries"]
        assert len(found) == 90 + len(SAMPLES)

    @pytest.mark.parametrize("after", ["0" * 32, "x", "../..", "a" * 64])
    def test_after_what_is_not_there(self, place: Place, after: str) -> None:
        assert fail(place, "ctx_list", after=after)["error"] == "invalid"

    def test_titles_are_one_line(self, place: Place) -> None:
        store = Store.open(place.folder)
        api.fold_bytes(store, json.dumps(list(range(2000))).encode(), source_name="a\n\x1b[31m" + "b" * 500)
        store.close()
        title = ask(place, "ctx_list", limit=1)["entries"][0]["title"]
        assert title.isprintable()
        assert len(title) < 120

    def test_resources(self, place: Place) -> None:
        found = answer(place, {"act": "resources"})["resources"]
        assert {each["name"] for each in found} == set(SAMPLES)
        for each in found:
            contents = answer(place, {"act": "resource", "uri": each["uri"]})
            data = contents["text"].encode() if "text" in contents else base64.b64decode(contents["blob"])
            assert data == SAMPLES[each["name"]]
            assert each["size"] == len(data)
        types = {
            each["name"]: answer(place, {"act": "resource", "uri": each["uri"]})["mimeType"] for each in found
        }
        assert (types["rows"], types["log"], types["raw"]) == (
            "application/json",
            "text/plain",
            "application/octet-stream",
        )

    @pytest.mark.parametrize(
        ("ref", "code"),
        [("deadbeef", "not_found"), ("", "not_found"), ("../rows", "not_found"), ("big", "limit")],
    )
    def test_resources_that_are_none(self, place: Place, ref: str, code: str) -> None:
        ask(place, "ctx_put", text="x" * 300_000, name="big")
        assert answer(place, {"act": "resource", "uri": f"ctx://{ref}"})["failure"]["error"] == code


class TestErrors:
    @pytest.mark.parametrize(
        "ref",
        [
            "",
            "nope",
            "deadbeef",
            "f" * 64,
            "../../etc/passwd",
            "\x00\x1b[31m",
            "\ud800",
            "[ctx 0000000000000000: x]",
        ],
    )
    @pytest.mark.parametrize("tool", ["ctx_read", "ctx_show"])
    def test_what_is_not_there(self, place: Place, tool: str, ref: str) -> None:
        failure = fail(place, tool, ref=ref)
        assert (failure["error"], failure["exit_code"]) == ("not_found", 12)
        assert "ctx_list" in failure["hint"]

    def test_what_is_damaged_and_purged(self, place: Place) -> None:
        digest = Digest.of(ROWS)
        path = Path(place.folder) / "objects" / digest.hex[:2] / digest.hex
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:-9])
        for tool in ("ctx_read", "ctx_show"):
            failure = fail(place, tool, ref="rows")
            assert (failure["error"], failure["exit_code"]) == ("damaged", 13)
            assert failure["fields"]["digest"] == str(digest)
        store = Store.open(place.folder)
        store.purge(Digest.of(SAMPLES["log"]), "it held a password")
        store.close()
        failure = fail(place, "ctx_read", ref=Digest.of(SAMPLES["log"]).hex)
        assert failure["error"] == "purged"
        assert "it held a password" in failure["message"]

    def test_what_is_ambiguous(self, place: Place) -> None:
        store = Store.open(place.folder)
        found: dict[str, int] = {}
        number = 0
        while (prefix := Digest.of(b"%d" % number).hex[:6]) not in found:
            found[prefix] = number
            number += 1
        for each in (found[prefix], number):
            api.put(store, b"%d" % each)
        store.close()
        assert fail(place, "ctx_read", ref=prefix)["error"] == "ambiguous"

    @pytest.mark.parametrize(
        "arguments",
        [
            {"items": "1:2:3"},
            {"items": "x"},
            {"items": "1", "lines": "1"},
            {"chars": "1", "bytes": "1"},
            {"select": ["$["]},
            {"select": ["$.a", "$..b", "$.c"]},
            {"select": ["$" + "[0]" * 300]},
            {"foo": 1},
        ],
    )
    def test_what_is_asked_wrongly(self, place: Place, arguments: dict[str, Any]) -> None:
        assert fail(place, "ctx_read", ref="rows", **arguments)["error"] in ("invalid", "not_found")

    @pytest.mark.parametrize(
        ("tool", "arguments", "words"),
        [
            ("ctx_grep", {"pattern": "a("}, "'fixed' "),
            ("ctx_grep", {"pattern": "a", "refs": ["log", "abcdef0"]}, "ctx_list"),
            ("ctx_read", {"ref": "rows", "lines": "x"}, "'lines' must be"),
            ("ctx_read", {"ref": "rows", "lines": "--items"}, "not '--items'"),
            ("ctx_read", {"ref": "rows", "items": "1", "lines": "1"}, "'items' and 'lines' can't"),
            ("ctx_read", {"ref": "rows", "select": ["$.nope"]}, None),
            ("ctx_read", {"ref": "rows", "select": ["$..b", "$.c"]}, "next 'select' needs one"),
            ("ctx_read", {"ref": "rows", "select": ["$..id"], "lines": "3"}, "with 'items'"),
            ("ctx_read", {"ref": "log", "items": "3"}, "'lines' and 'chars' read text"),
            ("ctx_read", {"ref": "raw", "chars": "3"}, "'bytes' reads anything"),
            ("ctx_read", {"ref": "abcdef0"}, "ctx_list"),
            ("ctx_show", {"ref": "--max-bytes"}, "'--max-bytes'"),
            ("ctx_put", {"text": "other", "name": "rows"}, "ctx_list"),
            ("ctx_put", {"text": "other", "keep_for": "soon"}, None),
            ("ctx_fold", {"document": "no JSON"}, "ctx_put"),
            ("ctx_fold", {"document": json.dumps(["x" * 900] * 200), "bytes_over": 10**6}, "bytes_over"),
        ],
    )
    def test_words_are_those_of_tools_not_of_commands(
        self, place: Place, tool: str, arguments: dict[str, Any], words: str | None
    ) -> None:
        told = answer(place, {"tool": tool, "arguments": arguments})
        assert told["is_error"]
        assert words is None or words in told["text"]
        said = json.dumps([told["structured"], told["text"]], ensure_ascii=False)
        for given_ in ("--items", "--max-bytes"):
            said = said.replace(f"'{given_}'", "").replace(f'"subject": "{given_}"', "")
        assert re.search(r"\bctx [a-z]|--[a-z]|CTX_", said) is None, said

    @pytest.mark.parametrize(
        ("tool", "arguments"),
        [
            ("ctx_read", {"ref": "rows"}),
            ("ctx_read", {"ref": "string", "select": ["$"], "max_bytes": 700}),
            ("ctx_grep", {"pattern": "row 1", "max_bytes": 700}),
            ("ctx_grep", {"pattern": "订单", "refs": ["inner"]}),
            ("ctx_show", {"ref": "rows", "max_bytes": 700}),
            ("ctx_show", {"ref": "inner"}),
            ("ctx_show", {"ref": "many"}),
            ("ctx_list", {"limit": 2}),
            ("ctx_put", {"text": "noted"}),
        ],
    )
    def test_nor_are_those_of_answers(self, place: Place, tool: str, arguments: dict[str, Any]) -> None:
        rows = [{"id": number, f"name {number}": number % 7} for number in range(900)]
        rows[77] |= {"status": "failed", "id": -5}
        ask(place, "ctx_put", text=json.dumps({"rows": rows, "inner": json.dumps(rows)}), name="many")
        told = answer(place, {"tool": tool, "arguments": arguments})
        said = json.dumps([told["structured"], told["text"]], ensure_ascii=False)
        assert re.search(r"\bctx [a-z]|--[a-z]|CTX_", said) is None, said

    def test_a_bug_is_told_and_logged(
        self, place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def broken(store: Store, arguments: Any) -> Any:
            raise KeyError("secret")

        monkeypatch.setitem(calls._READS, "ctx_read", broken)
        with caplog.at_level(logging.ERROR):
            failure = fail(place, "ctx_read", ref="rows")
        assert (failure["error"], failure["exit_code"], failure["message"]) == (
            "internal",
            70,
            "unexpected KeyError",
        )
        assert "Traceback" in caplog.text

    @pytest.mark.parametrize(
        "error", [MemoryError(), RecursionError(), OSError(28, "No space left on device", "x")]
    )
    def test_what_is_no_bug_has_no_traceback(
        self,
        place: Place,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
        error: Exception,
    ) -> None:
        def broken(store: Store, arguments: Any) -> Any:
            raise error

        monkeypatch.setitem(calls._READS, "ctx_read", broken)
        assert fail(place, "ctx_read", ref="rows")["error"] in ("failed", "invalid")
        assert caplog.text == ""


class TestPlaces:
    def test_no_store(self, tmp_path: Path) -> None:
        place = Place(str(tmp_path / "new" / ".ctxstore"), may_create=True)
        for tool, arguments in (
            ("ctx_read", {"ref": "rows"}),
            ("ctx_list", {}),
            ("ctx_show", {"ref": "rows"}),
        ):
            failure = fail(place, tool, **arguments)
            assert (failure["error"], failure["exit_code"]) == ("not_found", 10)
            assert "ctx_put" in failure["hint"]
        assert answer(place, {"act": "resources"}) == {"resources": []}
        assert not os.path.lexists(place.folder)
        ask(place, "ctx_put", text="first", name="first")
        assert ask(place, "ctx_read", ref="first")["text"] == "first"

    def test_no_store_may_be_made(self, tmp_path: Path) -> None:
        place = Place(str(tmp_path / ".ctxstore"))
        assert fail(place, "ctx_put", text="first")["error"] == "not_found"
        assert not os.path.lexists(place.folder)

    @pytest.mark.parametrize("tool", ["ctx_put", "ctx_fold"])
    def test_to_read_only(self, folder: Path, tool: str) -> None:
        place = Place(str(folder), may_create=True, may_write=False)
        assert fail(place, tool, text="x", document="[]")["error"] == "invalid"

    def test_what_others_store_meanwhile_is_seen(self, place: Place) -> None:
        fail(place, "ctx_read", ref="late")
        store = Store.open(place.folder)
        api.put(store, b"late", name="late")
        store.close()
        assert ask(place, "ctx_read", ref="late")["text"] == "late"

    def test_what_is_set_meanwhile_holds(self, place: Place) -> None:
        """A store that another scope came into shows its default scope alone, if nothing was granted."""
        store = Store.open(place.folder, access=Access(("team/b",)))
        api.put(store, b"of the others", name="others")
        store.close()
        fail(place, "ctx_read", ref="others")
        assert ask(place, "ctx_read", ref="rows", items="0")
        bound = Place(place.folder, grants=("team/*",), scopes=("team/b",))
        assert ask(bound, "ctx_read", ref="others")["text"] == "of the others"
        fail(bound, "ctx_read", ref="rows")
        assert (
            fail(Place(place.folder, grants=("team/*",), scopes=("other",)), "ctx_list")["error"] == "denied"
        )

    def test_scopes_see_all_of_them_and_write_in_the_first(self, place: Place) -> None:
        bound = Place(place.folder, grants=("*",), scopes=("team/a", "default"))
        ask(bound, "ctx_put", text="of a", name="a")
        assert [each["scope"] for each in ask(bound, "ctx_list")["entries"]][:2] == ["team/a", "default"]
        fail(Place(place.folder, grants=("default",)), "ctx_read", ref="a")

    def test_reads_are_noted(self, place: Place) -> None:
        ask(place, "ctx_read", ref="rows", items="0")
        store = Store.open(place.folder)
        assert store.life(Digest.of(ROWS)).last_read is not None
        store.close()
