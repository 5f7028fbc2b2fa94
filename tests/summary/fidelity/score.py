"""Precision and recall of the check, by kind: `python -m tests.summary.fidelity.score [-v] [FILE…]`.

FILE: pairs of text and summary in TOML, as in tests/summary/pairs; those, if none is given. -v: each miss and
each false alarm too.
"""

from __future__ import annotations

import sys
from pathlib import Path

from castore.summary.fidelity.kinds import KINDS
from tests.summary.fidelity.pairs import Score, Tally, here, read_pairs, score

__all__ = ["table"]


def table(result: Score) -> str:
    """A Markdown table, a line a kind; recall is of planted faults, precision of findings."""
    lines = [
        "| kind | planted | found | recall | told | right | precision |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in [kind.name for kind in KINDS if kind.name in result.kinds]:
        lines.append(_line(name, result.kinds[name]))
    lines.append(_line("all", result.total))
    lines.append(f"\nFaithful pairs: {result.faithful}; with a false alarm: {result.alarmed}.")
    return "\n".join(lines)


def _line(name: str, tally: Tally) -> str:
    recall = f"{tally.found / tally.planted:.2f}" if tally.planted else "-"
    precision = f"{tally.right / tally.told:.2f}" if tally.told else "-"
    cells = (name, tally.planted, tally.found, recall, tally.told, tally.right, precision)
    return "| " + " | ".join(map(str, cells)) + " |"


def main(arguments: list[str]) -> None:
    paths = [Path(each) for each in arguments if each != "-v"] or here()
    result = score(read_pairs(paths))
    print(table(result))
    if "-v" in arguments:
        print("\nMissed:", *result.misses, sep="\n  ")
        print("\nFalse alarms:", *result.false_alarms, sep="\n  ")


if __name__ == "__main__":
    main(sys.argv[1:])
