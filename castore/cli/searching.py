"""grep: places inside objects where a pattern is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.failure import report
from castore.cli.files import open_source
from castore.cli.locate import find_store
from castore.cli.output import Record
from castore.cli.parameters import (
    Json,
    ReadScope,
    StoreFolder,
    parse_count,
    parse_max_bytes,
    place_words,
)
from castore.digest import SHORT_HEX, Digest, parse_prefix
from castore.errors import DocumentInvalid, InvalidOption

if TYPE_CHECKING:
    from castore.retrieve.grep import GrepOptions, Hit
    from castore.store import Store

__all__ = ["grep"]

_NONE_FOUND = 1
_BETWEEN = Record(("", "--"), {})
"""Between the lines of one hit and of the next, where there are more than the hit's own."""


def grep(
    pattern: Annotated[
        str, typer.Argument(metavar="PATTERN", help="A Python regular expression; with -F the text itself.")
    ],
    refs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REF",
            help="A digest or its first digits, a name, a folded document's digest, or FILE#PATTERN.",
        ),
    ] = None,
    doc: Annotated[
        str | None,
        typer.Option("--doc", metavar="FILE", help="Search the objects that this document or view names."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Search all objects (also if nothing is named).")
    ] = False,
    ignore_case: Annotated[bool, typer.Option("-i", help="Take capital and small letters as alike.")] = False,
    fixed: Annotated[bool, typer.Option("-F", help="Take PATTERN as text, not as an expression.")] = False,
    context: Annotated[
        str | None, typer.Option("-C", metavar="N", help="Show N items or lines before and after, too.")
    ] = None,
    most: Annotated[str | None, typer.Option("-m", metavar="N", help="Print at most N hits.")] = None,
    skip: Annotated[str | None, typer.Option("--skip", metavar="N", help="Leave out the first N.")] = None,
    max_bytes: Annotated[
        str | None,
        typer.Option("--max-bytes", metavar="N", help="Print at most N bytes (default: 8000; 0: all)."),
    ] = None,
    habit: Annotated[
        bool,
        typer.Option("-n", "-r", "-R", "-E", hidden=True, help="What grep here does anyway."),
    ] = False,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """stdout has a line a hit: the words that `ctx cat` reads it by, and what is around it. 1 if there is
    none.

    What does not fit is said on stderr, with the words that go on. Objects that could not be searched are
    reported after the others.
    """
    del habit  # Typed for what is so here in any case: addresses, every object, expressions.
    from castore.cli.ending import children_end
    from castore.config import PAGE_BYTES
    from castore.retrieve.grep import GrepOptions, Pager, Search, hit_facts

    options = GrepOptions(
        ignore_case=ignore_case,
        fixed=fixed,
        context=parse_count("-C", context) or 0,
        hits_max=parse_count("-m", most),
        skip=parse_count("--skip", skip) or 0,
    )
    bytes_max = parse_max_bytes(max_bytes, PAGE_BYTES)
    opened = find_store(store, scope).get()
    digests = _chosen(opened, refs or [], doc, everything)
    places = place_words(scope, store)
    again = _again(pattern, refs or [], doc, options, max_bytes, places, as_json)
    pager = Pager(
        lambda wider: Search(opened, pattern, digests, wider),
        options,
        bytes_max,
        is_frugal=as_json and max_bytes is None,
    )

    count = 0

    def length(hit: Hit, is_brief: bool) -> int:
        if as_json:
            return len(output.json_text(hit_facts(hit, is_brief=is_brief)).encode()) + 1
        return sum(len("\t".join(each.cells).encode()) + 1 for each in shown(hit, is_brief))

    def shown(hit: Hit, is_brief: bool) -> Iterator[Record]:
        if count and options.context:
            yield _BETWEEN
        yield from _records(hit, is_brief)

    def records() -> Iterator[Record]:
        nonlocal count
        for hit, is_brief in pager.pages(length):
            yield from (each for each in shown(hit, is_brief) if each.facts or not as_json)
            count += 1

    with output.working("searching"), children_end():
        output.table(records(), as_json)
    for problem in pager.search.problems:
        report(problem, as_json=as_json)
    if pager.next_skip is not None:
        _say_more(again, pager.next_skip, count, as_json=as_json)
    if pager.search.problems:
        return pager.search.problems[0].exit_code
    return 0 if count else _NONE_FOUND


def _chosen(opened: Store, refs: list[str], doc: str | None, everything: bool) -> list[Digest] | None:
    """The objects to be searched; None is all of them."""
    from castore.retrieve.references import resolve_all

    if bool(refs) + (doc is not None) + everything > 1:
        raise InvalidOption("name objects, or a document with --doc, or --all", option="--all")
    if doc is not None:
        return _named_in(opened, doc)
    return [digest for ref in refs for digest in resolve_all(opened, ref)] if refs else None


def _named_in(opened: Store, file: str) -> list[Digest]:
    """What the references and markers in a document name, in order; then what its record names besides."""
    from castore.transcript.markers import find

    with open_source(file) as source:
        data = source.read()
    found = [opened.resolve(each.digest) for each in find(data)]
    root = opened.document_root(Digest.of(data))
    if root is not None:
        found += [digest for each in opened.based_chain(root) for digest in each.objects]
    if not found:
        raise DocumentInvalid(
            f"no reference and no marker is in '{file}'",
            hint="'ctx fold' and 'ctx view' write files that have some; a REF names an object itself",
        )
    return list(dict.fromkeys(found))


def _records(hit: Hit, is_brief: bool) -> Iterator[Record]:
    """The hit, with the lines beside it, which have no address of their own."""
    from castore.cli.reading import shell_words
    from castore.retrieve.grep import hit_facts

    yield from (Record(("", each), {}) for each in hit.before)
    excerpt = hit.brief if is_brief else hit.excerpt
    yield Record((shell_words(hit.words), excerpt), hit_facts(hit, is_brief=is_brief))
    yield from (Record(("", each), {}) for each in hit.after)


def _again(
    pattern: str,
    refs: list[str],
    doc: str | None,
    options: GrepOptions,
    max_bytes: str | None,
    places: list[str],
    as_json: bool,
) -> list[str]:
    """The words of the same search, without what it skips."""
    words = ["grep"]
    words += ["-i"] if options.ignore_case else []
    words += ["-F"] if options.fixed else []
    words += ["-C", str(options.context)] if options.context else []
    words += ["-m", str(options.hits_max)] if options.hits_max is not None else []
    words += ["--max-bytes", max_bytes] if max_bytes is not None else []
    words += places
    words += ["--json"] if as_json else []
    words += ["--doc", doc] if doc is not None else []
    return [*words, *(["--"] if pattern.startswith("-") else []), pattern, *map(_short, refs)]


def _short(ref: str) -> str:
    """A digest, or what was pasted with one in it, by its first digits."""
    from castore.store.lookup import pasted

    digits = parse_prefix(pasted(ref))
    return ref if digits is None else digits[:SHORT_HEX]


def _say_more(again: list[str], skip: int, count: int, *, as_json: bool) -> None:
    words = ["ctx", again[0], "--skip", str(skip), *again[1:]]
    if as_json:
        output.summary("", hits=count, next=words)
        return
    from castore.cli.reading import shell_words

    output.note("left out the hits after these", onwards=shell_words(words))
