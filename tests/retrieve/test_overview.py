"""Overviews: what stands apart is found wherever it is, and in what does not nothing is."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from castore.overview.columns import column_findings
from castore.overview.model import Overview
from castore.overview.overview import overview
from castore.overview.render import Words, render
from tests.retrieve.anomalies import ANOMALIES, SHAPES, WORDS, orders, requests, stamp
from tests.retrieve.texts import FAMILIES

FACT = "the blue heron left the harbor"
POSITIONS = (0, 61, -1)


def rows_of(shape: str, count: int) -> list[dict[str, Any]]:
    rng = random.Random(count)
    return [SHAPES[shape](rng, at) for at in range(count)]


def told(value: Any) -> Overview:
    return overview(json.dumps(value, ensure_ascii=False).encode())


def shown(found: Overview, bytes_max: int = 700) -> str:
    words = Words(lambda place: str(place.item), lambda wanted: (f"show --max-bytes {wanted}", "more"))
    lines = render(found, ["0123456789abcdef"], words, [("a (put, kept)", "a")], bytes_max)
    return "\n".join(f"{label:<9} {value}" for label, value in lines)


class TestRows:
    """The one entry that stands apart is the first outlier: by its members, types, values, numbers, order."""

    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("anomaly", ANOMALIES)
    def test_the_odd_one_comes_first(self, shape: str, anomaly: str) -> None:
        for position in POSITIONS:
            rows = rows_of(shape, 240)
            ANOMALIES[anomaly](rows[position], rows)
            outliers = told(rows).outliers
            assert outliers, position
            assert outliers[0].place.item == position % 240

    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("count", [24, 240, 2400])
    def test_rows_that_are_alike_have_none(self, shape: str, count: int) -> None:
        assert told(rows_of(shape, count)).outliers == ()

    def test_those_alike_are_one(self) -> None:
        rows = rows_of("requests", 400)
        for at in (5, 90, 200):
            rows[at]["status"] = 503
        (outlier,) = told(rows).outliers
        assert (outlier.place.item, outlier.more) == (5, 2)
        assert [place.item for place in outlier.alike] == [90, 200]

    def test_a_word_of_alarm_ranks_higher(self) -> None:
        rows = rows_of("requests", 400)
        rows[7]["note"], rows[300]["note"] = "seen by the clerk", "disk failure in bay 3"
        assert told(rows).outliers[0].place.item == 300


LINES_ODD: dict[str, Callable[[str], str]] = {
    "another line": lambda line: "the ferry of the blue heron has left without its cargo",
    "an error": lambda line: f"{stamp(99)} ERROR the blue heron lost its lease",
    "a long line": lambda line: line + " and the blue heron counted the boats again" * 20,
    "Chinese": lambda line: "备注：蓝鹭已经离开港口，没有带走货物",
}
OF_FAMILIES: dict[str, list[Callable[[str], str]]] = {
    "app": [lambda x: x.replace("INFO ", "FATAL"), lambda x: re.sub(r"in \d+ ms", "in 90211 ms", x)],
    "nginx": [lambda x: re.sub(r" (200|304) ", " 502 ", x), lambda x: x.replace("GET", "DELETE")],
    "table": [lambda x: re.sub(r"\d+%", "3%", x), lambda x: re.sub(r"\d+%", "n/a", x)],
    "csv": [lambda x: re.sub(r"\d+\.\d\d", "98000.00", x), lambda x: x + ",heron"],
    "tsv": [lambda x: x.replace("yes", "no")],
    "jsonl": [lambda x: x.replace("true", "false"), lambda x: x[:-4]],
    "pairs": [lambda x: x.replace("=info", "=error"), lambda x: re.sub(r"took=\d+ms", "took=99999ms", x)],
    "chinese": [lambda x: x.replace("发出", "退回"), lambda x: re.sub(r"用时\d+", "用时99999", x)],
    "build": [lambda x: x.replace("Compiling", "Skipping")],
    "listing": [lambda x: x.replace("root root", "heron root"), lambda x: x + " -> /etc/heron"],
    "suite": [lambda x: x.replace("PASSED", "FAILED")],
}


class TestTexts:
    @pytest.mark.parametrize("family", FAMILIES)
    def test_the_odd_line_comes_first(self, family: str) -> None:
        for change in [*LINES_ODD.values(), *OF_FAMILIES.get(family, [])]:
            for position in (1, 250, 399):
                rng = random.Random(4)
                lines = [FAMILIES[family](rng, at) for at in range(400)]
                lines[position] = change(lines[position])
                outliers = overview("\n".join(lines).encode()).outliers
                assert outliers, (lines[position], position)
                assert outliers[0].place.lines is not None
                assert outliers[0].place.lines[0] == position, lines[position]

    @pytest.mark.parametrize("family", FAMILIES)
    def test_lines_that_are_alike_have_none(self, family: str) -> None:
        rng = random.Random(9)
        lines = [FAMILIES[family](rng, at) for at in range(400)]
        assert overview("\n".join(lines).encode()).outliers == ()

    def test_a_trace_is_one(self) -> None:
        rng = random.Random(2)
        lines = [FAMILIES["app"](rng, at) for at in range(300)]
        trace = ["Traceback (most recent call last):", '  File "a.py", line 3, in f', "    raise X(y)"]
        lines[100:100] = [*trace, f"ValueError: {FACT}"]
        (outlier,) = overview("\n".join(lines).encode()).outliers
        assert outlier.place.lines == (100, 104)
        assert FACT in outlier.excerpt


def _tree(rng: random.Random, depth: int) -> dict[str, Any]:
    below = [_tree(rng, depth - 1) for _ in range(rng.randrange(2, 5))] if depth else []
    return {
        "name": f"{rng.choice(WORDS)}{rng.randrange(99)}",
        "size": rng.randrange(100, 900),
        "children": below,
    }


def _leaf(tree: dict[str, Any]) -> dict[str, Any]:
    return _leaf(tree["children"][-1]) if tree["children"] else tree


def planted(where: str) -> Any:
    rng = random.Random(7)
    rows = [requests(rng, at) for at in range(200)]
    rows[150].update(status=503, note=FACT)
    if where == "a tree":
        tree = _tree(rng, 5)
        _leaf(tree)["note"] = FACT
        return tree
    if where == "short lists in rows":
        several = [orders(rng, at) for at in range(200)]
        several[150]["lines"][-1]["gift"] = FACT
        return several
    return {
        "an envelope": lambda: {"ok": True, "data": {"rows": rows}},
        "pages": lambda: [{"page": at, "rows": rows[at * 50 : at * 50 + 50]} for at in range(4)],
        "a map": lambda: {f"{row['id']:x}": row for row in rows},
        "JSON in a string": lambda: {"content": [{"type": "text", "text": json.dumps(rows)}]},
        "a string of JSON": lambda: json.dumps({"rows": rows}),
        "JSON in JSON": lambda: {"body": json.dumps({"out": json.dumps(rows)})},
        "many strings of JSON": lambda: [json.dumps(row) for row in rows],
        "lines in a string": lambda: {"stdout": "\n".join(map(str, rows)), "code": 0},
        "arrays in arrays": lambda: {"rows": [list(row.values()) for row in rows]},
        "columns": lambda: {name: [row[name] for row in rows] for name in rows[0]},
        "a small member": lambda: {"rows": rows[:150], "warnings": [FACT], "next": None},
    }[where]()


class TestAnywhere:
    """The fact that was planted stands in the 700 bytes, wherever the rows are."""

    @pytest.mark.parametrize(
        "where",
        [
            *("a tree", "short lists in rows", "an envelope", "pages", "a map", "JSON in a string"),
            *("a string of JSON", "JSON in JSON", "many strings of JSON", "lines in a string"),
            *("arrays in arrays", "columns", "a small member"),
        ],
    )
    def test_is_shown(self, where: str) -> None:
        assert FACT in shown(told(planted(where)))

    def test_of_a_long_string_the_odd_part_is_shown(self) -> None:
        rng = random.Random(5)
        rows = [{"id": at, "body": " ".join(rng.choices(WORDS, k=200))} for at in range(120)]
        body = rows[70]["body"]
        rows[70]["body"] = f"{body[:600]} the invoice was countersigned by Ottilie {body[600:]}"
        assert "invoice was countersigned by Ottilie" in shown(told(rows))


CLEAN: dict[str, Callable[[random.Random], Any]] = {
    "uniform": lambda rng: rng.random(),
    "normal": lambda rng: rng.gauss(0, 1),
    "exponential": lambda rng: rng.expovariate(1),
    "log-normal": lambda rng: rng.lognormvariate(0, 1),
    "whole": lambda rng: rng.randrange(1000),
    "price": lambda rng: round(rng.uniform(1, 200), 2),
    "digest": lambda rng: f"{rng.getrandbits(128):032x}",
    "path": lambda rng: f"/{rng.choice(WORDS)}/{rng.randrange(10 ** rng.randrange(1, 6))}",
    "email": lambda rng: f"{rng.choice(WORDS)}{rng.randrange(1000)}@{rng.choice(WORDS)}.example",
    "address": lambda rng: ".".join(str(rng.randrange(256)) for _ in range(4)),
    "prose": lambda rng: " ".join(rng.choices(WORDS, k=rng.randrange(5, 20))),
    "Chinese": lambda rng: "".join(rng.choices("天地玄黄宇宙洪荒日月盈昃辰宿列张", k=rng.randrange(8, 30))),
    "time": lambda rng: stamp(rng.randrange(10**6)),
    "optional": lambda rng: None if rng.random() < 0.3 else rng.random(),
    "flag": lambda rng: rng.random() < 0.3,
}


class TestFewFalseOnes:
    """Random data has no outliers but by chance: in two of a hundred columns at most."""

    @pytest.mark.parametrize("kind", CLEAN)
    def test_of_random_columns(self, kind: str) -> None:
        columns = [
            column_findings([CLEAN[kind](rng) for _ in range(300)], "x")
            for rng in map(random.Random, range(50))
        ]
        assert sum(map(bool, columns)) <= 1

    def test_where_half_stand_apart_none_does(self) -> None:
        assert column_findings(["a", "b"] * 50, "x") == []
        assert column_findings([*range(50), *[None] * 50], "x") == []

    def test_a_heavy_tail_pushes_no_true_one_out(self) -> None:
        rng = random.Random(3)
        rows = [{"ms": rng.paretovariate(1), "state": "ok"} for _ in range(1000)]
        rows[500]["state"] = "held"
        assert told(rows).outliers[0].place.item == 500


class TestBounds:
    @pytest.mark.parametrize("bytes_max", [100, 101, 150, 233, 300, 700, 2000])
    def test_it_fits_and_cuts_no_character(self, bytes_max: int) -> None:
        rows = [{"名": "鹭" * 40, "数": at, "状态": "正常"} for at in range(100)]
        rows[50].update({"状态": "异常", "备注": "蓝鹭🦩已离港" * 30})
        for value in (rows, {"行": rows}, "\n".join("线" * 90 for _ in range(50)), {}, [], ["🦩" * 900]):
            text = shown(told(value), bytes_max)
            assert len(text.encode()) <= bytes_max
            assert "\ufffd" not in text

    def test_it_says_what_is_left_out(self) -> None:
        rows = [{f"column_{at}": 0 for at in range(60)} for _ in range(20)]
        assert re.search(r"· \d+ more", shown(told(rows)))

    def test_the_same_bytes_give_the_same(self) -> None:
        data = json.dumps(planted("an envelope")).encode()
        assert overview(data) == overview(data)


class TestHostile:
    """Any bytes have an overview."""

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"[]",
            b"{}",
            b'""',
            b" [1, 2 ]\n",
            b"[" * 5000,
            b"[" * 600 + b"]" * 600,
            b'{"a":' * 400 + b"1" + b"}" * 400,
            b'["\\ud800", 1]',
            b"[" + b"9" * 9000 + b"]",
            b"[" + b",".join([b"1e308", b"-1e308", b"1e-320", b"0"] * 9) + b"]",
            b"[" + b",".join(b"1" + b"0" * at for at in range(200)) + b"]",
            b"\xff\xfe\x00",
            b"\0" * 100,
            b"\n" * 1000,
            b'"' * 999,
            b"a,b\n" * 50 + b'"\n' * 3,
            "\u2028\ufeff\u202e\n".encode() * 60,
            b"a=1 b=2\n" * 30 + b"=" * 9000,
            b'{"": {"": [{"": null}]}}',
        ],
        ids=lambda data: repr(data[:16]),
    )
    def test_of_anything(self, data: bytes) -> None:
        found = overview(data)
        assert found.size == len(data)
        assert len(shown(found).encode()) <= 700
        assert shown(found).replace("\n", "").isprintable()

    def test_many_names_and_a_long_string(self) -> None:
        assert told({f"k{at}": [at] for at in range(100_000)}).members == 100_000
        assert told([{f"k{at}": at} for at in range(20_000)]).keys_total == 20_000
        assert len(shown(told(["x" * (4 << 20), "y"]))) <= 700

    def test_long_words_are_searched_once(self) -> None:
        """A search that begins anew at each letter would take hours here."""
        for text in ("A" * 300_000 + " failed", '"A="' * 50_000, "a-" * 200_000, "\u4e09" * 300_000):
            rows = [{"id": at, "text": "calm"} for at in range(30)]
            rows[7]["text"] = text
            assert told(rows).outliers[0].place.item == 7
            assert overview(f"{text}\n".encode() * 8).lines == 8
