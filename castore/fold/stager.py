"""Stager: from chosen values to references and staged objects, on all cores, and some before they are chosen.

Law: what comes back for a value depends on its literal, its place and the policy alone, never on who
made it or when (L8). Making ahead is a guess about what will be chosen: it can only save time, and what
was made in vain is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

from castore.cores import core_count, may_fork
from castore.descriptor import Descriptor
from castore.digest import Bytes, Digest
from castore.document.grammar import ARRAY, OBJECT, STRING, Node
from castore.document.strings import decode_base64, looks_like_base64, sniff_media_type
from castore.errors import CastoreError
from castore.fold.crew import SLOT_BYTES, Crew, Ticket
from castore.fold.making import Made, Maker, pack_job, pack_made, unpack_job, unpack_made
from castore.fold.policy import FoldPolicy, choose
from castore.fold.positions import begins_message_list
from castore.objects.database import EncodedObject

if TYPE_CHECKING:
    from castore.document.structure import StructureScan

__all__ = ["Chosen", "Folded", "Stager", "Staging", "Started"]

Chosen = tuple[Node, Node | None]
"""A value that folds, and the array or object it stands in."""

_JOB_BYTES = 256 << 10
"""Values of this many bytes are given away together."""

_CREW_MAX = 7

_AHEAD, _ALONE, _HERE = range(3)
"""How a value goes: it was made ahead; it can be given away; it must be made where its surroundings are."""


class Folded(NamedTuple):
    """A chosen value after staging. reference: None if it did not meet the saving."""

    node: Node
    descriptor: Descriptor
    reference: bytes | None


Started = Callable[[], list[Folded]]
"""Waits for some values, and gives them in order."""


class Staging(Protocol):
    """What takes the objects: a batch of the store, or for a plan something that only digests."""

    @property
    def compression_level(self) -> int: ...

    def stage(self, data: Bytes) -> Digest: ...

    def stage_encoded(self, encoded: EncodedObject) -> None: ...


class Stager:
    """Folds the values of one document. processes: that may be used in all; None: one a core."""

    def __init__(self, policy: FoldPolicy, staging: Staging, processes: int | None) -> None:
        self._policy = policy
        self._staging = staging
        self._processes = core_count() if processes is None else processes
        self._maker: Maker | None = None
        self._crew: Crew | None = None
        self._ahead: dict[int, tuple[Node, _Job, int]] = {}
        self._looked_at = 0
        self._is_blind = False
        self._waiting: list[Node] = []
        self._message_lists: dict[int, bool] = {}
        self._ends: dict[int, int] = {}

    @property
    def maker(self) -> Maker:
        if self._maker is None:
            self._maker = Maker(self._policy, self._staging.compression_level)
        return self._maker

    def close(self) -> None:
        if self._crew is not None:
            self._crew.close()

    def begins(self) -> None:
        """The document is a large one: from here on others help, if there are cores for them."""
        count = min(self._processes - 1, _CREW_MAX)
        if count > 0 and may_fork():
            maker = self.maker

            def work(job: bytes) -> bytes:
                data, nodes = unpack_job(job)
                return pack_made([maker.make(data, node, None) for node in nodes])

            try:
                self._crew = Crew(work, count)
            except OSError:
                self._crew = None  # No process or pipe is to be had: what the crew would do is done here.

    def looks(self, data: bytearray, scan: StructureScan) -> None:
        """`scan` has read on in a top-level value that has not ended: give away what will surely fold.

        That is what `choose` chooses among the values that have ended, outside any container that may
        yet fold as a whole.
        """
        if self._crew is None or self._policy.fold or self._policy.keep or self._is_blind:
            return
        try:
            self._look(data, scan)
        except (CastoreError, UnicodeError, LookupError, AttributeError):
            # Nothing here has been validated yet. What is wrong with it, and where, is for the scan to say.
            self._is_blind = True

    def _look(self, data: bytearray, scan: StructureScan) -> None:
        assert self._crew is not None
        policy = self._policy
        new = scan.nodes[self._looked_at :]
        self._ends.update((node.start, node.end) for node in new)
        self._looked_at = len(scan.nodes)
        limit = min(
            (node.start for node in scan.open_containers if self._may_fold(data, node)), default=len(data)
        )
        nodes = sorted((*self._waiting, *new), key=lambda node: node.start)
        self._waiting = [node for node in nodes if node.start >= limit]
        ready = (node for node, _ in choose(data, [node for node in nodes if node.start < limit], policy))
        for nodes in _grouped(node for node in ready if _stands_alone(data, node)):
            job = self._give(data, nodes)
            if job is None:
                self._waiting += nodes  # All hands are full: perhaps at the next look.
            else:
                self._ahead.update((id(node), (node, job, at)) for at, node in enumerate(nodes))

    def start(self, data: bytes | bytearray, chosen: list[Chosen]) -> list[Started]:
        """The values of a segment, in order: made already, given away, or made here and now."""
        started: list[Started] = []
        if self._crew is None:
            folded = [self._fold_here(data, node, parent) for node, parent in chosen]
            return [lambda: folded]
        for way, some in self._ways(data, chosen):
            if way == _AHEAD:
                started.append(self._made_ahead(data, some))
                continue
            job = self._give(data, [node for node, _ in some]) if way == _ALONE else None
            started.append(self._started(data, some, job))
        self._ahead = {}
        self._waiting, self._looked_at, self._message_lists, self._ends = [], 0, {}, {}
        return started

    def _ways(self, data: bytes | bytearray, chosen: list[Chosen]) -> Iterator[tuple[int, list[Chosen]]]:
        """Runs of values that go the same way; those that can be given away in groups of a job's size."""
        some: list[Chosen] = []
        size = 0
        last = _HERE
        for each in chosen:
            node = each[0]
            way = _AHEAD if id(node) in self._ahead else _ALONE if _stands_alone(data, node) else _HERE
            if some and (way != last or size >= _JOB_BYTES):
                yield last, some
                some, size = [], 0
            some.append(each)
            size += node.end - node.start
            last = way
        if some:
            yield last, some

    def _may_fold(self, data: bytearray, node: Node) -> bool:
        """Whether an array or object that has not ended may yet fold as a whole, as far as can be seen."""
        if node.kind == OBJECT:
            return self._policy.objects
        if node.kind != ARRAY or node.items < 1:
            return False
        # The first item may be long: it is read once, not at every look.
        if id(node) not in self._message_lists:
            self._message_lists[id(node)] = begins_message_list(data, node, self._ends)
        return not self._message_lists[id(node)]

    def _give(self, data: bytes | bytearray, nodes: list[Node]) -> _Job | None:
        if self._crew is None or not self._crew.has_room():
            return None
        ticket = self._crew.give(pack_job(data, nodes))
        return None if ticket is None else _Job(ticket)

    def _started(self, data: bytes | bytearray, some: list[Chosen], job: _Job | None) -> Started:
        if job is None:
            folded = [self._fold_here(data, node, parent) for node, parent in some]
            return lambda: folded

        def wait() -> list[Folded]:
            made = job.made()
            if made is None:
                return [self._fold_here(data, node, parent) for node, parent in some]
            return [self._stage(node, each) for (node, _), each in zip(some, made, strict=True)]

        return wait

    def _made_ahead(self, data: bytes | bytearray, some: list[Chosen]) -> Started:
        jobs = [self._ahead[id(node)] for node, _ in some]

        def wait() -> list[Folded]:
            folded = []
            for (node, parent), (_, job, at) in zip(some, jobs, strict=True):
                made = job.made()
                if made is None:
                    folded.append(self._fold_here(data, node, parent))
                else:
                    folded.append(self._stage(node, made[at]))
            return folded

        return wait

    def _fold_here(self, data: bytes | bytearray, node: Node, parent: Node | None) -> Folded:
        return self._stage(node, self.maker.make(data, node, parent))

    def _stage(self, node: Node, made: Made) -> Folded:
        encoded = made.encoded
        if isinstance(encoded, EncodedObject):
            self._staging.stage_encoded(encoded)
        elif encoded is not None:
            made = self.maker.with_digest(made, node, self._staging.stage(encoded))
        return Folded(node, made.descriptor, made.reference)


