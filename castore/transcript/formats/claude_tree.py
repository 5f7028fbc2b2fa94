"""Which records of a Claude Code session are viewed: one transcript, one branch, from its last compaction on.

Laws:
- What looks like a branch mostly is none: the lines of one reply, and the results of its calls, hang side by
  side. Only a prompt, or a reply with another `message.id`, that is not on the way from the leaf to its root
  begins an abandoned branch; it leaves with everything below it, and when in doubt a record stays.
- A compaction is honoured if its summary follows its boundary on the branch; what stands before leaves.
- Read again without what left, the same records are viewed.

Pure: `select` says what there is; castore.transcript.formats.claude_code tells it to the builder.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from castore.errors import InvalidOption
from castore.transcript.formats import ReadOptions, session_error
from castore.transcript.model import Oddity, Reason
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["Line", "Selection", "select", "selected"]

_NAMES_SHOWN_MAX = 5
_COMMAND_OUTPUT = ("<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>")
_INTERRUPTED = "[Request interrupted by user"


@dataclass(slots=True, eq=False)
class Line:
    """A record that is part of a conversation or of the chain that holds it together."""

    record: Record
    value: Value
    type: str | None
    uuid: str | None
    parent_uuid: str | None
    is_side: bool
    parent: Line | None = None

    @property
    def is_talk(self) -> bool:
        return self.type in ("user", "assistant")

    @property
    def reply(self) -> str | None:
        """The id of the API's message that an assistant line is a piece of."""
        return self.value.text("message", "id") if self.type == "assistant" else None

    @property
    def is_summary(self) -> bool:
        return self.type == "user" and self.value.flag("isCompactSummary")

    @property
    def is_boundary(self) -> bool:
        return self.type == "system" and self.value.text("subtype") == "compact_boundary"

    @property
    def is_prompt(self) -> bool:
        """Whether a person wrote it, or something in a person's place, and the model answers it."""
        if self.type != "user" or self.value.flag("isMeta") or self.is_summary:
            return False
        content = self.value.get("message", "content")
        if content is None:
            return False
        if content.is_string:
            return not (content.text() or "").startswith((*_COMMAND_OUTPUT, _INTERRUPTED))
        blocks = content.items()
        if not blocks or any(block.text("type") == "tool_result" for block in blocks):
            return False
        return not (blocks[0].text("text") or "").startswith((*_COMMAND_OUTPUT, _INTERRUPTED))


@dataclass(slots=True)
class Selection:
    """viewed: lines in order of the file. kept: how many of them, from before the compaction, it preserved.

    floating: records without a uuid, which are on no branch. strays: records that are no object.
    """

    viewed: list[Line] = field(default_factory=list)
    kept: int = 0
    leaf: str | None = None
    start: Line | None = None
    floating: list[Record] = field(default_factory=list)
    strays: list[Record] = field(default_factory=list)
    leaves: list[tuple[Record, Reason]] = field(default_factory=list)
    oddities: list[Oddity] = field(default_factory=list)

    def odd(self, line: Line, code: str, words: str) -> None:
        self.oddities.append(Oddity(line.record.line, code, words))


def select(records: Records, options: ReadOptions) -> Selection:
    """Raises SessionInvalid for records that contradict each other, InvalidOption for a leaf or a sidechain
    that is none."""
    selection = Selection()
    lines = _lines(records, selection)
    by_uuid = _by_uuid(lines, selection)
    lines = [line for line in lines if line.uuid is None or by_uuid[line.uuid] is line]
    _refuse_cycles(lines, by_uuid)
    chosen = _transcript(lines, by_uuid, options, selection)
    _Branch(selection, chosen, by_uuid).select(options.leaf)
    return selection


def selected(records: Records, leaf: str | None) -> Selection:
    """What was selected when the transcript of this leaf was read."""
    return records.once(("claude selection", leaf), lambda records: select(records, ReadOptions(leaf=leaf)))


def _lines(records: Records, selection: Selection) -> list[Line]:
    lines: list[Line] = []
    for record in records.records:
        value = record.value
        if value is None:
            continue
        if not value.is_object:
            selection.strays.append(record)
            continue
        type = _string(record, value, "type")
        uuid = _string(record, value, "uuid")
        if uuid is None and type not in ("user", "assistant"):
            selection.floating.append(record)
            continue
        parent = _string(record, value, "parentUuid")
        if parent is None and type == "system":
            # A compaction's boundary is a root for the tool, but it says what it stands after.
            parent = value.text("logicalParentUuid")
        lines.append(Line(record, value, type, uuid, parent, value.flag("isSidechain")))
    return lines


def _by_uuid(lines: list[Line], selection: Selection) -> dict[str, Line]:
    """Of a record that stands twice the later one counts, as for the tool."""
    found: dict[str, Line] = {}
    for line in lines:
        if line.uuid is None:
            continue
        earlier = found.get(line.uuid)
        if earlier is not None:
            if _essence(earlier) != _essence(line):
                raise session_error(
                    f"the uuid '{line.uuid}' is that of line {earlier.record.line} too, with another content",
                    line.record.line,
                )
            selection.odd(line, "repeated-record", f"the record of line {earlier.record.line} once more")
            selection.leaves.append((earlier.record, Reason.OLDER))
        found[line.uuid] = line
    return found


