"""The check on pairs of text and summary by people: what was planted is found, what is faithful passes.

`python -m tests.summary.fidelity.score -v` prints precision and recall by kind, each miss and false alarm;
docs/fidelity.md keeps the table.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from castore.summary.fidelity.check import check_text
from castore.summary.fidelity.kinds import KINDS
from tests.summary.fidelity.pairs import PAIRS, Pair, read_pairs, score
from tests.summary.fidelity.score import table

FIRST = read_pairs(sorted(PAIRS.glob("*.toml")))
"""Those that the check was made with: all is found, and nothing else."""
MORE = read_pairs(sorted((PAIRS / "more").glob("*.toml")))
"""By other writers."""
PAGE = Path(__file__).parents[3] / "docs/fidelity.md"


class TestPairs:
    def test_there_are_enough_of_them_half_with_faults_in_both_languages(self) -> None:
        for language in ("english", "chinese"):
            pairs = read_pairs([PAIRS / f"{language}.toml"])
            assert len(pairs) >= 20
            assert sum(bool(pair.planted) for pair in pairs) * 2 == len(pairs)
        kinds = {planted.kind for pair in FIRST for planted in pair.planted}
        assert kinds == {kind.name for kind in KINDS}

    def test_faults_stand_where_they_say(self) -> None:
        for pair in (*FIRST, *MORE):
            for planted in pair.planted:
                text = pair.summary if planted.change == "invented" else pair.source
                assert planted.text in text, (pair.name, planted)
                assert planted.found is None or planted.found in pair.summary, (pair.name, planted)

    @pytest.mark.parametrize("pair", FIRST, ids=lambda pair: pair.name)
    def test_every_fault_is_found_and_nothing_else(self, pair: Pair) -> None:
        result = score([pair])
        assert result.misses == []
        assert result.false_alarms == []

    def test_so_it_is_nearly_where_the_writers_were_others(self) -> None:
        result = score(MORE)
        total = result.total
        assert total.found / total.planted >= 0.9, result.misses
        assert result.alarmed * 8 <= result.faithful, result.false_alarms

    def test_each_text_holds_itself(self) -> None:
        for pair in (*FIRST, *MORE):
            for text in (pair.source, pair.summary):
                assert check_text(text, text).findings == ()
                assert all(each.change == "lost" for each in check_text("", text).findings)


class TestThePage:
    def test_has_the_figures(self) -> None:
        page = PAGE.read_text("utf-8")
        for pairs in (FIRST, MORE):
            assert table(score(pairs)) in page, "python -m tests.summary.fidelity.score FILES"
