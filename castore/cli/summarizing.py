"""summary get, put: a summary that is cached by all that it depends on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.ending import children_end
from castore.cli.files import source_name
from castore.cli.locate import find_store
from castore.cli.output import age_text, plural, size_text
from castore.cli.parameters import Json, Scope, StoreFolder
from castore.cli.summary_entries import entry_facts
from castore.cli.summary_sources import read_given, read_text, refuse_two
from castore.config import parse_duration
from castore.digest import SHORT_HEX
from castore.errors import DocumentInvalid, InvalidOption, NotFound

if TYPE_CHECKING:
    from castore.store import StoreHandle
    from castore.summary.cache import Made, SummaryCache
    from castore.summary.key import SummaryKey
    from castore.summary.strategy import NamedMaker, SummaryStrategy

__all__ = ["summary_get", "summary_put"]

_SECONDS = 60

Source = Annotated[
    str, typer.Argument(metavar="SOURCE", help="A file, '-' for stdin, or an object's digest or name.")
]
Strategy = Annotated[
    str,
    typer.Option(
        "--strategy",
        metavar="NAME[@V]",
        help="What makes it: extract, fields, or your own name. Without @V the latest of castore's own, and "
        "version 1 of yours.",
    ),
]
Option = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="K=V", help="What else it depends on; may be given again."),
]
SourceName = Annotated[
    list[str] | None,
    typer.Option(
        "--source-name", metavar="NAME", help="What the source is called while its content changes."
    ),
]
AllowDerived = Annotated[
    bool, typer.Option("--allow-derived", help="SOURCE may itself be a summary, or a view.")
]


def summary_get(
    source: Source,
    strategy: Strategy,
    option: Option = None,
    command: Annotated[
        str | None,
        typer.Option("--with", metavar="CMD", help="A program that reads the source and prints a summary."),
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option("--time-limit", metavar="DUR", help="How long it may take (default: 60s).")
    ] = None,
    question: Annotated[
        str | None, typer.Option("--question", metavar="TEXT", help="As --option question=TEXT.")
    ] = None,
    source_name: SourceName = None,
    allow_derived: AllowDerived = False,
    scope: Scope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """stdout has the summary: the stored one if there is one of this content, scope, strategy, version and
    options, and else it is made and stored, with its source. stderr says which."""
    options = _options(option, question)
    from castore.summary.strategy import NamedMaker

    maker = _maker(strategy, options, command, time_limit)
    handle = find_store(store)
    given, known_as = read_given(source, handle)
    cache = _cache(handle, scope)
    names = tuple(source_name or ())
    if not isinstance(maker, NamedMaker):
        with children_end(), output.working("summarizing"), _said_of(source):
            made = cache.get(given, maker, names=names, allow_derived=allow_derived, source_name=known_as)
        _tell(made, as_json=as_json)
        return
    there = cache.look_up(given, maker, names=names, allow_derived=allow_derived)
    if there is None:
        raise NotFound(
            f"no summary of it by '{maker.name}@{maker.version}' with these options is stored",
            hint=_what_else(cache, cache.key(given, maker)),
        )
    _tell(there, as_json=as_json)


def summary_put(
    source: Source,
    summary: Annotated[
        str, typer.Argument(metavar="SUMMARY", help="The text: a file, '-' for stdin, or an object.")
    ],
    strategy: Strategy,
    option: Option = None,
    source_name: SourceName = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="It may take the place of another text.")
    ] = False,
    allow_derived: AllowDerived = False,
    scope: Scope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """The text is stored as the summary of SOURCE, as it stands, with its source: 'summary get' with the same
    strategy and options, without --with, finds it. stdout has the digest of the text."""
    from castore.summary.strategy import NamedMaker

    maker = _maker(strategy, _options(option, None), None, None)
    if not isinstance(maker, NamedMaker):
        hint = "call what made it by a name of its own"
        raise InvalidOption(f"what '{maker.name}' makes is not put", option="--strategy", hint=hint)
    refuse_two(source, summary)
    handle = find_store(store)
    given, known_as = read_given(source, handle)
    text = read_text(summary, handle)
    made = _cache(handle, scope).put(
        given,
        text,
        maker,
        names=tuple(source_name or ()),
        allow_derived=allow_derived,
        can_replace=replace,
        source_name=known_as,
    )
    _note(made)
    if as_json:
        _print(made, "stored")
        return
    output.line(str(made.entry.summary.digest))
    output.summary(_words(made, "was there", "stored"))


# --- Helpers ---------------------------------------------------------------------------------------


def _options(given: list[str] | None, question: str | None) -> dict[str, str]:
    options: dict[str, str] = {}
    for each in given or ():
        name, equals, value = each.partition("=")
        if not equals:
            raise InvalidOption(f"--option is K=V, not '{each[:80]}'", option="--option")
        if options.setdefault(name, value) != value:
            raise InvalidOption(f"option '{name}' is given twice", option="--option")
    if question is not None and options.setdefault("question", question) != question:
        raise InvalidOption("option 'question' is given twice", option="--question")
    return options


def _maker(
    strategy: str, options: dict[str, str], command: str | None, time_limit: str | None
) -> SummaryStrategy | NamedMaker:
    """What makes it; a NamedMaker is somewhere else, and what it made can only be found."""
    from castore.summary.key import parse_strategy
    from castore.summary.strategies.registry import STRATEGIES, make_strategy
    from castore.summary.strategy import NamedMaker
    from castore.transcript.collapse.command import Command

    if command is None and time_limit is not None:
        raise InvalidOption("--time-limit is of a program: say --with CMD", option="--time-limit")
    name, version = parse_strategy(strategy)
    if command is None:
        if name not in STRATEGIES:
            return NamedMaker(name, version or 1, options)
        return make_strategy(name, version, options)
    seconds = _SECONDS if time_limit is None else parse_duration(time_limit)
    program = Command(command, seconds, environment=dict(os.environ))
    return make_strategy(name, version, options, command=program)


def _cache(handle: StoreHandle, scope: str | None) -> SummaryCache:
    from castore.summary.cache import SummaryCache

    return SummaryCache(
        handle, scope, on_wait=lambda: output.note("another process makes this summary: waiting for it")
    )


@contextmanager
def _said_of(source: str) -> Iterator[None]:
    """An error in the source says which file it is, and what could be made of it."""
    try:
        yield
    except DocumentInvalid as error:
        name = source_name(source) or "stdin"
        error.place = name if error.place is None else f"{name}: {error.place}"
        if error.hint == error.default_hint:
            error.hint = "extract@1 takes any text in UTF-8, fields@1 one JSON array or object"
        raise


def _what_else(cache: SummaryCache, key: SummaryKey) -> str:
    """What there is instead of a summary that is not stored: of the same source by this name."""
    hint = "--with CMD makes one; 'ctx summary put' stores one"
    others = [
        each.entry.key
        for each in cache.entries(strategy=key.strategy)
        if each.entry.key.source == key.source and each.entry.scope == key.scope
    ]
    versions = sorted({each.version for each in others})
    if versions and key.version not in versions:
        there = ", ".join(f"{key.strategy}@{version}" for version in versions)
        return f"there is one by {there}" + ": a name alone means version 1" * (key.version == 1)
    if others:
        return f"there is one with other options: 'ctx summary list --strategy {key.strategy}'"
    return hint


def _tell(made: Made, *, as_json: bool) -> None:
    _note(made)
    if as_json:
        _print(made, "made")
        return
    target = output.binary_stdout()
    target.write(made.text.encode())
    if not made.text.endswith("\n"):
        target.write(b"\n")
    target.flush()
    output.summary(_words(made, "hit", "made"))


def _note(made: Made) -> None:
    for each in made.evicted:
        output.note(f"{each.policy}: forgot the summary '{each.entry.key.hex[:SHORT_HEX]}'")
    if not made.is_hit and made.entry.summary.size >= made.entry.source.size:
        output.note("the summary is no shorter than its source")


def _print(made: Made, new: str) -> None:
    facts = {"outcome": "hit" if made.is_hit else new, **entry_facts(made.entry), "text": made.text}
    output.table([output.Record((), facts)], as_json=True)


def _words(made: Made, hit: str, new: str) -> str:
    entry = made.entry
    what = f"{entry.key.maker}, {size_text(entry.summary.size)} of {size_text(entry.source.size)}"
    tail = f"key {entry.key.hex[:SHORT_HEX]}"
    if made.is_hit:
        return f"{hit}: {what}, made {age_text(entry.made, time.time())}, {tail}"
    steps = f", {plural(len(entry.chain), 'step')} from its source" if entry.chain else ""
    return f"{new}: {what}{steps}, {tail}"
