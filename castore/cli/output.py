"""Everything ctx prints: aligned for a person, plain lines in a pipe, JSON lines with `--json`.

Laws: stdout carries data only; notes, summaries, progress and errors go to stderr. A record is written once
and rendered three ways: `Size`, `Count`, `Moment` and `Digest` say what a value means, so a person reads
`1.8 MB` and `3 minutes ago` where a program reads an exact integer and an ISO 8601 time. Any text prints,
also file names that are not UTF-8, and characters in it that would steer a terminal, or that nobody sees, are
shown, not obeyed. Of a word that is too long to read, notes and errors have its head and its tail.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, TextIO

from castore.config import MESSAGE_CHARACTERS_MAX, WORD_CHARACTERS_MAX
from castore.digest import SHORT_HEX, Digest
from castore.errors import CastoreError
from castore.overview.words import age_text, count_text, date_text, iso_text, plural, size_text

__all__ = [
    "Count",
    "Identity",
    "Moment",
    "Record",
    "Size",
    "age_text",
    "at_end",
    "binary_stdout",
    "block",
    "brief",
    "clipped",
    "count_text",
    "date_text",
    "event",
    "finish",
    "is_attended",
    "is_terminal",
    "json_text",
    "line",
    "note",
    "plural",
    "printable",
    "red",
    "settle_stdout",
    "size_text",
    "summary",
    "table",
    "take_notes",
    "use_json",
    "working",
]


class Size(int):
    """Bytes."""


class Identity(str):
    """The id of a root: on a terminal its first digits."""


class Count(int):
    """How many, and of what where that needs saying."""

    word: str

    def __new__(cls, count: int, word: str = "") -> Count:
        counted = super().__new__(cls, count)
        counted.word = word
        return counted


class Moment(float):
    """Seconds since 1970."""


class Record(NamedTuple):
    """One fact. `cells` are the columns people and pipes see; `facts` are all that `--json` prints."""

    cells: Sequence[Any]
    facts: Mapping[str, Any]


# --- The mode, set once by app.main ----------------------------------------------------------------

_mode: dict[str, bool] = {"json": False}
_notes: list[str] = []
_endings: list[Callable[[], None]] = []


def use_json(wanted: bool) -> None:
    """Under `--json` notes are held back, so that stderr has the one line of an error and no other."""
    _mode["json"] = wanted
    _notes.clear()
    _endings.clear()


def take_notes() -> list[str]:
    """The notes held back, once."""
    held = list(_notes)
    _notes.clear()
    return held


def is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # It was closed.
        return False


def is_attended() -> bool:
    """A person watches stderr."""
    return is_terminal(sys.stderr)


@contextmanager
def working(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """On a terminal, work of more than a second shows that it goes on, and for how long.

    What is given takes how much is done, and of how much; None where nobody watches.
    """
    if not is_attended() or _mode["json"]:
        yield None
        return
    from castore.cli.progress import Pulse

    with Pulse(what) as pulse:
        yield pulse.tell


def red(text: str) -> str:
    """`text` in red if stderr is a terminal that wants colour; never the only carrier of meaning."""
    if is_terminal(sys.stderr) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        return f"\x1b[1;31m{text}\x1b[0m"
    return text


# --- Writing ---------------------------------------------------------------------------------------

_CONTROL = re.compile("[\x00-\x1f\x7f]")
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
"""Categories of Unicode: controls, formats (which turn the direction of what follows), halves of characters,
private ones, and separators of lines and paragraphs."""

_SEARCHED_CHARACTERS_MAX = 64 << 10
_LONG_WORD = re.compile(
    rf"(?<![^\s(\[:,])'[^']{{{WORD_CHARACTERS_MAX + 1},}}'|\S{{{WORD_CHARACTERS_MAX + 1},}}"
)


def printable(text: str) -> str:
    """`text` on one line; of what would steer a terminal or not be seen, the code: `\\x1b`, `\\u202e`.

    A byte of a file name that is no text is shown as `\\xe9`.
    """
    if text.isascii():
        return _CONTROL.sub(lambda match: _code(match[0]), text)
    from unicodedata import category

    return "".join(_code(each) if category(each) in _HIDDEN else each for each in text)


def _code(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        number -= 0xDC00  # So Python spells a byte that is not UTF-8.
    return (
        f"\\x{number:02x}"
        if number < 0x100
        else f"\\u{number:04x}"
        if number < 0x10000
        else f"\\U{number:08x}"
    )


def brief(words: str) -> str:
    """`words` with the head and the tail of each long word, and of the whole if it is still too long."""
    if len(words) <= WORD_CHARACTERS_MAX:
        return words
    words = clipped(words, _SEARCHED_CHARACTERS_MAX)
    words = _LONG_WORD.sub(lambda match: clipped(match[0], WORD_CHARACTERS_MAX), words)
    return clipped(words, MESSAGE_CHARACTERS_MAX)


def clipped(text: str, characters_max: int) -> str:
    """`text`, or this many of its characters, half of them from its end, and how many are left out."""
    if len(text) <= characters_max:
        return text
    half = characters_max // 2
    return f"{text[:half]}…({len(text) - 2 * half:,} more)…{text[-half:]}"


def line(text: str, stream: TextIO | None = None) -> None:
    """Write one line. Bytes of file names that are not text come out as they were."""
    stream = stream if stream is not None else _stdout()
    text += "\n"
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "utf-8"
        try:
            encoded = text.encode(encoding, "surrogateescape")
        except UnicodeEncodeError:
            encoded = text.encode(encoding, "backslashreplace")
        stream.flush()
        stream.buffer.write(encoded)
        stream.buffer.flush()


def binary_stdout() -> BinaryIO:
    return _stdout().buffer


def at_end(ending: Callable[[], None]) -> None:
    """Call `ending` when the command has ended without an error."""
    _endings.append(ending)


def finish() -> None:
    """Everything written has reached stdout; raises the OSError of a full disk or a closed pipe."""
    while _endings:
        _endings.pop()()
    if sys.stdout is not None:
        sys.stdout.flush()
    for words in take_notes():
        event("note", message=words)


def settle_stdout() -> None:
    """After an error: the lines already written are flushed, or, if stdout takes no more, go nowhere, so that
    the interpreter's own last flush can't fail again."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
        return
    except (OSError, ValueError):
        pass  # It is diverted below.
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        return  # There is no stdout to divert.


