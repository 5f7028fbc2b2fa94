"""What the summary commands read: a file, stdin, or an object that is named.

Law: a file of that name comes before an object, and is read as it stands; only one of a command's inputs can
be stdin. Nothing is stored by reading.
"""

from __future__ import annotations

import os

from castore.cli.files import STANDARD, open_source, placed_in, source_name
from castore.digest import Digest, parse_prefix
from castore.errors import CastoreError, InvalidOption
from castore.store import StoreHandle

__all__ = ["read_given", "read_text", "refuse_two"]


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
    except CastoreError as error:
        if parse_prefix(given) is None and error.hint is None:
            error.hint = "there is no file of that name either"
        raise


def read_text(given: str, handle: StoreHandle) -> str:
    """The same as text. Raises DocumentInvalid, with the place, for bytes that are not UTF-8."""
    from castore.document.place import utf8_text

    found, _ = read_given(given, handle)
    data = handle.get().read(found) if isinstance(found, Digest) else found
    with placed_in(given):
        return utf8_text(data, "what is checked")
