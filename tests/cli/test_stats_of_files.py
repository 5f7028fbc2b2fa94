"""ctx stats FILE…, by law: what is printed are the facts, nothing is stored, what is no JSON is refused."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from castore.report import model
from castore.report.measure import measure
from castore.report.model import SessionFacts, to_json
from tests.cli.desk import SESSION, Desk
from tests.cli.terminal import seen_on_terminal
from tests.transcript.growing import session

DOCUMENT = json.dumps({"rows": [{"id": id, "note": "a row of the table"} for id in range(99)]}).encode()
WHERE = Path(__file__).parents[2] / "docs" / "where.md"

FIELDS = {
    ("kinds", " of a session"): model.KindFacts,
    ("turn_facts", ""): model.TurnFacts,
    ("tools", ""): model.ToolFacts,
    ("payloads", ""): model.Payload,
    ("repeats", ""): model.RepeatFacts,
    ("strategies", ""): model.StrategyFacts,
    ("fold", ""): model.FoldFacts,
    ("spans", ""): model.FoldSpan,
    ("moved", ""): model.Moved,
    ("stability", ""): model.StabilityFacts,
    ("references", ""): model.ReferenceFacts,
    ("oddities", ""): model.OddFacts,
    ("kinds", " of a document"): model.ValueFacts,
    ("biggest", ""): model.BigValue,
}


@pytest.fixture
def desk(fast_path: Path) -> Desk:
    return Desk(fast_path)


def lists(out: str) -> dict[str, list[list[str]]]:
    """The lines by their first column."""
    found: dict[str, list[list[str]]] = {}
    for line in out.splitlines():
        first, *cells = line.split("\t")
        found.setdefault(first, []).append(cells)
    return found


class TestOfASession:
    def test_the_lines_are_the_facts(self, desk: Desk) -> None:
        data = session(30)
        told = lists(desk("stats", "-", stdin=data).out)
        facts = measure(data, "stdin")
        assert isinstance(facts, SessionFacts)
        assert told["bytes"] == [[str(len(data))]]
        assert [each[:3] for each in told["kind"]] == [
            [str(each.kind), str(each.parts), str(each.size)] for each in facts.kinds
        ]
        assert [each[:2] for each in told["view"]][1:] == [
            [each.strategy, str(each.size)] for each in facts.strategies
        ]
        assert told["payload"][0][4:] == [
            f"{round(100 * facts.payloads.shown[0].share)}%",
            str(facts.payloads.shown[0].tokens),
            facts.payloads.shown[0].digest,
            facts.payloads.shown[0].excerpt,
        ]
        assert len(told["turn"]) == len(told["payload"]) == 10

    def test_n_bounds_every_list(self, desk: Desk) -> None:
        told = lists(desk("stats", "-n", "2", "-", stdin=session(30)).out)
        assert {len(told[name]) for name in ("turn", "payload", "repeat")} == {2}
        row = json.loads(desk("stats", "-n", "2", "--json", "-", stdin=session(30)).out)
        assert (
            len(row["turn_facts"]) == len(row["payloads"]["shown"]) == len(row["fold"]["spans"]["shown"]) == 2
        )
        assert row["payloads"]["total"] > 2
        assert all(len(each["turns"]) <= 2 for each in row["stability"])

    def test_a_value_that_folds_is_told_with_its_line(self, desk: Desk) -> None:
        data = session(30)
        (_, *rows) = lists(desk("stats", "-", stdin=data).out)["fold"]
        lines = data.splitlines()
        assert len(rows) == 10
        for path, line, size, *_ in rows:
            value = json.loads(lines[int(line) - 1])
            assert path == "$.message.content[0].text"
            assert len(json.dumps(value["message"]["content"][0]["text"], ensure_ascii=False)) <= int(size)
            assert int(size) < len(lines[int(line) - 1])

    def test_what_a_list_leaves_out_is_said(self, desk: Desk) -> None:
        data = session(30)
        facts = measure(data, "stdin")
        assert isinstance(facts, SessionFacts)
        told = lists(desk("stats", "-n", "3", "-", stdin=data).out)
        assert ["payload", "3", str(facts.payloads.total)] in told["more"]
        assert ["turn", "3", str(len(facts.turn_facts))] in told["more"]
        for name, shown, total in told["more"]:
            assert len(told[name]) - (name == "fold") == int(shown) < int(total)

    def test_nor_is_more_than_there_is_said_to_be_shown(self, desk: Desk) -> None:
        data = session(40)
        facts = measure(data, "stdin")
        assert isinstance(facts, SessionFacts)
        told = lists(desk("stats", "-n", "999", "-", stdin=data).out)
        assert told["more"] == [["payload", "100", str(facts.payloads.total)]]

    def test_oddities_are_told(self, desk: Desk) -> None:
        told = lists(desk("stats", "-", stdin=session(3)[:-40]).out)
        assert told["oddities"] == [["1"]]
        assert told["oddity"] == [[str(session(3).count(b"\n")), told["oddity"][0][1]]]

    def test_what_stands_before_the_first_turn_is_said_as_on_the_page(self, desk: Desk) -> None:
        (desk.folder / "log").write_text("no JSON\n")
        told = lists(desk("stats", "--format", "pi", str(desk.folder / "log")).out)
        assert told["turn"][0][0] == "before the first"

    def test_json_is_all_facts_but_for_what_each_part_says(self, desk: Desk) -> None:
        row = json.loads(desk("stats", "--json", "-", stdin=SESSION).out)
        whole = json.loads(json.dumps(to_json(measure(SESSION, "stdin"))))
        del whole["pairs"]
        assert row == whole

    def test_strategies_together(self, desk: Desk) -> None:
        told = lists(desk("stats", "--strategy", "transparent,clip", "-", stdin=session(20)).out)
        names = ["(none)", "transparent,clip", "transparent", "tiered", "dedupe-reads", "clip"]
        assert [each[0] for each in told["view"]] == names

    def test_a_terminal_has_headings_and_short_cells(self, desk: Desk) -> None:
        path = desk.folder / "long.jsonl"
        path.write_bytes(session(30))
        command = [sys.executable, "-m", "castore", "stats", str(path)]
        seen = seen_on_terminal(command, desk.folder, os.environ | {"HOME": str(desk.folder)})
        assert "~tokens" in seen
        assert "stays a turn later" in seen


class TestOfAView:
    def test_its_markers_are_looked_for(self, desk: Desk) -> None:
        desk.made()
        (row,) = lists(desk("stats", desk.view).out)["reference"]
        assert row[0] == "marker"
        assert row[-1] == "0"

    def test_a_scope_does_not_learn_of_what_it_can_not_see(self, desk: Desk) -> None:
        desk.made("--scope", "team/a")
        assert lists(desk("stats", desk.view, scope="team/a").out)["reference"][0][-1] == "0"
        (row,) = lists(desk("stats", desk.view, scope="team/b").out)["reference"]
        assert int(row[-1]) > 0

    def test_without_a_store_nobody_knows(self, desk: Desk) -> None:
        view = desk.made()
        (desk.folder / "elsewhere").mkdir()
        elsewhere = Desk(desk.folder / "elsewhere")
        (row,) = lists(elsewhere("stats", "-", stdin=view).out)["reference"]
        assert row[-1] == "-"


class TestOfDocuments:
    def test_kinds_biggest_and_fold(self, desk: Desk) -> None:
        told = lists(desk("stats", "-", stdin=DOCUMENT).out)
        assert told["document"] == [["stdin"]]
        assert ["array", "1"] in [each[:2] for each in told["kind"]]
        assert told["biggest"][0][:2] == ["$.rows", "array"]
        assert told["fold"][1][0] == "$.rows"

    def test_what_looked_like_a_session_is_said(self, desk: Desk) -> None:
        other = b'{"type":"session_meta","payload":{"id":"x"},"timestamp":"2026-01-05T10:00:01Z"}\n'
        told = desk("stats", "-", stdin=SESSION + other)
        assert told.code == 0
        assert "note: read as JSON" in told.err


class TestThePage:
    def test_columns_are_those_of_the_page(self, desk: Desk) -> None:
        desk.made()
        columns = WHERE.read_text().partition("## Columns in a pipe")[2].partition("## With `--json`")[0]
        page = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", columns, re.M))
        told = lists(desk("stats", "-", stdin=session(30)).out)
        told |= {"reference": lists(desk("stats", desk.view).out)["reference"]}
        told |= {"oddity": lists(desk("stats", "-", stdin=session(3)[:-40]).out)["oddity"]}
        told |= {"biggest": lists(desk("stats", "-", stdin=DOCUMENT).out)["biggest"]}
        tables = {name: rows for name, rows in told.items() if len(rows[0]) > 1}
        assert set(page) == set(tables)
        for name, rows in tables.items():
            assert {len(row) for row in rows} == {len(page[name].split(", "))}, name

    def test_fields_are_those_of_the_page(self) -> None:
        part = WHERE.read_text().partition("## With `--json`")[2]
        rows = re.findall(r"^\| `(\w+)`(.*?) \| (.+) \|$", part, re.M)
        named = {
            (name, more if name == "kinds" else ""): re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", cells))
            for name, more, cells in rows
        }
        assert named == {each: [field.name for field in fields(kind)] for each, kind in FIELDS.items()}


class TestOfSeveral:
    def test_a_line_each_and_their_sum(self, desk: Desk) -> None:
        (desk.folder / "a.json").write_bytes(DOCUMENT)
        told = desk("stats", desk.session, str(desk.folder / "a.json"), desk.session)
        rows = [line.split("\t") for line in told.out.splitlines()]
        assert [each[1] for each in rows] == ["pi", "json", "pi", "-"]
        assert int(rows[-1][3]) == 2 * len(SESSION) + len(DOCUMENT)
        assert int(rows[-1][5]) == 2 * int(rows[0][5])

    def test_json_is_an_object_a_file(self, desk: Desk) -> None:
        told = desk("stats", "--json", desk.session, desk.session)
        assert [json.loads(line)["format"] for line in told.out.splitlines()] == ["pi", "pi"]


class TestNothingIsStored:
    def test_no_store_is_made_or_asked_for(self, desk: Desk) -> None:
        before = sorted(desk.folder.rglob("*"))
        assert desk("stats", desk.session).code == 0
        assert sorted(desk.folder.rglob("*")) == before


class TestWhatIsRefused:
    def test_what_is_no_json(self, desk: Desk) -> None:
        told = desk("stats", "-", stdin=b"hello\n")
        assert (told.code, told.out) == (18, "")
        assert "error: 'stdin' is neither a session nor JSON: " in told.err
        assert "stdin: byte 0" in told.err
        assert "hint: name a session" in told.err

    def test_a_log_is_named_and_said_to_be_neither(self, desk: Desk) -> None:
        (desk.folder / "1.log").write_text("2026-11-30 12:00:00 INFO started\n")
        for command in (["stats"], ["stats", "--json"], ["report"]):
            told = desk(*command, str(desk.folder / "1.log"))
            assert told.code == 18
            assert re.search(r"1\.log' is neither a session nor JSON: ", told.err)

    def test_a_file_that_is_not_there(self, desk: Desk) -> None:
        assert desk("stats", "nowhere.jsonl").code != 0

    @pytest.mark.parametrize("strategy", ["cap", "collapse", "nope"])
    def test_strategies_that_need_more_said(self, desk: Desk, strategy: str) -> None:
        assert desk("stats", "--strategy", strategy, desk.session).code == 2

    @pytest.mark.parametrize("option", [["-n", "3"], ["--strategy", "clip"], ["--format", "pi"]])
    def test_options_about_files_without_one(self, desk: Desk, option: list[str]) -> None:
        assert desk("stats", *option).code == 2

    def test_a_number_that_is_none(self, desk: Desk) -> None:
        assert desk("stats", "-n", "x", desk.session).code == 2
