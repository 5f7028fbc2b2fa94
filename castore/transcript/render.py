"""Render: decisions become splices, and the objects that give the spans back.

Laws:
- Splices are disjoint and in order; every byte outside them is the source's. Each one's object, rebuilt as
  its descriptor says, with the text before and after it, is exactly the span that it replaces.
- What stands in a span's place is valid where it stands, and shorter: a decision that would not shorten
  the view is not carried out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from json.encoder import encode_basestring_ascii

from castore.descriptor import Descriptor, Escape, Kind
from castore.digest import Digest
from castore.document.grammar import ARRAY, OBJECT, SPACE, STRING, Node
from castore.document.single import single_value
from castore.document.strings import decode_literal, encode_text
from castore.fold.literal import NO_DIGEST, object_of
from castore.transcript.arguments import json_bytes, shorter_arguments
from castore.transcript.decision import Act, Decision, Decisions, ViewOptions
from castore.transcript.marker import clip_marker, least_bytes, marker, same_marker
from castore.transcript.model import Collapsed, Form, Leave, Part, PartKind, Reason, Transcript

__all__ = ["Rendered", "ViewSplice", "render"]

_WRAPPED_BYTES_MAX = 512
"""What stands around a payload goes into the view's root if it is no longer than this."""

_RUN_BYTES_MAX = 64 << 10
"""Whole records that leave side by side are one object up to this size, so that a run which grows keeps the
objects that it had."""

_COMMA = 0x2C
_EMPTY = {ARRAY: b"[]", OBJECT: b"{}", STRING: b'""'}


@dataclass(frozen=True, slots=True)
class ViewSplice:
    """start, end: the span of the source. replacement: what stands there in the view. descriptor, before,
    after: the span is `before`, the literal that the object rebuilds, `after`. data: the object's bytes.
    part: index of the part, None for whole records."""

    start: int
    end: int
    replacement: bytes
    descriptor: Descriptor
    data: bytes | memoryview
    reason: Reason
    before: bytes = b""
    after: bytes = b""
    part: int | None = None


@dataclass(frozen=True)
class Rendered:
    """The splices of a view, in order, and the view they make."""

    transcript: Transcript
    splices: tuple[ViewSplice, ...]

    @property
    def contents(self) -> list[bytes]:
        """Objects beside those of the splices: they list what is collapsed."""
        return [each.contents for each in self.transcript.collapsed]

    def pieces(self) -> Iterator[bytes | memoryview]:
        """The view's bytes."""
        view = memoryview(self.transcript.source)
        done = 0
        for splice in self.splices:
            yield view[done : splice.start]
            yield splice.replacement
            done = splice.end
        yield view[done:]

    @property
    def size(self) -> int:
        """Bytes of the view."""
        saved = sum(each.end - each.start - len(each.replacement) for each in self.splices)
        return len(self.transcript.source) - saved


def render(transcript: Transcript, decisions: Decisions, options: ViewOptions) -> Rendered:
    """The splices that carry the decisions out."""
    runs = list(_record_runs(transcript, decisions))
    splices = [_run_splice(transcript, run) for run in runs]
    splices += [splice for each in transcript.collapsed for splice in _collapsed(transcript, each)]
    gone = [(run.start, run.end) for run in runs]
    dropped: list[Part] = []
    for part in _outside(transcript.parts, gone):
        decision = decisions.get(part.index)
        if decision is None or part.form in (Form.FIXED, Form.NOTHING):
            continue
        if decision.act is Act.DROP and part.form is Form.BLOCK:
            dropped.append(part)
            continue
        splice = _Replacing(transcript, part, decision, options, decisions).splice()
        if splice is not None:
            splices.append(splice)
    for run in _drop_runs(transcript.source, dropped):
        if _is_whole_list(transcript.source, run) and not transcript.splits_replies:
            # The API refuses a message without a block, so these leave a marker after all.
            marked = [replace(decisions[part.index], act=Act.MOVE) for part in run]
            replacing = [
                _Replacing(transcript, part, decision, options, decisions)
                for part, decision in zip(run, marked, strict=True)
            ]
            splices.extend(splice for each in replacing if (splice := each.splice()) is not None)
        else:
            splices.extend(_drops(transcript, run))
    splices.sort(key=lambda splice: splice.start)
    return Rendered(transcript, tuple(splices))


