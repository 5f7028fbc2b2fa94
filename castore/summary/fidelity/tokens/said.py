"""What a text says, to look words up in: whether something stands there, in whatever form.

Law: a look-up takes time for what is looked up and, if all its words are in the text, for finding them there.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from weakref import WeakKeyDictionary

from castore.summary.fidelity.model import Facts
from castore.summary.fidelity.sentences import sentence_around, sentences
from castore.summary.fidelity.terms import is_han, stem, terms

__all__ = ["Said", "said_by"]

_MARKS = {ord(mark): None for mark in "`*\u201c\u201d"}
_WORDS = re.compile(r"[a-z\u00df-\u024f]+|[0-9]+|[\u3400-\u4dbf\u4e00-\u9fff]+")
_PIECE = re.compile(r"[a-z0-9\u00df-\u024f]+(?:'[a-z]+)?")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile(r"[a-z]{2,}")
_DIGITS = re.compile(r"\b[0-9a-f]{7,}+")
_TRIES_MAX = 200
"""Places of a word, at most, that are looked at for one that is bounded."""
_LIKE_MAX = 100
_REACH = 500
"""Characters of a sentence, at most, that stand around something: before it and behind."""
_NEAR = 6
"""Characters between the name of a place and what kind of place it is, at most."""
_JOINS = frozenset("-/.@:=")

_all: WeakKeyDictionary[Facts, Said] = WeakKeyDictionary()


def said_by(facts: Facts) -> Said:
    """Made once for the facts of a text."""
    said = _all.get(facts)
    if said is None:
        said = _all[facts] = Said(facts)
    return said


class Index:
    """Pieces of a text by their terms."""

    def __init__(self, pieces: Iterable[tuple[str, Iterable[str]]]) -> None:
        self._pieces: list[tuple[str, frozenset[str]]] = []
        self._by_term: dict[str, list[int]] = {}
        for piece, said in pieces:
            held = frozenset(said)
            for term in held:
                self._by_term.setdefault(term, []).append(len(self._pieces))
            self._pieces.append((piece, held))

    def like(self, wanted: Iterable[str]) -> Iterator[tuple[str, frozenset[str]]]:
        """Those that share a term, with their terms: _LIKE_MAX of each at most, of the rarest first."""
        seen: set[int] = set()
        found = [self._by_term[term] for term in wanted if term in self._by_term]
        for places in sorted(found, key=len):
            for place in places[:_LIKE_MAX]:
                if place not in seen:
                    seen.add(place)
                    yield self._pieces[place]


class Said:
    """lower: the text, in lower case."""

    def __init__(self, facts: Facts) -> None:
        self.lower = facts.text.lower
        self._keys = {kind: [str(key) for key in facts.of(kind)] for kind in ("quote", "path", "name")}
        self._around: dict[tuple[int, int], frozenset[str]] = {}

    @cached_property
    def quotes(self) -> Index:
        """The keys of quotations, by their terms."""
        return Index((key, terms(key)) for key in self._keys["quote"])

    @cached_property
    def paths(self) -> Index:
        """The keys of paths, by their last names."""
        return Index((key, (key.rpartition("/")[2],)) for key in self._keys["path"])

    @cached_property
    def names(self) -> Index:
        """The keys of names, by their parts."""
        return Index((key, key.split()) for key in self._keys["name"])

    @cached_property
    def sentences(self) -> Index:
        """Its sentences, by their terms."""
        lower = self.lower
        return Index(("", terms(lower[start:end])) for start, end in sentences(lower))

    @cached_property
    def flat(self) -> str:
        """Without marks of quotation and emphasis, and with one space where there is white space."""
        return " ".join(self.lower.translate(_MARKS).split())

    @cached_property
    def loose(self) -> str:
        """Its words and numbers alone, a space between any two."""
        return f" {' '.join(_WORDS.findall(self.lower))} "

    @cached_property
    def loose_words(self) -> frozenset[str]:
        return frozenset(self.loose.split())

    @cached_property
    def tight(self) -> str:
        """Its words and numbers, with nothing between."""
        return "".join(self.loose.split())

    @cached_property
    def words(self) -> frozenset[str]:
        found = set(_PIECE.findall(self.lower))
        for word in [word for word in found if "'" in word]:
            found.update((word.partition("'")[0], word.replace("'", "")))
        return frozenset(found)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(map(stem, self.words))

    @cached_property
    def initials(self) -> str:
        """The first letters of its words, in a row."""
        return "".join(word[0] for word in re.findall(r"[a-z]+", self.lower))

    @cached_property
    def is_han(self) -> bool:
        """Whether it is Chinese, for the most part."""
        return 2 * len(_HAN.findall(self.lower)) > len(_LATIN.findall(self.lower)) + 1

    @cached_property
    def has_han(self) -> bool:
        return _HAN.search(self.lower) is not None

    def has(self, phrase: str, *, joins: frozenset[str] = _JOINS) -> bool:
        """Whether the phrase stands there as it is, and not as a part of something longer."""
        phrase = " ".join(phrase.translate(_MARKS).split())
        if not phrase or not self.words.issuperset(_PIECE.findall(phrase)):
            return False
        flat = self.flat
        at = flat.find(phrase)
        for _ in range(_TRIES_MAX):
            if at < 0:
                return False
            end = at + len(phrase)
            if _ends_well(flat, phrase[0], at - 1, -1, joins) and _ends_well(flat, phrase[-1], end, 1, joins):
                return True
            at = flat.find(phrase, at + 1)
        return False

    def has_loose(self, phrase: str) -> bool:
        """Whether its words stand there in a row, whatever is between them."""
        words = _WORDS.findall(phrase)
        if not words or not all(word in self.loose_words or is_han(word[0]) for word in words):
            return False
        said = " ".join(words)
        if is_han(said[0]) or is_han(said[-1]):
            return said in self.loose or said.replace(" ", "") in self.tight
        return f" {said} " in self.loose

    @cached_property
    def _digits(self) -> list[str]:
        """The rows of hexadecimal digits with which its words begin, sorted."""
        return sorted(set(_DIGITS.findall(self.lower)))

    def begins_digits(self, digits: str) -> bool:
        """Whether a word begins with these hexadecimal digits, seven or more."""
        at = bisect_left(self._digits, digits)
        return at < len(self._digits) and self._digits[at].startswith(digits)

    def has_near(self, name: str, kind: str) -> bool:
        """Whether the name stands there with its kind close behind, on the same line."""
        at = self.lower.find(name)
        for _ in range(_TRIES_MAX):
            if at < 0:
                return False
            end = at + len(name)
            behind = self.lower[end : end + _NEAR + len(kind)].partition("\n")[0]
            if kind in behind:
                return True
            at = self.lower.find(name, at + 1)
        return False

    def has_word(self, word: str) -> bool:
        """Whether the word (lower case) stands there in some form."""
        if not word.isascii() and _HAN.search(word):
            return word in self.lower
        return word in self.words or (len(word) > 3 and stem(word) in self.stems)

    def terms_around(self, offset: int, end: int) -> frozenset[str]:
        """The terms of the sentence, but for those of the characters from offset to end."""
        found = self._around.get((offset, end))
        if found is None:
            begin, until = sentence_around(self.lower, offset, reach=_REACH)
            found = terms(self.lower[begin:offset] + "\n" + self.lower[end : max(until, end)])
            self._around[offset, end] = found
        return found


def _ends_well(flat: str, edge: str, at: int, way: int, joins: frozenset[str]) -> bool:
    """Whether nothing goes on, at `at`, what ends with the character `edge`."""
    if not 0 <= at < len(flat) or not _is_wordly(edge):
        return True
    next_to = flat[at]
    if _is_wordly(next_to):
        return False
    beyond = at + way
    return next_to not in joins or not 0 <= beyond < len(flat) or not _is_wordly(flat[beyond])


def _is_wordly(character: str) -> bool:
    return character == "_" or (character.isascii() and character.isalnum())
