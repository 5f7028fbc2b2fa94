"""What to do next, where the words that were typed tell what was meant: a file, or what another tool takes.

Law: a hint says what does it here, and nothing is opened for it: of a file its path is all that is looked at.
"""

from __future__ import annotations

import os

from castore.cli.reading import shell_words

__all__ = ["COMMANDS", "OPTIONS", "command_hint", "file_hint", "option_hint"]

OPTIONS = {
    ("grep", "-A"): "-C N shows N lines or items on both sides",
    ("grep", "-B"): "-C N shows N lines or items on both sides",
    ("grep", "-H"): "each hit begins with the digest of its object",
    ("grep", "-L"): "a line a hit begins with its object's digest; 'ctx ls' lists all objects",
    ("grep", "-P"): "PATTERN is an expression of Python's re, which has most of that: leave it out",
    ("grep", "-c"): "a hit is a line: count them with 'ctx grep --max-bytes 0 PATTERN | wc -l'",
    ("grep", "--count"): "a hit is a line: count them with 'ctx grep --max-bytes 0 PATTERN | wc -l'",
    ("grep", "-e"): "PATTERN is the first argument, and 'one|other' takes both",
    ("grep", "-l"): "a hit begins with its object: 'ctx grep --max-bytes 0 PATTERN | cut -c1-16 | sort -u'",
    ("grep", "-o"): "a hit shows at most 160 bytes around the match, and has the words that read more",
    ("grep", "-q"): "the exit code says it: 0 with hits, 1 with none; '-m 1' stops at the first",
    ("grep", "-s"): "the exit code says it: 0 with hits, 1 with none; '-m 1' stops at the first",
    ("grep", "-v"): "lines without it: 'ctx cat REF | grep -v PATTERN'",
    ("grep", "-w"): r"write '\bPATTERN\b'",
    ("grep", "-x"): "write '^PATTERN$'",
    ("grep", "--ignore-case"): "-i takes capital and small letters as alike",
    ("grep", "--fixed-strings"): "-F takes PATTERN as text",
    ("cat", "-n"): "--lines A:B reads lines by their numbers, from 0",
    ("config", "--unset"): "delete its line in .ctxstore/config.toml: then it is as by default",
    ("push", "-n"): "--dry-run says what would be pushed",
    ("pull", "--dry-run"): "'ctx log --remote NAME' lists what is there",
    ("diff", "-q"): "the exit code says it: 0 if they are the same, 1 if not",
    ("diff", "-u"): "a line tells a span that left; 'ctx cat DIGEST' reads it",
}
"""By command and option: what people type by habit, and what does it here."""

COMMANDS = {
    "bundle list": "'tar -tf x.tar' lists the roots and objects of a bundle",
    "bundle ls": "'tar -tf x.tar' lists the roots and objects of a bundle",
    "clone": "'ctx init', 'ctx remote add origin URL' and 'ctx pull --all' make a store of what is there",
    "ls-remote": "'ctx log --remote NAME' lists what is there",
    "remote get-url": "'ctx config remote.NAME.url' shows it",
    "remote ls": "'ctx remote list' lists the remotes, 'ctx log --remote NAME' what is at one",
    "remote rename": "roots go by the name: 'ctx remote add' gives the bucket another besides",
    "remote rm": "'ctx remote remove NAME' takes it out of the settings; what lies there stays",
    "remote set-url": "'ctx config remote.NAME.url URL' sets it",
    "remote show": "'ctx remote list' shows what is set, 'ctx log --remote NAME' what is there",
}
"""By what people type by habit that is no command: what does it here."""

_NAMES_OBJECTS = ("cat", "grep", "show", "why")
_TAKES_PLACES = ("cat", "grep", "show")


def option_hint(command: str, option: str) -> str | None:
    """What does here what this option does elsewhere; None if there is nothing to say."""
    return OPTIONS.get((command, option))


def command_hint(command: str) -> str | None:
    """What does here what this command does elsewhere; None if there is nothing to say."""
    return COMMANDS.get(command)


def file_hint(name: str, command: str | None) -> str | None:
    """What to do where `name` is no name of an object, but looks like a file; None if it does not."""
    if command not in _NAMES_OBJECTS or "\0" in name:
        return None
    file, sign, place = name.partition("#")
    if os.path.isfile(name):
        quoted = shell_words([name])
        if command == "grep":
            return (
                f"it is a file: '--doc {quoted}' searches the objects that it names; "
                f"'ctx put {quoted}' makes it an object"
            )
        made = f"it is a file: 'ctx put {quoted}' makes it an object"
        if command not in _TAKES_PLACES:
            return made
        place = shell_words([f"{name}#$.path"])
        return f"{made}; in a folded document or a view {place} is the reference at $.path"
    if not sign or command not in _TAKES_PLACES:
        return None
    if os.path.isfile(file):
        pattern = place if place.startswith(("[", ".")) else f".{place}" if place else ""
        return f"a place in a file begins with $: {shell_words([f'{file}#${pattern}'])}"
    return f"there is no file '{file}': check the path" if place.startswith("$") else None
