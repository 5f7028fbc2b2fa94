"""What is searched for: a Python regular expression on text, and a quick look whether bytes can hold it.

Law: `may_be_in` is false only of bytes in which no match is, whether they are read as they stand or as what
their JSON strings say, and those inside them: however the text is spelt there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from castore.config import GREP_PATTERN_CHARACTERS_MAX, GREP_SECONDS_MAX
from castore.errors import InvalidOption

__all__ = ["GrepOptions", "Needle", "required_literals"]

_RUN_MIN = 2
"""Characters of a shorter literal are in nearly everything: looking for them first saves nothing."""

_QUANTIFIERS = "*+?{"
_OPTIONAL = "*?{"
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
        literals = [pattern] if options.fixed else required_literals(pattern)
        self._signs = _signs(literals, ignores_case=ignores_case)
        self._ignores_case = ignores_case

    def may_be_in(self, data: bytes) -> bool:
        """Whether it is worth reading `data` as text."""
        if self._signs is None:
            return True
        is_escaped = b"\\" in data
        if is_escaped or self._ignores_case:
            lower = data.lower()
            return any(each.may_be_in(lower, is_escaped=is_escaped) for each in self._signs)
        return any(each.literal in data for each in self._signs)


@dataclass(frozen=True, slots=True)
class _Sign:
    """What bytes have if a literal is in them.

    literal: as UTF-8. core: the longest run of it that no short escape spells, in lower case. others: its
    first character beyond ASCII, as UTF-8 and as its escape. spelt: escapes that say a letter of the core.
    """

    literal: bytes
    core: bytes
    others: tuple[bytes, bytes] | None
    spelt: re.Pattern[bytes]

    def may_be_in(self, lower: bytes, *, is_escaped: bool) -> bool:
        if self.literal.lower() in lower:
            return True
        if not is_escaped:
            return False
        if self.others is not None and not any(each in lower for each in self.others):
            return False
        return self.core in lower or self.spelt.search(lower) is not None


def _signs(literals: list[str] | None, *, ignores_case: bool) -> tuple[_Sign, ...] | None:
    if not literals:
        return None
    signs = []
    for each in literals:
        if _HALVES.search(each):
            return None
        literal = _safe_run(each) if ignores_case else each
        if len(literal.encode()) < _RUN_MIN:
            return None
        core = max(_PLAIN.findall(literal), key=len, default="")
        wide = next((letter for letter in literal if letter > "\x7f"), None)
        codes = "|".join(sorted({f"{ord(letter):02x}" for letter in core})) or "(?!)"
        signs.append(
            _Sign(
                literal.encode(),
                core.lower().encode(),
                None if wide is None else (wide.encode(), _escape_digits(wide)),
                re.compile(rb"u00(?:%b)" % codes.encode()),
            )
        )
    return tuple(signs)


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


def required_literals(pattern: str) -> list[str] | None:
    """Texts of which every match has one; None if that can't be told at a glance.

    Only what is plain is looked at: letters outside groups and classes. Of each branch the longest run.
    """
    if re.search(r"\(\?[a-zA-Z]*x", pattern):
        return None
    branches: list[list[str]] = [[]]
    run, depth, at = "", 0, 0
    while at < len(pattern):
        sign, at = pattern[at], at + 1
        literal: str | None = sign
        if sign == "\\":
            escaped = pattern[at : at + 1]
            at += 1
            literal = escaped if escaped and not escaped.isalnum() else None
            if escaped.isalnum() and escaped not in "AbBdDsSwWZntrfva":
                return None  # It says a character by its number, or an earlier group.
        elif sign == "[":
            at = _class_end(pattern, at)
            literal = None
        elif sign in "()":
            depth += 1 if sign == "(" else -1
            literal = None
        elif sign in "^$.|*+?{":
            literal = None
            if sign == "{":
                at = _brace_end(pattern, at)
        follower = pattern[at : at + 1]
        if literal is None or depth or (follower and follower in _OPTIONAL):
            branches[-1].append(run)
            run = ""
        elif follower == "+":
            branches[-1].append(run + literal)
            run = ""
        else:
            run += literal
        if sign == "|" and not depth:
            branches.append([])
    branches[-1].append(run)
    longest = [max(each, key=len) for each in branches]
    return (
        longest if all(len(each.encode("utf-8", "surrogatepass")) >= _RUN_MIN for each in longest) else None
    )


def _class_end(pattern: str, at: int) -> int:
    """The offset after a class whose bracket is before `at`."""
    at += 1 if pattern[at : at + 1] == "^" else 0
    at += 1 if pattern[at : at + 1] == "]" else 0
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _brace_end(pattern: str, at: int) -> int:
    """The offset after `{3,4}`, of which the brace was read; where none is, `at`."""
    found = re.compile(r"[0-9,]*\}").match(pattern, at)
    return found.end() if found else at


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
        return re.compile(source, flags)
    except re.error as error:
        place = "" if error.pos is None else f" at character {error.pos}"
        raise InvalidOption(
            f"the pattern is no regular expression: {error.msg}{place}",
            hint="-F looks for the text as it stands",
            option="PATTERN",
            offset=error.pos,
        ) from error
    except (RecursionError, OverflowError) as error:
        raise InvalidOption(
            "the pattern is nested too deep, or repeats too often", option="PATTERN"
        ) from error
