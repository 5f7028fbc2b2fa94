"""A text as entries: JSON Lines, CSV and TSV, `key=value` logs, or lines as they are.

Laws: every entry knows its line, counted from zero as `ctx cat --lines` counts them. What is not of the
form that most lines have stays the string it is, so that it stands apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["REST", "STAMP", "Table", "number_of", "numeric", "read_json", "read_table", "word_columns"]

REST = ""
"""The name of what a line of pairs says besides them."""

_SAMPLE = 60
_LINES_MIN = 6
_PAIR = re.compile(r'(?<![^\s,;({])([A-Za-z_][\w.-]{0,40})=("(?:[^"\\]|\\.)*"|\'[^\']*\'|[^\s,;]*)')
_NUMBER = re.compile(r"-?\d{1,300}(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?\Z")
_MEASURE = re.compile(r"[(\[<]?(-?\d{1,30}(?:\.\d{1,30})?)(?:%|[kMGT]?i?B|[mun\u00b5]?s|x)?[)\]>]?[,;:.]?\Z")
STAMP = re.compile(r"[\[(]?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)(?![\w.])")
"""A moment at the beginning of a line."""
_WORDS_MAX = 24
_PLAIN_NAME = re.compile(r"[^\W\d][\w .()/%#-]{0,40}\Z")


@dataclass(frozen=True, slots=True)
class Table:
    """format: `lines`, `jsonl`, `csv`, `tsv`, `pairs`, or what its reader calls it. values: the entries.
    lines: the line of each, or where it begins. texts: the lines themselves. spans: of entries that have no
    lines of their own, which characters they are; lines then counts the entries."""

    format: str
    values: Sequence[Any]
    lines: Sequence[int]
    texts: Sequence[str]
    header: Sequence[str] | None = None
    spans: Sequence[tuple[int, int]] | None = None

    def end(self, index: int) -> int:
        """The one after the last line of an entry, blank ones left out."""
        first = self.lines[index]
        after = self.lines[index + 1] if index + 1 < len(self.lines) else len(self.texts)
        while after > first + 1 and not self.texts[after - 1].strip():
            after -= 1
        return after


def read_json(text: str) -> Any:
    """What the JSON says; None if it is no JSON."""
    import msgspec

    try:
        return msgspec.json.decode(text.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def read_table(text: str) -> Table:
    texts = text.split("\n")
    if texts and not texts[-1]:
        texts.pop()
    sample = _sampled(texts)
    if len(sample) >= _LINES_MIN:
        for read in (_json_lines, _separated, _pairs):
            table = read(texts, sample)
            if table is not None:
                return table
    return _blocks(texts)


def _blocks(texts: list[str]) -> Table:
    """Lines; indented ones are part of the one before them, where they are few: as in a trace."""
    inner = [bool(text) and text[0] in " \t" and bool(text.strip()) for text in texts]
    number = sum(inner)
    if not number or number * 3 > len(texts):
        return Table("lines", texts, range(len(texts)), texts)
    begins = [at for at in range(len(texts)) if not at or not inner[at]]
    ends = [*begins[1:], len(texts)]
    values = [
        texts[first] if after == first + 1 else "\n".join(texts[first:after])
        for first, after in zip(begins, ends, strict=True)
    ]
    return Table("lines", values, begins, texts)


def _sampled(texts: list[str]) -> list[str]:
    """Some of the lines that say something, from the beginning to the end."""
    step = max(1, len(texts) // _SAMPLE)
    return [text for text in texts[::step] if text.strip()][: 2 * _SAMPLE]


def _json_lines(texts: list[str], sample: list[str]) -> Table | None:
    if sum(text.lstrip()[:1] in ("{", "[") for text in sample) * 10 < len(sample) * 8:
        return None
    import msgspec

    kept = [(at, text) for at, text in enumerate(texts) if text.strip()]
    try:
        joined = "[" + ",".join(text for _, text in kept) + "]"
        values = msgspec.json.decode(joined.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        values = []
    if len(values) != len(kept):
        read = [(text, read_json(text)) for _, text in kept]
        values = [text if value is None else value for text, value in read]
        if sum(isinstance(value, str) for value in values) * 4 > len(values):
            return None
    return Table("jsonl", values, [at for at, _ in kept], texts)


def _separated(texts: list[str], sample: list[str]) -> Table | None:
    for separator, least in (("\t", 1), (",", 1), (";", 2), ("|", 2)):
        counts = Counter(text.count(separator) for text in sample)
        number, lines = counts.most_common(1)[0]
        quoted = separator == "," and any('"' in text for text in sample)
        if number < least or (lines * 10 < len(sample) * 9 and not quoted):
            continue
        table = _cells(texts, separator, number + 1 if not quoted else None)
        if table is not None:
            return table
    return None


def _cells(texts: list[str], separator: str, width: int | None) -> Table | None:
    import csv

    rows: list[list[str]] = []
    lines: list[int] = []
    if any('"' in text for text in texts):
        reader = csv.reader((text + "\n" for text in texts), delimiter=separator)
        begun = 0
        try:
            for row in reader:
                if row:
                    rows.append(row)
                    lines.append(begun)
                begun = reader.line_num
        except csv.Error:
            return None
    else:
        for at, text in enumerate(texts):
            if text.strip():
                rows.append(text.split(separator))
                lines.append(at)
    widths = Counter(map(len, rows))
    common, count = widths.most_common(1)[0]
    if common < 2 or (width is not None and common != width) or count * 10 < len(rows) * 9:
        return None
    header = _header(rows)
    if header is None and separator != "\t" and not _has_numbers(rows, common):
        return None  # Prose has commas, too.
    start = 0 if header is None else 1
    values = [_typed(row) for row in rows[start:]]
    form = "tsv" if separator == "\t" else "csv"
    return Table(form, values, lines[start:], texts, header)


def word_columns(texts: Sequence[str]) -> Iterator[tuple[list[list[Any]], list[int]]]:
    """Of lines that have the same number of words: their words by place, numbers as numbers, and which lines
    those are. Only for the commonest numbers of words."""
    words = [text.split(None, _WORDS_MAX) for text in texts]
    counts = Counter(map(len, words))
    for width, count in counts.most_common(3):
        if not 2 <= width <= _WORDS_MAX or count < _LINES_MIN or count * 10 < len(texts):
            continue
        which = [at for at, each in enumerate(words) if len(each) == width]
        columns = [list(column) for column in zip(*(words[at] for at in which), strict=True)]
        yield [numeric(column) for column in columns], which


def numeric(column: list[str]) -> list[Any]:
    """Numbers as numbers, with their units and brackets off, where nearly all are."""
    sample = column[:: max(1, len(column) // 16)]
    if sum(_MEASURE.match(word) is not None for word in sample) * 8 < 7 * len(sample):
        return column
    return [_number(found[1]) if (found := _MEASURE.match(word)) else word for word in column]


def _has_numbers(rows: list[list[str]], width: int) -> bool:
    sample = [row for row in rows[:: max(1, len(rows) // _SAMPLE)] if len(row) == width]
    columns = zip(*sample, strict=True)
    return any(
        sum(_NUMBER.match(c.strip()) is not None for c in column) * 10 >= len(sample) * 9
        for column in columns
    )


def _header(rows: list[list[str]]) -> list[str] | None:
    """The first row, if it names columns: plain words, of which none is a value further down."""
    first = [cell.strip() for cell in rows[0]]
    if len(set(first)) != len(first) or not all(_PLAIN_NAME.match(cell) for cell in first):
        return None
    later = {cell.strip() for row in rows[1:200] for cell in row}
    return None if later.intersection(first) else first


def _typed(row: list[str]) -> list[Any]:
    """Cells that are numbers as numbers, so that `n/a` among them stands apart."""
    return [_number(cell) if _NUMBER.match(cell) else cell for cell in map(str.strip, row)]


def number_of(text: str) -> Any:
    """The number that a text says, or the text."""
    return _number(text) if _NUMBER.match(text) else text


def _number(text: str) -> int | float:
    return int(text) if len(text) < 19 and text.lstrip("-").isdigit() else float(text)


def _pairs(texts: list[str], sample: list[str]) -> Table | None:
    if sum(len(_PAIR.findall(text[:2000])) >= 2 for text in sample) * 10 < len(sample) * 8:
        return None
    values: list[Any] = []
    for text in texts:
        found = _PAIR.findall(text) if len(text) <= 20_000 else []
        if not found:
            values.append(text)
            continue
        row: dict[str, Any] = {
            name: _number(value) if _NUMBER.match(value) else value.strip("\"'") for name, value in found
        }
        row[REST] = _PAIR.sub(r"\1=", text).strip()
        if "time" not in row and (stamp := STAMP.match(text)) is not None:
            row["time"] = stamp[1].replace(",", ".")
        values.append(row)
    return Table("pairs", values, range(len(texts)), texts)
