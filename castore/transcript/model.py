"""Transcript: what a session consists of, whatever tool wrote it. Pure facts; nothing here decides.

Laws:
- Parts are disjoint spans of the source, in order, each a whole JSON value (or a whole content block); what
  may stand in a part's place is its `form`, so that a view is valid wherever a strategy acts.
- Turns count from 0 and never decrease along the source. A call and its results name each other by call id.
- A format never guesses: what it does not know is of the kind `unknown`, and what was odd is said.

transcript > record > turn > message > part. A **turn** is one exchange with the model: what was sent since
its last reply (a prompt, or nothing but results), the reply, and the results of the calls in that reply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from castore.digest import Digest
from castore.transcript.records import Records

__all__ = [
    "Api",
    "ArchivedTurn",
    "Collapsed",
    "Form",
    "Leave",
    "Message",
    "Oddity",
    "Part",
    "PartKind",
    "Reason",
    "Role",
    "TextBlock",
    "Transcript",
]


class PartKind(StrEnum):
    PROSE = "prose"
    """What the user, the assistant or a system prompt says; also a compaction's summary."""
    THINKING = "thinking"
    CALL = "call"
    """The arguments of a tool call (its id and name stand outside the span)."""
    RESULT = "result"
    """Text or data that a tool gave back."""
    MEDIA = "media"
    """An image, a document or a sound, wherever it stands."""
    UI = "ui"
    """What never reaches the model."""
    UNKNOWN = "unknown"
    """A block or record of a type that the format does not know."""


class Form(StrEnum):
    """What may stand in a part's place."""

    TEXT = "text"
    """Any JSON string: the part's span is a value where a string may stand."""
    BLOCK = "block"
    """A text block: the span is an item of a list of content blocks."""
    ARGUMENTS = "arguments"
    """An object with strings in it: the span is an object that must stay one."""
    JSON_TEXT = "json_text"
    """A string that holds a JSON object: the span is a string that is parsed again by the API."""
    EMPTY = "empty"
    """The empty value of the same type (`{}`, `[]`, `""`), or null for other scalars: nobody reads it."""
    NOTHING = "nothing"
    """Nothing: the span is a whole record with its line end, or a run of them."""
    FIXED = "fixed"
    """It stays as it is: the API demands it byte for byte."""


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    RESULT = "result"
    """A message that holds nothing but results of calls."""
    SUMMARY = "summary"
    """What a compaction or a branch left of what went before; it goes to the model as user text."""


class Api(StrEnum):
    """Whose rules a view must keep (castore.transcript.validate)."""

    ANTHROPIC = "anthropic"
    CHAT = "chat"
    RESPONSES = "responses"
    GEMINI = "gemini"


class Reason(StrEnum):
    """Why a span left; recorded with each splice of a view."""

    TOOL_RESULT = "tool_result"
    THINKING = "thinking"
    MEDIA = "media"
    ARGUMENTS = "arguments"
    REPEAT = "repeat"
    CLIPPED = "clipped"
    PROSE = "prose"
    UI = "ui"
    UNKNOWN = "unknown"
    COLLAPSED = "collapsed"
    OLDER = "older"
    OTHER_BRANCH = "other branch"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class TextBlock:
    """The bytes around a string literal that make it a text block of the format."""

    before: bytes = b'{"type":"text","text":'
    after: bytes = b"}"


@dataclass(frozen=True, slots=True)
class Part:
    """One part. start, end: its span in the source, which is what leaves if it leaves.

    payload: the span, inside it, of the literal that is the object when it leaves (an image's base64 in its
    block); None: the whole. label: what a marker calls it (`tool result`, `image/png`). message: its index,
    -1 outside messages. turn: -1 before the first. is_signed: the API holds it against a signature.
    """

    index: int
    kind: PartKind
    form: Form
    start: int
    end: int
    message: int
    turn: int
    label: str
    payload: tuple[int, int] | None = None
    call_id: str | None = None
    tool: str | None = None
    is_error: bool = False
    exit_code: int | None = None
    is_signed: bool = False
    role: Role | None = None

    @property
    def size(self) -> int:
        """Bytes of its literal."""
        return self.end - self.start

    @property
    def object_span(self) -> tuple[int, int]:
        return self.payload or (self.start, self.end)


