"""cat: objects, or the parts of them that an address means."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.locate import find_store
from castore.cli.parameters import Json, MaxBytes, ReadScope, StoreFolder, parse_max_bytes

if TYPE_CHECKING:
    from castore.digest import Digest
    from castore.retrieve.address import Address
    from castore.store import Store

__all__ = ["cat", "shell_words"]

_HELD_BYTES_MAX = 64 << 20


def cat(
    refs: Annotated[
        list[str],
        typer.Argument(
            metavar="REF",
            help="A digest or its first digits, a name, a pasted reference, or FILE#PATTERN.",
        ),
    ],
    select: Annotated[
        list[str] | None,
        typer.Option("--select", metavar="EXPR", help="The values that this JSONPath finds, a line each."),
    ] = None,
    items: Annotated[
        str | None, typer.Option("--items", metavar="A:B", help="These items of an array, a line each.")
    ] = None,
    lines: Annotated[
        str | None, typer.Option("--lines", metavar="A:B", help="These lines, counted from 0.")
    ] = None,
    chars: Annotated[
        str | None, typer.Option("--chars", metavar="A:B", help="These characters of what the others give.")
    ] = None,
    bytes_: Annotated[
        str | None, typer.Option("--bytes", metavar="A:B", help="These bytes of what the others give.")
    ] = None,
    max_bytes: MaxBytes = None,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """stdout has the objects' bytes, or the parts that are asked for, all of them and checked, or nothing.

    With --max-bytes it has as many whole items, lines or characters as fit; what is left out, and the words
    that read on, are said on stderr. With --json a page is one object, its text and these words in it.
    """
    from castore.config import PAGE_BYTES
    from castore.retrieve.address import Address
    from castore.retrieve.references import resolve

    address = Address.parse(select or (), items=items, lines=lines, chars=chars, bytes=bytes_)
    most = parse_max_bytes(max_bytes, PAGE_BYTES if as_json else None)
    opened = find_store(store, scope).get()
    digests = [digest for ref in refs for digest in resolve(opened, ref)]
    if most is None and not as_json:
        _write_whole(opened, digests, address)
    else:
        _write_pages(opened, digests, address, most, as_json)


def shell_words(words: Iterable[str]) -> str:
    """The words as they are typed."""
    import shlex

    return " ".join(shlex.quote(word) if word and not _is_plain(word) else word for word in words)


# --- Helpers ---------------------------------------------------------------------------------------


def _is_plain(word: str) -> bool:
    return word.isascii() and all(each.isalnum() or each in "-_:./" for each in word)


def _write_whole(opened: Store, digests: list[Digest], address: Address) -> None:
    """Held back until all of it was checked: in memory, or in a file of its own where it is much."""
    target = output.binary_stdout()
    held = bytearray()
    pieces = _pieces(opened, digests, address)
    for piece in pieces:
        held += piece
        if len(held) > _HELD_BYTES_MAX:
            break
    else:
        target.write(held)
        return
    with output.working("checking"), tempfile.TemporaryFile() as spool:
        spool.write(held)
        held.clear()
        for piece in pieces:
            spool.write(piece)
        spool.seek(0)
        shutil.copyfileobj(spool, target, 1 << 20)


def _pieces(opened: Store, digests: list[Digest], address: Address) -> Iterator[bytes]:
    from castore.retrieve.address import WHOLE
    from castore.retrieve.reading import read

    for digest in digests:
        yield from opened.chunks(digest) if address == WHOLE else read(opened, digest, address)


def _write_pages(
    opened: Store, digests: list[Digest], address: Address, most: int | None, as_json: bool
) -> None:
    """A page of each object, of what room the ones before have left; most None: all of each."""
    from castore.config import PAGE_BYTES_MIN
    from castore.retrieve.pages import page

    left = most
    for number, digest in enumerate(digests):
        if number and left is not None and left < PAGE_BYTES_MIN:
            more = shell_words(["ctx", "cat", *(each.short for each in digests[number:]), *address.words()])
            output.note(f"left out {output.plural(len(digests) - number, 'object')}", onwards=more)
            return
        shown = page(opened, digest, address, left)
        left = None if left is None else left - len(shown.data)
        if as_json:
            output.block((), shown.facts(digest, address), as_json)
            continue
        target = output.binary_stdout()
        target.write(shown.data)
        # On a terminal the page comes first, and then what is said of it.
        target.flush()
        if shown.left_out is not None:
            reads = " then ".join(
                shell_words(["ctx", "cat", digest.short, *each.words()]) for each in shown.next
            )
            output.note(f"left out {shown.left_out}", onwards=reads)
