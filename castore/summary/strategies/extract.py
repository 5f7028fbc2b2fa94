"""extract@1: a summary without a model, of sentences and lines that stand in the source.

Laws:
- Every line of it is one of the source, as castore.summary.strategies.reading reads that, or of one that is
  longer a piece; but for lines `…`, which stand where something is left out. Lines are in the source's order.
- The same source and options give the same bytes. It has at most `characters` characters; a source that fits
  is given whole.
- Chosen is what says most that nothing chosen before says: the distinct facts in a piece count, by the same
  table of kinds that a check looks for, for its length, by its weight (castore.summary.strategies.weights);
  with a question also the terms that it shares with it. Where there is neither, it is how the source begins.
- Of a session, what is given of a message stands under its heading.
- It takes time linear in the source, but for the order of its pieces (n log n).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import ClassVar

from castore.config import SUMMARY_BYTES_MAX
from castore.errors import InvalidOption
from castore.summary.fidelity.model import Text
from castore.summary.fidelity.terms import terms
from castore.summary.key import OptionValue
from castore.summary.strategies.reading import PIECE_CHARACTERS_MAX, Reading, read_source
from castore.summary.strategies.weights import Weight
from castore.transcript.collapse.summarizer import checked_summary

__all__ = ["CHARACTERS_DEFAULT", "CHARACTERS_MIN", "ELLIPSIS", "ExtractStrategy"]

CHARACTERS_DEFAULT = 2000
CHARACTERS_MIN = 200
_CHARACTERS_MAX = SUMMARY_BYTES_MAX // 4
_QUESTION_CHARACTERS_MAX = 4000

Named = tuple[str, Hashable]
"""Kind and key of a fact."""

ELLIPSIS = "…"
"""The line that stands for what is left out."""
_BREAK = f"\n{ELLIPSIS}\n"

_WEIGHTS = {"condition": 2.0, "exception": 2.0, "deadline": 2.0, "promise": 2.0, "negation": 2.0}
"""What a rule is worth nothing without; a fact of any other kind has the weight 1."""
_CODE_WEIGHTS = dict.fromkeys(_WEIGHTS, 0.0)
"""In code `if` and `not` make no rule."""
_OF_A_KIND_MAX = 4
"""More facts of one kind make a piece no better: a row of figures says less than a sentence."""
_WORTH_MIN = 0.25
"""A piece that is worth less is not given, though there were room for it."""
_ALIKE_MAX = 3
"""Of pieces that differ in their figures only (rows, lines of a log) so many come before others."""
_FIGURES = re.compile(r"[0-9]+")
_LENGTH_EACH = 60
"""Characters that each piece counts for besides its own, so that the shortest are not always the best."""
_ASKED_WEIGHT = 12.0
"""Of a piece that has all the terms of the question, beside its facts; and these count double in it."""
_SHARE_MIN = 0.3
"""A piece that shares fewer of the question's terms does not bear on it."""
_MARGIN = 10
"""Characters that the lines `…` around one piece take, and some."""
_GAP_CHARACTERS_MAX = 24
"""White space between two pieces that follow each other stays, up to that."""


@dataclass(frozen=True, slots=True)
class ExtractStrategy:
    """characters: of a summary, at most. question: what it is to bear on. Raises InvalidOption."""

    characters: int = CHARACTERS_DEFAULT
    question: str | None = None
    name: ClassVar[str] = "extract"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not CHARACTERS_MIN <= self.characters <= _CHARACTERS_MAX:
            raise InvalidOption(
                f"an extract has {CHARACTERS_MIN} to {_CHARACTERS_MAX:,} characters", option="characters"
            )
        if self.question is not None and not 0 < len(self.question.strip()) <= _QUESTION_CHARACTERS_MAX:
            raise InvalidOption(
                f"a question says something, in {_QUESTION_CHARACTERS_MAX:,} characters at most",
                option="question",
            )

    @property
    def options(self) -> dict[str, OptionValue]:
        asked: dict[str, OptionValue] = {} if self.question is None else {"question": self.question}
        return {"characters": self.characters, **asked}

    def summarize(self, source: bytes) -> str:
        """Raises DocumentInvalid for what is not UTF-8, SummarizerFailed for what says nothing."""
        piece_max = min(PIECE_CHARACTERS_MAX, self.characters - _MARGIN)
        # What a question is about may stand in the middle of a long result.
        reading = read_source(source, piece_max, is_whole=self.question is not None)
        said = reading.whole.strip()
        if len(said) > self.characters:
            chosen = _chosen(reading, self.question, self.characters)
            said = _written(reading, chosen)
        return checked_summary(said, by=f"{self.name}@{self.version}")


# --- Choosing --------------------------------------------------------------------------------------


def _chosen(reading: Reading, question: str | None, characters: int) -> list[int]:
    """The numbers of the pieces that are given, in order. The best comes first, by what it has that none
    before it had; whatever still fits comes after it."""
    text = Text(reading.text)
    worth = _Worth(_facts_of(text, reading.pieces), _shares(text, reading.pieces, question), reading.weights)
    room = _Room(reading, characters)
    # By worth for length; of equals the first. A piece may be worth less by the time its turn comes.
    lengths = [end - start + _LENGTH_EACH for start, end in reading.pieces]
    worths = map(worth.of, range(len(lengths)))
    queue = [(-each / lengths[piece], piece) for piece, each in enumerate(worths) if each >= _WORTH_MIN]
    heapify(queue)
    later: list[int] = []
    while queue:
        was, piece = heappop(queue)
        now = worth.of(piece)
        if now / lengths[piece] < -was:
            if now >= _WORTH_MIN:
                heappush(queue, (-now / lengths[piece], piece))
        elif room.has_alike(piece):
            later.append(piece)
        elif room.take(piece):
            worth.spend(piece)
    for piece in later:
        room.take(piece)
    if not room.chosen:
        for piece in range(len(reading.pieces)):
            if not room.is_heading(piece) and not room.take(piece):
                break
    return sorted(room.numbers)


