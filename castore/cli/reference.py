"""docs/cli.md, written from the program itself: `python -m castore.cli.reference > docs/cli.md`.

Law: the page says what the program takes, no more and no less; a test compares the two.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer

from castore.cli.app import root_command
from castore.cli.commands import COMMANDS, load
from castore.cli.help import GROUPS

__all__ = ["reference_page"]

_INTRODUCTION = """\
# The command line

Written by `python -m castore.cli.reference`; a test holds this page to the program.

Every command reads FILE, or stdin for `-` or none. `-o OUT` replaces OUT at once or not at all. stdout
carries data only; notes, summaries and errors go to stderr. REF is a digest, its first six digits or more, a
name, or a whole reference or marker pasted in; for `show`, `tag`, `keep` and `why` also the digest of a
folded document or the id of a root (or the first six digits or more of it).

The store is the one that `--store` or `CTX_STORE` name (the .ctxstore folder itself), else the nearest
.ctxstore upwards, else the user's own. A read never makes a store.

A scope says who may see what. What a process may use is granted to it: CTX_SCOPE lists scopes, and globs such
as `team/*`, apart by commas or spaces; else the setting `scopes.granted` does; else it is all of a store that
has one scope, or the default scope of one that has more. `--scope` selects within that. What was not granted
is not there: reads answer as if it had never been stored. The grant `*` is the operator's, who alone may run
`gc`, `purge`, `repair`, `verify` of the whole store, `scope create`, and set a setting.

An object that a root here names may lie at a remote (docs/sharing.md); what reads it fetches it.
`--offline`, or CTX_OFFLINE=1 for every command, forbids that, and every other request.

DUR is a whole number and s, m, h, d or w, as in 30d. PATTERN is a path such as `$.rows`,
`$.messages[*].content` or `$..log`; `$` is each top-level value.
"""

_CODES = """\
## Exit codes

| code | means |
|---|---|
| 0 | done |
| 1 | another expected failure: unreadable input, a full disk |
| 2 | usage, or an invalid option or setting |
| 3 | done, with findings, or only partly: one bad path of many |
| 10 | no store, a store where none may be, or an unknown format |
| 11 | locked by another process for 30 s |
| 12 | an object or a name is missing, or not to be seen; a digest is ambiguous; an object was purged |
| 13 | damaged: an object, a root or the index |
| 14 | outside the granted scopes: a `--scope`, a write, or what is the operator's |
| 15 | a conflict: the name is taken, or was moved by somebody else |
| 16 | a remote did not do what was asked of it |
| 17 | a limit or a quota |
| 18 | an invalid document, or one that does not unfold to what was folded |
| 70 | a bug in castore, with a traceback |
| 130 | interrupted |
| 141 | the reader closed the pipe |

An error is `error: …` on stderr, then `at …`, `caused by: …` and `hint: …` where there is something to say;
with `--json` it is one line, `{"event":"error","code":…,"name":…,"message":…,"hint":…,"fields":{…}}`.
docs/errors.md lists the names, and docs/output.md what each command prints.
"""


def reference_page() -> str:
    """The whole page, in Markdown."""
    return "\n".join([_INTRODUCTION, *_program(), *_commands(), _CODES])


def _program() -> Iterator[str]:
    root = root_command()
    yield "## ctx\n"
    yield "`ctx` alone prints the map of commands.\n"
    yield from _parameters(root, typer.Context(root, info_name="ctx"))


def _commands() -> Iterator[str]:
    for group in GROUPS:
        members = [name for name, entry in COMMANDS.items() if entry.group == group]
        if members:
            yield f"## {group.capitalize()}\n"
        for name in members:
            command = load(name)
            context = typer.Context(command, info_name=f"ctx {name}")
            usage = " ".join(command.collect_usage_pieces(context))
            yield f"### ctx {name}\n"
            yield f"{COMMANDS[name].summary}.\n"
            yield f"    ctx {name} {usage}\n"
            yield f"Example: `{COMMANDS[name].example}`\n"
            yield from _parameters(command, context)


def _parameters(command: Any, context: typer.Context) -> Iterator[str]:
    yield "| | |"
    yield "|---|---|"
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            name, words = (text.replace("|", "\\|") for text in record)
            yield f"| `{name}` | {words} |"
    yield ""


if __name__ == "__main__":
    sys.stdout.write(reference_page())
