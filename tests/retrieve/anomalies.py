"""Rows, texts and objects as programs write them, and ways in which one entry of them stands apart."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]

WORDS = [
    *("amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "harbor", "islet", "juniper", "kelp"),
    *("lagoon", "meadow", "nectar", "orchard", "prairie", "quarry", "river", "summit", "tundra", "upland"),
    *("valley", "willow", "yarrow", "zephyr", "brook", "cliff", "dune", "estuary", "forest"),
]


def stamp(second: int) -> str:
    day, rest = divmod(second, 86_400)
    return f"2026-03-{1 + day:02d}T{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}Z"


def requests(rng: random.Random, at: int) -> Row:
    return {
        "id": 1000 + at,
        "at": stamp(at * 7),
        "host": f"web-{rng.randrange(1, 17):02d}",
        "path": f"/api/{rng.choice(WORDS[:6])}/{rng.randrange(10**5)}",
        "status": 200,
        "ms": round(rng.lognormvariate(3, 0.8), 1),
        "cached": True,
        "note": None,
    }


def orders(rng: random.Random, at: int) -> Row:
    return {
        "order": f"A-{rng.randrange(10**6):06d}",
        "id": at,
        "at": stamp(at * 11),
        "customer": {
            "name": f"{rng.choice(WORDS)} {rng.choice(WORDS)}",
            "tier": rng.choice(["gold", "basic"]),
        },
        "status": "paid",
        "ms": rng.randrange(5, 900),
        "lines": [
            {"sku": f"{rng.choice('KLM')}{rng.randrange(1000):03d}", "count": rng.randrange(1, 6)}
            for _ in range(rng.randrange(1, 4))
        ],
        "cached": True,
        "note": "",
    }


def people(rng: random.Random, at: int) -> Row:
    name = rng.choice(WORDS)
    return {
        "id": at * 3,
        "uuid": f"{rng.getrandbits(128):032x}",
        "email": f"{name}{rng.randrange(10**4)}@example.com",
        "at": stamp(rng.randrange(10**6)),
        "ms": rng.uniform(0, 1),
        "status": rng.choice(["active", "away", "off"]),
        "cached": True,
        "tags": [rng.choice(WORDS) for _ in range(3)],
        "note": " ".join(rng.choice(WORDS) for _ in range(rng.randrange(6, 14))),
    }


def readings(rng: random.Random, at: int) -> Row:
    return {
        "id": at,
        "at": stamp(at * 60),
        "sensor": f"s{at % 8}",
        "ms": round(rng.gauss(21, 0.7), 2),
        "volts": round(rng.gauss(0, 1), 3),
        "status": "ok",
        "cached": True,
        "note": "ok",
    }


SHAPES: dict[str, Callable[[random.Random, int], Row]] = {
    "requests": requests,
    "orders": orders,
    "people": people,
    "readings": readings,
}


def _ms(factor: float) -> Callable[[Row, list[Row]], None]:
    def change(row: Row, rows: list[Row]) -> None:
        row["ms"] = max(each["ms"] for each in rows) * factor if factor > 1 else -7.5

    return change


def _set(**values: Any) -> Callable[[Row, list[Row]], None]:
    return lambda row, rows: row.update(values)


def _drop(row: Row, rows: list[Row]) -> None:
    del row["status"]


def _again(row: Row, rows: list[Row]) -> None:
    row["id"] = rows[len(rows) // 3]["id"]


ANOMALIES: dict[str, Callable[[Row, list[Row]], None]] = {
    "extra key": _set(failure="quota of the lagoon"),
    "missing key": _drop,
    "null": _set(status=None),
    "string for a number": _set(ms="12"),
    "object for a number": _set(ms={"value": 3}),
    "rare value": _set(status="held"),
    "high number": _ms(30),
    "negative number": _ms(-1),
    "flag": _set(cached=False),
    "order": _again,
    "empty": _set(at=""),
    "time": _set(at="2019-01-01T00:00:00Z"),
    "no time": _set(at="n/a"),
    "long": _set(status="held for review because the blue heron of the estuary was counted twice " * 3),
    "list": _set(note=["kelp", "dune"]),
}
