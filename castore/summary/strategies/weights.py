"""What a piece of a source weighs before its facts are counted: prose more than code, what was asked and said
in a session more than what was called and what came back. Pure.

Laws:
- A piece weighs what its own words, its place and the section around it say, never what a store holds.
- Nothing weighs nothing but headings and notes of what is left out: what only code says can still be given.
- It takes time linear in the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = [
    "HEADING",
    "Section",
    "Weight",
    "is_code",
    "weights_of_json",
    "weights_of_session",
    "weights_of_text",
]


class Weight(NamedTuple):
    """facts: what each fact counts. said: what the piece counts for without one. asked: what its share of a
    question's terms counts. has_rules: whether `if` and `not` in it are of a rule; in code they are not."""

    facts: float = 1.0
    said: float = 0.0
    asked: float = 1.0
    has_rules: bool = True


class Section(NamedTuple):
    """Pieces in a row that are one thing, by their numbers. kind: `heading`, `call`, `written` (the rest of a
    long call), or what the heading says: `user`, `assistant`, `result`. heading: the number of that piece."""

    kind: str
    heading: int
    start: int
    end: int


HEADING = Weight(0.0, 0.0, 0.0)
"""Of what is given with what stands under it, or not at all."""

_LISTED = Weight(0.3, 0.0, 0.6, has_rules=False)
_BLOCK = Weight(0.5, 0.0, 0.8, has_rules=False)
"""Of code between fences in a text: somebody chose to show it."""
_LOGGED = Weight(0.5, 0.0, 0.8)
_TROUBLE_SAID = 1.5
_ROW = Weight(0.5)
_SCALAR, _SCRAP = Weight(0.5), Weight(0.2)
_LONG_VALUE = 100
_SELDOM = 2
"""Members of a name that is there more often are a machine's, row by row."""
_CALLED = Weight(0.4, 0.0, 0.6, has_rules=False)
_WRITTEN = Weight(0.05, 0.0, 0.4, has_rules=False)
_RETURNED = Weight(0.3, 0.0, 0.8)
_RETURNED_CODE = Weight(0.1, 0.0, 0.5, has_rules=False)
_GIVEN = Weight(0.2, 0.0, 0.6)
_REMINDED = Weight(0.2, 0.0, 0.6, has_rules=False)
_PLANNED = Weight(0.2)
_PROSE_VALUE = Weight(1.0, 0.5)