class _Job:
    """Values that were given away together; read once, however many ask."""

    __slots__ = ("_made", "_ticket")

    def __init__(self, ticket: Ticket) -> None:
        self._ticket: Ticket | None = ticket
        self._made: list[Made] | None = None

    def made(self) -> list[Made] | None:
        if self._ticket is not None:
            answer = self._ticket.wait()
            self._made = None if answer is None else unpack_made(answer)
            self._ticket = None
        return self._made


def _stands_alone(data: bytes | bytearray, node: Node) -> bool:
    """Whether what stands around the value has no say in how it folds, and it fits in a job.

    Whether base64 is binary may be told by what stands beside it, if its first bytes don't say so.
    """
    if node.end - node.start > SLOT_BYTES // 2:
        return False
    head = bytes(data[node.start + 1 : min(node.start + 65, node.end - 1)])
    if node.kind != STRING or (node.end - node.start - 2) % 4 or not looks_like_base64(head):
        return True
    decoded = decode_base64(head)
    return decoded is None or sniff_media_type(decoded) is not None


def _grouped(nodes: Iterable[Node]) -> Iterable[list[Node]]:
    some: list[Node] = []
    size = 0
    for node in nodes:
        some.append(node)
        size += node.end - node.start
        if size >= _JOB_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some