# --- Whole records ---------------------------------------------------------------------------------


def _record_runs(transcript: Transcript, decisions: Decisions) -> Iterator[Leave]:
    """Spans of whole records that leave: neighbours of one reason and one turn, up to a size."""
    leaving = [(each, -1) for each in transcript.leaves]
    for part in transcript.parts:
        decision = decisions.get(part.index)
        if decision is not None and part.form is Form.NOTHING:
            leaving.append((Leave(part.start, part.end, decision.reason), part.turn))
    leaving.sort(key=lambda each: each[0].start)
    run: Leave | None = None
    of_turn = -1
    for leave, turn in leaving:
        is_next = run is not None and run.end == leave.start and (run.reason, of_turn) == (leave.reason, turn)
        if run is not None and is_next and leave.end - run.start <= _RUN_BYTES_MAX:
            run = Leave(run.start, leave.end, run.reason, run.replacement + leave.replacement)
            continue
        if run is not None:
            yield run
        run, of_turn = leave, turn
    if run is not None:
        yield run


def _run_splice(transcript: Transcript, run: Leave) -> ViewSplice:
    data = memoryview(transcript.source)[run.start : run.end]
    descriptor = Descriptor(Kind.SPAN, Digest.of(data), run.end - run.start)
    return ViewSplice(run.start, run.end, run.replacement, descriptor, data, run.reason)


def _collapsed(transcript: Transcript, collapsed: Collapsed) -> Iterator[ViewSplice]:
    """Each turn is an object of its own; what stands for all of them stands in the first one's place."""
    view = memoryview(transcript.source)
    for number, piece in enumerate(collapsed.pieces):
        begin = piece.start + piece.lead
        replacement = b"" if number else collapsed.replacement
        yield ViewSplice(
            piece.start,
            piece.end,
            replacement,
            Descriptor(Kind.SPAN, piece.digest, piece.size),
            view[begin : piece.end],
            Reason.COLLAPSED,
            before=bytes(view[piece.start : begin]),
        )


def _outside(parts: Sequence[Part], gone: list[tuple[int, int]]) -> Iterator[Part]:
    """The parts that do not stand in one of the spans (which are in order)."""
    waiting = iter(gone)
    span = next(waiting, None)
    for part in parts:
        while span is not None and span[1] <= part.start:
            span = next(waiting, None)
        if span is None or part.end <= span[0]:
            yield part


# --- Parts that leave nothing ----------------------------------------------------------------------


def _drop_runs(source: bytes, parts: list[Part]) -> list[list[Part]]:
    """Blocks that leave, by runs of neighbours in one list."""
    runs: list[list[Part]] = []
    for part in parts:
        if runs and _comma_after(source, runs[-1][-1].end) == _comma_before(source, part.start) is not None:
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs


def _is_whole_list(source: bytes, run: list[Part]) -> bool:
    return _comma_before(source, run[0].start) is None and _comma_after(source, run[-1].end) is None


def _drops(transcript: Transcript, run: list[Part]) -> Iterator[ViewSplice]:
    """A run leaves its list, with the commas that would be left over."""
    source = transcript.source
    starts = [part.start for part in run]
    end = run[-1].end
    comma = _comma_after(source, end)
    if comma is not None:
        end = SPACE.match(source, comma + 1).end()  # type: ignore[union-attr]
    else:
        before = _comma_before(source, starts[0])
        starts[0] = starts[0] if before is None else before
    for part, start, stop in zip(run, starts, [*starts[1:], end], strict=True):
        yield _with_object(transcript, part, start, stop, b"", Reason.THINKING)


def _comma_after(source: bytes, at: int) -> int | None:
    at = SPACE.match(source, at).end()  # type: ignore[union-attr]
    return at if source[at] == _COMMA else None


def _comma_before(source: bytes, at: int) -> int | None:
    at -= 1
    while source[at] in b" \t\r\n":
        at -= 1
    return at if source[at] == _COMMA else None


# --- Parts that leave something --------------------------------------------------------------------


