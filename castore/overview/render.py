"""An overview in few bytes: what it is, what stands apart, the members, how it begins and ends.

Laws: the lines have at most `bytes_max` bytes of UTF-8 together, labels and separators included; no
character is cut; what comes first matters most, and what was left out is said, with the next call, where that
fits. Who follows the next calls has all of it in the end. The same overview gives the same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from castore.overview.keys import key_text
from castore.overview.model import Outlier, Overview, Place
from castore.overview.words import clip, count_text, plain, plural, size_text, visible

__all__ = ["Line", "Named", "Words", "fact_words", "next_bytes", "outlier_text", "render"]

Line = tuple[str, str]
"""A label and what it labels."""

Named = tuple[str, str]
"""What names the object: in words, and in as few as tell which."""

LABEL_BYTES = 11
"""A label, as wide as the widest, with what stands between it and the value."""

_EXCERPTS = (230, 170, 130, 110, 90)
_EXCERPT_BYTES_MAX = 400
_EDGE_BYTES_MAX = 90
_EDGE_BYTES_MIN = 24
_OUTLINE_BYTES_MAX = 220
_KEYS_BYTES_MAX = 190
_KEYS_ALONE_BYTES_MAX = 260
_NAMED_BYTES_MAX = 120
_MORE_BYTES = 82
_MORE_BYTES_MIN = 27
_REASONS = 2
_WEAK = 0.45
_WIDE_BYTES = 1000
"""Who asks for more than this wants all that fits; else what is short is better than what is complete."""

_UNBOUNDED = 1 << 40
_USUAL_BYTES = 700
_TIGHT_BYTES = 300
_GROWTH = 3


@dataclass(frozen=True, slots=True)
class Words:
    """place: how an address reads. onwards: the call that gives as many bytes, whole, and in few words."""

    place: Callable[[Place], str]
    onwards: Callable[[int], tuple[str, str]]


def render(
    overview: Overview, head: Sequence[str], words: Words, named: Sequence[Named], bytes_max: int
) -> list[Line]:
    """head: what stands first, behind the kind. named: what names it, names first."""
    whole = _Page(overview, words, _UNBOUNDED)
    whole.fill(head, named)
    if bytes_max > _WIDE_BYTES and whole.used <= bytes_max:
        return whole.lines
    page = _Page(overview, words, bytes_max)
    page.fill(head, named, next_bytes(whole.used, bytes_max))
    return page.lines


def next_bytes(whole: int, bytes_max: int) -> int:
    """How many bytes to ask for next: for all of it, or some times as many as now."""
    return min(max(-(-whole // 100), _WIDE_BYTES // 100 + 1) * 100, bytes_max * _GROWTH)


def fact_words(overview: Overview) -> list[str]:
    """`1.8 MB`, `12,000 items`."""
    parts = [size_text(overview.size)]
    if overview.items is not None:
        parts.append(plural(overview.items, "item"))
    if overview.members is not None:
        parts.append(plural(overview.members, "key"))
    if overview.lines is not None:
        parts.append(plural(overview.lines, "line"))
    if overview.format is not None:
        parts.append(overview.format)
    return parts


def outlier_text(outlier: Outlier, words: Callable[[Place], str], excerpt_bytes: int) -> str:
    """`--items 11999  status 500  {"id":12000,…`."""
    text = f"{words(outlier.place)}  {_why(outlier)}"
    return f"{text}  {clip(outlier.excerpt, excerpt_bytes)}" if excerpt_bytes >= 12 else text


def _why(outlier: Outlier) -> str:
    reasons = [each for each in outlier.reasons if not each.startswith("odd ")] or list(outlier.reasons)
    text = clip(visible(", ".join(reasons[:_REASONS])), 70)
    return f"{text} (and {count_text(outlier.more)} alike)" if outlier.more else text


def _cost(line: Line) -> int:
    return LABEL_BYTES + len(line[1].encode("utf-8", "backslashreplace")) + 1


class _Page:
    """Lines, as many as fit into `room` bytes; `limit` scales what each may take."""

    def __init__(self, overview: Overview, words: Words, bytes_max: int) -> None:
        self.overview = overview
        self.words = words
        self.bytes_max = bytes_max
        self.scale = max(1.0, bytes_max / _USUAL_BYTES)
        self.lines: list[Line] = []
        self.left_out: list[str] = []
        self.used = 0

    @property
    def room(self) -> int:
        return self.bytes_max - self.used

    @property
    def is_wide(self) -> bool:
        return self.bytes_max > _WIDE_BYTES

    def fill(self, head: Sequence[str], named: Sequence[Named], onwards: int = 0) -> None:
        overview = self.overview
        is_tight = self.bytes_max < _TIGHT_BYTES
        self._head(head, 0.42 if is_tight and overview.outliers else 1.0)
        keys, has_more_keys = self._keys_text()
        named_by, has_more_names = _named(named, self._share(_NAMED_BYTES_MAX, 4))
        kept_back = sum(_cost(("", text)) for text in (named_by, keys) if text) + _MORE_BYTES
        self._outliers(max(_MORE_BYTES_MIN, min(kept_back, self.room // (4 if is_tight else 2))))
        self.left_out += ["keys"] if has_more_keys else []
        self.left_out += ["names"] if has_more_names else []
        after = [("named by", named_by)] if named_by else []
        is_kept = sum(map(_cost, after)) + (_MORE_BYTES if self.left_out else 0) <= self.room
        reserved = sum(map(_cost, after)) if is_kept else 0
        self._keys(keys, reserved)
        self._edges(self.room - reserved - (_MORE_BYTES if self.left_out else 0))
        if after and not is_kept:
            self.left_out.append("what names it")
        if not self._more(onwards, reserved) and is_kept:
            is_kept, after = False, []
            self._more(onwards, 0)
        self._add(*after if is_kept else ())

    def _add(self, *lines: Line) -> None:
        self.lines += lines
        self.used += sum(map(_cost, lines))

    def _share(self, usual: int, part: int) -> float:
        """What this kind of line may take: of an usual page so many bytes, of a smaller one a part."""
        return min(usual * self.scale, self.room / part)

    def _head(self, head: Sequence[str], share: float) -> None:
        most = self.bytes_max * share - LABEL_BYTES - 1
        text = head[0]
        for each in head[1:]:
            if len(f"{text}, {each}".encode()) > most:
                break
            text += f", {each}"
        self._add((self.overview.kind, _fitted(text, most)))

    def _outliers(self, kept_back: float) -> None:
        outliers = self.overview.outliers
        shown = 0
        for number, outlier in enumerate(outliers if self.is_wide else outliers[: len(_EXCERPTS)]):
            bare = ("outlier", outlier_text(outlier, self.words.place, 0))
            left = self.room - kept_back - _cost(bare) - 2
            if left < 0:
                if number == 0 and (text := self._best(outlier, bare[1])):
                    self._add(("outlier", text))
                    shown = 1
                break
            most = _EXCERPTS[min(number, len(_EXCERPTS) - 1)] * self.scale
            if outlier.bits < outliers[0].bits * _WEAK:
                most = min(most, _EXCERPTS[-1] * self.scale)
            most = min(most, left, _EXCERPT_BYTES_MAX)
            self._add(("outlier", outlier_text(outlier, self.words.place, int(most))))
            shown += 1
        if len(outliers) > shown:
            self.left_out.append(plural(len(outliers) - shown, "outlier"))

    def _best(self, outlier: Outlier, text: str) -> str:
        """The best one is told, if only where it is; but an address that is cut leads nowhere."""
        least = _size(self.words.place(outlier.place))
        for room in (self.room - LABEL_BYTES - 1 - _MORE_BYTES_MIN, self.room - LABEL_BYTES - 1):
            if least <= room:
                return _fitted(text, room) if least + 8 <= room else self.words.place(outlier.place)
        return ""

    def _keys_text(self) -> tuple[str, bool]:
        overview = self.overview
        usual = _KEYS_BYTES_MAX if overview.outliers else _KEYS_ALONE_BYTES_MAX
        text, is_cut = _keys(overview, usual * self.scale)
        if text and overview.path:
            text = f"{clip(plain(overview.path), 60)} x {overview.rows:,}: {text}"
        return text, is_cut

    def _keys(self, text: str, reserved: float) -> None:
        if not text:
            return
        room = self.room - reserved - LABEL_BYTES - 1 - (_MORE_BYTES if self.left_out else 0)
        if len(text.encode("utf-8", "backslashreplace")) > room:
            room -= 0 if self.left_out else _MORE_BYTES
            text = _fitted(text, room)
            if "keys" not in self.left_out:
                self.left_out.append("keys")
        if text:
            self._add(("keys", text))

    def _edges(self, room: float) -> None:
        overview = self.overview
        if overview.outline:
            share = min(_OUTLINE_BYTES_MAX * self.scale, room - LABEL_BYTES - 1)
            if share >= _EDGE_BYTES_MIN:
                self._add(("holds", _fitted(overview.outline, share)))
            return
        edges = [
            (label, text) for label, text in (("first", overview.first), ("last", overview.last)) if text
        ]
        for number, (label, text) in enumerate(edges):
            share = room // (len(edges) - number) - LABEL_BYTES - 1
            share = min(share, _EDGE_BYTES_MAX * (1 if overview.outliers else 2) * self.scale)
            if share < _EDGE_BYTES_MIN:
                break
            line = (label, _fitted(text, share))
            self._add(line)
            room -= _cost(line)

    def _more(self, onwards: int, reserved: int) -> bool:
        """What was left out, and the call that gives it; of the two what fits. Whether all is well."""
        if not self.left_out or not onwards:
            return True
        call, brief = self.words.onwards(onwards)
        for text in (f"{', '.join(self.left_out)}: {call}", call, brief):
            if _cost(line := ("more", text)) <= self.room - reserved:
                self._add(line)
                return True
        return False


def _fitted(text: str, bytes_max: float) -> str:
    return clip(text, max(0, int(bytes_max)))


def _named(named: Sequence[Named], bytes_max: float) -> tuple[str, bool]:
    """All in words; where these don't fit, which they are, as many as fit, and how many more there are."""
    text = "; ".join(words for words, _ in named)
    if _size(text) <= bytes_max:
        return text, False
    text = ""
    for number, (_, title) in enumerate(named):
        rest = len(named) - number - 1
        longer = f"{text}; {title}" if text else title
        if _size(longer) + (len(f"; {rest} more") if rest else 0) > bytes_max:
            if text:
                return f"{text}; {rest + 1} more", True
            more = f"; {rest} more" if rest else ""
            return _fitted(title, bytes_max - len(more)) + more, True
        text = longer
    return text, False


def _keys(overview: Overview, bytes_max: float) -> tuple[str, bool]:
    """The members that have a name, as many as fit, and whether they are not all."""
    text = ""
    told = [key for key in overview.keys if key.name.strip()]
    total = overview.keys_total - (len(overview.keys) - len(told))
    for number, key in enumerate(told):
        words = plain(key_text(key, overview.rows or 1))
        longer = f"{text} · {words}" if text else _fitted(words, bytes_max - 12)
        if _size(longer) > bytes_max - 12:
            return f"{text} · {total - number} more", True
        text = longer
    # The overview itself knows no more of the rest.
    return (f"{text} · {total - len(told)} more" if total > len(told) else text), False


def _size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))
