"""What the summary commands read: a file, stdin, or an object that is named.

Law: a file of that name comes before an object, and is read as it stands; only one of a command's inputs can
be stdin. Nothing is stored by reading.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from castore.cli.files import STANDARD, open_source, placed_in, source_name
from castore.digest import PREFIX_HEX_MIN, Digest, parse_prefix
from castore.errors import CastoreError, DigestAmbiguous, InvalidOption, NameMissing, NotFound
from castore.store import StoreHandle

if TYPE_CHECKING:
    from castore.summary.listing import Listed

__all__ = ["one_of", "read_entry", "read_given", "read_text", "refuse_two"]


def refuse_two(*given: str) -> None:
    """Raises InvalidOption where stdin is asked for twice."""
    if given.count(STANDARD) > 1:
        raise InvalidOption("only one of them can be stdin ('-')")


def read_given(given: str, handle: StoreHandle) -> tuple[bytes | Digest, str | None]:
    """The bytes of a file, or the digest of the object that is meant; and what a root calls the source.

    Raises CastoreError for a file that can't be read; what Store.resolve raises; StoreMissing.
    """
    if given == STANDARD or os.path.lexists(given):
        with open_source(given) as source:
            return source.read(), source_name(given)
    if not handle.exists and parse_prefix(given) is None:
        raise CastoreError(f"no file '{given}'", path=given)
    try:
        return handle.get().resolve(given), None
    except NameMissing as error:
        hint = f"check the path; {error.hint}"
        raise NameMissing(given, what="file, object or name", hint=hint) from None


def read_text(given: str, handle: StoreHandle) -> str:
    """The same as text. Raises DocumentInvalid, with the place, for bytes that are not UTF-8."""
    from castore.document.place import utf8_text

    found, _ = read_given(given, handle)
    data = handle.get().read(found) if isinstance(found, Digest) else found
    with placed_in(given):
        return utf8_text(data, "what is checked")


def read_entry(key: str, handle: StoreHandle) -> tuple[str, str]:
    """Summary and source of the cached summary that these digits mean. Raises as `one_of`; DocumentInvalid
    for a source that is not UTF-8; InvalidOption for a file, of which nobody knows the source."""
    from castore.document.place import utf8_text
    from castore.summary.cache import SummaryCache

    if parse_prefix(key) is None and (key == STANDARD or os.path.lexists(key)):
        hint = "ctx summary check SUMMARY SOURCE; of a cached summary its key will do"
        raise InvalidOption(f"nothing says what '{key[:80]}' is a summary of", hint=hint)
    cache = SummaryCache(handle)
    entry = one_of(cache.entries(), key).entry
    source = handle.get().read(entry.source.digest)
    return cache.text(entry), utf8_text(source, "the source")


def one_of(entries: Sequence[Listed], text: str) -> Listed:
    """The one entry whose key, or summary's digest, begins with these digits. Raises NotFound,
    DigestAmbiguous; InvalidOption for what are no digits, or too few."""
    hint = "'ctx summary list' lists them"
    prefix = parse_prefix(text)
    if prefix is None:
        message = f"'{text[:80]}' is no key, which is {PREFIX_HEX_MIN} to 64 hex digits"
        raise InvalidOption(message, hint=hint)
    found = [
        each
        for each in entries
        if each.entry.key.hex.startswith(prefix) or each.entry.summary.digest.hex.startswith(prefix)
    ]
    if not found:
        raise NotFound(f"no summary has the key '{text}'", hint=hint, subject=text)
    if len(found) > 1:
        raise DigestAmbiguous(text, sorted(each.entry.key.hex for each in found))
    return found[0]