class _Replacing:
    """One part on its way out."""

    def __init__(
        self,
        transcript: Transcript,
        part: Part,
        decision: Decision,
        options: ViewOptions,
        decisions: Decisions,
    ) -> None:
        self.transcript = transcript
        self.part = part
        self.decision = decision
        self.options = options
        self.decisions = decisions

    def splice(self) -> ViewSplice | None:
        """None if what would stand there is no shorter."""
        part = self.part
        whole = _with_object(self.transcript, part, part.start, part.end, b"", self.decision.reason)
        text = self._text(whole.descriptor)
        replacement = self._literal(text)
        if replacement is None or len(replacement) >= part.size:
            return None
        return replace(whole, replacement=replacement)

    def _text(self, descriptor: Descriptor) -> str | None:
        part, decision = self.part, self.decision
        label, retrieve_with = self._label(), self.options.retrieve_with
        if decision.act is Act.SAME:
            first = self.transcript.parts[decision.same_as or 0]
            return same_marker(descriptor, label, first.call_id, retrieve_with)
        if decision.act is not Act.CLIP:
            return marker(descriptor, label, retrieve_with)
        text = _shown_text(self.transcript.literal(part))
        left_out = len(text) - decision.head - decision.tail
        if left_out <= 0:
            return None
        between = clip_marker(
            descriptor,
            label,
            head=decision.head,
            tail=decision.tail,
            left_out=left_out,
            retrieve_with=retrieve_with,
        )
        tail = "\n" + text[len(text) - decision.tail :] if decision.tail else ""
        return f"{text[: decision.head]}\n{between}{tail}"

    def _label(self) -> str:
        part = self.part
        if part.is_error and part.kind is PartKind.RESULT:
            return "error result"
        return part.label

    def _literal(self, text: str | None) -> bytes | None:
        """What stands there, valid for the part's form."""
        part = self.part
        if part.form is Form.EMPTY:
            return _EMPTY.get(self.transcript.source[part.start], b"null")
        if text is None:
            return None
        literal = _string_literal(text)
        if part.form is Form.BLOCK:
            block = self.transcript.text_block
            return block.before + literal + block.after
        least = least_bytes(self.options.retrieve_with)
        if part.form is Form.ARGUMENTS:
            return shorter_arguments(self.transcript.literal(part), literal, least)
        if part.form is Form.JSON_TEXT:
            written = json_bytes(decode_literal(self.transcript.literal(part)))
            return _string_literal(shorter_arguments(written, literal, least).decode())
        return literal


def _with_object(
    transcript: Transcript, part: Part, start: int, end: int, replacement: bytes, reason: Reason
) -> ViewSplice:
    """The splice of [start, end), whose object is the part's payload, or all of the part."""
    source = transcript.source
    inner_start, inner_end = part.object_span
    around = inner_start - start + end - inner_end
    if around > _WRAPPED_BYTES_MAX:
        inner_start, inner_end = part.start, part.end
    descriptor, data = _object(source, inner_start, inner_end, part)
    return ViewSplice(
        start,
        end,
        replacement,
        descriptor,
        data,
        reason,
        source[start:inner_start],
        source[inner_end:end],
        part.index,
    )


def _object(source: bytes, start: int, end: int, part: Part) -> tuple[Descriptor, bytes | memoryview]:
    kind = source[start]
    if kind not in (ARRAY, OBJECT, STRING):
        span = memoryview(source)[start:end]
        return Descriptor(Kind.SPAN, Digest.of(span), end - start), span
    node = Node(start, end, kind)
    if kind == ARRAY:
        node.items = single_value(source[start:end], counts=True).items
    around = Node(part.start, part.end, OBJECT) if part.payload is not None else None
    descriptor, data = object_of(source, node, around)
    assert descriptor.digest == NO_DIGEST
    return descriptor.stored_as(Digest.of(data)), data


def _shown_text(literal: bytes) -> str:
    """What a clip cuts: the text of a string, the literal of anything else."""
    return decode_literal(literal) if literal[:1] == b'"' else literal.decode()


def _string_literal(text: str) -> bytes:
    try:
        return encode_text(text, Escape.MINIMAL)
    except UnicodeEncodeError:  # A lone surrogate has no UTF-8, but an escape.
        return encode_basestring_ascii(text).encode()
