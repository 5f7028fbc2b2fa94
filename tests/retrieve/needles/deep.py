"""What stands apart leads to a large row, and the fact is elsewhere in it, among what looks like the rest."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.retrieve.needles.needle import Needle, compact, iso, needle, pretty, sentence, spot, text


def _code(rng: Random) -> str:
    return f"{rng.getrandbits(40):010x}"


def _visit(rng: Random, n: int) -> dict[str, Any]:
    return {
        "visit": n,
        "started": iso(n * 41),
        "state": rng.choice(("closed", "closed", "billed")),
        "room": {
            "floor": rng.randrange(1, 6),
            "bed": f"{rng.choice('AB')}{rng.randrange(30)}",
            "quiet": True,
        },
        "notes": [sentence(rng) for _ in range(6)],
        "bag": _code(rng),
    }


@needle(130, 5000)
def state_once(rng: Random, count: int) -> Needle:
    rows = [_visit(rng, n) for n in range(count)]
    at = spot(rng, count, "any")
    rows[at]["state"] = "reopened"
    return Needle(compact(rows), rows[at]["bag"])


@needle(130, 5000)
def flag_within(rng: Random, count: int) -> Needle:
    rows = [_visit(rng, n) for n in range(count)]
    at = spot(rng, count, "any")
    rows[at]["room"]["quiet"] = False
    return Needle(pretty(rows), rows[at]["bag"])


@needle(130, 5000)
def number_within_lines(rng: Random, count: int) -> Needle:
    """JSON Lines; the floor is that of a tower."""
    rows = [_visit(rng, n) for n in range(count)]
    at = spot(rng, count, "first")
    rows[at]["room"]["floor"] = 4100
    return Needle(text([json.dumps(each) for each in rows]), rows[at]["bag"])


@needle(130, 4000)
def key_within_a_string(rng: Random, count: int) -> Needle:
    """Rows in a string of a tool's result; a key more, two levels down."""
    rows = [_visit(rng, n) for n in range(count)]
    at = spot(rng, count, "any")
    rows[at]["room"]["sealed_by"] = "court"
    answer = {"content": [{"type": "text", "text": json.dumps({"visits": rows, "total": count})}]}
    return Needle(compact(answer), rows[at]["bag"])


@needle(130, 4000)
def missing_within_a_map(rng: Random, count: int) -> Needle:
    """Visits by their names; one has no notes."""
    rows = {f"v-{_code(rng)}": _visit(rng, n) for n in range(count)}
    name = list(rows)[spot(rng, count, "last")]
    del rows[name]["notes"]
    return Needle(compact({"ward": 7, "visits": rows}), rows[name]["bag"])


@needle(120, 4000)
def decoys(rng: Random, count: int) -> Needle:
    """Some values are rare, and one row is unlike all: a state of its own and no room at all."""
    rows = [_visit(rng, n) for n in range(count)]
    for n in rng.sample(range(count // 2), 6):
        rows[n]["state"] = "on hold"
    at = spot(rng, count, "any")
    rows[at] |= {"state": "ESCAPED", "room": None}
    return Needle(compact(rows), rows[at]["bag"])


@needle(90, 3000)
def fourth_of_five_lists(rng: Random, count: int) -> Needle:
    lists: dict[str, Any] = {
        "staff": [{"id": n, "shift": rng.choice("DN"), "since": iso(-n * 9**5)} for n in range(count)],
        "rooms": [{"floor": n % 6, "bed": f"A{n}", "quiet": True} for n in range(count)],
        "stock": [{"sku": _code(rng), "left": rng.randrange(90)} for _ in range(count)],
        "visits": [_visit(rng, n) for n in range(count)],
        "meals": [{"day": iso(n * 86_400)[:10], "soup": sentence(rng)} for n in range(count)],
    }
    at = spot(rng, count, "any")
    lists["visits"][at]["state"] = "appealed"
    return Needle(pretty(lists, 1), lists["visits"][at]["bag"])


@needle(120, 4000)
def long_lines(rng: Random, count: int) -> Needle:
    """Lines of 450 bytes; one level is odd, and the fact ends the line."""
    bags = [_code(rng) for _ in range(count)]
    lines = [
        f"{iso(n * 2)} {rng.choice(('INFO ', 'DEBUG'))} porter[{n % 8}] "
        + " ".join(f"{k}='{sentence(rng)}'" for k in ("who", "what", "then", "next", "last"))
        + f" bag={bags[n]}"
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    lines[at] = f"{lines[at][:21]}ALERT{lines[at][26:]}"
    return Needle(text(lines), bags[at])


@needle(150, 4000)
def wide_columns(rng: Random, count: int) -> Needle:
    """CSV in a string; one cell of numbers has a word."""
    rows = [[str(rng.randrange(100, 999)) for _ in range(60)] + [_code(rng)] for _ in range(count)]
    at = spot(rng, count, "any")
    rows[at][9] = "void"
    lines = [",".join(f"c{n}" for n in range(61)), *(",".join(each) for each in rows)]
    return Needle(compact({"name": "cells.csv", "body": "\n".join(lines)}), rows[at][-1])


@needle(200, 5000)
def matrix_row(rng: Random, count: int) -> Needle:
    """Rows of sixty numbers; one is far below all, and the fact is the last of its row."""
    rows = [[rng.randrange(100, 999) for _ in range(60)] + [10**9 + 7919 * n] for n in range(count)]
    at = spot(rng, count, "any")
    rows[at][31] = -88_000
    return Needle(compact(rows), str(rows[at][-1]))


@needle(110, 3000)
def prose_in_another_tongue(rng: Random, count: int) -> Needle:
    """The field that tells the language is odd; the answer is in the prose."""
    rows = [
        {
            "post": n,
            "lang": rng.choice(("en", "en", "en-GB")),
            "likes": rng.randrange(300),
            "text": ". ".join(sentence(rng) for _ in range(8)),
        }
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    told = [sentence(rng) for _ in range(8)]
    told.insert(5, "the ladder is kept by Aino in the third shed")
    rows[at] |= {"lang": "fi", "text": ". ".join(told)}
    return Needle(json.dumps(rows).encode(), "kept by Aino in the third shed")


@needle(110, 3000)
def chinese_ward(rng: Random, count: int) -> Needle:
    rows = [
        {
            "就诊": n,
            "科室": rng.choice(("内科", "外科")),
            "结果": "出院",
            "记录": ["病人一般情况可,饮食睡眠如常"] * 4,
            "袋": _code(rng),
        }
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    rows[at]["结果"] = "转院"
    return Needle(json.dumps(rows).encode(), str(rows[at]["袋"]))
