"""Requirements: which share of a source's facts a summary must keep, by kind. Pure.

Laws:
- A summary meets a requirement if of the source's facts of that kind it kept that share. One of a kind that
  the source has no fact of is met. `all` is of the facts of all kinds together.
- What is changed is not kept; what is invented costs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from castore.errors import FidelityShort, InvalidOption
from castore.summary.fidelity.check import check_text
from castore.summary.fidelity.kinds import KINDS
from castore.summary.fidelity.model import Counts, Finding, Report
from castore.summary.fidelity.structured import FIELD

__all__ = ["ALL", "Shortfall", "fidelity_check", "parse_requirements", "shortfalls"]

ALL = "all"

_TINY = 1e-9
"""Shares are of whole facts; sums of decimals are not exact."""
_SHOWN = 3
_SHOWN_CHARACTERS = 60
_NAMED_MAX = 100
"""Facts that an error names for programs."""
_SEVERAL = {
    ALL: "facts",
    "money": "amounts of money",
    "percent": "percentages",
    "identifier": "identifiers",
    "email": "e-mail addresses",
    "code": "pieces of code",
    "url": "URLs",
}


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A requirement that is not met. missed: what was lost or changed of that kind."""

    kind: str
    required: float
    kept: int
    total: int
    missed: tuple[Finding, ...]

    @property
    def share(self) -> float:
        return self.kept / self.total

    def __str__(self) -> str:
        """`2 of 5 numbers (number=1 asked): '40 items' is lost, '12 GB' became '16 GB', and 1 more`."""
        named = _SEVERAL.get(self.kind, f"{self.kind}s")
        shown = [_told(each) for each in self.missed[:_SHOWN]]
        if len(self.missed) > _SHOWN:
            shown.append(f"and {len(self.missed) - _SHOWN:,} more")
        asked = f"{self.kind}={self.required:g} asked"
        return f"{self.kept:,} of {self.total:,} {named} ({asked}): {', '.join(shown)}"


def parse_requirements(given: Iterable[str]) -> dict[str, float]:
    """Shares by kind, of texts `number=1.0,condition=0.5`; of a kind that is named again the last counts.

    Raises InvalidOption for an unknown kind, or a share that is none.
    """
    known = [*(kind.name for kind in KINDS), FIELD, ALL]
    shares: dict[str, float] = {}
    for each in (part.strip() for text in given for part in text.split(",")):
        kind, _, written = (part.strip() for part in each.partition("="))
        if kind not in known:
            raise InvalidOption(
                f"'{each[:80]}' requires no kind of fact",
                option="--require",
                hint=f"it is KIND=SHARE; the kinds are {', '.join(known)}",
            )
        shares[kind] = _share(each, written)
    return shares


def shortfalls(report: Report, requirements: Mapping[str, float]) -> list[Shortfall]:
    """The requirements that a summary does not meet, in the order in which they were given."""
    found = []
    for kind, required in requirements.items():
        counts = _counts(report, kind)
        if counts.share + _TINY < required:
            missed = tuple(
                each for each in report.findings if each.change != "invented" and kind in (ALL, each.kind)
            )
            found.append(Shortfall(kind, required, counts.kept, counts.total, missed))
    return found


def fidelity_check(
    requirements: Mapping[str, float], *, question: str | None = None
) -> Callable[[str, str], None]:
    """What CollapseCoordinator takes as `require`: called with a summary and its source, as texts, it raises
    FidelityShort where the summary does not meet the requirements, and says what it lost."""
    asked = dict(requirements)

    def require(summary: str, source: str) -> None:
        found = shortfalls(check_text(summary, source, question=question), asked)
        if found:
            raise FidelityShort(
                f"the summary keeps {'; '.join(map(str, found))}",
                short=[f"{each.kind}={each.share:g}" for each in found],
                missed=[finding.text for each in found for finding in each.missed][:_NAMED_MAX],
            )

    return require


# --- Helpers ---------------------------------------------------------------------------------------


def _share(each: str, written: str) -> float:
    try:
        share = float(written)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InvalidOption(
            f"'{each[:80]}' asks for no share",
            option="--require",
            hint="a share is 0 to 1: number=1.0 asks for all numbers",
        )
    return share


def _counts(report: Report, kind: str) -> Counts:
    if kind != ALL:
        return report.counts.get(kind, Counts(0, 0, 0, 0))
    every = list(report.counts.values())
    return Counts(
        sum(each.kept for each in every),
        sum(each.lost for each in every),
        sum(each.changed for each in every),
        sum(each.invented for each in every),
    )


def _told(finding: Finding) -> str:
    lost = f"'{_clipped(finding.text)}'"
    return f"{lost} is lost" if finding.found is None else f"{lost} became '{_clipped(finding.found)}'"


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[: _SHOWN_CHARACTERS - 1]}…"
