"""`ctx grep`: a line a hit, with the words that read it; what is left out, and what went wrong."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.access.world import Told
from tests.cli.desk import Desk

ROWS = [{"id": number, "note": "订单失败" if number == 77 else "fine"} for number in range(100)]
LOG = "".join(f"line {number} of the log\n" for number in range(700))


@pytest.fixture
def desk(fast_path: Path) -> Desk:
    desk = Desk(fast_path)
    for name, data in {"rows": json.dumps(ROWS).encode(), "log": LOG.encode()}.items():
        assert desk("put", "--name", name, stdin=data).code == 0
    return desk


def rows(told: Told) -> list[dict[str, Any]]:
    return [json.loads(line) for line in told.out.splitlines()]


def digest(desk: Desk, name: str) -> str:
    return str(json.loads(desk("show", name, "--json").out)["digest"])


class TestHits:
    def test_for_people_and_programs(self, desk: Desk) -> None:
        whole = digest(desk, "rows")
        short = whole[7:23]
        told = desk("grep", "订单失败")
        assert told == (0, f'{short} --items 77\t{{"id": 77, "note": "订单失败"}}\n', "")
        told = desk("grep", "订单失败", "--json")
        assert rows(told) == [
            {
                "digest": whole,
                "address": [short, "--items", "77"],
                "excerpt": '{"id": 77, "note": "订单失败"}',
            }
        ]

    def test_the_words_are_those_of_cat(self, desk: Desk) -> None:
        for line in desk("grep", "-C", "1", "line 77 |失败").out.splitlines():
            address, _, _ = line.partition("\t")
            told = desk("cat", *shlex.split(address)) if address else None
            assert told is None or ("line 77 " in told.out or r"\u5931\u8d25" in told.out)
        for hit in rows(desk("grep", "--json", "line 77 |失败")):
            assert desk("cat", *hit["address"]).code == 0

    def test_none(self, desk: Desk) -> None:
        assert desk("grep", "nowhere") == (1, "", "")
        assert desk("grep", "--json", "nowhere") == (1, "", "")
        assert desk("grep", "nowhere", "rows", "log").code == 1

    def test_lines_beside_it(self, desk: Desk) -> None:
        told = desk("grep", "-C", "1", "line 77 ", "log")
        before, hit, after = told.out.splitlines()
        assert (before, after) == ("\tline 76 of the log", "\tline 78 of the log")
        assert hit.endswith("--lines 76:79\tline 77 of the log")
        (row,) = rows(desk("grep", "-C", "1", "--json", "line 77 ", "log"))
        assert (row["before"], row["after"]) == (["line 76 of the log"], ["line 78 of the log"])

    def test_what_is_beside_one_is_apart_from_the_next(self, desk: Desk) -> None:
        told = desk("grep", "-C", "1", "line 7[79] ", "log").out.splitlines()
        assert [each.strip() == "--" for each in told] == [False] * 3 + [True] + [False] * 3
        assert "--" not in desk("grep", "line 7[79] ", "log").out.replace("--lines", "")
        assert len(rows(desk("grep", "--json", "-C", "1", "line 7[79] ", "log"))) == 2
        bounded = desk("grep", "-C", "1", "--max-bytes", "300", "line", "log")
        assert "left out" in bounded.err
        assert len(bounded.out.encode()) <= 300

    def test_options_typed_by_habit_change_nothing(self, desk: Desk) -> None:
        plain = desk("grep", "line 7[79] ", "log")
        for option in ("-n", "-r", "-R", "-E", "-rnE"):
            assert desk("grep", option, "line 7[79] ", "log") == plain

    def test_patterns(self, desk: Desk) -> None:
        assert desk("grep", "-F", "line 77 of.*", "log").code == 1
        assert desk("grep", "LINE 77 OF", "log").code == 1
        assert desk("grep", "-i", "LINE 77 OF", "log").code == 0
        assert desk("grep", "--", "-x", "log").code == 1


class TestWhich:
    def test_a_name_of_several_objects_and_all(self, desk: Desk) -> None:
        (desk.folder / "a").write_bytes(b"needle a")
        (desk.folder / "b").write_bytes(b"needle b")
        assert desk("put", "--name", "both", str(desk.folder / "a"), str(desk.folder / "b")).code == 0
        assert len(rows(desk("grep", "--json", "needle", "both"))) == 2
        assert len(rows(desk("grep", "--json", "--all", "needle"))) == 2
        assert desk("grep", "needle", "log").code == 1

    def test_what_a_document_names(self, desk: Desk) -> None:
        source, folded = desk.folder / "in.json", str(desk.folder / "out.json")
        source.write_text(json.dumps({"a": ["needle " * 99] * 30, "b": "other " * 900}))
        assert desk("put", stdin=b"a needle elsewhere").code == 0
        assert desk("fold", str(source), "-o", folded).code == 0
        assert len(rows(desk("grep", "--json", "--max-bytes", "0", "needle", "--doc", folded))) == 30
        assert desk("grep", "other", f"{folded}#$.b").code == 0
        assert desk("grep", "other", f"{folded}#$.a").code == 1
        (desk.folder / "plain.json").write_text('{"a": 1}')
        assert desk("grep", "needle", "--doc", str(desk.folder / "plain.json")).code == 18

    def test_what_a_view_names(self, desk: Desk) -> None:
        desk.made()
        assert desk("grep", "apples", "--doc", desk.view).code == 0
        assert desk("grep", "of the log", "--doc", desk.view).code == 1

    @pytest.mark.parametrize("arguments", [["--all", "log"], ["--all", "--doc", "x"], ["--doc", "x", "log"]])
    def test_one_choice(self, desk: Desk, arguments: list[str]) -> None:
        assert desk("grep", "x", *arguments).code == 2


class TestPages:
    def test_what_is_left_out_is_read_by_the_words_given(self, desk: Desk) -> None:
        told = desk("grep", "of the log")
        assert len(told.out.encode()) <= 8000
        lines, count = told.out.splitlines(), 1
        while "left out" in told.err:
            words = shlex.split(told.err.strip().partition("next: ")[2])
            assert words[:2] == ["ctx", "grep"]
            told = desk(*words[1:])
            assert told.code == 0
            lines += told.out.splitlines()
            count += 1
        assert count > 2
        assert lines == desk("grep", "--max-bytes", "0", "of the log").out.splitlines()
        assert len(lines) == 700

    def test_the_next_call_is_short_and_looks_at_the_same(self, desk: Desk) -> None:
        whole = digest(desk, "log")
        for ref in (whole, whole[7:], f"[ctx {whole[7:23]}: tool result, 3600 bytes, 200 lines]"):
            told = desk("grep", "-m", "1", "line", ref)
            assert told.err.startswith("note: left out the hits after these; next: ctx grep --skip 1 ")
            assert told.err.rstrip().endswith(f" line {whole[7:23]}")
        store = str(desk.store)
        told = desk("grep", "-m", "1", "line", "log", "--store", store, "--scope", "default", "--json")
        words = desk.summary(told)["next"]
        assert [words[words.index(each) + 1] for each in ("--store", "--scope")] == ["STORE", "default"]

    def test_for_programs(self, desk: Desk) -> None:
        told = desk("grep", "--json", "-m", "3", "of the log")
        assert len(rows(told)) == 3
        summary = desk.summary(told)
        assert summary["hits"] == 3
        again = desk(*summary["next"][1:])
        assert rows(again)[0]["address"][1:] == ["--lines", "3"]

    def test_of_all_that_was_asked_for_nothing_is_said(self, desk: Desk) -> None:
        assert desk("grep", "-m", "1", "订单").err == ""


class TestErrors:
    def test_a_pattern_that_is_none(self, desk: Desk) -> None:
        told = desk("grep", "a(b")
        assert (told.code, told.out) == (2, "")
        assert "character 1" in told.err
        assert "-F" in told.err

    @pytest.mark.parametrize(("change", "code"), [("missing", 12), ("damaged", 13)])
    def test_an_object_that_can_not_be_read(self, desk: Desk, change: str, code: int) -> None:
        lost = digest(desk, "rows")[7:]
        path = desk.store / "objects" / lost[:2] / lost
        if change == "missing":
            path.unlink()
        else:
            path.chmod(0o600)
            path.write_bytes(path.read_bytes()[:-1] + b"?")
        told = desk("grep", "订单|line 77 ", lost, "log")
        if change == "damaged":
            assert told.out.endswith("line 77 of the log\n")
        assert told.code == code
        assert lost[:16] in told.err
        everything = desk("grep", "line 77 ")
        assert everything.out.endswith("line 77 of the log\n")
        assert everything.code == (0 if change == "missing" else 13)

    def test_no_store(self, tmp_path: Path) -> None:
        assert Desk(tmp_path)("grep", "x").code == 10
