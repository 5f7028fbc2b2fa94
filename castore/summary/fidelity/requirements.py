"""Requirements: which share of a source's facts a summary must keep, and how many it may invent. Pure.

Laws:
- A summary meets a requirement if of the source's facts of that kind it kept that share. One of a kind that
  the source has no fact of is met, and `empty_kinds` says so. `all` is of the facts of all kinds together.
- What is changed is not kept. What is invented costs nothing, but where `invented=N` is asked: at most N
  facts of all kinds together.
- What no report of that sort can meet or miss (a number of fields, a field of texts) is refused by
  `check_askable`, and never met in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from castore.errors import FidelityShort, InvalidOption
from castore.summary.fidelity.check import check_text
from castore.summary.fidelity.kinds import KINDS
from castore.summary.fidelity.model import Counts, Finding, Report
from castore.summary.fidelity.structured import FIELD, FieldFinding

__all__ = [
    "ALL",
    "INVENTED",
    "Shortfall",
    "check_askable",
    "empty_kinds",
    "fidelity_check",
    "parse_requirements",
    "shortfalls",
]

ALL = "all"
INVENTED = "invented"
"""No kind: how many facts there may be that the source does not say."""
_INVENTED_MAX = 1_000_000_000

_KNOWN = (*(kind.name for kind in KINDS), FIELD, ALL, INVENTED)
_KINDS_HINT = f"it is KIND=SHARE, or {INVENTED}=N; the kinds are {', '.join(_KNOWN[:-1])}"

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
    """A requirement that is not met. missed: what was lost or changed of that kind; of INVENTED, what was
    invented, and then `kept` and `total` are how many those are."""

    kind: str
    required: float
    kept: int
    total: int
    missed: tuple[Finding, ...]

    @property
    def reached(self) -> str:
        """As it could have been asked: `number=0.4`, `invented=2`."""
        if self.kind == INVENTED:
            return f"{INVENTED}={self.total}"
        return f"{self.kind}={self.kept / self.total:g}"

    def __str__(self) -> str:
        """`keeps 2 of 5 numbers (number=1 asked): number '40 items' is lost (2:31), …, and 1 more`."""
        shown = [_told(each) for each in self.missed[:_SHOWN]]
        if len(self.missed) > _SHOWN:
            shown.append(f"and {len(self.missed) - _SHOWN:,} more")
        asked = f"({self.kind}={self.required:g} asked): {', '.join(shown)}"
        if self.kind == INVENTED:
            return f"invents {self.total:,} {'fact' if self.total == 1 else 'facts'} {asked}"
        named = _SEVERAL.get(self.kind, f"{self.kind}s")
        return f"keeps {self.kept:,} of {self.total:,} {named} {asked}"


def parse_requirements(given: Iterable[str]) -> dict[str, float]:
    """Shares by kind, of texts `number=1.0,condition=0.5,invented=0`; of a kind that is named again the last
    counts.

    Raises InvalidOption for an unknown kind, a share that is none, or a number of inventions that is none.
    """
    shares: dict[str, float] = {}
    for each in (part.strip() for text in given for part in text.split(",")):
        kind, _, written = (part.strip() for part in each.partition("="))
        if kind not in _KNOWN:
            raise InvalidOption(
                f"'{each[:80]}' requires no kind of fact",
                option="--require",
                hint=_KINDS_HINT,
            )
        shares[kind] = _most_invented(each, written) if kind == INVENTED else _share(each, written)
    return shares


def check_askable(requirements: Mapping[str, float], *, are_fields: bool) -> None:
    """Raises InvalidOption for what is no kind, and one that a comparison of fields, or of texts, has not.

    are_fields: which of the two it is.
    """
    for kind in requirements:
        if kind not in _KNOWN:
            raise InvalidOption(f"'{str(kind)[:80]}' is no kind of fact", hint=_KINDS_HINT)
        if kind in (ALL, INVENTED) or (kind == FIELD) == are_fields:
            continue
        if are_fields:
            message = f"documents are compared by their fields, and none is a {kind}"
            hint = f"ask for {FIELD}=1.0 or {ALL}=1.0; --text compares them as texts"
        else:
            message = "texts are compared by their facts, and have no fields"
            hint = f"ask for {ALL}=1.0 or for kinds of facts; two JSON documents are compared by fields"
        raise InvalidOption(message, option="--require", hint=hint)


def empty_kinds(report: Report, requirements: Mapping[str, float]) -> list[str]:
    """The kinds of which a share is asked and the source has no fact, so that nothing could be missed."""
    return [kind for kind in requirements if kind != INVENTED and not _counts(report, kind).total]


def shortfalls(report: Report, requirements: Mapping[str, float]) -> list[Shortfall]:
    """The requirements that a summary does not meet, in the order in which they were given."""
    found = []
    for kind, required in requirements.items():
        counts = _counts(report, ALL if kind == INVENTED else kind)
        if kind == INVENTED:
            if counts.invented > required:
                told = tuple(each for each in report.findings if each.change == INVENTED)
                found.append(Shortfall(kind, required, counts.invented, counts.invented, told))
        elif counts.share + _TINY < required:
            missed = tuple(
                each for each in report.findings if each.change != INVENTED and kind in (ALL, each.kind)
            )
            found.append(Shortfall(kind, required, counts.kept, counts.total, missed))
    return found


def fidelity_check(
    requirements: Mapping[str, float], *, question: str | None = None
) -> Callable[[str, str], None]:
    """What CollapseCoordinator takes as `require`: called with a summary and its source, as texts, it raises
    FidelityShort where the summary does not meet the requirements, and says what it lost.

    Raises InvalidOption for `field`, which texts have not.
    """
    asked = dict(requirements)
    check_askable(asked, are_fields=False)

    def require(summary: str, source: str) -> None:
        found = shortfalls(check_text(summary, source, question=question), asked)
        if found:
            # What is invented comes first: nobody finds it in the source, and it is little.
            ordered = sorted(found, key=lambda each: each.kind != INVENTED)
            every = dict.fromkeys(finding for each in ordered for finding in each.missed)
            missed = list(every)[:_NAMED_MAX]
            raise FidelityShort(
                f"the summary {'; it '.join(map(str, found))}",
                short=[each.reached for each in found],
                missed=[each.text for each in missed],
                findings=[_told(each) for each in missed],
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


def _most_invented(each: str, written: str) -> float:
    if not (written.isascii() and written.isdigit() and int(written[:12]) <= _INVENTED_MAX):
        raise InvalidOption(
            f"'{each[:80]}' is no number of facts",
            option="--require",
            hint=f"{INVENTED}=0 asks for a summary that says nothing but what its source says",
        )
    return float(written)


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
    """`number '40 items' is lost (2:31)`: the kind, and line and column in the source."""
    named = f"{finding.kind} {finding.field}" if isinstance(finding, FieldFinding) else finding.kind
    said = f"{named} '{_clipped(finding.text)}'"
    place = f"{finding.line}:{finding.column}"
    if finding.change == INVENTED:
        return f"{said} ({place} of the summary)"
    became = "is lost" if finding.found is None else f"became '{_clipped(finding.found)}'"
    return f"{said} {became} ({place})"


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[: _SHOWN_CHARACTERS - 1]}…"
