"""What is searched for: a Python regular expression on text, and a quick look whether bytes can hold it.

Law: `may_be_in` is false only of bytes in which no match is, whether they are read as they stand or as what
their JSON strings say, and those inside them: however the text is spelt there.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

from castore.config import GREP_PATTERN_CHARACTERS_MAX, GREP_SECONDS_MAX
from castore.errors import InvalidOption
from castore.retrieve.grep.literals import Alternatives, required_literals

__all__ = ["GrepOptions", "Needle"]

_CORES_MAX = 4
_PLACE_CHARACTERS = 20
"""Of a wrong pattern, so many are shown from where it is wrong."""

_PLAIN = re.compile(r"[ !#-.0-\[\]-~]+")
"""ASCII that JSON has no short escape for."""

_HALVES = re.compile("[\ud800-\udfff]")
"""Of characters, and what stands for bytes that are no text."""


@dataclass(frozen=True, slots=True)
class GrepOptions:
    """ignore_case: capital and small letters are alike. fixed: the pattern is text, no expression.

    context: items or lines before and after each hit. hits_max: None is all. skip: hits that were told
    before. seconds_max: for all of it, or None. stuck_seconds_max: for each piece of the work.
    """

    ignore_case: bool = False
    fixed: bool = False
    context: int = 0
    hits_max: int | None = None
    skip: int = 0
    seconds_max: float | None = None
    stuck_seconds_max: float = GREP_SECONDS_MAX


_AT_BEGINNING, _AT_END = '(?:^|(?<="))', '(?:$|(?="))'
"""In JSON a string begins and ends at a quote."""


class Needle:
    """A pattern, ready to be looked for."""

    def __init__(self, pattern: str, options: GrepOptions) -> None:
        """Raises InvalidOption, with the place in the pattern."""
        flags = re.MULTILINE | (re.IGNORECASE if options.ignore_case else 0)
        source = re.escape(pattern) if options.fixed else pattern
        self.expression = _compiled(pattern, source, flags)
        self.in_json = self.expression
        if not options.fixed and (anchored := _at_quotes(pattern)) is not None:
            self.in_json = _compiled(pattern, anchored, flags)
        ignores_case = bool(self.expression.flags & re.IGNORECASE)
        literals: Alternatives | None = [(pattern,)] if options.fixed else required_literals(pattern)
        self._signs = _signs(literals, ignores_case=ignores_case)
        self._ignores_case = ignores_case

    def may_be_in(self, data: bytes) -> bool:
        """Whether it is worth reading `data` as text."""
        if self._signs is None:
            return True
        is_escaped = b"\\" in data
        if is_escaped or self._ignores_case:
            lower = data.lower()
            return any(
                all(each.may_be_in(lower, is_escaped=is_escaped) for each in signs) for signs in self._signs
            )
        return any(all(each.literal in data for each in signs) for signs in self._signs)


@dataclass(frozen=True, slots=True)
class _Sign:
    """What bytes have if a literal is in them.

    literal: as UTF-8. cores: runs of it that no short escape spells, in lower case. others: its first
    character beyond ASCII, as UTF-8 and as its escape. spelt: escapes that say a letter of the cores.
    """

    literal: bytes
    cores: tuple[bytes, ...]
    others: tuple[bytes, bytes] | None
    spelt: re.Pattern[bytes]

    def may_be_in(self, lower: bytes, *, is_escaped: bool) -> bool:
        if self.literal.lower() in lower:
            return True
        if not is_escaped:
            return False
        if self.others is not None and not any(each in lower for each in self.others):
            return False
        return all(each in lower for each in self.cores) or self.spelt.search(lower) is not None


def _signs(alternatives: Alternatives | None, *, ignores_case: bool) -> tuple[tuple[_Sign, ...], ...] | None:
    """Of each alternative what all must be there; None if there may be nothing."""
    found = []
    for each in alternatives or ():
        if any(_HALVES.search(text) for text in each):
            return None
        texts = [_safe_run(text) for text in each] if ignores_case else each
        found.append(tuple(_sign(text) for text in texts if text))
    return tuple(found) if found and all(found) else None


def _sign(literal: str) -> _Sign:
    cores = sorted(_PLAIN.findall(literal), key=len, reverse=True)[:_CORES_MAX]
    wide = next((letter for letter in literal if letter > "\x7f"), None)
    codes = "|".join(sorted({f"{ord(letter):02x}" for core in cores for letter in core})) or "(?!)"
    return _Sign(
        literal.encode(),
        tuple(core.lower().encode() for core in cores),
        None if wide is None else (wide.encode(), _escape_digits(wide)),
        re.compile(rb"u00(?:%b)" % codes.encode()),
    )


def _safe_run(literal: str) -> str:
    """The longest run of letters that have no case, or are ASCII and have one other form: `k` is also a
    Kelvin sign."""
    runs = [""]
    for letter in literal:
        is_safe = letter not in "iksIKS" if letter.isascii() else letter.lower() == letter.upper()
        runs[-1:] = [runs[-1] + letter] if is_safe else [runs[-1], ""]
    return max(runs, key=len)


def _escape_digits(letter: str) -> bytes:
    """`u8ba2`; beyond the basic plane the first of two, `ud83d`."""
    number = ord(letter)
    if number > 0xFFFF:
        number = 0xD800 + ((number - 0x10000) >> 10)
    return b"u%04x" % number


def _at_quotes(pattern: str) -> str | None:
    """The pattern whose `^` and `$` at its ends also stand beside a quote; None if it has none there."""
    begins = pattern.startswith("^")
    ends = pattern.endswith("$") and (len(pattern) - len(pattern[:-1].rstrip("\\"))) % 2 == 1
    if not (begins or ends) or "|" in pattern:
        return None
    inner = pattern[1 if begins else 0 : -1 if ends else None]
    return (_AT_BEGINNING if begins else "") + inner + (_AT_END if ends else "")


def _compiled(pattern: str, source: str, flags: int) -> re.Pattern[str]:
    if len(pattern) > GREP_PATTERN_CHARACTERS_MAX:
        raise InvalidOption(
            f"the pattern has over {GREP_PATTERN_CHARACTERS_MAX:,} characters", option="PATTERN"
        )
    if not pattern:
        raise InvalidOption("the pattern is empty, so that it is everywhere", option="PATTERN")
    try:
        with warnings.catch_warnings():
            # Of what a later Python may take for something else: it is nothing that the caller is to hear.
            warnings.simplefilter("ignore")
            return re.compile(source, flags)
    except re.error as error:
        raise InvalidOption(
            f"the pattern is no regular expression: {error.msg}{_place(pattern, error.pos)}",
            hint="-F looks for the text as it stands",
            option="PATTERN",
            offset=error.pos,
        ) from None  # All that it says is in the message.
    except (RecursionError, OverflowError) as error:
        raise InvalidOption(
            "the pattern is nested too deep, or repeats too often", option="PATTERN"
        ) from error


def _place(pattern: str, at: int | None) -> str:
    if at is None:
        return ""
    rest = pattern[at : at + _PLACE_CHARACTERS]
    return f" at character {at}" + (f": '{rest}'" if rest else ", the end")
