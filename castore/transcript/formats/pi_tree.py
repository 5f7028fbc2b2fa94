"""Which records of a Pi session are viewed: its last session, one branch, from the last compaction on.

Laws:
- Ids decide, not the order of lines: the branch is the way from the leaf to its root. In a session of version
  1, which has no ids, order is all.
- Two entries with one id, and entries that are their own ancestors, are refused with the line.
- What leaves is never what a kept entry needs: read again without it, the same entries are viewed.

Pure: `select` says what there is; castore.transcript.formats.pi tells it to the builder.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from castore.errors import InvalidOption
from castore.transcript.formats import session_error
from castore.transcript.formats.stand_in import is_stand_in
from castore.transcript.formats.ui import COLLAPSE_TYPES
from castore.transcript.model import Oddity, Reason
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["ENTRY_TYPES", "NO_ENTRY", "Branch", "is_header", "select", "selected"]

ENTRY_TYPES = frozenset(
    {
        "branch_summary",
        "compaction",
        "custom",
        "custom_message",
        "label",
        "leaf",
        "message",
        "model_change",
        "session_info",
        "thinking_level_change",
    }
)

NO_ENTRY = b'{"type":"custom"}'
"""What stands for an entry of a session that counts its entries, and says nothing."""


@dataclass(slots=True)
class Branch:
    """viewed: entries in order of the branch, the compaction among them. older: entries of a session
    without ids that stand before what is kept; others take their places, because entries are counted.

    compaction: the last one, which the model gets first. leaf: its entry's id. strays: records that are no
    entry. logs: those of our own log. is_counted: entries are known by their place, so that none may go.
    ids, parents: of entries with ids, by their indices: what they call themselves, and their parent.
    """

    header: Record | None
    viewed: list[Record] = field(default_factory=list)
    older: list[Record] = field(default_factory=list)
    leaves: list[tuple[Record, Reason]] = field(default_factory=list)
    strays: list[Record] = field(default_factory=list)
    logs: list[Record] = field(default_factory=list)
    oddities: list[Oddity] = field(default_factory=list)
    compaction: Record | None = None
    leaf: str | None = None
    is_counted: bool = False
    ids: dict[int, str] = field(default_factory=dict)
    parents: dict[int, str] = field(default_factory=dict)

    def odd(self, record: Record, code: str, words: str) -> None:
        self.oddities.append(Oddity(record.line, code, words))


def is_header(record: Record) -> bool:
    return record.is_object and _of(record).text("type") == "session"


def select(records: Records, leaf: str | None) -> Branch:
    """Raises SessionInvalid for ids that contradict each other, InvalidOption for a leaf that is none."""
    readable = [record for record in records.records if record.value is not None]
    headers = [record for record in readable if is_header(record)]
    branch = Branch(headers[-1] if headers else None)
    session = _last_session(branch, readable, headers)
    places = {header.index for header in headers}
    entries = [record for record in session if record.is_object and record.index not in places]
    if any(_of(entry).get("id") is not None and not _is_log(entry) for entry in entries):
        branch.strays = [record for record in session if not record.is_object]
        _Tree(branch, entries).select(leaf)
        return branch
    if leaf is not None:
        raise InvalidOption(
            f"'--leaf {leaf}' names no entry: the entries of this session have no ids",
            hint="a session of version 1 has one branch",
        )
    _select_by_place(branch, session)
    return branch


def _last_session(branch: Branch, readable: list[Record], headers: list[Record]) -> list[Record]:
    """The records from the last header on. A header that a resumed session repeats begins no other one."""
    if branch.header is None:
        if readable:
            branch.odd(readable[0], "no-header", "the session has no header")
        return readable
    id = _of(branch.header).get("id")
    if id is not None and not id.is_string:
        raise session_error(f"a session's id must be a string, not {_a(id)}", branch.header.line)
    start = branch.header
    earlier = headers[-2::-1] if id is not None else []
    own_ids = _ids_by_header(readable) if earlier else {}
    after = own_ids.get(start.index, set())
    for header in earlier:
        if _of(header).text("id") != id.text():  # type: ignore[union-attr]
            break
        if not own_ids[header.index].isdisjoint(after):
            # An entry between the two stands after the second once more: the session was written anew.
            break
        after |= own_ids[header.index]
        branch.odd(start, "repeated-header", "the session's header once more")
        start = header
    for record in readable:
        if record.index >= start.index:
            break
        branch.leaves.append((record, Reason.OLDER))
    if start is not headers[0]:
        branch.odd(start, "second-session", "another session begins here; the last one is viewed")
    return [record for record in readable if record.index >= start.index]


def _ids_by_header(readable: list[Record]) -> dict[int, set[str]]:
    """The header's index -> the ids of the entries from there to the next header. One pass, for a session may
    have as many headers as entries."""
    found: dict[int, set[str]] = {}
    own: set[str] = set()
    for record in readable:
        if is_header(record):
            own = found[record.index] = set()
        elif (id := _id_text(record)) is not None:
            own.add(id)
    return found


def selected(records: Records, leaf: str | None) -> Branch:
    """The branch that was selected when the transcript of this leaf was read."""
    return records.once(("pi branch", leaf), lambda records: select(records, leaf))


# --- Version 1: entries known by their place ---


def _select_by_place(branch: Branch, session: list[Record]) -> None:
    branch.is_counted = True
    entries = [record for record in session if record.is_object and not is_header(record)]
    branch.strays = [record for record in session if not record.is_object]
    compactions = [record for record in entries if _of(record).text("type") == "compaction"]
    if not compactions:
        branch.viewed = entries
        return
    branch.compaction = last = compactions[-1]
    at = session.index(last)
    kept = _of(last).integer("firstKeptEntryIndex")
    if kept is None or not 0 <= kept < at:
        branch.odd(last, "missing-kept-entry", "the compaction names no entry before it to keep")
        kept = at
    first = session[kept]
    branch.older = [entry for entry in entries if entry.index < first.index]
    branch.viewed = [entry for entry in entries if entry.index >= first.index]


# --- Versions 2 and 3: a tree of ids ---


class _Tree:
    def __init__(self, branch: Branch, entries: list[Record]) -> None:
        self.branch = branch
        self.entries: list[Record] = []
        self.by_id: dict[str, Record] = {}
        for entry in entries:
            id = _id(entry)
            if id is None:
                self._without_id(entry)
                continue
            if id in self.by_id:
                raise session_error(
                    f"the id '{id}' is that of line {self.by_id[id].line} too",
                    entry.line,
                    hint="ids must differ within a session, or a branch could be read in two ways",
                )
            self.by_id[id] = entry
            branch.ids[entry.index] = id
            self.entries.append(entry)
        self._calls: dict[str, Record] | None = None
        self._kept: set[str | None] | None = None
        self.parents = {entry.index: self._parent(entry) for entry in self.entries}
        self._refuse_cycles()

    def select(self, leaf: str | None) -> None:
        branch = self.branch
        end = self._leaf(leaf)
        branch.leaf = None if end is None else _id(end)
        path = self._path(end)
        # A record that stands in for one behind it says nothing, wherever it stands.
        own = [entry for entry in path if not _is_link(entry)]
        if any(later.index < earlier.index for earlier, later in pairwise(own)):
            branch.odd(path[-1], "out-of-order", "an entry stands before its parent")
            if end is not None and any(entry.index > end.index for entry in path):
                # The view would end elsewhere: the last entry of a file is its leaf.
                raise session_error(f"the leaf '{branch.leaf}' stands before its own ancestors", end.line)
        kept = self._first_kept(path)
        on_path = {entry.index for entry in path}
        older = {entry.index for entry in path[:kept]}
        for entry in self.entries:
            if entry.index in older:
                branch.leaves.append((entry, Reason.OLDER))
            elif entry.index not in on_path and not self._decides(entry, leaf):
                branch.leaves.append((entry, Reason.OTHER_BRANCH))
        branch.viewed = path[kept:]

    def _without_id(self, entry: Record) -> None:
        if _is_log(entry):
            self.branch.logs.append(entry)
        elif _of(entry).text("type") in ENTRY_TYPES:
            self.branch.odd(entry, "no-id", "an entry without an id, so it is on no branch")
            self.branch.leaves.append((entry, Reason.OTHER_BRANCH))
        else:
            self.branch.strays.append(entry)

    def _decides(self, entry: Record, leaf: str | None) -> bool:
        """Whether the entry, the last of all, is the one that says where the branch ends."""
        return leaf is None and entry is self.entries[-1] and _of(entry).text("type") == "leaf"

    def _leaf(self, leaf: str | None) -> Record | None:
        if leaf is not None:
            if leaf not in self.by_id:
                raise InvalidOption(
                    f"'--leaf {leaf}' names no entry of the session",
                    hint="a leaf is named by its whole id",
                )
            return self.by_id[leaf]
        if not self.entries:
            return None
        last = self.entries[-1]
        if _of(last).text("type") != "leaf":
            return last
        target = _of(last).get("targetId")
        if target is None or target.is_null:
            return None
        found = self.by_id.get(target.text() or "")
        if found is not None:
            return found
        self.branch.odd(last, "missing-leaf", "the leaf is no entry of the session; the last one is viewed")
        return next((e for e in reversed(self.entries) if _of(e).text("type") != "leaf"), None)

    def _path(self, end: Record | None) -> list[Record]:
        path: list[Record] = []
        at = end
        while at is not None:
            path.append(at)
            at = self.parents[at.index]
        return path[::-1]

    def _first_kept(self, path: list[Record]) -> int:
        """Where, on the path, what the last compaction kept begins; 0 without a compaction."""
        at = next((i for i in reversed(range(len(path))) if _of(path[i]).text("type") == "compaction"), None)
        if at is None:
            return 0
        self.branch.compaction = path[at]
        wanted = _of(path[at]).text("firstKeptEntryId")
        for index in range(at):
            if _id(path[index]) == wanted:
                return index
        self.branch.odd(path[at], "missing-kept-entry", "the compaction names no entry before it to keep")
        return at

    def _parent(self, entry: Record) -> Record | None:
        parent = _of(entry).get("parentId")
        if parent is None or parent.is_null:
            return None
        if not parent.is_string:
            raise session_error(f"parentId must be a string, not {_a(parent)}", entry.line)
        id = parent.text() or ""
        self.branch.parents[entry.index] = id
        found = self.by_id.get(id)
        if found is not None or not id:
            return found
        header = self.branch.header
        if header is not None and id == _of(header).text("id"):
            self.branch.odd(entry, "parent-is-header", "the parent is the header: a root")
            return None
        by_call = self._by_call(id)
        if by_call is not None and by_call is not entry:
            self.branch.odd(entry, "parent-is-call", "the parent is a call: the entry that holds it")
            return by_call
        if _id(entry) not in self._kept_ids():
            self.branch.odd(entry, "missing-parent", f"the parent '{id}' is not in the file: a root")
        return None

    def _kept_ids(self) -> set[str | None]:
        """Entries that a compaction keeps: of those the parents may have left."""
        if self._kept is None:
            self._kept = {
                _of(entry).text("firstKeptEntryId")
                for entry in self.entries
                if _of(entry).text("type") == "compaction"
            }
        return self._kept

    def _by_call(self, id: str) -> Record | None:
        if self._calls is None:
            self._calls = {}
            for entry in self.entries:
                content = _of(entry).get("message", "content")
                for block in content.items() if content is not None else []:
                    if block.text("type") == "toolCall":
                        self._calls.setdefault(block.text("id") or "", entry)
        return self._calls.get(id)

    def _refuse_cycles(self) -> None:
        sound: set[int] = set()
        for entry in self.entries:
            way: set[int] = set()
            at: Record | None = entry
            while at is not None and at.index not in sound:
                if at.index in way:
                    raise session_error(f"the entry '{_id(at)}' is its own ancestor", at.line)
                way.add(at.index)
                at = self.parents[at.index]
            sound |= way


def _of(record: Record) -> Value:
    """The record's value; that it is JSON was asked before."""
    assert record.value is not None
    return record.value


def _is_log(entry: Record) -> bool:
    return _of(entry).text("type") in COLLAPSE_TYPES


def _is_link(entry: Record) -> bool:
    return _of(entry).text("type") == "custom" and is_stand_in(_of(entry))


def _id(entry: Record) -> str | None:
    """Raises SessionInvalid if there is an id that is no string."""
    id = _of(entry).get("id")
    if id is None or id.is_null:
        return None
    if not id.is_string:
        raise session_error(f"an entry's id must be a string, not {_a(id)}", entry.line)
    return id.text()


def _id_text(record: Record) -> str | None:
    return _of(record).text("id")


def _a(value: Value) -> str:
    name = value.type_name
    return name if name == "null" else f"an {name}" if name[0] in "ao" else f"a {name}"
