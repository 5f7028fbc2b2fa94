"""What a clause says, as units that another text has or has not; and where in a text most of them are.

A unit is one word of English, or one character of Chinese: it has a weight and the terms that stand for
it, any of which will do (its stem, its concepts, the pairs of characters that it is in). Words that are the
cue or say little are no units.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import pairwise
from typing import NamedTuple
from weakref import WeakKeyDictionary

from castore.summary.fidelity.clauses.concepts import english_concepts, han_concepts
from castore.summary.fidelity.model import Text
from castore.summary.fidelity.sentences import sentences
from castore.summary.fidelity.terms import is_han, stem, without_blobs

__all__ = [
    "Part",
    "Passage",
    "Reading",
    "Unit",
    "coverage",
    "has_han",
    "known",
    "read",
    "terms_of",
    "units_of",
]


class Unit(NamedTuple):
    weight: float
    terms: frozenset[str]


_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|[\u3400-\u4dbf\u4e00-\u9fff]+|\d[\d,.:]*")
_LITTLE_WORDS = """
non ones first beforehand prior previously last extent instead lieu
rather save a an the and or but of to in on
at by for from with as is are was were be been being am it its this that these those there here he she
they him them their his her we us our you your i me my do does did done has have had having will would
shall should may might can could must not no nor so such than then too very just also only all any each
every some more most other another into onto over under about after before when while which who whom
whose what where why how if unless except until up out off per via within without please don't doesn't
didn't isn't aren't wasn't weren't won't can't cannot couldn't shouldn't mustn't hasn't haven't never
ever longer case event provided condition conditions subject long once whenever assuming allowed
permitted possible forbidden prohibited excluded exclude excludes excluding exception exceptions exempt
apart aside deadline least late later ll ve re d s t m both either neither yet still already again back
own one two three four five six seven eight nine ten eleven twelve twenty thirty sixty ninety hundred
thousand million day days hour hours week weeks month months year years minute minutes second seconds
however though go goes promise promises promised guarantee guarantees guaranteed pledge commit committed
agree agreed agrees kg g mg km cm mm ml l gb mb kb tb ms min hr hrs eur usd gbp percent °c c f pm utc
apply applies applied applicable clause section article policy rule rules make makes made get gets
including include includes included upon during above below mean means whoever anyone anything
everything everyone someone something anybody everybody nobody nothing none somebody someone's stays staying
ban banned bans prohibits barred maximum minimum limit limits limited exceed exceeds exceeded anymore
"""
_SAY_LITTLE = frozenset(_LITTLE_WORDS.split())
_HAN_LITTLE = frozenset(
    "外除前后它受内月日天年周的了是在和与及或也都就而并且之其该此这那有为以于对将被把从到请会要可能须应"
    "需得个者时若如则让给还再但由向各您我你他们她太过很更才到已所不没未无只仅"
)
_HAN_CUES = re.compile(
    "除外|除非|除了|例外|不包括|不包含|不含|不适用|如果|倘若|假如|一旦|只要|只有|仅限|只能|限于|前提|情况下"
    "|条件|的话|方可|才能"
    "|禁止|严禁|禁用|切勿|请勿|不得|不能|不可以|不可|不允许|不准|不许|不要|不应|不会|不再|不予|无法|无需"
    "|没有|可以|允许|承诺|保证"
    "|举办|举行|原因|任何人?|谁[也都]?|本品|本产品|本规定|本条款?|本政策|本办法|本协议|本合同|中途|途中|期间|过程中|届时|到时候?|的时候|未经|不计|计入|动手|着手|发现|发生|出现|遇到|造成|所以|因此|因为|参加|提供|进行|限制|之内|以内|之前|以前|之后|包括|甲方(?=承诺)"
    "|乙方(?=保证)"
)
_DENYING = ("un", "in", "non", "dis", "im")
_PREFIX = 6
_PAIRED = 0.25
_ALONE = 0.25
"""Weights of a character of Chinese: in a word that is there; by itself."""


def units_of(lower: str) -> list[Unit]:
    """The units of a clause in lower case and plain forms."""
    found = []
    for word in _WORD.findall(lower):
        if is_han(word[0]):
            for run in _HAN_CUES.sub(" ", word).split():
                found += _han_units(run)
        elif word[0].isdigit():
            found.append(Unit(_NUMBERED, frozenset({_number(word)})))
        elif word in _NUMBERS:
            found.append(Unit(_NUMBERED, frozenset({_NUMBERS[word]})))
        elif word not in _SAY_LITTLE and not _SHORT.search(word):
            found.append(Unit(_weight(word), _of_word(word)))
    return found


_SHORT = re.compile(r"n't\Z|\A(?:you|we|they|i|he|she|it|that|there|who|what|here)'[a-z]+\Z")
"""A word that says little, with another such."""
_COMMON_WORDS = """
figure become becomes became took participant participants advance user users assistant customer occur
occurs occurred happened row consecutive drop drops dropped fall falls fell rise rises send sends sent
use uses used take takes taken give gives given show shows add adds added work works set put call keep
keeps new good way thing things people person time times place part case cases gladly happen happens end
ends start starts beginning cover covers covered bring brings brought come comes came leave leaves let
lets find found look looks see seen saw know known want wants wanted receive receives received try tries tried
giving further turn turns turned say says said demand demands else
carry carries hold holds held need
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def _weight(word: str) -> float:
    return 0.4 if word in _COMMON else 0.5 if word.endswith("ly") else 1.0