_SHORT_CHARACTERS = 40
"""A shorter piece (`yes`, `ok`) says less."""
_LONG_CHARACTERS = 800
"""Of a longer message each piece counts for less: it was pasted, or an instruction of some tool."""
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.M)
_INDENTS = ("\n    ", "\n\t")
"""Of a block of code that stands between no fences."""
_ITEM = re.compile(r"[-*•+]\s|\d{1,3}[.)]\s")
_LINES_SEEN = 8
"""Lines of a piece of which it is told whether it is code."""
_CODE_BEGINS = re.compile(
    # Of a listing: its number, a file and a number (grep); of a diff; of a trace.
    r"\s*\d+(?:→|\t|[-:](?:\s|$))|(?=[^\s:]{0,200}[./])[^\s:]{1,200}+:\d+[:-]"
    r"|@@ |diff --git |(?:---|\+\+\+) [\w/.]|[+-](?:\t|  | ?\d+ |[^\s\w*+`>-]|\s*\w+[(.=:])|--$"
    r"|\s*at (?:async |\S+ \S*\(|\S+:\d+:\d+)"
    # What begins, or is whole, as code is.
    r"|\s*(?:import|from|package|func|def|class|const|let|var|return|elif|else|try|catch|export|public|private"
    r"|static|async|await|type|interface|struct|enum|#include|#define|@\w+)\b(?:[^.]*[(){}=;:\"<>/]|\s*$)"
    r"|\s*(?:if|for|while|switch)\b[^.]*[{(:=]\s*$|\s*(?://|/\*|\*/|#!|<[/!?a-zA-Z][^>]*>)|[\s(){}\[\];,]*$"
    r"|\s*[\w.]+\([^()]*\);?$"
    # Of JSON: a member.
    r"|\s*[\"'][\w./$-]+[\"']\s*:"
)
_CODE_ENDS = re.compile(r"(?:[{}]|\)[,:]|=>|[\w=,] ?\[|\w\(|&&|\|\|)$")
_SYMBOLS = re.compile(r"[{}()\[\];=<>|&$\\\"_+/^]")
_SYMBOLS_SHARE = 0.13
_QUOTED = re.compile(r"`[^`\n]*`|\]\([^()\n]*\)|https?://\S+")
_ESCAPES = re.compile(r"\\[ntr\"]")
_PROSE = re.compile(r"(?<![A-Za-z'’])(?:[A-Za-z'’]++[,:]? ){4}[A-Za-z'’]|[\u3040-\u30ff\u3400-\u9fff，、]{8}")
_BARE = re.compile(r"[\W\d]*$")
_LOG_LINE = re.compile(
    r"[\[(<]{0,2}(?:\d{4}[-/]\d\d?[-/]\d\d?|\d\d:\d\d:\d\d|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL)\b)"
)
_TROUBLE = re.compile(
    r"(?<!\b0 )(?<!\bno )\b(?:ERROR|FATAL|FAILED|FAIL|CRITICAL|PANIC|[Ee]rror(?=[: ]\S)|[Ff]ailed|fatal|panic"
    r"|Traceback|\w+(?:Error|Exception)(?=:))\b|错误|失败|异常"
)
_PLAN = re.compile(
    r"(?:(?:Now|Good|Great|Perfect|OK|Okay|Alright|First|Next|Then)\b[^.\n]{0,30}[,.!:]? ?)?"
    r"(?:[Ll]et me|[Ll]et's|I'll|I will|I need to|I'm going to|Let us|Looking at|Now I)\b"
)
"""What an agent says before it does something; what it did is said again afterwards, if it matters."""
_TAGGED = re.compile(r"</?[a-z][\w-]*>|Caveat: |\[Request interrupted|This session is being continued")
_REMINDER = re.compile(r"<(?:system-reminder|local-command-[a-z]+)>")
_REMINDER_END = re.compile(r"</(?:system-reminder|local-command-[a-z]+)>")
"""What the harness says to the model, in whoever's name."""
_NOTE = re.compile(r"\[[^\[\]\n]{1,120}(?: characters left out| bytes)\]$")


# --- What is weighed -------------------------------------------------------------------------------


def weights_of_text(text: str, pieces: Sequence[tuple[int, int]]) -> list[Weight]:
    """Of a text that is no session."""
    shown = _Shown()
    weights = []
    for start, end in pieces:
        piece = text[start:end]
        is_shown = shown.takes(piece) or (text.endswith(_INDENTS, 0, start) and not _ITEM.match(piece))
        weights.append(_of_line(piece, is_shown=is_shown))
    return weights


def weights_of_json(pieces: Sequence[tuple[str, bool]]) -> list[Weight]:
    """Of values as they are spelt, and of texts in long strings; with each whether it is a value."""
    names = Counter(_name(piece) for piece, is_value in pieces if is_value)
    return [
        _of_value(piece, names[_name(piece)]) if is_value else _of_line(piece, is_shown=False)
        for piece, is_value in pieces
    ]


def weights_of_session(
    text: str, pieces: Sequence[tuple[int, int]], sections: Sequence[Section]
) -> list[Weight]:
    """Of the text of a session, which begins with a heading."""
    said = [number for number, each in enumerate(sections) if _says(text, pieces, each)]
    asked = [number for number in said if sections[number].kind == "user"]
    answered = [number for number in said if sections[number].kind == "assistant"]
    ends = {*asked[:1], *asked[-1:], *answered[-1:]}
    weights: list[Weight] = []
    for number, section in enumerate(sections):
        size = pieces[section.end - 1][1] - pieces[section.start][0]
        weigh = _OfSection(section.kind, number / len(sections), number in ends, size)
        shown = _Shown()
        is_reminder = False
        for start, end in pieces[section.start : section.end]:
            piece = text[start:end]
            is_reminder = is_reminder or _REMINDER.search(piece) is not None
            weights.append(weigh.weight(piece, is_shown=shown.takes(piece), is_reminder=is_reminder))
            is_reminder = is_reminder and not _REMINDER_END.search(piece)
    return weights