def _essence(line: Line) -> tuple[object, ...]:
    """What must be equal in two copies of a record; the tool may write it with other circumstances."""
    content = next(
        (line.value.get(*way) for way in _CONTENTS if line.value.get(*way) is not None),
        None,
    )
    said = None if content is None else content.python()
    return line.type, line.parent_uuid, line.is_side, line.reply, said


_CONTENTS = (("message", "content"), ("attachment",), ("data",), ("content",))


def _refuse_cycles(lines: list[Line], by_uuid: dict[str, Line]) -> None:
    sound: set[int] = set()
    for line in lines:
        way: set[int] = set()
        at: Line | None = line
        while at is not None and at.record.index not in sound:
            if at.record.index in way:
                raise session_error(f"the record '{at.uuid}' is its own ancestor", at.record.line)
            way.add(at.record.index)
            at = by_uuid.get(at.parent_uuid) if at.parent_uuid else None
        sound |= way


# --- The main transcript, or a sub-agent's ---


def _transcript(
    lines: list[Line], by_uuid: dict[str, Line], options: ReadOptions, selection: Selection
) -> list[Line]:
    main = [line for line in lines if not line.is_side]
    groups = _sidechains(lines, by_uuid)
    leaf = by_uuid.get(options.leaf) if options.leaf else None
    if options.sidechain is not None:
        chosen = _named(groups, options.sidechain)
    elif leaf is not None and leaf.is_side:
        chosen = next(group for group in groups.values() if leaf in group)
    elif not groups or any(line.is_talk for line in main):
        chosen = main
    elif len(groups) == 1:
        # A sub-agent's own file.
        chosen = next(iter(groups.values()))
    else:
        raise InvalidOption("the session holds nothing but transcripts of sub-agents", hint=_choose(groups))
    kept = {line.record.index for line in chosen}
    for line in lines:
        if line.record.index not in kept:
            selection.leaves.append((line.record, Reason.OTHER_BRANCH))
    return chosen


def _sidechains(lines: list[Line], by_uuid: dict[str, Line]) -> dict[str, list[Line]]:
    """The lines of each sub-agent: by its agentId or else by the uuid of its tree's root."""
    groups: dict[str, list[Line]] = {}
    roots: dict[int, Line] = {}
    for line in lines:
        if line.is_side:
            name = line.value.text("agentId") or _root(line, by_uuid, roots).uuid or ""
            groups.setdefault(name, []).append(line)
    return groups


def _root(line: Line, by_uuid: dict[str, Line], roots: dict[int, Line]) -> Line:
    """roots: record index -> its root, of all that were asked for on the way."""
    way: list[Line] = []
    at = line
    while at.record.index not in roots:
        way.append(at)
        parent = by_uuid.get(at.parent_uuid) if at.parent_uuid is not None else None
        if parent is None or not parent.is_side:
            roots[at.record.index] = at
            break
        at = parent
    root = roots[at.record.index]
    for each in way:
        roots[each.record.index] = root
    return root


def _named(groups: dict[str, list[Line]], name: str) -> list[Line]:
    if name in groups:
        return groups[name]
    for group in groups.values():
        if group[0].uuid == name:
            return group
    hint = _choose(groups) if groups else "the session has none; '--leaf' chooses a branch"
    raise InvalidOption(f"'--sidechain {name}' names no sub-agent of the session", hint=hint)


def _choose(groups: dict[str, list[Line]]) -> str:
    names = list(groups)
    more = f" and {len(names) - _NAMES_SHOWN_MAX} more" if len(names) > _NAMES_SHOWN_MAX else ""
    return f"choose one with '--sidechain ID': {', '.join(names[:_NAMES_SHOWN_MAX])}{more}"


# --- The branch ---


