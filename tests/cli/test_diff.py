"""ctx diff: what it prints, how much, and what its exit code says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.desk import SESSION, Desk


@pytest.fixture
def desk(fast_path: Path) -> Desk:
    return Desk(fast_path)


class TestExitCodes:
    def test_say_whether_something_differs(self, desk: Desk) -> None:
        desk.made()
        assert desk("diff", desk.view, desk.session).code == 1
        told = desk("diff", desk.view, desk.view)
        assert (told.code, told.out, told.err) == (0, "", "")

    @pytest.mark.parametrize("arguments", [["SESSION"], ["nothing", "SESSION"], ["SESSION", "nothing"], []])
    def test_are_no_1_where_it_could_not_be_told(self, desk: Desk, arguments: list[str]) -> None:
        told = desk("diff", *(desk.session if each == "SESSION" else each for each in arguments))
        assert told.code == 2
        assert "error: " in told.err

    def test_a_folder_is_unreadable(self, desk: Desk) -> None:
        assert desk("diff", desk.session, str(desk.folder)).code == 2


class TestWhatIsPrinted:
    def test_what_the_model_does_not_see(self, desk: Desk) -> None:
        desk.made()
        told = desk("diff", desk.view, desk.session)
        rows = [line.split("\t") for line in told.out.splitlines()]
        results = [row for row in rows if row[3] == "result"]
        assert [row[1] for row in results] == [f"turn {turn}" for turn in range(8)]
        assert results[3][:1] + results[3][2:5] == ["<", "result", "result", "280"]
        assert results[3][6].startswith("apples, row 3 apples, row 3")
        assert desk("cat", results[3][5]).out == "apples, row 3\n" * 20

    def test_stdin_is_one_of_them(self, desk: Desk) -> None:
        desk.made()
        told = desk("diff", "-", desk.view, stdin=SESSION)
        assert told.out == desk("diff", desk.session, desk.view).out
        assert told.out.startswith(">\tturn 0")

    def test_nothing_is_written(self, desk: Desk) -> None:
        desk.made()
        before = desk.kept()
        desk("diff", desk.view, desk.session)
        assert desk.kept() == before
        (desk.folder / "none").mkdir()
        other = Desk(desk.folder / "none")
        assert other("diff", desk.view, desk.session).code == 1
        assert not other.store.exists()


class TestOrder:
    def test_how_the_sources_differ_comes_first(self, desk: Desk) -> None:
        desk.made()
        grown = desk.folder / "grown.jsonl"
        grown.write_bytes(SESSION + SESSION.splitlines(keepends=True)[-1])
        first, *others = desk("diff", desk.view, str(grown)).out.splitlines()
        assert first.split("\t")[3] == "source"
        assert others == desk("diff", desk.view, desk.session).out.splitlines()

    def test_what_no_model_ever_saw_comes_last(self, desk: Desk) -> None:
        desk.made()
        kinds = [line.split("\t")[3] for line in desk("diff", desk.view, desk.session).out.splitlines()]
        assert kinds == ["result"] * 8 + ["ui"] * 8


class TestBounds:
    @pytest.mark.parametrize("as_json", [[], ["--json"]])
    def test_what_is_left_out_is_said_with_the_next_call(self, desk: Desk, as_json: list[str]) -> None:
        desk.made()
        whole = desk("diff", desk.view, desk.session, *as_json)
        told = desk("diff", desk.view, desk.session, "--max-bytes", "900", *as_json)
        assert len(told.out.encode()) <= 900
        assert whole.out.startswith(told.out)
        left_out = len(whole.out.splitlines()) - len(told.out.splitlines())
        if as_json:
            found = desk.summary(told)
            assert (found["left_out"], found["differences"]) == (left_out, 16)
            words = found["next"]
            assert {tuple(json.loads(line)["address"]) for line in told.out.splitlines()}
            assert desk.summary(whole)["next"] is None
        else:
            note = told.err.removeprefix("note: ").strip()
            assert note.startswith(f"left out {left_out} differences; next: ctx ")
            words = note.partition("; next: ")[2].split()
        assert desk(*words[1:]).out == whole.out

    def test_nothing_is_left_out_unless_that_is_asked_for(self, desk: Desk) -> None:
        many = b"".join(b'{"n":%d,"x":"%b"}\n' % (n, b"word " * 400) for n in range(200))
        (desk.folder / "in.jsonl").write_bytes(many)
        desk("fold", str(desk.folder / "in.jsonl"), "-o", desk.view)
        told = desk("diff", desk.view, str(desk.folder / "in.jsonl"))
        assert len(told.out.splitlines()) == 200
        assert told == desk("diff", desk.view, str(desk.folder / "in.jsonl"), "--max-bytes", "0")

    def test_of_what_is_no_more_there_no_next_call_is_told(self, desk: Desk) -> None:
        desk.made()
        told = desk(
            "diff", "-", desk.session, "--max-bytes", "900", "--json", stdin=Path(desk.view).read_bytes()
        )
        assert desk.summary(told)["next"] is None
        assert desk.summary(told)["left_out"]