def is_code(piece: str) -> bool:
    """Whether most of the lines of a piece are code, listings, diffs or scraps of JSON."""
    lines = [line for line in piece.split("\n", _LINES_SEEN)[:_LINES_SEEN] if line.strip()]
    return 2 * sum(map(_is_code_line, lines)) > len(lines)


# --- Lines -----------------------------------------------------------------------------------------


class _Shown:
    """Whether one is between the fences of a block of code, piece by piece."""

    def __init__(self) -> None:
        self._is_open = False

    def takes(self, piece: str) -> bool:
        fences = sum(1 for _ in _FENCE.finditer(piece))
        was_open = self._is_open
        self._is_open ^= bool(fences % 2)
        return was_open or bool(fences)


def _of_line(piece: str, *, is_shown: bool) -> Weight:
    if _BARE.match(piece):
        return _SCRAP
    if _LOG_LINE.match(piece):
        return _LOGGED._replace(said=_TROUBLE_SAID) if _TROUBLE.search(piece) else _LOGGED
    if is_shown:
        return _BLOCK
    return _LISTED if is_code(piece) else Weight()


def _of_value(piece: str, often: int) -> Weight:
    """often: how many members have its name."""
    if _PROSE.search(piece):
        return _PROSE_VALUE if often <= _SELDOM or len(piece) >= _LONG_VALUE else Weight()
    if piece[:1] in ("{", "["):
        return _ROW
    return _SCALAR if often <= _SELDOM else _SCRAP


def _name(piece: str) -> str:
    return piece[: piece.find(":") + 1] if piece[:1] == '"' else piece[:1]


def _is_code_line(line: str) -> bool:
    said = line.rstrip()
    if _CODE_BEGINS.match(said) or _CODE_ENDS.search(said, max(0, len(said) - 3)):
        return True
    plain = _QUOTED.sub("", said) if "`" in said or "](" in said or "://" in said else said
    is_dense = len(_SYMBOLS.findall(plain)) > _SYMBOLS_SHARE * len(plain)
    if not (is_dense or said.endswith(";")):
        return False
    return not _PROSE.search(plain) or (is_dense and len(_ESCAPES.findall(plain)) > 2)


# --- Sessions --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _OfSection:
    """place: of the section in the session, from 0 to 1: later is nearer to what is to be done next.
    is_end: it says how the work began, or where it stands. size: characters of it."""

    kind: str
    place: float
    is_end: bool
    size: int

    def weight(self, piece: str, *, is_shown: bool, is_reminder: bool) -> Weight:
        if self.kind == "heading" or _NOTE.match(piece):
            return HEADING
        if self.kind == "call":
            return _CALLED
        if self.kind == "written":
            return _WRITTEN
        if is_reminder or _TAGGED.match(piece):
            return _REMINDED
        if self.kind == "context":
            return _GIVEN
        if self.kind == "result":
            return self._of_result(piece)
        if is_shown or is_code(piece):
            return _BLOCK if is_shown and self.is_end else _LISTED
        if self.kind == "assistant" and _PLAN.match(piece):
            return _PLANNED
        return self._of_prose(piece)

    def _of_prose(self, piece: str) -> Weight:
        if self.kind == "user":
            facts, said = 1.5, (5.0 if self.is_end else 1.0 + 2.0 * self.place)
        else:
            facts, said = (1.5, 4.0) if self.is_end else (1.0, 0.5 * self.place)
        said *= min(1.0, len(piece) / _SHORT_CHARACTERS) * min(1.0, _LONG_CHARACTERS / max(1, self.size))
        return Weight(facts, said, 1.5)

    def _of_result(self, piece: str) -> Weight:
        if _TROUBLE.search(piece) and not _CODE_BEGINS.match(piece):
            return Weight(0.4, 0.3 + 0.7 * self.place)
        return _RETURNED_CODE if _BARE.match(piece) or is_code(piece) else _RETURNED


def _says(text: str, pieces: Sequence[tuple[int, int]], section: Section) -> bool:
    """Whether somebody says something in it: more than `ok`, or what is to be done now."""
    if section.kind not in ("user", "assistant"):
        return False
    said = (text[start:end] for start, end in pieces[section.start : section.end])
    return any(
        len(each) >= _SHORT_CHARACTERS // 2
        and not _TAGGED.match(each)
        and not _NOTE.match(each)
        and not (section.kind == "assistant" and _PLAN.match(each))
        for each in said
    )
