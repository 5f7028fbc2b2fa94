"""The short map that `ctx` alone prints, and `ctx --help` with the options below it."""

from __future__ import annotations

from typing import Any

from castore.cli.commands import COMMANDS, members

__all__ = ["GROUPS", "WORDS", "group_map", "options_lines", "program_map"]

GROUPS = ("documents", "objects", "keeping", "sessions", "sharing", "store")


WORDS = {
    "bundle": "share without a bucket, in a file; 'ctx bundle' lists how",
    "collapse": "hide whole turns of a session behind summaries; 'ctx collapse' lists how",
    "hook": "answer the hooks of an agent; 'ctx hook' lists whose",
    "remote": "name buckets to share with, check and tidy them; 'ctx remote' lists how",
    "scope": "list, show and declare scopes; 'ctx scope' lists how",
    "summary": "cache summaries, and check what they lost; 'ctx summary' lists how",
}
"""First words of so many commands that the map has one line for them all."""


def program_map() -> list[str]:
    """The lines of the map: every command under its group, with its one-line help; one for those of WORDS."""
    lines = [
        "ctx moves the bulk of an agent's context into a store and leaves references, byte for byte",
        "",
        "  ctx fold in.json > out.json          long values become references",
        "  ctx unfold out.json | cmp - in.json  and come back exactly",
    ]
    helped: dict[str, dict[str, str]] = {group: {} for group in GROUPS}
    for name, entry in COMMANDS.items():
        word = name.partition(" ")[0]
        helped[entry.group][word if word in WORDS else name] = WORDS.get(word, entry.summary)
    width = max(len(name) for shown in helped.values() for name in shown)
    for group, shown in helped.items():
        if shown:
            lines += ["", group, *_command_lines(shown, width)]
    return [*lines, "", "'ctx COMMAND --help' says more"]


def group_map(word: str) -> list[str]:
    """The lines of the commands whose first word is `word`."""
    shown = {name: entry.summary for name, entry in members(word).items()}
    return [*_command_lines(shown, max(map(len, shown))), "", f"'ctx {word} COMMAND --help' says more"]


def options_lines(group: Any, context: Any) -> list[str]:
    """`ctx`'s own options, one a line, aligned."""
    records = [parameter.get_help_record(context) for parameter in group.get_params(context)]
    shown = [record for record in records if record is not None]
    width = max(len(name) for name, _ in shown)
    return ["options", *(f"  {name:<{width}}  {_sentence(text)}" for name, text in shown)]


def _command_lines(shown: dict[str, str], width: int) -> list[str]:
    return [f"  {name:<{width}}  {_sentence(summary)}" for name, summary in shown.items()]


def _sentence(text: str) -> str:
    """`text` as the map writes it: lower case, without a full stop."""
    return text[:1].lower() + text[1:].rstrip(".")
