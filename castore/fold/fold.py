"""Fold: a document goes in, references come out, and everything they name is durable before a byte is seen.

bytes -> segments (scan) -> choose (policy) -> object_of + stage (in threads) -> splice -> proof -> commit
-> release. Laws L1 (proved on every segment before it counts), L2 and L8 of docs/format.md; after a
crash the store holds the root with all its objects, or nothing that anything names.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO

from castore.descriptor import Descriptor, Kind
from castore.digest import Bytes, Digest
from castore.document.path import paths_at
from castore.document.reference import Reference
from castore.document.scan import Segment, segments
from castore.document.splice import fold_parts, unfold_parts
from castore.fold.policy import FoldPolicy, choose
from castore.fold.spool import Spool
from castore.fold.stager import Folded, Stager, Staging, Started
from castore.objects.database import EncodedObject
from castore.roots.model import Content, Root, RootDraft, RootKind
from castore.settings import Config

if TYPE_CHECKING:
    from castore.store import StoreHandle
    from castore.store.batch import Batch

__all__ = ["FoldReport", "FoldedSpan", "fold_stream", "plan_stream"]

_QUEUED_BYTES_MAX = 24 << 20
"""Segments that wait for their objects may hold this many bytes; a larger one waits alone."""


@dataclass(frozen=True, slots=True)
class FoldedSpan:
    """One value that folds. offset: of its literal in the source."""

    path: str
    offset: int
    kind: Kind
    literal_bytes: int
    reference_bytes: int
    digest: Digest
    items: int | None
    lines: int | None


@dataclass(frozen=True, slots=True)
class FoldReport:
    """long_count: values that the policy chose; folded_count: those whose reference met the saving.

    object_count: distinct objects, of which existing_count were in the store already. root: None if
    nothing folded, or in a plan. spans: of a plan alone, the biggest first.
    """

    source: Content
    document: Content
    long_count: int
    folded_count: int
    object_count: int
    existing_count: int
    root: Root | None
    spans: tuple[FoldedSpan, ...] = ()


def fold_stream(
    source: BinaryIO,
    target: BinaryIO,
    handle: StoreHandle,
    policy: FoldPolicy,
    *,
    source_name: str | None = None,
    name: str | None = None,
    scope: str | None = None,
    keep_seconds: int | None = None,
    allow_purged: bool = False,
    file: str | None = None,
    is_private: bool = False,
    processes: int | None = None,
    needs_root: Callable[[], bool] | None = None,
) -> FoldReport:
    """`target` holds the folded document, every object it names is durable, and a root keeps them.

    Nothing is written to `target` before that (unless it `is_private`: then its owner shows it only
    when this returns). If nothing folds the document is the source, but for escapes, and no root and no
    store is made; but if `needs_root`, asked then, says so, a root records that the document stands for
    itself. allow_purged: values may fold whose bytes were purged from the scope. file: where
    `target` will lie, an absolute path, which the root remembers. Raises DocumentInvalid, LimitExceeded,
    NameTaken and what Store and Batch raise.
    """
    with _StagingBatch(handle) as staging, Spool(target, is_private=is_private) as spool:
        folding = _Folding(policy, staging, spool, processes=processes)
        folding.run(source)
        root = None
        if folding.objects or (needs_root is not None and needs_root()):
            draft = RootDraft(
                RootKind.DOCUMENT,
                tuple(folding.objects),
                scope=scope,
                name=name,
                source_name=source_name,
                source=folding.source,
                document=spool.content,
                keep_seconds=keep_seconds,
                details={} if file is None else {"file": file},
            )
            root = staging.batch.commit(draft, allow_purged=allow_purged)
        spool.release()
        existing = staging.batch.objects_existing if folding.objects else 0
        return folding.report(root, existing)


def plan_stream(source: BinaryIO, policy: FoldPolicy) -> FoldReport:
    """What `fold_stream` would do, with every span that would fold; no store is touched."""
    with open(os.devnull, "wb") as nowhere, Spool(nowhere, is_private=True) as spool:
        folding = _Folding(policy, _Digesting(), spool, processes=1, lists_spans=True)
        folding.run(source)
        return folding.report(None, 0)


class _StagingBatch:
    """The batch of a store that is opened, or made, when the first object is staged."""

    def __init__(self, handle: StoreHandle) -> None:
        self._handle = handle
        self._batch: Batch | None = None

    def __enter__(self) -> _StagingBatch:
        return self

    def __exit__(self, *error: object) -> None:
        if self._batch is not None:
            self._batch.__exit__(None, None, None)

    @property
    def batch(self) -> Batch:
        if self._batch is None:
            self._batch = self._handle.get_or_create().batch()
        return self._batch

    @property
    def compression_level(self) -> int:
        config = self._handle.get().config if self._handle.exists else Config()
        return config.compression_level

    def stage(self, data: Bytes) -> Digest:
        return self.batch.stage(data).digest

    def stage_encoded(self, encoded: EncodedObject) -> None:
        self.batch.stage_encoded(encoded)


class _Digesting:
    """Takes nothing: for a plan, which needs digests alone."""

    compression_level = 1

    def stage(self, data: Bytes) -> Digest:
        return Digest.of(data)

    def stage_encoded(self, encoded: EncodedObject) -> None:
        return


class _Folding:
    """One run: segments in, the folded document out, in order; staging runs ahead in threads."""

    def __init__(
        self,
        policy: FoldPolicy,
        staging: Staging,
        spool: Spool,
        *,
        processes: int | None,
        lists_spans: bool = False,
    ) -> None:
        self.policy = policy
        self.spool = spool
        self._stager = Stager(policy, staging, processes)
        self.spans: list[FoldedSpan] | None = [] if lists_spans else None
        self.objects: dict[Digest, None] = {}
        self.long_count = self.folded_count = 0
        self._source_digest = sha256()
        self._source_size = 0

    @property
    def source(self) -> Content:
        return Content(Digest(self._source_digest.hexdigest()), self._source_size)

    def report(self, root: Root | None, existing_count: int) -> FoldReport:
        spans = sorted(self.spans or (), key=lambda span: (-span.literal_bytes, span.offset))
        return FoldReport(
            self.source,
            self.spool.content,
            self.long_count,
            self.folded_count,
            len(self.objects),
            existing_count,
            root,
            tuple(spans),
        )

    def run(self, source: BinaryIO) -> None:
        try:
            queue: deque[tuple[Segment, list[Started]]] = deque()
            queued = 0
            for segment in segments(source.read, self.policy.floor, watch=self._stager):
                queue.append((segment, self._start(segment)))
                queued += len(segment.data)
                del segment
                while queued > _QUEUED_BYTES_MAX and len(queue) > 1:
                    queued -= self._finish(*queue.popleft())
            while queue:
                self._finish(*queue.popleft())
        finally:
            self._stager.close()

    def _start(self, segment: Segment) -> list[Started]:
        chosen = list(choose(segment.data, segment.nodes, self.policy))
        self.long_count += len(chosen)
        started = self._stager.start(segment.data, chosen)
        self._source_digest.update(segment.data)
        self._source_size += len(segment.data)
        return started

    def _finish(self, segment: Segment, started: list[Started]) -> int:
        """Splice, prove and write out one segment; returns its size."""
        done = [each for wait in started for each in wait() if each.reference is not None]
        pieces = list(
            fold_parts(
                segment.data, ((each.node.start, each.node.end, each.reference or b"") for each in done)
            )
        )
        document = b"".join(pieces) if len(pieces) > 1 else bytes(pieces[0])
        _prove(segment.data, document, done)
        self.spool.write(document)
        self.folded_count += len(done)
        for each in done:
            self.objects[each.descriptor.digest] = None
        if self.spans is not None:
            self.spans.extend(_spans(segment, done))
        return len(segment.data)


def _prove(data: bytes | bytearray, document: bytes, folded: list[Folded]) -> None:
    """L1 for one segment: unfold's own reading of `document` gives `data`.

    That each object gives back its literal was compared when it was made (`object_of`), and that its
    frames give back the object when it was staged. Here every byte outside the spans is compared, and each
    reference must read back as what was staged for the span at that very place.
    """
    at = 0
    expected = iter(folded)
    for part in unfold_parts(document):
        if isinstance(part, Reference):
            each = next(expected, None)
            if each is None or each.node.start != at or not _rebuilds_alike(part.descriptor, each.descriptor):
                raise AssertionError(f"a reference does not read back at byte {at}")
            at = each.node.end
        elif data.startswith(part, at):
            at += len(part)
        else:
            raise AssertionError(f"the folded document does not give back the source after byte {at}")
    if at != len(data) or next(expected, None) is not None:
        raise AssertionError("the folded document does not give back all of the source")


def _rebuilds_alike(one: Descriptor, other: Descriptor) -> bool:
    """Whether both give the same literal: all that unfold reads is the same."""
    return (
        one.digest == other.digest
        and one.kind is other.kind
        and one.size == other.size
        and one.escape is other.escape
        and one.encoding is other.encoding
        and one.media_type == other.media_type
    )


def _spans(segment: Segment, folded: list[Folded]) -> Iterator[FoldedSpan]:
    paths = paths_at(segment.data, [each.node.start for each in folded])
    for each in folded:
        yield FoldedSpan(
            paths[each.node.start],
            segment.origin.offset + each.node.start,
            each.descriptor.kind,
            each.node.end - each.node.start,
            len(each.reference or b""),
            each.descriptor.digest,
            each.descriptor.items,
            each.descriptor.lines,
        )
