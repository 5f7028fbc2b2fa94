"""The map of commands: what there is, in groups, and the group that loads one command at a time.

Law: naming a command imports its module and no other; `ctx`, `ctx --help` and shell completion of
command names import none. The one-line help and the example of a command are written here, once, and are
what the map, `--help` and docs/cli.md show.

A command may have two words (`scope list`); those with the same first word are a group of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

from castore.cli.output import line
from castore.cli.parameters import PlainCommand, ReadingCommand, take_plain
from castore.errors import InvalidOption

__all__ = ["COMMANDS", "HOOKS", "CommandGroup", "Entry", "command_in", "load", "members"]


class Entry(NamedTuple):
    group: str
    module: str
    summary: str
    example: str


COMMANDS: dict[str, Entry] = {
    "fold": Entry(
        "documents",
        "castore.cli.fold",
        "Move long values of a JSON document into the store, and leave references",
        "ctx fold incident.json > folded.json",
    ),
    "unfold": Entry(
        "documents",
        "castore.cli.fold",
        "Give a folded document back, byte for byte",
        "ctx unfold folded.json | cmp - incident.json",
    ),
    "verify": Entry(
        "documents",
        "castore.cli.fold",
        "Check every reference in files; without files, check the whole store",
        "ctx verify folded.json",
    ),
    "diff": Entry(
        "documents",
        "castore.cli.differing",
        "Say what is folded, or left a view, in one of two files and not in the other",
        "ctx diff small.jsonl session.jsonl",
    ),
    "put": Entry(
        "objects",
        "castore.cli.objects",
        "Store files as objects and print their digests in input order",
        "ctx put shot.png build.log",
    ),
    "cat": Entry(
        "objects",
        "castore.cli.reading",
        "Write objects, or items, lines or selected values of them, to stdout",
        "ctx cat 3f9ac01b77de --items -20:",
    ),
    "show": Entry(
        "objects",
        "castore.cli.showing",
        "Show what an object holds and what stands apart in it, or a root's objects",
        "ctx show 3f9ac01b77de",
    ),
    "grep": Entry(
        "objects",
        "castore.cli.searching",
        "Find text inside objects, and how to read the place",
        "ctx grep 'upstream reset' 3f9ac01b77de",
    ),
    "ls": Entry(
        "objects",
        "castore.cli.objects",
        "List objects in order of their digests",
        "ctx ls -n 20",
    ),
    "log": Entry(
        "keeping",
        "castore.cli.keeping",
        "List roots, newest first: what was stored, when, and until when it is kept",
        "ctx log -n 10",
    ),
    "why": Entry(
        "keeping",
        "castore.cli.keeping",
        "List the roots that name an object",
        "ctx why 3f9ac01b77de",
    ),
    "tag": Entry(
        "keeping",
        "castore.cli.keeping",
        "Give an object or a folded document a name, which also keeps it",
        "ctx tag outage-88123 3f9ac01b77de",
    ),
    "keep": Entry(
        "keeping",
        "castore.cli.keeping",
        "Keep objects, or what folded documents name, for ever or for a time",
        "ctx keep folded.json --for 30d",
    ),
    "forget": Entry(
        "keeping",
        "castore.cli.keeping",
        "Let roots expire after the grace time, so that gc frees what only they named",
        "ctx forget --older-than 30d --dry-run",
    ),
    "gc": Entry(
        "keeping",
        "castore.cli.keeping",
        "Free what no root names, and only that",
        "ctx gc --dry-run",
    ),
    "purge": Entry(
        "keeping",
        "castore.cli.purging",
        "Remove an object though something names it, and say so to those who could see it",
        "ctx purge 3f9ac01b77de --reason 'a password got in'",
    ),
    "view": Entry(
        "sessions",
        "castore.cli.sessions",
        "Write an agent's session as the model should see it, payloads moved out",
        "ctx view session.jsonl -o small.jsonl --stats",
    ),
    "report": Entry(
        "sessions",
        "castore.cli.reporting",
        "Make a web page that shows where the context of sessions went",
        "ctx report session.jsonl -o report.html",
    ),
    "clip": Entry(
        "sessions",
        "castore.cli.clipping",
        "Show the head and tail of a long text, and store the whole",
        "make 2>&1 | ctx clip --limit 4000",
    ),
    "guard": Entry(
        "sessions",
        "castore.cli.guarding",
        "Say before a tool is called whether the call repeats the last two",
        """ctx guard session.jsonl --name read --arguments '{"path":"a.txt"}'""",
    ),
    "collapse stage": Entry(
        "sessions",
        "castore.cli.collapsing",
        "Give whole turns of a session a summary, to hide them behind it later",
        "ctx collapse stage session.jsonl --turns 0:16",
    ),
    "collapse commit": Entry(
        "sessions",
        "castore.cli.committing",
        "Hide what is staged, all of it or until a budget is met",
        "ctx collapse commit session.jsonl --budget 150k-tokens",
    ),
    "collapse recover": Entry(
        "sessions",
        "castore.cli.committing",
        "Hide all that is staged at once, after an API refused a prompt as too long",
        "ctx collapse recover session.jsonl --budget 180k-tokens",
    ),
    "collapse status": Entry(
        "sessions",
        "castore.cli.collapse_reports",
        "Show what is collapsed and staged, and what the view takes",
        "ctx collapse status session.jsonl --budget 150k-tokens",
    ),
    "collapse log": Entry(
        "sessions",
        "castore.cli.collapse_reports",
        "List a session's collapse log, and whether each record holds",
        "ctx collapse log session.jsonl --summaries",
    ),
    "collapse reset": Entry(
        "sessions",
        "castore.cli.committing",
        "Let everything that is hidden stand in the view again",
        "ctx collapse reset session.jsonl --reason 'the summaries were poor'",
    ),
    "summary get": Entry(
        "documents",
        "castore.cli.summarizing",
        "Give the summary of a text: the cached one, or it is made",
        "ctx summary get policy.md --strategy extract@1 --question 'when can I return it?'",
    ),
    "summary put": Entry(
        "documents",
        "castore.cli.summarizing",
        "Cache a summary that was made elsewhere",
        "ctx summary put policy.md short.md --strategy mine@2 --option model=small",
    ),
    "summary show": Entry(
        "documents",
        "castore.cli.summary_entries",
        "Show a cached summary: of what, made by what, how true it is, and its text",
        "ctx summary show 3f9ac01b77de",
    ),
    "summary list": Entry(
        "documents",
        "castore.cli.summary_entries",
        "List the cached summaries, newest first",
        "ctx summary list --strategy extract",
    ),
    "summary forget": Entry(
        "documents",
        "castore.cli.summary_entries",
        "Serve cached summaries no more, and let gc free them",
        "ctx summary forget --superseded",
    ),
    "summary evict": Entry(
        "documents",
        "castore.cli.summary_entries",
        "Forget what the policies of the cache do not hold",
        "ctx summary evict --dry-run",
    ),
    "summary check": Entry(
        "documents",
        "castore.cli.summary_check",
        "Say what a summary lost, changed and invented of its source",
        "ctx summary check short.md policy.md --require all=1.0",
    ),
    "hook claude-code": Entry(
        "sessions",
        "castore.cli.hooking",
        "Answer a hook of Claude Code: store long results, and shorten them",
        "ctx hook claude-code --limit 20000",
    ),
    "push": Entry(
        "sharing",
        "castore.cli.pushing",
        "Send roots and their objects to a remote",
        "ctx push folded.json",
    ),
    "pull": Entry(
        "sharing",
        "castore.cli.pushing",
        "Bring roots and their objects from a remote",
        "ctx pull folded.json",
    ),
    "fetch": Entry(
        "sharing",
        "castore.cli.pushing",
        "Bring the objects of roots that were pulled without them",
        "ctx fetch folded.json",
    ),
    "remote add": Entry(
        "sharing",
        "castore.cli.remoting",
        "Name a bucket, or a folder, to push to and pull from",
        "ctx remote add origin s3://bucket/castore --region eu-central-1",
    ),
    "remote list": Entry(
        "sharing",
        "castore.cli.remoting",
        "List the remotes",
        "ctx remote list",
    ),
    "remote remove": Entry(
        "sharing",
        "castore.cli.remoting",
        "Take a remote out of the settings; what lies there stays",
        "ctx remote remove origin",
    ),
    "remote check": Entry(
        "sharing",
        "castore.cli.remoting",
        "Try whether a remote does what it must",
        "ctx remote check origin",
    ),
    "remote forget": Entry(
        "sharing",
        "castore.cli.tidying",
        "Let roots of a remote expire, so that its gc frees what only they name",
        "ctx remote forget origin outage-88123",
    ),
    "remote gc": Entry(
        "sharing",
        "castore.cli.tidying",
        "Free what no root of a remote names, beside pushes",
        "ctx remote gc origin --dry-run",
    ),
    "bundle create": Entry(
        "sharing",
        "castore.cli.bundling",
        "Put roots and all that they name into one tar",
        "ctx bundle create folded.json -o x.tar",
    ),
    "bundle import": Entry(
        "sharing",
        "castore.cli.bundling",
        "Take all that is in such a tar, or nothing",
        "ctx bundle import x.tar",
    ),
    "init": Entry(
        "store",
        "castore.cli.stores",
        "Make a store in a folder",
        "ctx init",
    ),
    "repair": Entry(
        "store",
        "castore.cli.repairing",
        "Put right what verify finds; heal objects from files or a remote",
        "ctx repair --from incident.json",
    ),
    "stats": Entry(
        "store",
        "castore.cli.stores",
        "Show what the store holds, or where the context of sessions went",
        "ctx stats session.jsonl",
    ),
    "scope list": Entry(
        "store",
        "castore.cli.scopes",
        "List the scopes that are granted, and how much each holds",
        "ctx scope list",
    ),
    "scope create": Entry(
        "store",
        "castore.cli.scopes",
        "Declare a scope, or change its quota",
        "ctx scope create team/a --quota 10GB",
    ),
    "scope show": Entry(
        "store",
        "castore.cli.scopes",
        "Show how much one scope holds, and its quota",
        "ctx scope show team/a",
    ),
    "config": Entry(
        "store",
        "castore.cli.stores",
        "List the store's settings, or show or set one",
        "ctx config fold.bytes-over 4096",
    ),
    "mcp": Entry(
        "store",
        "castore.cli.serving",
        "Serve the store to an agent over MCP, on stdin and stdout",
        "claude mcp add castore -- ctx mcp",
    ),
}


HOOKS = frozenset(("hook", "hook claude-code"))
"""Commands that a harness runs, whose exit code is 1 whatever goes wrong."""


READING = frozenset(
    name
    for name in COMMANDS
    if name.startswith("collapse ")
    or name
    in (
        *("fold", "unfold", "verify", "diff", "cat", "show", "grep", "why", "tag", "keep", "view", "report"),
        *("summary get", "summary put", "summary show", "summary check", "stats", "mcp", "bundle create"),
    )
)
"""Commands that read objects, and so take --offline."""


@cache
def load(name: str) -> Any:
    """The typer command called `name`, from its own module; made once."""
    entry = COMMANDS[name]
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    function = getattr(import_module(entry.module), name.replace(" ", "_").replace("-", "_"))
    kind = ReadingCommand if name in READING else PlainCommand
    app.command(name, cls=kind, help=f"{entry.summary}.", epilog=f"Example: {entry.example}")(function)
    return get_command(app)


def members(word: str) -> dict[str, Entry]:
    """The commands of two words whose first is `word`, by both."""
    return {name: entry for name, entry in COMMANDS.items() if name.startswith(word + " ")}


def command_in(arguments: Sequence[str]) -> str | None:
    """The command, or the first word of one, that these arguments of `ctx` name."""
    for at, word in enumerate(arguments):
        if word in COMMANDS:
            return word
        if inner := members(word):
            return next((f"{word} {each}" for each in arguments[at + 1 :] if f"{word} {each}" in inner), word)
    return None


class CommandGroup(TyperGroup):
    """`ctx` itself, or the commands of two words that begin with the same one.

    A `--store` given before the command is handed on to the command.
    """

    prefix = ""
    """What the names of its commands begin with: the empty text, or `scope `."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        inner = (name.removeprefix(self.prefix) for name in COMMANDS if name.startswith(self.prefix))
        return list(dict.fromkeys(name.partition(" ")[0] for name in inner))

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        name = self.prefix + cmd_name
        if name in COMMANDS:
            return load(name)
        return _group(name) if members(name) else None

    def get_params(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        return take_plain(super().get_params(ctx))

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        found = self.get_command(ctx, args[0])
        if found is None:
            raise self._unknown(ctx, args[0])
        store = ctx.params.get("store")
        handed_on = ["--store", store] if store is not None else []
        return args[0], found, handed_on + args[1:]

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        from castore.cli.help import group_map, options_lines, program_map

        lines = group_map(self.prefix.strip()) if self.prefix else program_map()
        formatter.write("\n".join([*lines, "", *options_lines(self, ctx)]) + "\n")

    def shell_complete(self, ctx: typer.Context, incomplete: str) -> Any:  # type: ignore[override]
        from typer._click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        options = super().shell_complete(ctx, incomplete) if incomplete.startswith("-") else []
        return [CompletionItem(name, help=self._summary(name)) for name in names] + list(options)

    def _summary(self, name: str) -> str:
        from castore.cli.help import WORDS

        entry = COMMANDS.get(self.prefix + name)
        if entry is not None:
            return entry.summary
        return WORDS.get(name) or ", ".join(members(self.prefix + name))

    def _unknown(self, ctx: typer.Context, name: str) -> InvalidOption:
        from difflib import get_close_matches

        from castore.cli.guidance import command_hint

        close = get_close_matches(name, self.list_commands(ctx), n=1)
        here = "ctx " + self.prefix
        hint = command_hint(self.prefix + name)
        hint = hint or (
            f"did you mean '{here}{close[0]}'?" if close else f"'{here.strip()}' alone lists the commands"
        )
        return InvalidOption(f"no command '{self.prefix}{name}'", hint=hint, subject=self.prefix + name)


@cache
def _group(word: str) -> CommandGroup:
    """The commands whose first word is `word`; alone it prints their lines."""
    app = typer.Typer(cls=CommandGroup, add_completion=False, rich_markup_mode=None)
    app.callback(invoke_without_command=True)(_show_group)
    group: CommandGroup = get_command(app)  # type: ignore[assignment]
    group.name, group.prefix = word, word + " "
    return group


def _show_group(
    context: typer.Context,
    store: Annotated[
        str | None, typer.Option("--store", metavar="FOLDER", help="Use this .ctxstore folder.")
    ] = None,
) -> None:
    if context.invoked_subcommand is None:
        from castore.cli.help import group_map

        for words in group_map(str(context.info_name)):
            line(words)
