"""Rows of several kinds, series and random tokens: what stands apart among its like, and what is chance."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from castore.overview.model import Outlier
from castore.overview.overview import overview
from castore.overview.series import spikes
from castore.overview.tokens import hide_tails, hide_tokens

Row = dict[str, Any]
WORDS = ["lamp", "stone", "river", "cloud", "field", "harbor", "engine"]
VERSIONS = {"pay": "2.4.1", "auth": "1.9.0", "mail": "3.0.2"}


def outliers(rows: list[Row]) -> tuple[Outlier, ...]:
    return overview(json.dumps(rows).encode()).outliers


def services(rng: random.Random, at: int) -> Row:
    name = rng.choice(list(VERSIONS))
    return {"at": at, "svc": name, "version": VERSIONS[name], "node": f"n{rng.randrange(900)}"}


def money(rng: random.Random, at: int) -> Row:
    kind = rng.choice(("sale", "sale", "refund"))
    amount = round(rng.lognormvariate(3, 0.8), 2)
    return {"at": at, "kind": kind, "amount": amount if kind == "sale" else -amount}


def ages(rng: random.Random, at: int) -> Row:
    group = rng.choice(("pupil", "teacher"))
    return {"at": at, "group": group, "age": rng.uniform(7, 18) if group == "pupil" else rng.uniform(26, 66)}


def drafts(rng: random.Random, at: int) -> Row:
    state = rng.choice(("draft", "live"))
    price = None if state == "draft" else round(rng.uniform(3, 90), 2)
    return {"at": at, "state": state, "price": price, "title": rng.choice(WORDS)}


def messages(rng: random.Random, at: int) -> Row:
    channel = rng.choice(("sms", "mail"))
    to = f"+49{rng.randrange(10**9, 10**10)}" if channel == "sms" else f"{rng.choice(WORDS)}{at}@corp.example"
    return {"at": at, "channel": channel, "to": to}


def events(rng: random.Random, at: int) -> Row:
    kind = rng.choices(("click", "view", "buy"), (60, 35, 5))[0]
    row: Row = {"at": at, "type": kind, "user": f"u{rng.randrange(500)}"}
    if kind == "click":
        return {**row, "x": rng.randrange(900), "y": rng.randrange(900)}
    if kind == "view":
        return {**row, "page": rng.choice(WORDS)}
    return {**row, "amount": rng.uniform(5, 90), "items": [1] * rng.randrange(1, 5)}


def hybrid(row: Row) -> Row:
    return {"at": row["at"], "type": "click", "user": "u7", "amount": 18.4, "items": [1]}


CLASSES: dict[str, tuple[Callable[[random.Random, int], Row], Callable[[Row], Row]]] = {
    "category": (services, lambda row: {**row, "svc": "pay", "version": VERSIONS["auth"]}),
    "sign": (money, lambda row: {**row, "kind": "sale", "amount": -32.4}),
    "number": (ages, lambda row: {**row, "group": "pupil", "age": 61.0}),
    "null": (drafts, lambda row: {**row, "state": "live", "price": None}),
    "form": (messages, lambda row: {**row, "channel": "mail", "to": "+4915550199"}),
    "members": (events, hybrid),
    "empty": (events, lambda row: {"at": row["at"], "type": "buy", "user": "u7", "amount": 9.5, "items": []}),
}


class TestClasses:
    """What is common among all, but not among the rows of its class, stands apart; what a class has does
    not."""

    @pytest.mark.parametrize("kind", CLASSES)
    def test_the_one_unlike_its_class_comes_first(self, kind: str) -> None:
        make, spoil = CLASSES[kind]
        for at in (0, 777, 1999):
            rng = random.Random(kind)
            rows = [make(rng, n) for n in range(2000)]
            rows[at] = spoil(rows[at])
            found = outliers(rows)
            assert found, at
            assert (found[0].place.item, found[0].more) == (at, 0)

    @pytest.mark.parametrize("kind", CLASSES)
    @pytest.mark.parametrize("count", [240, 2000])
    def test_classes_alone_are_none(self, kind: str, count: int) -> None:
        rng = random.Random(f"{kind} {count}")
        assert outliers([CLASSES[kind][0](rng, n) for n in range(count)]) == ()

    def test_columns_that_say_nothing_of_each_other_have_none(self) -> None:
        rng = random.Random(8)
        rows = [
            {f"k{n}": rng.choices("abcde", (40, 30, 20, 8, 2))[0] for n in range(10)} for _ in range(3000)
        ]
        assert outliers(rows) == ()

    def test_one_empty_list_among_short_ones(self) -> None:
        rng = random.Random(3)
        rows = [{"at": n, "by": [rng.choice(WORDS)] * rng.randrange(1, 4)} for n in range(300)]
        rows[123]["by"] = []
        assert outliers(rows)[0].place.item == 123


def smooth(rng: random.Random, count: int) -> list[float]:
    return [round(12 + 9 * math.sin(at / 15) + rng.gauss(0, 0.4), 1) for at in range(count)]


def levels(rng: random.Random, count: int) -> list[float]:
    return [(20.0 if at // 90 % 2 else 60.0) + rng.gauss(0, 0.3) for at in range(count)]


class TestSeries:
    """A number unlike its neighbours stands apart where the others are like theirs, and nowhere else."""

    @pytest.mark.parametrize("make", [smooth, levels])
    def test_a_spike_within_the_range_of_all(self, make: Callable[[random.Random, int], list[float]]) -> None:
        numbers = make(random.Random(1), 900)
        low, high = min(numbers), max(numbers)
        numbers[431] = low + 1 if numbers[431] > (low + high) / 2 else high - 1
        assert [at for at, _ in spikes(numbers)] == [431]

    @pytest.mark.parametrize("make", [smooth, levels])
    @pytest.mark.parametrize("seed", range(5))
    def test_without_one_there_is_none(
        self, make: Callable[[random.Random, int], list[float]], seed: int
    ) -> None:
        assert spikes(make(random.Random(seed), 900)) == []

    @pytest.mark.parametrize("seed", range(5))
    def test_numbers_without_order_have_none(self, seed: int) -> None:
        rng = random.Random(seed)
        assert spikes([rng.lognormvariate(3, 1.2) for _ in range(900)]) == []


def hexes(rng: random.Random, length: int) -> str:
    return f"{rng.getrandbits(4 * length):0{length}x}"


TOKENS: dict[str, Callable[[random.Random], str]] = {
    "after an underscore": lambda rng: "ord_" + hexes(rng, 10),
    "after letters": lambda rng: "tx" + hexes(rng, 8),
    "after ever other words": lambda rng: rng.choice(WORDS) + hexes(rng, 3),
    "capital letters": lambda rng: "S" + hexes(rng, 6).upper(),
    "short digests": lambda rng: hexes(rng, 7),
    "before an ending": lambda rng: f"{rng.choice(WORDS)}_{hexes(rng, 5)}.{rng.choice(('py', 'so'))}",
    "base 62": lambda rng: "U" + "".join(rng.choices("ABCDEFGHabcdefgh0123456789", k=8)),
}


class TestTokens:
    """Random tokens without digits, or without letters, are chance; what is no such token stands apart."""

    @pytest.mark.parametrize("kind", TOKENS)
    def test_none_stands_apart(self, kind: str) -> None:
        rng = random.Random(kind)
        assert outliers([{"key": TOKENS[kind](rng), "n": rng.randrange(90)} for _ in range(3000)]) == ()

    def test_in_lines(self) -> None:
        rng = random.Random(5)
        lines = [f"fetched {rng.choice(WORDS)} at node={hexes(rng, 4)} ok" for _ in range(2000)]
        assert overview("\n".join(lines).encode()).outliers == ()

    def test_numbers_stay_numbers(self) -> None:
        lines = "\n".join(f"took {n} ms of {hexes(random.Random(n), 5)}" for n in range(100, 400))
        assert hide_tokens(lines, lines).startswith("took 100 ms of ~\n")

    def test_what_is_no_tail_stays(self) -> None:
        rng = random.Random(1)
        texts = ["ord_" + hexes(rng, 10) for _ in range(100)]
        texts[40] = "by hand"
        hidden = hide_tails(texts)
        assert set(hidden) == {"ord_~", "by hand"}


class TestChance:
    """What a few in a hundred have is no outlier, nor what is written shorter by chance."""

    def test_values_of_a_few_in_a_hundred(self) -> None:
        rng = random.Random(2)
        rows = [{"at": n, "retry": rng.choices((0, 1, 2), (90, 7.5, 2.5))[0]} for n in range(4000)]
        assert outliers(rows) == ()

    def test_members_of_a_few_in_a_hundred(self) -> None:
        rng = random.Random(2)
        rows = [{"at": n} | ({"note": rng.random()} if rng.random() < 0.03 else {}) for n in range(4000)]
        assert outliers(rows) == ()

    def test_zeros_cut_from_the_end_of_times(self) -> None:
        rng = random.Random(6)
        stamps = [
            f"2026-03-01T{n // 60:02d}:{n % 60:02d}:07.{rng.randrange(1000, 9999)}" for n in range(1400)
        ]
        rows = [{"at": stamp.rstrip("0") + "Z", "n": rng.randrange(50)} for stamp in stamps]
        assert outliers(rows) == ()

    def test_a_changed_sign_outranks_a_rare_value(self) -> None:
        rng = random.Random(4)
        rows = [{"at": n, "total": rng.uniform(20, 90), "state": rng.choice(("a", "b"))} for n in range(600)]
        rows[99]["state"] = "c"
        rows[400]["total"] = -rows[400]["total"]
        assert [each.place.item for each in outliers(rows)][:2] == [400, 99]

    def test_no_reason_is_said_twice(self) -> None:
        rng = random.Random(4)
        rows = [{"at": n, "dur": f"{rng.randrange(20, 60)}ms"} for n in range(600)]
        rows[333]["dur"] = "9120ms"
        assert sum("9120" in reason for reason in outliers(rows)[0].reasons) == 1
