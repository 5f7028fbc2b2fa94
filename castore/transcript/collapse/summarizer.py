"""Summarizers: what makes a summary of archived turns. Text in, text out; the text is castore's reading of
the turns (castore.transcript.collapse.reading), and what it becomes is the summarizer's affair.

Laws:
- A summary that `summary_of` gives is one that may be stored: a text of UTF-8 with at most SUMMARY_BYTES_MAX
  bytes that says something. It is that or SummarizerFailed; never an empty one, and never half of one.
- Its line ends are LF and no white space is around it. Of what steers a terminal nothing is in it: escape
  sequences are gone, and other control characters but tab, like halves of surrogate pairs, are U+FFFD.
- What made it can be told: `strategy` is the name and version of its maker, and goes into each commit.

A summarizer stores nothing and knows no session, so it may be tried again after any failure.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from castore.config import SUMMARY_BYTES_MAX
from castore.errors import CastoreError, InvalidOption, SummarizerFailed

__all__ = ["GivenText", "Summarizer", "checked_summary", "summary_of", "without_controls"]

_LINE_END = re.compile("\r\n?")
# Of ECMA-48: a sequence with its parameters, a command with its text (a window's title), a pair.
_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*+[ -/]*+[@-~]"
    "|\x1b\\][^\x07\x1b\x9c]{0,4096}+(?:\x07|\x9c|\x1b\\\\)"
    "|\x1b[ -/]*+[0-~]"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_UNSEEN = frozenset(("Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"))
_UNKNOWN = "\ufffd"


class Summarizer(Protocol):
    """What makes summaries. name: a word of lower case and hyphens; version: of how it makes them."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def strategy(self) -> str:
        """`name@version`, and what else tells two of its kind apart: at most 300 characters."""

    def summarize(self, text: str) -> str:
        """A summary of the text, which says something. Raises SummarizerFailed. `summary_of` calls it."""


def summary_of(summarizer: Summarizer, text: str) -> str:
    """The summary that it makes of the text, checked. Raises SummarizerFailed, and what it itself raises."""
    return checked_summary(summarizer.summarize(text), by=summarizer.strategy)


def checked_summary(summary: str, *, by: str) -> str:
    """The summary as it is stored; a checked one stays as it is. by: the strategy, for the error.

    Raises SummarizerFailed for one that is blank or too long.
    """
    return _checked(summary, SummarizerFailed, f"the summarizer '{by}' gave", strategy=by)


def without_controls(text: str) -> str:
    """The text without what steers a terminal; U+FFFD stands for the rest that is no character to read."""
    if "\r" in text:
        text = _LINE_END.sub("\n", text)
    if "\x1b" in text or "\x9b" in text:
        text = _SEQUENCE.sub("", text)
    return _CONTROL.sub(_UNKNOWN, text)


@dataclass(frozen=True, slots=True)
class GivenText:
    """A summary by hand, or from a file: it is of whatever it is put before.

    Raises InvalidOption for one that is blank or too long.
    """

    text: str
    name: ClassVar[str] = "by-hand"
    version: ClassVar[int] = 1
    strategy: ClassVar[str] = "by-hand@1"
    _summary: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_summary", _checked(self.text, InvalidOption, "the summary has"))

    def summarize(self, text: str) -> str:
        return self._summary


def _checked(summary: Any, error: type[CastoreError], begins: str, **fields: str) -> str:
    if not isinstance(summary, str):
        raise error(f"{begins} no text, but a value of the type {type(summary).__name__}", **fields)
    # Before anything is made of it: a text that is far too long costs nothing.
    if len(summary) <= SUMMARY_BYTES_MAX:
        text = without_controls(summary).strip()
        if _is_blank(text):
            raise error(f"{begins} nothing that can be read", **fields)
        if len(text.encode()) <= SUMMARY_BYTES_MAX:
            return text
    raise error(f"{begins} over {SUMMARY_BYTES_MAX:,} bytes", limit="SUMMARY_BYTES_MAX", **fields)


def _is_blank(summary: str) -> bool:
    """Whether nothing in it can be seen. Text as people write it says so within its first characters."""
    return all(each == _UNKNOWN or unicodedata.category(each) in _UNSEEN for each in summary)
