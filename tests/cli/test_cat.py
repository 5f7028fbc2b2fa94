"""`ctx cat`: exactly the parts that are asked for, or nothing; pages that say how to read on."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.desk import Desk

ROWS = [{"id": number, "note": f"row {number} 订单"} for number in range(300)]
LOG = "".join(f"line {number}\n" for number in range(500))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    for name, data in {
        "rows": json.dumps(ROWS).encode(),
        "log": LOG.encode(),
        "blob": bytes(reversed(range(256))),
        "call": json.dumps({"arguments": json.dumps({"path": "a.txt", "lines": [3, 4]})}).encode(),
    }.items():
        assert desk("put", "--name", name, stdin=data).code == 0
    return desk


class TestParts:
    def test_items(self, desk: Desk) -> None:
        told = desk("cat", "rows", "--items", "-2:")
        assert [json.loads(line) for line in told.out.splitlines()] == ROWS[-2:]
        assert json.loads(desk("cat", "rows", "--items", "-1").out) == ROWS[-1]
        assert json.loads(desk("cat", "rows", "--items", "7").out) == ROWS[7]
        assert desk("cat", "rows", "--items", "900") == (0, "", "")

    def test_lines_and_characters(self, desk: Desk) -> None:
        assert desk("cat", "log", "--lines", "10:12").out == "line 10\nline 11\n"
        assert desk("cat", "log", "--lines", "10", "--chars", "0:4").out == "line"
        assert desk("cat", "rows", "--chars", "0:9").out == json.dumps(ROWS)[:9]

    def test_selects(self, desk: Desk) -> None:
        assert desk("cat", "rows", "--select", "$[?@.id == 7].note").out == json.dumps(ROWS[7]["note"]) + "\n"
        told = desk("cat", "call", "--select", "$.arguments", "--select", "$.lines[*]")
        assert told.out == "3\n4\n"

    def test_several_objects(self, desk: Desk) -> None:
        assert desk("cat", "rows", "log").out == json.dumps(ROWS) + LOG
        assert desk("cat", "rows", "log", "--lines", "-1").out == json.dumps(ROWS) + "line 499\n"

    def test_what_was_folded_by_its_place(self, desk: Desk) -> None:
        document = desk.folder / "in.json"
        document.write_text(json.dumps({"a": ROWS, "b": [LOG]}))
        folded = str(desk.folder / "out.json")
        assert desk("fold", str(document), "-o", folded).code == 0
        assert json.loads(desk("cat", f"{folded}#$.a").out) == ROWS
        assert desk("cat", f"{folded}#$.b[0]", "--lines", "3").out == "line 3\n"


class TestNothingIsWrittenByHalves:
    @pytest.mark.parametrize(
        ("code", "arguments"),
        [
            (2, ("rows", "--items", "x")),
            (2, ("log", "--items", "0")),
            (2, ("blob", "--chars", "0:3")),
            (2, ("rows", "--items", "0", "--lines", "0")),
            (2, ("rows", "--chars", "0", "--bytes", "0")),
            (2, ("rows", "--select", "nonsense[")),
            (2, ("rows", "--max-bytes", "3")),
            (2, ("rows", "--max-bytes", "many")),
            (12, ("rows", "--select", "$.a")),
            (12, ("rows", "nothing-of-this-name")),
            (18, ("log", "--select", "$.a")),
        ],
    )
    def test_what_is_refused(self, desk: Desk, code: int, arguments: tuple[str, ...]) -> None:
        before = desk.kept()
        told = desk("cat", *arguments)
        assert (told.code, told.out) == (code, ""), told
        assert told.err.startswith("error: ")
        assert "Traceback" not in told.err
        assert desk.kept() == before

    def test_a_damaged_object_after_a_good_one(self, desk: Desk) -> None:
        digest = json.loads(desk("show", "log", "--json").out)["digest"][7:]
        path = desk.store / "objects" / digest[:2] / digest
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:-1] + b"x")
        for more in ((), ("--lines", "0"), ("--bytes", "0:1")):
            told = desk("cat", "rows", "log", *more)
            assert (told.code, told.out) == (13, "")


class TestPages:
    def test_all_of_it_page_after_page(self, desk: Desk) -> None:
        """The words that a page gives are taken as they are, until there are none."""
        for ref, whole in (("rows", "".join(json.dumps(row) + "\n" for row in ROWS)), ("log", LOG)):
            found, left = "", [[ref]]
            while left:
                told = desk("cat", *left.pop(0), "--max-bytes", "1000", "--json")
                page = json.loads(told.out)
                assert len(page["text"].encode()) <= 1000
                found += page["text"]
                left = [*page["next"], *left]
            assert found == whole

    def test_for_people(self, desk: Desk) -> None:
        told = desk("cat", "log", "--max-bytes", "100")
        assert told.out == "".join(f"line {number}\n" for number in range(13))
        assert "left out 487 of 500 lines; next: ctx cat " in told.err
        words = shlex.split(told.err.strip().partition("next: ctx cat ")[2])
        assert desk("cat", *words).out == LOG.removeprefix(told.out)

    def test_0_is_no_bound(self, desk: Desk) -> None:
        for words in (["log"], ["rows", "--items", "3:"], ["rows", "--select", "$[*].id"], ["log", "rows"]):
            whole = desk("cat", *words)
            assert desk("cat", *words, "--max-bytes", "0") == whole
            pages = desk("cat", *words, "--max-bytes", "0", "--json").out.splitlines()
            assert "".join(json.loads(each)["text"] for each in pages) == whole.out
            assert all(json.loads(each)["next"] == [] for each in pages)

    def test_the_next_call_is_told_whole(self, desk: Desk) -> None:
        path = "$[*]['note'" + ",'note'" * 90 + "]"
        told = desk("cat", "rows", "--select", path, "--max-bytes", "100")
        words = shlex.split(told.err.strip().partition("next: ctx cat ")[2])
        assert words[1:3] == ["--select", path]

    def test_bytes_that_are_no_text(self, desk: Desk) -> None:
        import base64

        page = json.loads(desk("cat", "blob", "--json", "--max-bytes", "100").out)
        assert page["text"] is None
        assert base64.b64decode(page["base64"]) == bytes(range(255, 155, -1))
        assert page["next"][0][1:] == ["--bytes", "100:256"]

    def test_what_fits_is_whole(self, desk: Desk) -> None:
        told = desk("cat", "log", "--max-bytes", "100000")
        assert told == (0, LOG, "")

    def test_several_objects_share_the_room(self, desk: Desk) -> None:
        told = desk("cat", "log", "rows", "--lines", ":10", "--max-bytes", "100")
        assert told.out == LOG[: LOG.index("line 10\n")]
        assert "left out 1 object" in told.err
