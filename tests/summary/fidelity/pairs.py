"""Pairs of a text and its summary, written by hand, and how well the check does on them.

A planted fault is found if a finding has its change, one of its kinds, and its words (the one in the other,
white space and case aside). A finding is right if it is about a planted fault's words, whatever its kind:
what is a deadline may be a duration as well.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from castore.summary.fidelity.check import check_text
from castore.summary.fidelity.model import Finding

__all__ = ["PAIRS", "Pair", "Planted", "Score", "here", "read_pairs", "score"]


PAIRS = Path(__file__).parent.parent / "pairs"
"""Of each language a file; in `more`, those of other writers."""


@dataclass(frozen=True)
class Planted:
    change: str
    kind: str
    text: str
    found: str | None = None
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    name: str
    source: str
    summary: str
    planted: tuple[Planted, ...]


@dataclass
class Tally:
    planted: int = 0
    found: int = 0
    told: int = 0
    right: int = 0


@dataclass
class Score:
    """misses, false_alarms: a line each. faithful: pairs without faults; alarmed: those with a finding."""

    kinds: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    misses: list[str] = field(default_factory=list)
    false_alarms: list[str] = field(default_factory=list)
    faithful: int = 0
    alarmed: int = 0

    @property
    def total(self) -> Tally:
        return Tally(*(sum(getattr(each, name) for each in self.kinds.values()) for name in _NAMES))


_NAMES = ("planted", "found", "told", "right")


def here() -> list[Path]:
    return sorted(PAIRS.rglob("*.toml"))


def read_pairs(paths: Iterable[Path]) -> list[Pair]:
    return [_pair(table) for path in paths for table in tomllib.loads(path.read_text("utf-8"))["pair"]]


def score(pairs: Iterable[Pair]) -> Score:
    result = Score()
    for pair in pairs:
        findings = check_text(pair.summary, pair.source).findings
        result.faithful += not pair.planted
        result.alarmed += not pair.planted and bool(findings)
        for planted in pair.planted:
            tally = result.kinds[planted.kind]
            tally.planted += 1
            if any(_is_found(planted, finding) for finding in findings):
                tally.found += 1
            else:
                near = [
                    f"{each.change} {each.kind} '{each.text}'"
                    for each in findings
                    if _is_about(planted, each)
                ]
                told = f" (told: {'; '.join(near)})" if near else ""
                words = f" -> '{planted.found}'" if planted.found else ""
                result.misses.append(
                    f"{pair.name}: {planted.change} {planted.kind} '{planted.text}'{words}{told}"
                )
        for finding in findings:
            tally = result.kinds[finding.kind]
            tally.told += 1
            if any(_is_about(planted, finding) for planted in pair.planted):
                tally.right += 1
            else:
                found = f" -> '{finding.found}'" if finding.found else ""
                mark = " (faithful)" if not pair.planted else ""
                result.false_alarms.append(
                    f"{pair.name}{mark}: {finding.change} {finding.kind} '{finding.text}'{found}"
                )
    return result


def _is_found(planted: Planted, finding: Finding) -> bool:
    kinds = (planted.kind, *planted.also)
    return finding.change == planted.change and finding.kind in kinds and _is_about(planted, finding)


def _is_about(planted: Planted, finding: Finding) -> bool:
    ours = [_plain(each) for each in (finding.text, finding.found) if each]
    theirs = [_plain(each) for each in (planted.text, planted.found) if each]
    return any(one in other or other in one for one in ours for other in theirs)


def _plain(text: str) -> str:
    return "".join(text.split()).lower()


def _pair(table: dict[str, Any]) -> Pair:
    planted = tuple(
        Planted(each["change"], each["kind"], each["text"], each.get("found"), tuple(each.get("also", ())))
        for each in table.get("planted", ())
    )
    return Pair(table["name"], table["source"], table["summary"], planted)