@lru_cache(maxsize=1 << 15)
def _of_word(word: str) -> frozenset[str]:
    word = word.partition("'")[0]
    # The stemmer makes one of what is custom and who is a customer.
    stemmed = "customer" if word.startswith("customer") else stem(word)
    terms = {stemmed, *english_concepts(word, stemmed)}
    if stemmed.endswith("en") and len(stemmed) > 5:
        # What darkens gets dark.
        terms.add(stemmed[:-2])
    if len(stemmed) >= _PREFIX:
        terms.add(stemmed[:_PREFIX] + "~")
    return frozenset(terms)


def _han_units(run: str) -> list[Unit]:
    terms: list[set[str]] = [set() for _ in run]
    for at in range(len(run) - 1):
        pair = run[at : at + 2]
        terms[at].add(pair)
        terms[at + 1].add(pair)
    for start, end, concepts in han_concepts(run):
        for at in range(start, end):
            terms[at] |= concepts
    found = []
    for at, (character, each) in enumerate(zip(run, terms, strict=True)):
        if character in _HAN_LITTLE:
            continue
        beside = run[max(0, at - 1) : at] + run[at + 1 : at + 2]
        if all(each in _HAN_LITTLE for each in beside):
            # A word of one character.
            found.append(Unit(_PAIRED + _ALONE, frozenset({*each, character})))
        else:
            found.append(Unit(_PAIRED, frozenset(each)))
            found.append(Unit(_ALONE, frozenset({*each, character})))
    return found


_NUMBERED = 0.3
"""The weight of a number: whether its value is kept is asked elsewhere, but it tells where to look."""
_NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_NUMBERS = {word: f"#{value}" for value, word in enumerate(_NUMBER_WORDS.split(), 1)}


def _number(word: str) -> str:
    return "#" + word.rstrip(".,:").replace(",", "")


def has_han(words: str) -> bool:
    """Whether any of it is Chinese."""
    return _HAN.search(words) is not None


def known(units: Sequence[Unit]) -> list[Unit]:
    """Those that a text in the other language can say: that are in a concept."""
    return [unit for unit in units if any(term[0] == "=" for term in unit.terms)]


def terms_of(lower: str) -> set[str]:
    """All that may stand for a unit in this text."""
    found: set[str] = set()
    for word in _WORD.findall(without_blobs(lower)):
        if is_han(word[0]):
            found.update(word)
            found.update(map("".join, pairwise(word)))
            for _, _, concepts in han_concepts(word):
                found |= concepts
        elif word[0].isdigit():
            found.add(_number(word))
        else:
            found |= _all_of_word(word)
    return found


@lru_cache(maxsize=1 << 15)
def _all_of_word(word: str) -> frozenset[str]:
    """The terms of a word, and those of what it denies: of `unopened` those of `opened` too."""
    terms = set(_of_word(word))
    if word in _NUMBERS:
        terms.add(_NUMBERS[word])
    for prefix in _DENYING:
        if word.startswith(prefix) and len(word) > len(prefix) + 4:
            terms |= _of_word(word[len(prefix) :])
    return frozenset(terms)


