"""diff: what is folded, or left a view, in one of two files and not in the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from castore.cli import output
from castore.cli.files import STANDARD, open_source, placed_in, source_name
from castore.cli.locate import find_store
from castore.cli.output import Record, Size
from castore.cli.parameters import Json, ReadScope, StoreFolder, parse_max_bytes, place_words
from castore.digest import SHORT_HEX
from castore.errors import CastoreError, InvalidOption

if TYPE_CHECKING:
    from castore.transcript.diff import Difference, FoldedSpan, Rest
    from castore.transcript.sides import Compared

__all__ = ["diff"]

_IS_DIFFERENT = 1


def diff(
    first: Annotated[
        str, typer.Argument(metavar="A", help="A view, a folded document, or what one was made from.")
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="The other; '-' is stdin.")],
    max_bytes: Annotated[
        str | None,
        typer.Option("--max-bytes", metavar="N", help="Print at most N bytes (default: all; 0: all)."),
    ] = None,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """stdout has a line for each span that is folded, or left a view, in A alone (<), in B alone (>), or in
    both and not alike (|); first how the sources differ, last what never reached a model. All of them, unless
    --max-bytes is given. 0: there is none, and the sources are the same; 1: there is; else the error's."""
    from castore.transcript.sides import compare

    most = parse_max_bytes(max_bytes, None)
    handle = find_store(store, scope)
    with output.working("comparing"):
        found = compare(_bytes_of(first), _bytes_of(second), handle)
    records = list(_records(found))
    shown = records if most is None else list(_within(records, most, as_json))
    output.table(shown, as_json)
    again = ["ctx", "diff", *place_words(scope, store), first, second]
    _tell(found, len(records) - len(shown), again, as_json=as_json)
    return 0 if found.is_same else _IS_DIFFERENT


# --- Helpers ---------------------------------------------------------------------------------------


def _bytes_of(file: str) -> bytes:
    """What can't be read is a usage mistake here: 1 says that the two are different."""
    try:
        with open_source(file) as source, placed_in(file):
            return source.read()
    except CastoreError as error:
        raise InvalidOption(error.message, hint=error.hint, subject=file) from error
    except OSError as error:
        name = source_name(file) or "stdin"
        raise InvalidOption(f"can't read '{name}': {error.strerror}", subject=file) from error


def _records(found: Compared) -> Iterator[Record]:
    if found.rest is not None:
        yield _rest_record(found.rest)
    for each in found.spans:
        yield _record(each)


def _record(each: Difference) -> Record:
    span, other = each.span, each.other
    digest = span.digest[:SHORT_HEX]
    words = each.words
    if other is not None and other.digest[:SHORT_HEX] != digest:
        words = f"{words}, {other.digest[:SHORT_HEX]}"
    said = f"{words}: {span.excerpt}" if words and span.excerpt else words or span.excerpt
    cells = (each.change, _place(span), span.role, span.kind, _size(span.size), digest, said)
    return Record(
        cells,
        {
            "change": str(each.change),
            "turn": span.turn,
            "role": span.role,
            "value": span.value,
            "path": span.path,
            "line": span.line,
            "kind": span.kind,
            "reason": span.reason,
            "size": span.size,
            "digest": _whole(span.digest),
            "other_digest": None if other is None else _whole(other.digest),
            "address": [digest],
            "words": words,
            "excerpt": span.excerpt,
        },
    )


def _rest_record(rest: Rest) -> Record:
    empty = dict.fromkeys(("turn", "role", "value", "path"))
    facts = {"change": str(rest.change), **empty, "line": rest.line, "kind": "source", "reason": None}
    nothing = {"digest": None, "other_digest": None, "address": None}
    size = rest.size or None
    return Record(
        (rest.change, None, None, "source", _size(size), None, rest.words),
        {**facts, "size": size, **nothing, "words": rest.words, "excerpt": ""},
    )


def _place(span: FoldedSpan) -> str | None:
    if span.path is not None:
        return f"[{span.value}] {span.path}" if span.value else span.path
    if span.line is not None:
        return f"line {span.line}"
    return None if span.turn is None else f"turn {span.turn}"


def _size(size: int | None) -> Size | None:
    return None if size is None else Size(size)


def _whole(digest: str) -> str:
    """As far as it is known: a marker has 16 digits of it."""
    return f"sha256:{digest}" if len(digest) > SHORT_HEX else digest


def _within(records: Iterable[Record], most: int, as_json: bool) -> Iterator[Record]:
    """As many of the first as take no more than so many bytes."""
    for record in records:
        most -= _bytes([record], as_json)
        if most < 0:
            return
        yield record


def _bytes(records: Iterable[Record], as_json: bool) -> int:
    """What they take in a pipe."""
    return sum(len(_line(each, as_json).encode("utf-8", "replace")) + 1 for each in records)


def _line(record: Record, as_json: bool) -> str:
    if as_json:
        return output.json_text(record.facts)
    return "\t".join(output.plain(cell) for cell in record.cells)


def _tell(found: Compared, left_out: int, again: list[str], *, as_json: bool) -> None:
    """again: the words that give all of it."""
    if found.unknown is not None:
        output.note(f"whether all else is the same can't be told: {found.unknown}")
    # What was read from stdin is not there any more.
    onwards = again if left_out and STANDARD not in again else None
    if as_json:
        output.summary("", **_facts(found, left_out), next=[*again, "--json"] if onwards else None)
    elif left_out:
        from castore.cli.reading import shell_words

        reads = shell_words(onwards) if onwards else None
        output.note(f"left out {output.plural(left_out, 'difference')}", onwards=reads)


def _facts(found: Compared, left_out: int) -> dict[str, Any]:
    return {
        "differences": len(found.spans) + (found.rest is not None),
        "left_out": left_out,
        "same": found.is_same,
        "unknown": found.unknown,
    }
