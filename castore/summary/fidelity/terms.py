"""Terms: what a piece of text is about, so that two pieces that say one thing in other words share some.

English words lose their endings (by the Snowball stemmer), and words that say little are left out; of
Chinese, which has no spaces, pairs of neighbouring characters are terms.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

__all__ = ["is_han", "shared", "stem", "terms", "without_blobs"]

_WORD = re.compile(r"[a-z0-9]+(?:['_.-][a-z0-9]+)*|[\u3400-\u4dbf\u4e00-\u9fff]+")
_BLOB_LEAST = 200
_BLOB = re.compile(rf"(?<![a-z0-9+/=_-])[a-z0-9+/=_-]{{{_BLOB_LEAST},}}+")
_SAY_LITTLE = (
    "a an the and or but of to in on at by for from with as is are was were be been being am it its "
    "this that these those there here he she they them their his her we us our you your i me my do does "
    "did done has have had having will would shall should may might can could must not no nor so such "
    "than then too very just also only all any each every some more most other another into onto over "
    "under about after before when while which who whom whose what where why how if unless except until "
    "up out off per via within without please "
)
_STOP = frozenset(_SAY_LITTLE.split())
_HAN_STOP = frozenset("的了是在和与及或也都就而并且之其该此这那有为以于对将被把从到请")


def is_han(character: str) -> bool:
    return "\u3400" <= character <= "\u4dbf" or "\u4e00" <= character <= "\u9fff"


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """The word (lower case) without its ending: `refunds`, `refunded` and `refunding` are one."""
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Any:
    # Only what a summary did not keep word for word needs it.
    from snowballstemmer import stemmer

    return stemmer("english")


def without_blobs(lower: str) -> str:
    """A text in lower case without what stands for bytes, such as a picture in base64: no words are in it."""
    return _BLOB.sub(" ", lower) if len(lower) > _BLOB_LEAST else lower


def terms(lower: str) -> frozenset[str]:
    """The terms of a text in lower case with plain forms (Text.lower, or a slice of it)."""
    found: set[str] = set()
    for word in _WORD.findall(without_blobs(lower)):
        if is_han(word[0]):
            said = [each for each in word if each not in _HAN_STOP]
            found.update(map("".join, pairwise(said)) if len(said) > 1 else said)
        elif word not in _STOP:
            found.add(stem(word))
    return frozenset(found)


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Which share of the terms of the smaller set the other has, 0 to 1; 0 where one says nothing."""
    least = min(len(one), len(other))
    return len(one & other) / least if least else 0.0
