"""What was planted is found by show, one search and one read, in less than 2,000 bytes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.retrieve.needles.agent import Outcome, search
from tests.retrieve.needles.needle import Maker, Needle, makers
from tests.retrieve.needles.shell import Shell

ALL = makers()
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")


def by_name(each: Maker) -> str:
    return each.name


def said(made: Needle) -> str:
    """The data, with escaped characters as what they stand for."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), made.data.decode())


@pytest.fixture
def shell(fast_path: Path) -> Shell:
    return Shell(fast_path)


def misses(shell: Shell, family: str, *, is_large: bool) -> list[str]:
    found = []
    chosen = [each for each in ALL if each.family == family]
    needles = [each.made(is_large=is_large) for each in chosen]
    references = shell.put([each.data for each in needles])
    for each, made, reference in zip(chosen, needles, references, strict=True):
        outcome = search(shell.run, reference, made)
        if not outcome.is_found:
            found.append(f"{each.name}: by {outcome.by}, {outcome.size} bytes")
    return found


@pytest.mark.parametrize("family", sorted({each.family for each in ALL}))
class TestPlantedFact:
    def test_is_found(self, shell: Shell, family: str) -> None:
        assert misses(shell, family, is_large=False) == []

    @pytest.mark.long
    def test_is_found_in_much(self, shell: Shell, family: str) -> None:
        assert misses(shell, family, is_large=True) == []


class TestNeedles:
    """They are what they say: otherwise a find would show nothing."""

    @pytest.mark.parametrize("maker", ALL, ids=by_name)
    def test_hold_the_fact_once(self, maker: Maker) -> None:
        made = maker.made()
        assert 15_000 < len(made.data) < 5_500_000
        assert said(made).count(made.fact) == 1
        if made.pattern is not None:
            assert re.search(made.pattern, said(made).replace("\\", ""), re.MULTILINE)
        assert made == maker.made()

    def test_are_many_and_some_of_them_beyond_guessing(self) -> None:
        unguessable = [each.name for each in ALL if each.made().pattern is None]
        assert len(ALL) >= 60
        assert len(ALL) // 3 <= len(unguessable)


class TestAgent:
    """It takes what it is told and no more; answers are canned here."""

    def agent(self, answers: dict[str, str], pattern: str | None) -> Outcome:
        def run(arguments: list[str]) -> str:
            return answers.get(" ".join(arguments), "")

        return search(run, "abc", Needle(b"", "the fact", pattern))

    def test_stops_where_the_fact_is(self) -> None:
        grep = "grep -m 5 --json odd abc"
        assert self.agent({"show abc": "the fact"}, "odd").by == "show"
        assert self.agent({grep: '{"excerpt": "the fact"}'}, "odd").by == "grep"
        first = '{"address": ["abc", "--items", "3"]}\n{"address": ["abc", "--items", "4"]}'
        assert self.agent({grep: first, "cat abc --items 3": "the fact"}, "odd").by == "cat"
        assert self.agent({grep: first, "cat abc --items 4": "the fact"}, "odd").by is None

    def test_reads_two_outliers_where_nothing_can_be_searched(self) -> None:
        told = ", ".join(f'{{"address": ["abc", "--lines", "{n}"]}}' for n in range(3))
        shown = {"show --json abc": f'{{"outliers": [{told}]}}'}
        assert self.agent({**shown, "cat abc --lines 1": "the fact"}, None).by == "outlier"
        assert self.agent({**shown, "cat abc --lines 2": "the fact"}, None).by is None

    def test_what_is_too_long_is_not_found(self) -> None:
        outcome = self.agent({"show abc": f"the fact{'é' * 1000}"}, None)
        assert outcome.by == "show"
        assert outcome.size == 2008
        assert not outcome.is_found

    def test_reads_escapes(self) -> None:
        assert search(lambda _: r"\\u9000\u6b3e", "abc", Needle(b"", "退款")).by == "show"
