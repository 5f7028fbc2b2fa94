"""The texts that every match of a regular expression has in it, read off the pattern.

Law: each match has all texts of one of the alternatives. Where that can't be told at a glance there are none:
None. Only plain letters count, inside groups too; what may be left out, classes and lookarounds do not.
"""

from __future__ import annotations

import re

__all__ = ["Alternatives", "required_literals"]

Alternatives = list[tuple[str, ...]]

_ALTERNATIVES_MAX = 24
_TEXTS_MAX = 4
_ENOUGH = 3
"""Characters in a text that make it worth more than what stands in a group beside it."""

_VERBOSE = re.compile(r"\(\?[a-zA-Z]*x")
_BRACES = re.compile(r"[0-9,]*\}")
_NAMED = re.compile(r"\?P<\w+>")
_CLASSES = "AbBdDsSwWZntrfva"
"""Letters that after a backslash stand for no letter of a text."""


def required_literals(pattern: str) -> Alternatives | None:
    """Of a pattern that is valid."""
    if _VERBOSE.search(pattern):
        return None
    reader = _Reader(pattern)
    try:
        found = reader.branches()
    except RecursionError:
        return None  # So many groups in groups are not worth a look.
    return None if reader.is_unsure or reader.at < len(pattern) else found


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.is_unsure = False

    def branches(self) -> Alternatives | None:
        """Up to the bracket that closes the group, or the end."""
        found: Alternatives | None = []
        while True:
            branch = self._branch()
            if branch is None or found is None or len(found) + len(branch) > _ALTERNATIVES_MAX:
                found = None
            else:
                found += branch
            if self._next() != "|":
                return found
            self.at += 1

    def _branch(self) -> Alternatives | None:
        runs, groups = [""], list[Alternatives]()
        while (sign := self._next()) not in ("", "|", ")"):
            self.at += 1
            literal: str | None = None
            group: Alternatives | None = None
            if sign == "\\":
                literal = self._escaped()
            elif sign == "[":
                self._pass_class()
            elif sign == "(":
                group = self._group()
            elif sign == "{":
                self._pass_braces()
            elif sign not in "^$.*+?":
                literal = sign
            may_be_left_out = self._next() in ("*", "?", "{")
            if literal is None or may_be_left_out:
                runs.append("")
                groups += [group] if group and not may_be_left_out else []
            else:
                runs[-1] += literal
                if self._next() == "+":
                    runs.append("")
        return _joined(runs, groups)

    def _next(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _escaped(self) -> str | None:
        letter = self._next()
        self.at += 1
        if not letter.isalnum():
            return letter
        # Others say a character by its number, or an earlier group.
        self.is_unsure |= letter not in _CLASSES
        return None

    def _group(self) -> Alternatives | None:
        counts = True
        if self.pattern.startswith("?#", self.at):
            self.at = self.pattern.find(")", self.at)
        elif self.pattern.startswith(("?:", "?>"), self.at):
            self.at += 2
        elif named := _NAMED.match(self.pattern, self.at):
            self.at = named.end()
        else:
            counts = self._next() != "?"
            self.at += 1 if not counts else 0
        found = self.branches()
        self.at += 1
        return found if counts else None

    def _pass_class(self) -> None:
        self.at += 1 if self._next() == "^" else 0
        self.at += 1 if self._next() == "]" else 0
        while self._next() not in ("]", ""):
            self.at += 2 if self._next() == "\\" else 1
        self.at += 1

    def _pass_braces(self) -> None:
        found = _BRACES.match(self.pattern, self.at)
        if found:
            self.at = found.end()


def _joined(runs: list[str], groups: list[Alternatives]) -> Alternatives | None:
    """The longest runs; where these say little, with the alternatives of the group that says most."""
    texts = tuple(sorted(filter(None, runs), key=len, reverse=True)[:_TEXTS_MAX])
    if groups and (not texts or len(texts[0]) < _ENOUGH):
        best = max(groups, key=lambda group: min(max(map(len, each)) for each in group))
        return [(*each, *texts) for each in best]
    return [texts] if texts else None
