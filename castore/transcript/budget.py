"""Budget: strategies, one after another, until a view fits; and an error if it can't.

Law: the steps and their order are fixed (STEPS), each leaves more than the one before it, and the first whose
view fits is the one that is taken; so the same session and budget always give the same view. Prose is
never cut unless that was allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from castore.errors import InvalidOption, LimitExceeded
from castore.transcript.decision import Decision, ViewOptions
from castore.transcript.measure import Measured, Meter
from castore.transcript.model import Transcript
from castore.transcript.render import Rendered, render
from castore.transcript.strategies import decide, find_strategies

__all__ = ["STEPS", "Budget", "Fitted", "Measured", "fit"]

STEPS = (
    "the strategies asked for",
    "repeated results point to the first (dedupe-reads)",
    "the boundary stands at the last turn (--step 1)",
    "results are clipped (clip)",
    "the oldest payloads leave, whole, until it fits (cap)",
    "prose leaves too, the oldest first (cap, with --allow-prose)",
)

_WRITTEN = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)([kKmM]?)(?:-?([a-zA-Z]+))?")
_FACTORS = {"": 1, "k": 1000, "m": 1_000_000}
_MARGIN = 0.98
"""Tokens do not add up: a cap in bytes aims a little below, and is tried again lower if it misses."""
_SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)


@dataclass(frozen=True, slots=True)
class Budget:
    """limit: bytes of the view, as a file; or tokens of what the model gets of it
    (castore.transcript.measure)."""

    limit: int
    is_tokens: bool = False

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise InvalidOption("a budget must be at least 1")

    @classmethod
    def parse(cls, text: str) -> Budget:
        """`200000`, `150kB`, `30k-tokens`. Raises InvalidOption."""
        match = _WRITTEN.fullmatch(text.strip())
        unit = (match[3] or "").lower() if match else ""
        if match is None or unit not in ("", "b", "bytes", "tokens", "token"):
            raise InvalidOption(
                f"'{text}' is no budget",
                hint="say bytes (200000, 150kB) or tokens (30k-tokens)",
                subject=text,
            )
        return cls(int(float(match[1]) * _FACTORS[match[2].lower()]), unit.startswith("token"))

    def __str__(self) -> str:
        return f"{self.limit}-tokens" if self.is_tokens else str(self.limit)


@dataclass(frozen=True)
class Fitted:
    """What was decided. strategies: ids of those that were taken. level: of STEPS, from 0."""

    decisions: dict[int, Decision]
    rendered: Rendered
    strategies: tuple[str, ...]
    options: ViewOptions
    level: int
    measured: Measured


def fit(
    transcript: Transcript,
    names: tuple[str, ...],
    options: ViewOptions,
    budget: Budget,
    *,
    allow_prose: bool = False,
) -> Fitted:
    """The first of the steps whose view is within the budget. Raises LimitExceeded if none is."""
    meter = Meter(transcript, is_tokens=budget.is_tokens)
    last: Fitted | None = None
    for step in _steps(names, options, allow_prose):
        is_met = True
        for share in _SHARES if step.is_cap and budget.is_tokens else (1.0,):
            chosen = step.options
            if step.is_cap and last is not None:
                if share and not is_met:
                    continue  # A lower cap would not be met either, but for that of nothing.
                chosen = replace(chosen, cap_bytes=_cap_bytes(last, budget, meter, share))
            last = _fitted(transcript, step, chosen, meter)
            if last.measured.size <= budget.limit:
                return last
            is_met = last.rendered.size <= (chosen.cap_bytes or 0)
    assert last is not None
    raise LimitExceeded(
        f"the view takes {last.measured} with all that may leave gone; the budget is {budget.limit:,}",
        limit="budget",
        hint="raise the budget, or let the oldest prose leave with --allow-prose"
        if not allow_prose
        else "raise the budget: what is left is the last turn, calls and what ties them together",
        needed=last.measured.size,
        is_estimated=last.measured.is_estimated,
    )


# --- Helpers ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Step:
    """level: of STEPS. is_cap: its cap follows from what the step before it takes."""

    level: int
    names: tuple[str, ...]
    options: ViewOptions
    is_cap: bool = False


def _steps(names: tuple[str, ...], options: ViewOptions, allow_prose: bool) -> Iterator[_Step]:
    given = {name.partition("@")[0] for name in names}

    def more(*added: str) -> tuple[str, ...]:
        return (*names, *(each for each in added if each not in given))

    yield _Step(0, names, options)
    yield _Step(1, more("dedupe-reads"), options)
    closer = replace(options, step=1)
    yield _Step(2, more("dedupe-reads"), closer)
    yield _Step(3, more("dedupe-reads", "clip"), closer)
    for is_prose in (False, True) if allow_prose else (False,):
        capped = replace(closer, cap_prose=is_prose)
        yield _Step(5 if is_prose else 4, more("dedupe-reads", "clip", "cap"), capped, is_cap=True)


def _fitted(transcript: Transcript, step: _Step, options: ViewOptions, meter: Meter) -> Fitted:
    found = find_strategies(step.names)
    decisions = decide(transcript, found, options)
    rendered = render(transcript, decisions, options)
    taken = tuple(str(each.id) for each in found)
    return Fitted(decisions, rendered, taken, options, step.level, meter.measure(rendered))


def _cap_bytes(last: Fitted, budget: Budget, meter: Meter, share: float) -> int:
    """Bytes of a view that takes so much of the budget; of one in tokens about that: what is over leaves at
    as many bytes a token as its texts have now."""
    if not budget.is_tokens:
        return budget.limit
    if not share:
        return 0
    over = last.measured.size - budget.limit * share * _MARGIN
    return max(int(last.rendered.size - over * meter.bytes_a_token(last.rendered, last.measured)), 0)
