"""Words of the command line, as a client of the server knows them.

Law: what `message` and `hint` give names no command and no option of a shell, which a model has perhaps none
of: commands are the tools that do the same, options the arguments, and a piece of advice that no tool can
follow is left out. What stands in quotes in a message is somebody's own text, and stays as it is.
"""

from __future__ import annotations

import re

__all__ = ["argument", "hint", "message", "place"]

_ARGUMENTS = {
    "--bytes": "bytes",
    "--bytes-over": "bytes_over",
    "--chars": "chars",
    "--for": "keep_for",
    "--items": "items",
    "--lines": "lines",
    "--max-bytes": "max_bytes",
    "--name": "name",
    "--select": "select",
    "--skip": "skip",
    "-C": "context",
    "-F": "fixed",
    "-i": "ignore_case",
    "-m": "max_hits",
    "FILE": "ref",
    "PATTERN": "pattern",
    "REF": "ref",
}
"""Options and arguments of commands, and the arguments of tools that mean the same."""

_TOOLS = {
    "cat": "ctx_read",
    "fold": "ctx_fold",
    "grep": "ctx_grep",
    "log": "ctx_list",
    "ls": "ctx_list",
    "put": "ctx_put",
    "show": "ctx_show",
}
_QUOTED = re.compile(r"((?<![A-Za-z])'[^']*')")
_WORDS = re.compile(r"""--(select|items|lines|chars|bytes) ((?:'[^']*'|"'"|[^\s'"])+)(?=\s|$)""")
_OPTION = re.compile(r"(?<![\w-])(?:--[a-z][a-z-]*|-[A-Za-z])(?![\w-])")
_COMMAND = re.compile(r"'ctx ([a-z]+)(?: [A-Za-z0-9]+)?'")
_OF_A_SHELL = re.compile(r"\bctx [a-z]|(?<![\w-])--?[A-Za-z]|\bCTX_[A-Z]|\b(?:REF|FILE)\b")


def argument(option: str) -> str:
    """`--max-bytes` is `max_bytes`; what has no such name stays."""
    return _ARGUMENTS.get(option, option)


def message(text: str) -> str:
    """What happened."""
    return "".join(piece if piece.startswith("'") else _translated(piece) for piece in _QUOTED.split(text))


def hint(text: str) -> str | None:
    """What to do, as far as tools can; None: nothing of it."""
    text = _COMMAND.sub(lambda found: _TOOLS.get(found[1], found[0]), text)
    advice = [_translated(each) for each in text.split("; ")]
    return "; ".join(each for each in advice if not _OF_A_SHELL.search(each)) or None


def place(text: str) -> str:
    """A text that begins with words of `ctx cat`: `--items 9  status 500` is `items=9  status 500`."""
    found, at = [], 0
    while (match := _WORDS.match(text, at)) is not None:
        found.append(f"{match[1]}={match[2]}")
        at = match.end()
        if text[at : at + 3] != " --":
            break
        at += 1
    return " ".join(found) + text[at:]


def _translated(text: str) -> str:
    def named(found: re.Match[str]) -> str:
        name = _ARGUMENTS.get(found[0])
        return found[0] if name is None else f"'{name}'"

    return _OPTION.sub(named, text)
