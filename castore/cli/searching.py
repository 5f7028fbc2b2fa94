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
from castore.cli.parameters import Json, ReadScope, StoreFolder, parse_count
from castore.digest import Digest
from castore.errors import DocumentInvalid, InvalidOption

if TYPE_CHECKING:
    from castore.retrieve.grep import GrepOptions, Hit
    from castore.store import Store

__all__ = ["grep"]

_NONE_FOUND = 1


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
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """stdout has a line a hit: the words that `ctx cat` reads it by, and what is around it. 1 if there is
    none.

    What does not fit is said on stderr, with the words that go on. Objects that could not be searched are
    reported after the others.
    """
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
    bytes_max = parse_count("--max-bytes", max_bytes)
    opened = find_store(store, scope).get()
    digests = _chosen(opened, refs or [], doc, everything)
    again = _again(pattern, refs or [], doc, options, bytes_max, scope, as_json)
    pager = Pager(
        lambda wider: Search(opened, pattern, digests, wider),
        options,
        PAGE_BYTES if bytes_max is None else bytes_max or None,
        is_frugal=as_json and bytes_max is None,
    )

    def length(hit: Hit, is_brief: bool) -> int:
        if as_json:
            return len(output.json_text(hit_facts(hit, is_brief=is_brief)).encode()) + 1
        return sum(len("\t".join(each.cells).encode()) + 1 for each in _records(hit, is_brief))

    count = 0

    def records() -> Iterator[Record]:
        nonlocal count
        for hit, is_brief in pager.pages(length):
            count += 1
            shown = _records(hit, is_brief)
            yield from (each for each in shown if each.facts or not as_json)

    with output.working("searching"), children_end():
        output.table(records(), as_json)
    for problem in pager.search.problems:
        report(problem, as_json=as_json)
    if pager.next_skip is not None:
        _say_more(again, pager.next_skip, count)
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
    bytes_max: int | None,
    scope: str | None,
    as_json: bool,
) -> list[str]:
    """The words of the same search, without what it skips."""
    words = ["grep"]
    words += ["-i"] if options.ignore_case else []
    words += ["-F"] if options.fixed else []
    words += ["-C", str(options.context)] if options.context else []
    words += ["-m", str(options.hits_max)] if options.hits_max is not None else []
    words += ["--max-bytes", str(bytes_max)] if bytes_max is not None else []
    words += ["--scope", scope] if scope is not None else []
    words += ["--json"] if as_json else []
    words += ["--doc", doc] if doc is not None else []
    return [*words, *(["--"] if pattern.startswith("-") else []), pattern, *refs]


def _say_more(again: list[str], skip: int, count: int) -> None:
    from castore.cli.reading import shell_words

    words = ["ctx", again[0], "--skip", str(skip), *again[1:]]
    output.summary(f"left out the hits after these; next: {shell_words(words)}", hits=count, next=words)