def note(words: str, *, onwards: str | None = None) -> None:
    """Something a person should know that is no error; under `--json` a line at the end, or in the error.

    onwards: the next call, told whole, for it is copied.
    """
    words = brief(words) + ("" if onwards is None else f"; next: {onwards}")
    if _mode["json"]:
        _notes.append(words)
    elif sys.stderr is not None:
        line(f"note: {printable(words)}", sys.stderr)


def summary(words: str, **facts: Any) -> None:
    """The one line that sums a command up, on stderr: words, or `facts` under `--json`."""
    if _mode["json"]:
        event("summary", **facts)
    elif sys.stderr is not None:
        line(printable(words), sys.stderr)


def event(event_name: str, /, **facts: Any) -> None:
    """One JSON line on stderr."""
    if sys.stderr is not None:
        line(json_text({"event": event_name, **facts}), sys.stderr)


def table(records: Iterable[Record], as_json: bool) -> None:
    """A line a record: columns aligned on a terminal, separated by tabs in a pipe."""
    if as_json:
        for record in records:
            line(json_text(record.facts))
    elif is_terminal(sys.stdout):
        now = time.time()
        rows = [[human(cell, now) for cell in record.cells] for record in records]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            line("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    else:
        for record in records:
            line("\t".join(plain(cell) for cell in record.cells))


def block(lines: Iterable[tuple[str, Any]], facts: Mapping[str, Any], as_json: bool) -> None:
    """Facts of one thing: `label  value` lines, or one JSON object."""
    if as_json:
        line(json_text(facts))
    else:
        table((Record((label, value), {}) for label, value in lines), as_json=False)


# --- Rendering -------------------------------------------------------------------------------------


def human(value: Any, now: float) -> str:
    if isinstance(value, Size):
        return size_text(value)
    if isinstance(value, Count):
        return plural(value, value.word) if value.word else count_text(value)
    if isinstance(value, Moment):
        return age_text(value, now)
    if isinstance(value, Digest):
        return value.short
    if isinstance(value, Identity):
        return value[:SHORT_HEX]
    return plain(value)


def plain(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, Moment):
        return iso_text(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return printable(str(value))


def json_text(facts: Mapping[str, Any]) -> str:
    """One JSON object on one line, as stdout takes it: characters stand as they are, so that text in any
    script is no longer than it was; what would steer a terminal or not be seen is escaped, and where stdout
    is not in UTF-8 all but ASCII is."""
    import json

    value = {key: _json_value(each) for key, each in facts.items()}
    if not _takes_all(sys.stdout):
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if text.isprintable():
        return text
    from unicodedata import category

    return "".join(json.dumps(each)[1:-1] if category(each) in _HIDDEN else each for each in text)


def _takes_all(stream: TextIO | None) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"


def _json_value(value: Any) -> Any:
    if isinstance(value, Digest):
        return str(value)
    if isinstance(value, Moment):
        return iso_text(value)
    if isinstance(value, Mapping):
        return {str(key): _json_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(each) for each in value]
    return value


def _stdout() -> TextIO:
    if sys.stdout is None:
        raise CastoreError("standard output is closed")
    return sys.stdout
