"""Measurements: much of the same, and one that isn't."""

from __future__ import annotations

import json
import math
from random import Random
from typing import Any

from tests.retrieve.needles.needle import Needle, compact, day, iso, needle, pretty, sentence, spot, text

_START = 1_777_600_000


@needle(1500, 20_000)
def spike(rng: Random, count: int) -> Needle:
    """Pairs of a time and a value."""
    pairs = [[_START + n * 15, round(40 + 9 * math.sin(n / 60) + rng.gauss(0, 2), 2)] for n in range(count)]
    pairs[spot(rng, count, "any")][1] = 98231.75
    return Needle(compact(pairs), "98231.75")


@needle(400, 12_000)
def probe_without_a_value(rng: Random, count: int) -> Needle:
    rows: list[dict[str, Any]] = [
        {
            "at": iso(n * 300),
            "celsius": round(4 + rng.gauss(0, 0.6), 1),
            "humidity": rng.randrange(60, 75),
            "door": "shut",
            "by": f"probe {n % 7}",
        }
        for n in range(count)
    ]
    rows[spot(rng, count, "any")] |= {"celsius": None, "by": "spare probe of Ines"}
    return Needle(compact(rows), "spare probe of Ines")


@needle(4000, 40_000)
def text_among_numbers(rng: Random, count: int) -> Needle:
    values: list[Any] = [round(rng.gauss(12.2, 0.3), 3) for _ in range(count)]
    values[spot(rng, count, "middle")] = "sensor dark since 04:17"
    return Needle(json.dumps(values).encode(), "sensor dark since 04:17")


@needle(60, 1500)
def range_query(rng: Random, count: int) -> Needle:
    """Series with labels and values as strings; one has a label more."""
    result: list[dict[str, Any]] = []
    for n in range(count):
        labels = {
            "__name__": "queue_depth",
            "instance": f"10.4.0.{n % 250}:9100",
            "job": "queue",
            "shard": str(n),
        }
        values: list[Any] = [[_START + k * 60, str(rng.randrange(200))] for k in range(16)]
        result.append({"metric": labels, "values": values})
    result[spot(rng, count, "any")]["metric"]["drain"] = "until Raj returns"
    return Needle(
        compact({"status": "success", "data": {"resultType": "matrix", "result": result}}),
        "until Raj returns",
    )


@needle(500, 12_000)
def track_that_jumps(rng: Random, count: int) -> Needle:
    """Positions along a way, and one far from it."""
    rows = [
        {
            "n": n,
            "lat": round(47.1 + n * 1e-5 + rng.gauss(0, 1e-6), 6),
            "lon": round(8.2 + n * 2e-5, 6),
            "fix": f"sat{rng.randrange(5, 12)}",
        }
        for n in range(count)
    ]
    rows[spot(rng, count, "any")] |= {"lat": -33.856784, "lon": 151.215297, "fix": "operator typed it"}
    return Needle(compact(rows), "operator typed it")


@needle(400, 9000)
def out_of_order(rng: Random, count: int) -> Needle:
    """Times go up but once; nothing else about that row is odd."""
    rows = [
        {"seq": 5000 + n, "at": iso(n * 37), "reading": rng.randrange(100, 999), "memo": sentence(rng)}
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    rows[at] |= {"seq": 4111, "at": iso(-86_400 * 3), "memo": "our partner repacked the icon at the gate"}
    return Needle(compact(rows), "repacked the icon")


@needle(500, 12_000)
def columns_of_vmstat(rng: Random, count: int) -> Needle:
    """Numbers in columns, and one line of words."""
    lines = [
        f"{rng.randrange(4):>2} {0:>2} {0:>6} {rng.randrange(80_000, 90_000):>8} {rng.randrange(9000):>6} "
        f"{rng.randrange(40):>4} {rng.randrange(90):>4} {rng.randrange(900):>5} "
        f"{rng.randrange(20):>3} {rng.randrange(9):>3}"
        for _ in range(count)
    ]
    lines[spot(rng, count, "any")] = "--- suspended 03:12, lid closed, woke 07:40 ---"
    return Needle(text(lines), "lid closed, woke 07:40")


@needle(1500, 20_000)
def counts_by_hour(rng: Random, count: int) -> Needle:
    """An object of numbers; the fact is the name of the one that is below zero."""
    hours = {iso(n * 3600)[:13]: rng.randrange(300, 500) for n in range(count)}
    name = list(hours)[spot(rng, count, "any")]
    hours[name] = -70_412
    return Needle(pretty(hours), name)


@needle(350, 9000)
def candles(rng: Random, count: int) -> Needle:
    """A trading day that was none."""
    rows: list[dict[str, Any]] = []
    price = 100.0
    for n in range(count):
        close = price * (1 + rng.gauss(0, 0.01))
        rows.append(
            {
                "day": day(n),
                "open": round(price, 2),
                "close": round(close, 2),
                "volume": rng.randrange(10**5, 10**6),
            }
        )
        price = close
    rows[spot(rng, count, "any")] |= {"volume": 0, "halt": "pending letter from the exchange in Riga"}
    return Needle(pretty(rows, 1), "pending letter from the exchange in Riga")


@needle(700, 15_000)
def asked_by_time(rng: Random, count: int) -> Needle:
    """Nothing is odd; the minute is known."""
    rows = [[iso(n * 60), rng.randrange(100, 400), rng.randrange(10_000, 99_999)] for n in range(count)]
    at = spot(rng, count, "any")
    return Needle(compact(rows), str(rows[at][2]), str(rows[at][0]))


@needle(350, 9000)
def battery_log(rng: Random, count: int) -> Needle:
    """A wrong unit: thousands where all have units."""
    rows = [
        {
            "cell": n % 96,
            "volts": round(rng.uniform(3.6, 4.1), 3),
            "temp": rng.randrange(18, 31),
            "batch": f"B{rng.randrange(40)}",
        }
        for n in range(count)
    ]
    rows[spot(rng, count, "last")] |= {"volts": 3912.0, "batch": "B-refurb/Tampere"}
    return Needle(json.dumps(rows).encode(), "B-refurb/Tampere")
