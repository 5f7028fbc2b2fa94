"""What is said of a view's growth is what the views have in common, made one after another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from castore.report.model import StabilityFacts
from castore.report.stability import is_turn_by_turn, stability
from castore.transcript.decision import ViewOptions
from castore.transcript.model import Transcript
from castore.transcript.render import Rendered, render
from castore.transcript.view import ViewRequest, plan_view, session_transcript
from tests.transcript.growing import session
from tests.transcript.laws import prefixes

FIXTURES = Path(__file__).parents[1] / "transcript" / "fixtures"
LINES = sorted(FIXTURES.rglob("*.jsonl"))
STRATEGIES = ("transparent", "tiered", "dedupe-reads", "clip")
REQUESTS = {
    f"{strategy}, step {step}": ViewRequest((strategy,), ViewOptions(step=step, clip_characters=500))
    for strategy in STRATEGIES
    for step in (1, 3, 8)
}
RECORD_BEGINS = 200
"""Bytes: where a whole record leaves, what follows begins like it."""
SEVERAL = ViewRequest(("transparent", "dedupe-reads", "clip"), ViewOptions(step=2))


def told(data: bytes, request: ViewRequest) -> tuple[Transcript, StabilityFacts]:
    transcript = session_transcript(data, request)
    return transcript, stability("x", transcript, request)


def made(data: bytes, transcript: Transcript, request: ViewRequest) -> Iterator[tuple[bytes, bytes]]:
    """The view after each turn and that after the next, of what is viewed at the end."""
    views = [plan_view(each, request).to_bytes() for each in prefixes(data, transcript)]
    return pairwise(views)


def common(one: bytes, other: bytes) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def hold(data: bytes, request: ViewRequest, *, slack: int = 0) -> None:
    """slack: bytes that the views may have in common beyond what is told."""
    transcript, facts = told(data, request)
    views = list(made(data, transcript, request))
    assert len(facts.turns) == len(views)
    for each, (one, other) in zip(facts.turns, views, strict=True):
        assert each.first == each.last
        assert each.size == len(one), f"the view after turn {each.first}"
        found = common(one, other)
        assert each.kept <= found <= each.kept + slack, (
            f"what the view after turn {each.first + 1} begins with"
        )


class TestItIsWhatTheViewsHaveInCommon:
    @pytest.mark.parametrize("name", REQUESTS)
    @pytest.mark.parametrize("tool", ["pi", "claude-code"])
    def test_of_sessions_that_grow(self, tool: str, name: str) -> None:
        hold(session(26, tool), REQUESTS[name])

    @pytest.mark.parametrize("path", LINES, ids=lambda path: f"{path.parent.name}-{path.stem}")
    def test_of_fixtures(self, path: Path) -> None:
        """Of those that were viewed alike all along: a compaction is followed by another session's view."""
        data = path.read_bytes()
        for strategy in STRATEGIES:
            request = ViewRequest((strategy,), ViewOptions(step=1))
            transcript = session_transcript(data, request)
            if not transcript.leaves:
                hold(data, request, slack=RECORD_BEGINS)

    def test_of_several_strategies(self) -> None:
        hold(session(26, "claude-code"), SEVERAL)

    def test_a_step_of_the_boundary_shows(self) -> None:
        _, facts = told(session(26), REQUESTS["transparent, step 8"])
        assert any(each.kept < each.size for each in facts.turns)
        assert 0 < facts.kept < 1

    def test_what_decides_of_each_result_by_itself_keeps_all(self) -> None:
        for strategy in ("dedupe-reads", "clip"):
            _, facts = told(session(26), ViewRequest((strategy,)))
            assert facts.kept == 1.0


class TestWhatIsNotTold:
    def test_strategies_that_decide_by_a_total(self) -> None:
        assert is_turn_by_turn(ViewRequest(STRATEGIES))
        for request in (
            ViewRequest(("cap",)),
            ViewRequest(budget="9k-tokens"),
            ViewRequest(options=ViewOptions(max_prose=9)),
        ):
            assert not is_turn_by_turn(request)

    def test_an_empty_or_one_turn_session(self) -> None:
        _, facts = told(session(1), ViewRequest())
        assert (facts.kept, facts.turns) == (1.0, ())


class TestItIsBounded:
    def test_many_turns_are_told_together(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _, whole = told(session(30), ViewRequest())
        monkeypatch.setattr("castore.report.stability.TURNS_MAX", 7)
        _, facts = told(session(30), ViewRequest())
        assert len(facts.turns) <= 7
        assert sum(each.size for each in facts.turns) == sum(each.size for each in whole.turns)
        assert facts.kept == whole.kept

    def test_a_part_is_rendered_a_few_times_however_long_the_session(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rendered: list[int] = []

        def counting(transcript: Transcript, *rest: object) -> Rendered:
            rendered.append(len(list(transcript.parts)))
            return render(transcript, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr("castore.report.stability.render", counting)
        for strategy in STRATEGIES:
            for turns in (60, 240):
                rendered.clear()
                transcript, _ = told(session(turns), ViewRequest((strategy,)))
                assert sum(rendered) <= 4 * len(transcript.parts)