def coverage(units: Sequence[Unit], terms: set[str] | frozenset[str]) -> float:
    """The share of the units, by weight, that the terms have."""
    whole = sum(unit.weight for unit in units)
    if not whole:
        return 0.0
    return sum(unit.weight for unit in units if not unit.terms.isdisjoint(terms)) / whole


class Part(NamedTuple):
    """A piece of a sentence between two marks."""

    start: int
    end: int
    words: str
    terms: frozenset[str]


_MARK = re.compile(
    r",(?!\d)|;|:(?=\s|[\u4e00-\u9fff])|[()，；：（）]|\s(?:but|and|while|whereas|though)\s(?=\S)|\s[-–—]\s|—"
)


_ALL_BUT = re.compile(r"\b(?:all|any|every\w*|no|nothing|nobody|none)\b[^,;]{0,25}\Z")


@dataclass(eq=False)
class Passage:
    """A sentence, from `start` to `end`. lead: the line above it that a list hangs on, in lower case."""

    start: int
    end: int
    words: str
    lead: str

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(terms_of(self.words))

    @cached_property
    def parts(self) -> list[Part]:
        found, begin = [], 0
        for at, until in (*(mark.span() for mark in _MARK.finditer(self.words)), (len(self.words), 0)):
            words = self.words[begin:at]
            if _ALL_BUT.search(words) and self.words[at:until].strip() == "but":
                continue
            if words.strip():
                found.append(Part(self.start + begin, self.start + at, words, frozenset(terms_of(words))))
            begin = until
        return found


_POSTINGS_MAX = 3000
"""A term of more passages than this finds none: it says too little."""
_BEST = 8


class Reading:
    """A text by its passages."""

    def __init__(self, text: Text) -> None:
        lower = text.lower
        self.passages: list[Passage] = []
        lead = ""
        for start, end in sentences(lower):
            words = lower[start:end]
            if words.endswith((":", "：")):
                lead = words
            elif words[:1] not in "-*•#>|0123456789" and words[:1] != "":
                lead = ""
            self.passages.append(Passage(start, end, words, lead))
        self._starts = [each.start for each in self.passages]

    def said_of(self, units: Sequence[Unit]) -> set[str]:
        """Which of their terms any passage has."""
        return {term for unit in units for term in unit.terms if term in self._postings}

    def rated(self, units: Sequence[Unit]) -> list[Unit]:
        """The units, each the lighter the more passages of this text have it."""
        rated = []
        for unit in units:
            counts = [
                len(self._postings.get(term, ())) for term in unit.terms if len(term) > 1 and term[0] != "="
            ]
            count = max(counts, default=1)
            rated.append(Unit(unit.weight / max(1, count) ** 0.5, unit.terms))
        return rated

    def at(self, offset: int) -> Passage:
        """The passage that holds this character."""
        return self.passages[max(0, bisect_right(self._starts, offset) - 1)]

    @cached_property
    def is_han(self) -> bool:
        """Whether it is in Chinese."""
        sample = "".join(each.words for each in self.passages[:50])[:4000]
        return sum(map(is_han, sample)) * 4 > len(sample)

    @cached_property
    def _postings(self) -> dict[str, list[int]]:
        postings: dict[str, list[int]] = {}
        for number, passage in enumerate(self.passages):
            for term in passage.terms:
                postings.setdefault(term, []).append(number)
        return postings

    def best(self, units: Sequence[Unit]) -> list[tuple[float, Passage]]:
        """The passages that have most of these units, the best first, each with how much."""
        tally: dict[int, float] = {}
        for unit in units:
            numbers: set[int] = set()
            for term in unit.terms:
                numbers.update(self._postings.get(term, ())[:_POSTINGS_MAX])
            for number in numbers:
                tally[number] = tally.get(number, 0.0) + unit.weight
        return [
            (coverage(units, self.passages[number].terms), self.passages[number])
            for number in nlargest(_BEST, tally, key=tally.__getitem__)
        ]

    def around(self, passage: Passage) -> frozenset[str]:
        """The terms of a passage and of its neighbours."""
        number = bisect_right(self._starts, passage.start) - 1
        near = self.passages[max(0, number - 1) : number + 2]
        return frozenset().union(*(each.terms for each in near))


_read: WeakKeyDictionary[Text, Reading] = WeakKeyDictionary()


def read(text: Text) -> Reading:
    """The reading of a text, made once."""
    if (reading := _read.get(text)) is None:
        reading = _read[text] = Reading(text)
    return reading