class _Branch:
    def __init__(self, selection: Selection, lines: list[Line], by_uuid: dict[str, Line]) -> None:
        self.selection = selection
        self.lines = lines
        self.by_uuid = by_uuid
        self.own = {line.record.index for line in lines}
        self.preserved: set[str] = set()
        self.summarized: set[int] = set()
        """Boundaries that a summary follows."""
        for line in lines:
            if line.is_boundary:
                self.preserved.add(line.value.text("compactMetadata", "preservedSegment", "headUuid") or "")
        self._link()

    def select(self, leaf: str | None) -> None:
        selection = self.selection
        end = self._leaf(leaf)
        selection.leaf = None if end is None else end.uuid
        path = self._path(end)
        on_path = {line.record.index for line in path}
        replies = {line.reply for line in path} - {None}
        kept = self._preserved(selection.start)
        reasons: dict[int, Reason | None] = {}
        for line in self.lines:
            reason = self._reason(line, on_path, replies, reasons, kept)
            if reason is None:
                selection.viewed.append(line)
            else:
                selection.leaves.append((line.record, reason))
        start = -1 if selection.start is None else selection.start.record.index
        selection.kept = sum(line.record.index < start for line in selection.viewed)
        self._tell_unhonoured()
        if leaf is not None:
            self._refuse_backwards(path)

    def _link(self) -> None:
        """Each line's parent. One that names none, or none in the file, goes on from the talk before it."""
        before: Line | None = None
        for line in self.lines:
            parent = self.by_uuid.get(line.parent_uuid) if line.parent_uuid else None
            if parent is not None and parent.record.index in self.own:
                line.parent = parent
            else:
                line.parent = before
                if line.parent_uuid is None:
                    if before is not None and line.is_prompt and line.uuid is not None:
                        self.selection.odd(line, "second-root", "a prompt without a parent after others")
                elif parent is None and not line.is_boundary and line.uuid not in self.preserved:
                    words = f"the parent '{line.parent_uuid}' is not in the file"
                    self.selection.odd(line, "missing-parent", words)
            if line.is_summary and line.parent is not None:
                self.summarized.add(line.parent.record.index)
            if line.is_talk:
                before = line

    def _leaf(self, leaf: str | None) -> Line | None:
        if leaf is not None:
            found = self.by_uuid.get(leaf)
            if found is None or found.record.index not in self.own:
                raise InvalidOption(
                    f"'--leaf {leaf}' names no record of the transcript",
                    hint="a leaf is named by its whole uuid",
                )
            return found
        for line in reversed(self.lines):
            # A late result hangs on its reply wherever it stands; it does not say where the session ended.
            if _may_end(line):
                return line
        return next((line for line in reversed(self.lines) if line.is_talk), None)

    def _path(self, end: Line | None) -> list[Line]:
        path: list[Line] = []
        seen: set[int] = set()
        has_summary = False
        at = end
        while at is not None and at.record.index not in seen:
            path.append(at)
            seen.add(at.record.index)
            has_summary = has_summary or at.is_summary
            if has_summary and (at.is_boundary or (at.is_summary and at.parent_uuid is None)):
                self.selection.start = at
                break
            at = at.parent
        return path

    def _preserved(self, start: Line | None) -> range:
        """Records before the compaction that it kept as they were, by their place in the file."""
        segment = None if start is None else start.value.get("compactMetadata", "preservedSegment")
        if segment is None:
            return range(0)
        head = self.by_uuid.get(segment.text("headUuid") or "")
        tail = self.by_uuid.get(segment.text("tailUuid") or "")
        if head is None or tail is None or head.record.index > tail.record.index:
            return range(0)
        return range(head.record.index, tail.record.index + 1)

    def _reason(
        self,
        line: Line,
        on_path: set[int],
        replies: set[str | None],
        reasons: dict[int, Reason | None],
        kept: range,
    ) -> Reason | None:
        """Why the line leaves; None if it stays. What it hangs on is asked first, without recursion."""
        waiting: list[Line] = []
        entered: set[int] = set()
        at: Line | None = line
        while at is not None and at.record.index not in reasons and at.record.index not in entered:
            waiting.append(at)
            entered.add(at.record.index)
            at = at.parent
        start = self.selection.start
        for each in reversed(waiting):
            index = each.record.index
            above = None if each.parent is None else reasons.get(each.parent.record.index)
            if index in on_path or index in kept:
                reasons[index] = None
            elif start is not None and index < start.record.index:
                reasons[index] = Reason.OLDER
            elif above is not None:
                reasons[index] = above
            else:
                reasons[index] = Reason.OTHER_BRANCH if self._begins_branch(each, replies) else None
        return reasons[line.record.index]

    def _begins_branch(self, line: Line, replies: set[str | None]) -> bool:
        if line.type == "assistant":
            return line.reply not in replies
        return line.is_prompt or line.is_summary or (line.is_boundary and self._has_summary(line))

    def _has_summary(self, boundary: Line) -> bool:
        return boundary.record.index in self.summarized

    def _refuse_backwards(self, path: list[Line]) -> None:
        """A view is read by its last prompt or reply: it must be the one that the named leaf goes on from."""
        end = next((line for line in path if _may_end(line)), None)
        last = next((line for line in reversed(self.selection.viewed) if _may_end(line)), None)
        if end is None or last is end or (last is not None and last.reply and last.reply == end.reply):
            return
        raise session_error(f"the record '{end.uuid}' stands before its own ancestors", end.record.line)

    def _tell_unhonoured(self) -> None:
        for line in self.selection.viewed:
            if line.is_boundary and line is not self.selection.start:
                self.selection.odd(line, "compaction-without-summary", "a compaction that no summary follows")


def _may_end(line: Line) -> bool:
    """Whether a branch may end with the line, or go on from it."""
    return line.type == "assistant" or line.is_summary or line.is_prompt


def _string(record: Record, value: Value, name: str) -> str | None:
    """A member that must be a string or absent. Raises SessionInvalid."""
    member = value.get(name)
    if member is None or member.is_null:
        return None
    if not member.is_string:
        kind = member.type_name
        article = "an" if kind[0] in "ao" else "a"
        raise session_error(f"{name} must be a string, not {article} {kind}", record.line)
    return member.text()
