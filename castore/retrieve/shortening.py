"""Facts of an object, as JSON values, in so many bytes.

Laws: what is given has every field, and at most `bytes_max` bytes, or as many as the fields take with nothing
in their lists; what stands apart comes first, with address, reasons and excerpt, then members, edges, and
what names the object. Lists are cut after an entry, texts after a character; `left_out` says what is missing,
and the `more_` fields how much. Who asks for `next_bytes` again and again has all of it in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from castore.overview.render import next_bytes
from castore.overview.words import clip, plural

__all__ = ["shortened"]

_EXCERPTS = (230, 170, 130, 110, 90)
_USUAL_BYTES = 1200
_FIELDS_BYTES = 600
_OUTLINE_BYTES_MAX = 220
_EDGE_BYTES_MAX = 90
_EDGE_BYTES_MIN = 24
_KEYS_SHARE = 5

Facts = dict[str, Any]


def shortened(
    facts: Mapping[str, Any],
    bytes_max: int,
    length: Callable[[Mapping[str, Any]], int],
    onwards: Callable[[int], Sequence[str]],
) -> Facts:
    """facts: those of `Shown.facts`. length: of an object as JSON, in bytes. onwards: the words of the call
    that gives as many bytes."""
    whole: Facts = {**facts, "left_out": None, "next": []}
    if (size := length(whole)) <= bytes_max:
        return whole
    page = _Page(whole, bytes_max, length, list(onwards(next_bytes(size, max(bytes_max, _FIELDS_BYTES)))))
    page.fill()
    return page.facts


class _Page:
    """Facts that grow as long as they fit; afterwards they say what of the whole is not among them."""

    def __init__(
        self, whole: Facts, bytes_max: int, length: Callable[[Mapping[str, Any]], int], onwards: list[str]
    ) -> None:
        self.whole = whole
        self.length = length
        self.scale = max(1.0, bytes_max / _USUAL_BYTES)
        self.facts: Facts = {
            **whole,
            "keys": [],
            "more_keys": len(whole["keys"]) + whole["more_keys"],
            "outliers": [],
            "more_outliers": len(whole["outliers"]),
            "outline": None,
            "first": None,
            "last": None,
            "named_by": [],
            "more_named_by": len(whole["named_by"]) + whole["more_named_by"],
            "next": onwards,
        }
        self.facts["left_out"] = self._left_out(everything=True)
        # What is said to be left out only gets shorter from here on.
        self.room = bytes_max - length(self.facts)

    def fill(self) -> None:
        kept_back = min(self.room // _KEYS_SHARE, sum(map(self._size, self.whole["keys"])))
        self._outliers(kept_back)
        self._list("keys", self.room)
        self._edges()
        self._list("named_by", self.room)
        self.facts["left_out"] = self._left_out()

    def _size(self, value: Mapping[str, Any]) -> int:
        return self.length(value) + 1

    def _outliers(self, kept_back: int) -> None:
        for number, each in enumerate(self.whole["outliers"]):
            bare = {**each, "excerpt": "", "alike": []}
            left = self.room - kept_back - self._size(bare)
            if left < 0 and number == 0:
                left = self.room - self._size(bare)
            if left < 0:
                break
            most = int(_EXCERPTS[min(number, len(_EXCERPTS) - 1)] * self.scale)
            told = {**bare, "excerpt": self._fitted(each["excerpt"], min(most, left))}
            self.room -= self._size(told)
            self.facts["outliers"].append(told)
            self.facts["more_outliers"] -= 1

    def _list(self, name: str, room: int) -> None:
        for each in self.whole[name]:
            size = self._size(each)
            if size > room:
                break
            room -= size
            self.room -= size
            self.facts[name].append(each)
            self.facts[f"more_{name}"] -= 1

    def _edges(self) -> None:
        for name, usual in (
            ("outline", _OUTLINE_BYTES_MAX),
            ("first", _EDGE_BYTES_MAX),
            ("last", _EDGE_BYTES_MAX),
        ):
            text = self.whole[name]
            share = self.room // 2 if name == "first" and self.whole["last"] is not None else self.room
            most = min(int(usual * self.scale), share)
            if text is None or most < _EDGE_BYTES_MIN:
                continue
            self.facts[name] = self._fitted(text, most)
            self.room -= self._text_size(self.facts[name])

    def _text_size(self, text: str) -> int:
        return self.length({"": text}) - self.length({"": ""})

    def _fitted(self, text: str, room: int) -> str:
        """As much of its beginning as has so many bytes in JSON."""
        kept = clip(text, max(0, room))
        while kept and (over := self._text_size(kept) - room) > 0:
            kept = clip(text, max(0, len(kept.encode("utf-8", "backslashreplace")) - over))
        return kept

    def _left_out(self, *, everything: bool = False) -> str:
        told, whole = self.facts, self.whole
        parts = [
            plural(told[f"more_{name}"], word)
            for name, word in (("outliers", "outlier"), ("keys", "key"), ("named_by", "name"))
            if told[f"more_{name}"]
        ]
        texts = [("outline", "outline"), ("first", "first entry"), ("last", "last entry")]
        parts += [word for name, word in texts if told[name] is None and whole[name] is not None]
        pairs = list(zip(told["outliers"], whole["outliers"], strict=False))
        if everything or any(a["excerpt"] != b["excerpt"] for a, b in pairs):
            parts.append("ends of excerpts")
        if everything or any(a["alike"] != b["alike"] for a, b in pairs):
            parts.append("places of those alike")
        if everything or any(told[name] not in (None, whole[name]) for name, _ in texts):
            parts.append("ends of entries")
        return ", ".join(parts)
