"""Where in a document something is, in the words of an error: offset, line, column."""

from __future__ import annotations

from dataclasses import dataclass

from castore.errors import DocumentInvalid, LimitExceeded

__all__ = ["Origin", "invalid", "utf8_error_offset", "utf8_text"]

_PIECE_BYTES = 64 << 10
"""Small enough that its text is no mapping of its own, which comes as page faults each time."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a piece of a document begins, so that a place in it can be given in a stream.

    Law: the line and column that it gives for an offset in the piece are those it has in the whole.
    Lines and columns count from 1; a column counts bytes.
    """

    offset: int = 0
    lines: int = 0
    line_start: int = 0

    def after(self, data: bytes | bytearray, newlines: int | None = None) -> Origin:
        """Of the piece that comes after `data`, whose line feeds the caller may have counted faster."""
        if newlines is None:
            newlines = data.count(b"\n")
        if not newlines:
            return Origin(self.offset + len(data), self.lines, self.line_start)
        last = self.offset + data.rfind(b"\n") + 1
        return Origin(self.offset + len(data), self.lines + newlines, last)

    def line_and_column(self, data: bytes | bytearray, at: int) -> tuple[int, int]:
        """Of byte `at` of `data`, the piece that begins here."""
        newline = data.rfind(b"\n", 0, at)
        start = self.offset + newline + 1 if newline >= 0 else self.line_start
        return self.lines + data.count(b"\n", 0, at) + 1, self.offset + at - start + 1

    def locate(self, error: DocumentInvalid | LimitExceeded, data: bytes | bytearray) -> None:
        """Turn the error's offset in `data` into its place in the whole document."""
        at = error.fields.get("offset")
        if not isinstance(at, int):
            return
        line, column = self.line_and_column(data, min(at, len(data)))
        error.fields.update(offset=self.offset + at, line=line, column=column)
        if isinstance(error, DocumentInvalid):
            error.offset = self.offset + at
        error.at(f"byte {self.offset + at}, line {line}, column {column}")


def invalid(message: str, offset: int) -> DocumentInvalid:
    return DocumentInvalid(message, offset=offset)


def utf8_error_offset(data: bytes | bytearray) -> int | None:
    """The offset of the first byte that is not UTF-8, or None. Bounded memory: piece by piece."""
    import codecs

    view = memoryview(data)
    at, end = 0, len(data)
    while at < end:
        piece = bytes(view[at : at + _PIECE_BYTES])
        if piece.isascii():
            at += len(piece)
            continue
        is_final = at + len(piece) == end
        try:
            consumed = codecs.utf_8_decode(piece, "strict", is_final)[1]
        except UnicodeDecodeError as error:
            return at + error.start
        at += consumed
    return None


def utf8_text(data: bytes, what: str) -> str:
    """The bytes as text. what: the words for them in an error (`the source`).

    Raises DocumentInvalid, with the place of the first byte that is not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        hint = "a summary is made of text, and is text"
        problem = DocumentInvalid(f"{what} is not UTF-8", offset=error.start, hint=hint)
        Origin().locate(problem, data)
        raise problem from error
