"""Stager: from chosen values to references, several at a time, and some before they are chosen.

Laws: what comes back for a value depends on its literal, its place and the policy alone, never on what
ran beside it or ahead of it (L8). Staging ahead is a guess about what will be chosen: it can only save
time. What was staged in vain is dropped with the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from castore.config import PREVIEW_BYTES_MAX
from castore.descriptor import Descriptor
from castore.digest import Bytes, Digest
from castore.document.grammar import ARRAY, OBJECT, STRING, Node
from castore.document.preview import PREVIEW_BYTES_MIN, preview
from castore.document.reference import write_reference
from castore.document.strings import looks_like_base64
from castore.fold.literal import object_of
from castore.fold.policy import FoldPolicy, begins_message_list, choose

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from castore.document.structure import StructureScan

__all__ = ["Chosen", "Folded", "Stage", "Stager", "Started"]

Stage = Callable[[Bytes], Digest]
Chosen = tuple[Node, Node | None]
"""A value that folds, and the array or object it stands in."""

_JOB_BYTES = 256 << 10
"""Values of this many bytes are handed to a thread together: each alone would cost as much as folding it."""

_THREADED_BYTES_MIN = 512 << 10
"""Less than this to stage is staged at once: starting threads would cost more."""

_AHEAD_BYTES_MAX = 32 << 20
"""Copies of values that are being staged ahead may hold this many bytes."""

_PREVIEW_MEMBER_BYTES = len(',"preview":')


@dataclass(frozen=True, slots=True)
class Folded:
    """A chosen value after staging. reference: None if it did not meet the saving."""

    node: Node
    descriptor: Descriptor
    reference: bytes | None


Started = Callable[[], list[Folded]]
"""Waits for some values, and gives them in order."""


class Stager:
    """Folds values of one document. `workers`: threads; with one, everything is done when it is asked for."""

    def __init__(self, policy: FoldPolicy, stage: Stage, workers: int) -> None:
        self._policy = policy
        self._stage = stage
        self._workers = workers
        self._pool: ThreadPoolExecutor | None = None
        self._ahead: dict[int, tuple[Node, Future[list[Folded]]]] = {}
        self._looked_at = 0
        self._waiting: list[Node] = []
        self._ahead_bytes = 0

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def submit(self, work: Callable[[], object]) -> Callable[[], object]:
        """Do `work` beside the rest; returns what waits for it. At once if there are no threads (yet)."""
        if self._pool is None:
            result = work()
            return lambda: result
        return self._pool.submit(work).result

    def start(self, data: bytes | bytearray, chosen: list[Chosen]) -> list[Started]:
        """The values of a segment, in order, being folded or folded already."""
        pool = self._threads(sum(node.end - node.start for node, _ in chosen))
        if pool is None:
            done = [self._fold_one(data, node, parent) for node, parent in chosen]
            return [lambda: done]
        started: list[Started] = []
        some: list[Chosen] = []
        size = 0
        for node, parent in chosen:
            ahead = self._ahead.pop(id(node), None)
            if ahead is None:
                some.append((node, parent))
                size += node.end - node.start
            if some and (size >= _JOB_BYTES or ahead is not None):
                started.append(pool.submit(self._fold_some, data, some).result)
                some, size = [], 0
            if ahead is not None:
                started.append(_at_its_place(node, ahead[1]))
        if some:
            started.append(pool.submit(self._fold_some, data, some).result)
        self._ahead.clear()
        self._waiting, self._looked_at, self._ahead_bytes = [], 0, 0
        return started

    def look_ahead(self, data: bytearray, scan: StructureScan) -> None:
        """`scan` has read on in a top-level value that has not ended: stage what will surely fold.

        That is what `choose` chooses among the values that have ended, outside any container that may
        yet fold as a whole. Literals are copied, since `data` grows.
        """
        policy = self._policy
        if policy.fold or policy.keep or self._workers == 1:
            return
        new = scan.nodes[self._looked_at :]
        self._looked_at = len(scan.nodes)
        limit = len(data)
        for node in scan.open_containers:
            if node.kind == OBJECT and not policy.objects:
                continue
            if node.kind == ARRAY and (node.items < 1 or begins_message_list(data, node)):
                continue
            limit = node.start
            break
        nodes = sorted((*self._waiting, *new), key=lambda node: node.start)
        self._waiting = [node for node in nodes if node.start >= limit]
        ready = [node for node in nodes if node.start < limit]
        for node, _ in choose(data, ready, policy):
            self._fold_ahead(data, node)

    def _fold_ahead(self, data: bytearray, node: Node) -> None:
        size = node.end - node.start
        pool = self._threads(_THREADED_BYTES_MIN)
        literal = bytes(memoryview(data)[node.start : node.end])
        if pool is None or (node.kind == STRING and looks_like_base64(literal[1:-1])):
            return  # Whether base64 is binary is told by what stands beside it, which may not be here yet.
        alone = Node(0, size, node.kind, node.items, node.last_comma - node.start)
        self._ahead[id(node)] = node, pool.submit(self._fold_some, literal, [(alone, None)])
        self._ahead_bytes += size
        if self._ahead_bytes > _AHEAD_BYTES_MAX:
            for _, future in self._ahead.values():
                future.result()
            self._ahead_bytes = 0

    def _threads(self, staged_bytes: int) -> ThreadPoolExecutor | None:
        if self._pool is None and self._workers > 1 and staged_bytes >= _THREADED_BYTES_MIN:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(self._workers)
        return self._pool

    def _fold_some(self, data: bytes | bytearray, chosen: list[Chosen]) -> list[Folded]:
        return [self._fold_one(data, node, parent) for node, parent in chosen]

    def _fold_one(self, data: bytes | bytearray, node: Node, parent: Node | None) -> Folded:
        descriptor, stored = object_of(data, node, parent)
        bytes_max = self._policy.reference_bytes_max(node.end - node.start)
        # With any digest the reference is as long, so that nothing is staged in vain.
        bare = write_reference(descriptor, bytes_max)
        if bare is None:
            return Folded(node, descriptor, None)
        shown = self._preview(descriptor, stored, node, bytes_max - len(bare) - _PREVIEW_MEMBER_BYTES)
        descriptor = descriptor.stored_as(self._stage(stored), shown)
        return Folded(node, descriptor, write_reference(descriptor, bytes_max))

    def _preview(
        self, descriptor: Descriptor, stored: bytes | memoryview, node: Node, room: float
    ) -> str | None:
        """The longest preview that still meets the saving, if one does that says anything."""
        if self._policy.preview == "none" or room < PREVIEW_BYTES_MIN:
            return None
        return preview(
            stored,
            descriptor.kind,
            int(min(PREVIEW_BYTES_MAX, room)),
            items=node.items,
            last_comma=node.last_comma - node.start,
            lines=descriptor.lines or 0,
        )


def _at_its_place(node: Node, future: Future[list[Folded]]) -> Started:
    def wait() -> list[Folded]:
        (ahead,) = future.result()
        return [Folded(node, ahead.descriptor, ahead.reference)]

    return wait
