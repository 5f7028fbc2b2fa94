"""What is in a file that somebody names for a remote: a document, or a session that was collapsed."""

from __future__ import annotations

from io import BufferedReader

from castore.digest import Digest
from castore.errors import DocumentInvalid, InvalidOption, LimitExceeded

__all__ = ["contents", "session_in"]

_BYTES_MAX = 256 << 20
"""A longer file is not looked into: a session is held whole to be read."""


def session_in(path: str) -> str | None:
    """The name of the log of the session in the file; None if that is no session, or one without an id.

    Not that of a log which was named by hand (`--session`): the file does not say it.
    """
    from castore.transcript.collapse.session import session_key
    from castore.transcript.formats import ReadOptions, read_transcript
    from castore.transcript.records import read_records

    with open(path, "rb") as source:
        data = source.read(_BYTES_MAX + 1)
    if not data or len(data) > _BYTES_MAX:
        return None
    try:
        return session_key(read_transcript(read_records(data), ReadOptions()))
    except (DocumentInvalid, InvalidOption, LimitExceeded):
        return None


def contents(source: BufferedReader) -> tuple[Digest, tuple[Digest, ...]]:
    """The digest of a file's bytes, and what its references name; a file that is no document has none."""
    from hashlib import file_digest

    from castore.fold.check import may_hold_references
    from castore.fold.documents import references_in

    whole = Digest(file_digest(source, "sha256").hexdigest())
    source.seek(0)
    if not may_hold_references(source):
        return whole, ()
    source.seek(0)
    return whole, references_in(source, lambda digest: True)[1]