class _Room:
    """What was chosen, and the characters that are left for more."""

    def __init__(self, reading: Reading, characters: int) -> None:
        self._reading = reading
        # Behind the last piece there may be a line `…`, and one before each.
        self._left = characters - len(_BREAK)
        self.chosen: set[str] = set()
        self.numbers: set[int] = set()
        self._shapes: Counter[str] = Counter()

    def take(self, piece: int) -> bool:
        """False if there is no room for it. What was said already is not said again; what is said first under
        a heading takes that along."""
        said = self._said(piece)
        if said in self.chosen:
            return True
        heading = self._heading(piece)
        new = {piece} if heading < 0 else {piece, heading} - self.numbers
        needed = sum(len(self._said(each)) + max(len(_BREAK), len(_gap(self._reading, each))) for each in new)
        if needed > self._left:
            return False
        self._left -= needed
        self.chosen.add(said)
        self.numbers |= new
        self._shapes[_FIGURES.sub("0", said)] += 1
        return True

    def has_alike(self, piece: int) -> bool:
        """Whether several were taken that differ from it in their figures only, so that others come first."""
        return self._shapes[_FIGURES.sub("0", self._said(piece))] >= _ALIKE_MAX

    def is_heading(self, piece: int) -> bool:
        return self._heading(piece) == piece

    def _heading(self, piece: int) -> int:
        return self._reading.headings[piece] if self._reading.headings else -1

    def _said(self, piece: int) -> str:
        return self._reading.text[slice(*self._reading.pieces[piece])]


class _Worth:
    """What each piece has that nothing chosen has. A fact is counted down once in each piece that has it."""

    def __init__(self, facts: dict[Named, list[int]], shares: list[float], weights: list[Weight]) -> None:
        self._shares = shares
        self._weights = weights
        self._pieces = facts
        self._facts: list[list[Named]] = [[] for _ in shares]
        self._counts: list[dict[str, int]] = [{} for _ in shares]
        for fact, pieces in facts.items():
            for piece in pieces:
                self._facts[piece].append(fact)
                self._counts[piece][fact[0]] = self._counts[piece].get(fact[0], 0) + 1

    def of(self, piece: int) -> float:
        weight = self._weights[piece]
        kinds = _WEIGHTS if weight.has_rules else _CODE_WEIGHTS
        facts = sum(
            kinds.get(kind, 1.0) * min(count, _OF_A_KIND_MAX) for kind, count in self._counts[piece].items()
        )
        share = self._shares[piece]
        return weight.facts * facts * (1 + share) + weight.said + _ASKED_WEIGHT * weight.asked * share

    def spend(self, piece: int) -> None:
        for fact in self._facts[piece]:
            for other in self._pieces.pop(fact, ()):
                self._counts[other][fact[0]] -= 1


def _facts_of(text: Text, pieces: list[tuple[int, int]]) -> dict[Named, list[int]]:
    """Each distinct fact, and the pieces that have it."""
    starts = [start for start, _ in pieces]
    found: dict[Named, list[int]] = {}
    # What is served as it was stored needs none of it: its tables take longer to load than a hit takes.
    from castore.summary.fidelity.kinds import EXTRACTORS

    for extract in EXTRACTORS:
        for fact in extract(text):
            piece = max(0, bisect_right(starts, fact.start) - 1)
            having = found.setdefault((fact.kind, fact.key), [])
            # Facts of a kind come in the order of the text, but nothing here rests on that.
            if not having or having[-1] != piece:
                having.append(piece)
    return found


def _shares(text: Text, pieces: list[tuple[int, int]], question: str | None) -> list[float]:
    """Which share of the question's terms each piece has; 0 where it has few."""
    asked = terms(Text(question or "").lower)
    if not asked:
        return [0.0] * len(pieces)
    shares = (len(asked & terms(text.lower[start:end])) / len(asked) for start, end in pieces)
    return [share if share >= _SHARE_MIN else 0.0 for share in shares]


# --- Writing ---------------------------------------------------------------------------------------


def _written(reading: Reading, chosen: list[int]) -> str:
    """The pieces; between two that follow each other what is there, and else a line that says so."""
    written: list[str] = []
    last = -1
    for piece in chosen:
        if piece != last + 1:
            written.append(_BREAK)
        elif piece:
            written.append(_gap(reading, piece))
        written.append(reading.text[slice(*reading.pieces[piece])])
        last = piece
    if last < len(reading.pieces) - 1:
        written.append(_BREAK)
    return "".join(written).strip("\n")


def _gap(reading: Reading, piece: int) -> str:
    """The white space before a piece, or what is left of it where it is long."""
    if not piece:
        return ""
    gap = reading.text[reading.pieces[piece - 1][1] : reading.pieces[piece][0]]
    if len(gap) <= _GAP_CHARACTERS_MAX:
        return gap
    return "\n\n" if gap.count("\n") > 1 else "\n"
