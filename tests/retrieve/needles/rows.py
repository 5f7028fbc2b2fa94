"""Arrays of rows, as a backend gives them."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.retrieve.needles.needle import Needle, compact, day, iso, needle, pretty, sentence, spot

_NAMES = [
    "Anna",
    "Bela",
    "Chidi",
    "Dana",
    "Emil",
    "Fatou",
    "Goran",
    "Hana",
    "Ivo",
    "Jana",
    "Karim",
    "Lena",
    "Maya",
    "Noor",
    "Olek",
    "Pia",
]
_CITIES = ["Lyon", "Graz", "Porto", "Gdansk", "Turku", "Bergen", "Ghent", "Brno", "Split", "Cork"]


@needle(400, 12_000)
def refunded(rng: Random, count: int) -> Needle:
    """A rare status; the fact is in a field that is empty elsewhere."""
    at = spot(rng, count, "any")
    rows = [
        {
            "id": n + 1,
            "status": 200,
            "host": f"web-{rng.randrange(40):02}",
            "ms": rng.randrange(3, 90),
            "note": None,
        }
        for n in range(count)
    ]
    rows[at] |= {"status": 500, "note": "refund approved by Mei on 3 May"}
    return Needle(compact(rows), "refund approved by Mei on 3 May")


@needle(120, 4000)
def wide_user_on_hold(rng: Random, count: int) -> Needle:
    """Forty columns; one row has a key more."""
    rows = []
    for n in range(count):
        row: dict[str, Any] = {"user_id": n + 40_001, "email": f"{rng.choice(_NAMES).lower()}{n}@example.org"}
        row |= {"city": rng.choice(_CITIES), "created": day(-rng.randrange(900)), "active": True}
        row |= {f"pref_{k:02}": rng.choice((0, 1, 1, 1)) for k in range(35)}
        rows.append(row)
    rows[-1]["legal_hold"] = "hold set by Priya Raman, case 7741"
    return Needle(json.dumps(rows).encode(), "hold set by Priya Raman, case 7741")


@needle(500, 20_000)
def far_too_much(rng: Random, count: int) -> Needle:
    """An amount far out among amounts that vary much; the memo reads like the others."""
    rows = [
        {
            "payment": f"pay_{rng.getrandbits(48):012x}",
            "amount": round(rng.lognormvariate(4, 0.7), 2),
            "currency": rng.choice(("EUR", "EUR", "EUR", "CHF", "SEK")),
            "memo": f"invoice {rng.randrange(1000, 9999)}-{rng.choice('ABC')}",
        }
        for _ in range(count)
    ]
    rows[spot(rng, count, "any")] |= {"amount": 4_812_000.0, "memo": "invoice 22071-Q"}
    return Needle(compact(rows), "invoice 22071-Q")


@needle(300, 8000)
def one_long_comment(rng: Random, count: int) -> Needle:
    """Comments of a line, and one of a paragraph."""
    rows = [
        {"ticket": f"SUP-{n + 1200}", "agent": rng.choice(_NAMES), "comment": sentence(rng)}
        for n in range(count)
    ]
    told = [sentence(rng) for _ in range(10)]
    told.insert(6, "the spare key lies in locker 31 behind the boiler")
    rows[spot(rng, count, "middle")]["comment"] = "; ".join(told)
    return Needle(compact(rows), "the spare key lies in locker 31")


@needle(500, 9000)
def quantity_as_words(rng: Random, count: int) -> Needle:
    """A number everywhere, and a string in the first."""
    rows: list[dict[str, Any]] = [
        {
            "sku": f"{rng.choice('KLMP')}-{rng.randrange(10_000, 99_999)}",
            "qty": rng.randrange(400),
            "bin": n % 60,
        }
        for n in range(count)
    ]
    rows[0]["qty"] = "recount by Tomas: 14 crates missing"
    return Needle(json.dumps(rows).encode(), "recount by Tomas: 14 crates missing")


@needle(600, 15_000)
def tuples_with_a_fatal(rng: Random, count: int) -> Needle:
    """Rows that are arrays; the level is asked for, and what happened is two fields on."""
    rows: list[list[Any]] = [
        [n, iso(n * 7), rng.choice(("INFO", "INFO", "DEBUG", "WARN")), f"worker-{n % 9}", sentence(rng)]
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    rows[at] = [at, iso(at * 7), "FATAL", "worker-4", "journal of shard 17 is cut at 4096"]
    return Needle(compact(rows), "journal of shard 17 is cut at 4096", "FATAL")


@needle(500, 12_000)
def the_same_number_twice(rng: Random, count: int) -> Needle:
    """Ids are all different but for one that comes twice; all else in that row is as in others."""
    rows = [
        {
            "shipment": 70_000 + n,
            "state": "delivered",
            "bay": rng.randrange(1, 60),
            "seal": f"k-{n * 31 + 48_017}",
        }
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    rows[at]["shipment"] = rows[at - 10]["shipment"]
    return Needle(compact(rows), str(rows[at]["seal"]))


@needle(220, 5000)
def switched_off(rng: Random, count: int) -> Needle:
    """A flag that is true but once; written over many lines."""
    rows = [
        {
            "flag": f"{rng.choice(('checkout', 'search', 'mail', 'cart'))}.{rng.getrandbits(24):06x}",
            "enabled": True,
            "rollout": rng.choice((5, 25, 50, 100)),
            "owner": f"team-{rng.choice(_NAMES).lower()}",
            "changed": day(-rng.randrange(300)),
        }
        for _ in range(count)
    ]
    rows[spot(rng, count, "any")] |= {"enabled": False, "owner": "night-shift (ask Oyelaran)"}
    return Needle(pretty(rows), "ask Oyelaran")


@needle(260, 6000)
def many_positions(rng: Random, count: int) -> Needle:
    """An inner list much longer than the others."""
    rows = [
        {
            "order": f"A{n + 5000}",
            "positions": [rng.randrange(100, 999) for _ in range(rng.randrange(1, 5))],
            "ship_to": f"{rng.randrange(1, 90)} {rng.choice(('Mill', 'Dock'))} Street, {rng.choice(_CITIES)}",
        }
        for n in range(count)
    ]
    at = spot(rng, count, "middle")
    rows[at] |= {
        "positions": [rng.randrange(100, 999) for _ in range(64)],
        "ship_to": "9 Quay Street, Valletta",
    }
    return Needle(compact(rows), "9 Quay Street, Valletta")


@needle(400, 10_000)
def never_verified(rng: Random, count: int) -> Needle:
    """A key that all have but one."""
    rows = [
        {
            "account": f"{rng.choice(_NAMES).lower()}.{n}",
            "iban_tail": f"{rng.randrange(10_000):04}",
            "verified_at": iso(-rng.randrange(10**7)),
            "remark": sentence(rng),
        }
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    del rows[at]["verified_at"]
    rows[at]["remark"] = "opened for the Halloran trust"
    return Needle(compact(rows), "opened for the Halloran trust")


@needle(300, 7000)
def contract_of_a_name(rng: Random, count: int) -> Needle:
    """No row is odd; one is asked for by name, and the answer is far from the name."""
    rows = []
    for n in range(count):
        row = {"party": f"{rng.choice(_NAMES)} {rng.choice(('Bauer', 'Costa', 'Novak', 'Silva'))} {n}"}
        row |= {f"clause_{k}": sentence(rng) for k in range(8)}
        row["renewal"] = day(rng.randrange(30, 900))
        rows.append(row)
    at = spot(rng, count, "any")
    rows[at] |= {"party": "Odell & Daughters", "renewal": "30 February (sic)"}
    return Needle(compact(rows), "30 February (sic)", "Odell")


@needle(400, 9000)
def escalated_a_few_times(rng: Random, count: int) -> Needle:
    """What is searched for stands in four rows; the third has the fact beside it."""
    rows = [
        {"case": n, "queue": rng.choice(_CITIES), "log": [sentence(rng), sentence(rng)]} for n in range(count)
    ]
    for part, who in enumerate(("a lead", "the desk", "Director Amsel at 16:20", "a lead")):
        rows[count * (2 * part + 1) // 8]["log"] = [sentence(rng), f"escalated to {who}"]
    return Needle(compact(rows), "escalated to Director Amsel at 16:20", "escalated")


@needle(900, 20_000)
def narrow_and_unlike(rng: Random, count: int) -> Needle:
    """Strings alone, all of one form but for the last."""
    rows = [f"obj-{rng.getrandbits(64):016x}" for _ in range(count)]
    rows[-1] = "(listing stopped: token expired for bucket cold-7)"
    return Needle(json.dumps(rows, indent=0).encode(), "token expired for bucket cold-7")
