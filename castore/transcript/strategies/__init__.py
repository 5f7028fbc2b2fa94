"""Strategies: what leaves a view, and why. One file each; pure, named and versioned.

Law: strategies compose left to right: each sees the decisions made before it and gives all that hold then.
A changed decision for the same transcript is a new version.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from castore.errors import InvalidOption
from castore.transcript.decision import Act, Decision, Strategy, ViewOptions
from castore.transcript.model import Transcript
from castore.transcript.strategies.dedupe_reads import DedupeReads

__all__ = ["STRATEGY_NAMES", "decide", "find_strategies"]

_MODULES = {
    "transparent": "transparent",
    "collapse": "collapse",
    "tiered": "tiered",
    "dedupe-reads": "dedupe_reads",
    "clip": "clip",
    "cap": "cap",
}

STRATEGY_NAMES = tuple(_MODULES)


def find_strategies(names: Sequence[str]) -> list[Strategy]:
    """By `name` or `name@version`. Raises InvalidOption."""
    return [_find(name) for name in names]


def decide(
    transcript: Transcript, strategies: Sequence[Strategy], options: ViewOptions
) -> dict[int, Decision]:
    """The decisions of all of them, one after another.

    A marker never points to what does not stand in full when all have decided: such a part is no repeat, and
    they decide again. Each round finds more of those, or is the last.
    """
    lonely: frozenset[int] = frozenset()
    while True:
        decisions: dict[int, Decision] = {}
        for strategy in strategies:
            if isinstance(strategy, DedupeReads):
                strategy = strategy.without(lonely)
            decisions = strategy.decide(transcript, options, decisions)
        found = {
            index
            for index, decision in decisions.items()
            if decision.act is Act.SAME and decision.same_as in decisions
        }
        if not found:
            return decisions
        lonely |= found


def _find(text: str) -> Strategy:
    name, at, version = text.partition("@")
    module = _MODULES.get(name)
    if module is None:
        raise InvalidOption(
            f"there is no strategy '{name}'", hint=f"the strategies are: {', '.join(STRATEGY_NAMES)}"
        )
    found: Strategy = import_module(f"castore.transcript.strategies.{module}").STRATEGY
    if at and version != str(found.id.version):
        raise InvalidOption(f"strategy '{name}' has version {found.id.version} here, not '{version}'")
    return found
