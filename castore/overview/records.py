"""Records of several lines: a comment and what it is of, a name and what is said of it, again and again.

Laws: a record begins at each line of the kind that the first has, and its place is its lines. Lines that do
not come in turn are no records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from castore.overview.tables import Table

__all__ = ["record_rows"]

_PERIODS = (2, 3, 4)
_RECORDS_MIN = 12
_SHARE = 0.95
_FREQUENT = 10


def record_rows(table: Table) -> Table | None:
    """The same text by records of lines; None if it has none."""
    texts = table.texts
    there = [at for at, text in enumerate(texts) if text.strip()]
    kinds = _kinds([texts[at] for at in there])
    for period in _PERIODS:
        pairs = len(kinds) - period
        if pairs < _RECORDS_MIN * period:
            return None
        same = sum(map(str.__eq__, kinds, kinds[period:]))
        usual = {Counter(kinds[phase::period]).most_common(1)[0][0] for phase in range(period)}
        if same < _SHARE * pairs or len(usual) < period:
            continue
        begins = [at for at, kind in zip(there, kinds, strict=True) if kind == kinds[0]]
        if begins[0] or len(begins) < _RECORDS_MIN:
            return None
        ends = [*begins[1:], len(texts)]
        values = [
            [text for text in texts[first:after] if text.strip()]
            for first, after in zip(begins, ends, strict=True)
        ]
        return Table("records", values, begins, texts)
    return None


def _kinds(texts: Sequence[str]) -> list[str]:
    """Of each line its first word, if many begin with that, else what its first character is."""
    words = [text.split(None, 1)[0] for text in texts]
    frequent = {word for word, count in Counter(words).items() if count * _FREQUENT >= len(words)}
    return [word if word in frequent else _kind(word[0]) for word in words]


def _kind(character: str) -> str:
    return "0" if character.isdigit() else "a" if character.isalpha() else character
