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
from castore.transcript.model import Transcript
from castore.transcript.render import Rendered, render
from castore.transcript.strategies import decide, find_strategies

__all__ = ["STEPS", "Budget", "Fitted", "fit"]

STEPS = (
    "the strategies asked for",
    "repeated results point to the first (dedupe-reads)",
    "the boundary stands at the last turn (--step 1)",
    "results are clipped (clip)",
    "the oldest payloads leave, whole, until it fits (cap)",
    "prose leaves too, the oldest first (cap, with --allow-prose)",
)

_WRITTEN = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kKmM]?)(?:-?([a-zA-Z]+))?")
_FACTORS = {"": 1, "k": 1000, "m": 1_000_000}
_MARGIN = 0.98
"""Tokens do not add up: a cap in bytes aims a little below, and is tried again lower if it misses."""


@dataclass(frozen=True, slots=True)
class Budget:
    """limit: bytes of the view, or tokens of it."""

    limit: int
    is_tokens: bool = False

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
        limit = int(float(match[1]) * _FACTORS[match[2].lower()])
        if limit < 1:
            raise InvalidOption("a budget must be at least 1")
        return cls(limit, unit.startswith("token"))

    def __str__(self) -> str:
        return f"{self.limit}-tokens" if self.is_tokens else str(self.limit)

    def measure(self, rendered: Rendered) -> int:
        """What a view takes of it."""
        if not self.is_tokens:
            return rendered.size
        from castore.transcript import tokens

        return tokens.count(b"".join(rendered.pieces()))[0]


@dataclass(frozen=True)
class Fitted:
    """What was decided. strategies: ids of those that were taken. level: of STEPS, from 0."""

    decisions: dict[int, Decision]
    rendered: Rendered
    strategies: tuple[str, ...]
    options: ViewOptions
    level: int


def fit(
    transcript: Transcript,
    names: tuple[str, ...],
    options: ViewOptions,
    budget: Budget,
    *,
    allow_prose: bool = False,
) -> Fitted:
    """The first of the steps whose view is within the budget. Raises LimitExceeded if none is."""
    last: Fitted | None = None
    for level, (strategies, chosen) in enumerate(_steps(transcript, names, options, budget, allow_prose)):
        found = find_strategies(strategies)
        decisions = decide(transcript, found, chosen)
        rendered = render(transcript, decisions, chosen)
        last = Fitted(decisions, rendered, tuple(str(each.id) for each in found), chosen, level)
        if budget.measure(rendered) <= budget.limit:
            return last
    assert last is not None
    unit = "tokens" if budget.is_tokens else "bytes"
    raise LimitExceeded(
        f"the view takes {budget.measure(last.rendered):,} {unit} with all that may leave gone; "
        f"the budget is {budget.limit:,}",
        limit="budget",
        hint="raise the budget, or let the oldest prose leave with --allow-prose"
        if not allow_prose
        else "raise the budget: what is left is the last turn, calls and what ties them together",
        needed=budget.measure(last.rendered),
    )


def _steps(
    transcript: Transcript, names: tuple[str, ...], options: ViewOptions, budget: Budget, allow_prose: bool
) -> Iterator[tuple[tuple[str, ...], ViewOptions]]:
    """Strategies and options of each step, in order."""

    def more(*added: str) -> tuple[str, ...]:
        return (*names, *(each for each in added if each not in names))

    yield names, options
    yield more("dedupe-reads"), options
    closer = replace(options, step=1)
    yield more("dedupe-reads"), closer
    yield more("dedupe-reads", "clip"), closer
    for is_prose in (False, True) if allow_prose else (False,):
        for share in (1.0, 0.75, 0.5, 0.25) if budget.is_tokens else (1.0,):
            cap_bytes = _cap_bytes(transcript, budget, share)
            capped = replace(closer, cap_bytes=cap_bytes, cap_prose=is_prose)
            yield more("dedupe-reads", "clip", "cap"), capped


def _cap_bytes(transcript: Transcript, budget: Budget, share: float) -> int:
    if not budget.is_tokens:
        return budget.limit
    from castore.transcript import tokens

    count = max(tokens.count(transcript.source)[0], 1)
    return int(budget.limit * len(transcript.source) / count * share * _MARGIN)