@dataclass(frozen=True, slots=True)
class Message:
    """One message as the model gets it. parts: indices, in order. id: the tool's or the API's own.

    position, end: the span of the source that tells it; other messages stand between its pieces, if a reply
    was told in several records. is_prompt: a person wrote it, or something in a person's place. calls: ids
    of the calls in it; answers: ids of the calls whose results it holds.
    """

    index: int
    role: Role
    turn: int
    position: int
    parts: tuple[int, ...]
    id: str | None = None
    is_prompt: bool = False
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    end: int = 0


@dataclass(frozen=True, slots=True)
class Leave:
    """A whole record (with its line end) that is not part of what is viewed.

    replacement: what stands in its place where records are counted, so that none may be missing.
    """

    start: int
    end: int
    reason: Reason
    replacement: bytes = b""


@dataclass(frozen=True, slots=True)
class Oddity:
    """What is not as the format has it, and could be read all the same. code: for programs."""

    line: int
    code: str
    words: str


@dataclass(frozen=True, slots=True)
class FileWrite:
    """A call that changes a file. A read of the same path after it is no repeat of one before.

    tool: in lower case. is_known: its tool is one that writes; else it only names the path, and writes if the
    user says that this tool does.
    """

    position: int
    path: str
    tool: str = ""
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class ArchivedTurn:
    """What a turn that is hidden takes of the source: one span that leaves, and the digest of its bytes, but
    for the first `lead` of them, such as the comma before it."""

    start: int
    end: int
    turn: int
    digest: Digest
    lead: int = 0

    @property
    def size(self) -> int:
        """Bytes of the object."""
        return self.end - self.start - self.lead


@dataclass(frozen=True, slots=True)
class Collapsed:
    """Whole turns that one message stands for (castore.transcript.collapse).

    pieces: what leaves, in order; in the place of the first stands `replacement`, and nothing in that of the
    others. A turn may have several. text: what the message says to the model. contents: an object that lists
    the turns, by whose digest they are found.
    """

    collapse_id: str
    pieces: tuple[ArchivedTurn, ...]
    replacement: bytes
    text: str
    contents: bytes
    messages: int


@dataclass(frozen=True)
class Transcript:
    """A session as it is viewed: of one branch, after the last honoured compaction.

    What is collapsed has neither messages nor parts here; turns keep their numbers.

    turns: how many. open_turn: the first turn of a tool loop that has not ended; None if the last one has.
    boundaries: offsets of compactions and rewinds that stand within what is viewed, and of the ends of what
    is collapsed; compactions: of the first alone. reads: call id -> the paths that a read tool was asked
    for. leaf: the record id of its end, where the format has such.
    """

    format: str
    api: Api
    records: Records
    messages: Sequence[Message]
    parts: Sequence[Part]
    turns: int
    open_turn: int | None
    leaves: Sequence[Leave] = ()
    oddities: Sequence[Oddity] = ()
    text_block: TextBlock = field(default_factory=TextBlock)
    session: str | None = None
    leaf: str | None = None
    boundaries: Sequence[int] = ()
    reads: dict[str, list[str]] = field(default_factory=dict)
    writes: Sequence[FileWrite] = ()
    compactions: Sequence[int] = ()
    collapsed: Sequence[Collapsed] = ()
    splits_replies: bool = False
    """A reply may be several records, so that one of them may have an empty list of blocks."""

    @property
    def source(self) -> bytes:
        return self.records.data

    def parts_of(self, kind: PartKind) -> Iterator[Part]:
        return (part for part in self.parts if part.kind is kind)

    def literal(self, part: Part) -> bytes:
        return self.source[part.start : part.end]
