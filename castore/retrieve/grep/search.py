"""Searching objects: which, in what order, shared out over all cores, and what came of it.

Laws: what is searched is what the caller sees, and nothing else has any part in what is told. Hits come
object after object, in the order asked for (of all objects those stored last come first), and in each by
place. Every object's bytes are checked before a hit in it is told. One that is missing or damaged is told
after the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from castore.config import OPERATOR
from castore.digest import Digest
from castore.errors import CastoreError, LimitExceeded, NotFound, ObjectDamaged, RemoteError
from castore.retrieve.address import Address, Range, Unit
from castore.retrieve.grep import workers
from castore.retrieve.grep.inside import Inside, hits_in
from castore.retrieve.grep.large import HELD_BYTES_MAX, WINDOW_BYTES, hits_in_window
from castore.retrieve.grep.pattern import GrepOptions, Needle
from castore.retrieve.readable import Readable
from castore.store.access import Access
from castore.store.reads import ReadCount
from castore.store.store import Store

__all__ = ["Hit", "Search", "grep"]

_JOB_OBJECTS_MAX = 64
_JOB_BYTES = 4 << 20
_FEW = 256
"""Objects that are asked for one by one; of more a list of all is made."""


@dataclass(frozen=True, slots=True)
class Hit:
    """address: what reads the match. reads: how many bytes that gives, without what is beside it.

    excerpt: at most GREP_EXCERPT_BYTES around the match, on one line; brief: at most GREP_BRIEF_BYTES.
    before, after: the items or lines beside it, which the address reads too.
    """

    digest: Digest
    address: Address
    reads: int
    excerpt: str
    brief: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """What `ctx cat` takes."""
        return [self.digest.short, *self.address.words()]


class _Piece(NamedTuple):
    """An object, or a window of it. size: None if it is not known. start: None is the whole."""

    hex: str
    size: int | None
    start: int | None


class Search:
    """One search. problems: why objects could not be searched; objects: how many were, once `hits` ended."""

    def __init__(
        self,
        store: Store,
        pattern: str,
        digests: Iterable[Digest] | None = None,
        options: GrepOptions | None = None,
    ) -> None:
        """digests: None is all that the caller sees. Raises InvalidOption for a pattern that is none."""
        self._store = store
        self._options = options or GrepOptions()
        self._needle = Needle(pattern, self._options)
        self._digests = None if digests is None else list(dict.fromkeys(digests))
        self.problems: list[CastoreError] = []
        self.objects = 0

    def hits(self) -> Iterator[Hit]:
        """Those after the first `skip`, at most `hits_max`. Raises LimitExceeded where it takes too long."""
        options = self._options
        most = None if options.hits_max is None else options.skip + options.hits_max
        pieces = self._pieces()
        jobs = _shared_out(pieces)
        count = 0
        last: tuple[str, set[Address]] = ("", set())
        searcher = _Searcher(self._store.folder, self._needle, options, most)
        answers = workers.run(
            jobs, searcher.search, stuck_seconds=options.stuck_seconds_max, seconds=options.seconds_max
        )
        try:
            for job, answer in zip(jobs, answers, strict=True):
                for piece, (error, found) in zip(job, answer, strict=True):
                    if piece.hex != last[0]:
                        last = piece.hex, set()
                        self.objects += 1
                    if error is not None:
                        self._note(Digest(piece.hex), error)
                    for each in found:
                        hit = _hit(piece.hex, each)
                        # Windows of one object may meet in an item or a line.
                        if hit.address in last[1]:
                            continue
                        last[1].add(hit.address)
                        count += 1
                        if count > options.skip:
                            yield hit
                        if count == most:
                            return
        finally:
            answers.close()

    # --- Helpers ---

    def _pieces(self) -> list[_Piece]:
        if self._digests is None:
            return [each for digest, size in self._here() for each in _windows(digest, size)]
        try:
            self._store.want(self._digests)
        except RemoteError as error:
            self.problems.append(error)
        found = []
        sizes = dict(self._store.newest_objects()) if len(self._digests) > _FEW else None
        for digest in self._digests:
            try:
                size = self._size(digest, sizes)
            except CastoreError as error:
                self.problems.append(error)
                continue
            found += _windows(digest, size)
        return found

    def _here(self) -> list[tuple[Digest, int | None]]:
        """All that the caller sees and that is here. What lies at a remote alone is not fetched for a search
        of everything, and that is said."""
        known = self._store.newest_objects()
        promised = self._store.promised(digest for digest, size in known if size is None)
        for remote, count in sorted(Counter(promised.values()).items()):
            words = "1 object lies" if count == 1 else f"{count:,} objects lie"
            self._store.parts.note(
                f"{words} at remote '{remote}': what is not named is not fetched to search it"
            )
        return [(digest, size) for digest, size in known if digest not in promised]

    def _size(self, digest: Digest, sizes: dict[Digest, int | None] | None) -> int | None:
        if sizes is not None and digest in sizes:
            return sizes[digest]
        found = self._store.stat(digest)
        if found is None:
            raise self._store.absence(digest)
        return found.size

    def _note(self, digest: Digest, error: tuple[str, str]) -> None:
        kind, words = error
        if kind == _MISSING:
            if self._digests is not None:
                self.problems.append(self._store.absence(digest))
            return  # Of all objects one that is gone was removed since they were listed.
        if any(each.fields.get("digest") == str(digest) for each in self.problems):
            return
        problem: CastoreError = ObjectDamaged(str(digest), words)
        if kind != _DAMAGED:
            problem = CastoreError(
                f"object '{digest.abbreviated}' can't be read: {words}", digest=str(digest)
            )
        elif not self._store.granted.is_operator:
            problem.address_others()
        self.problems.append(problem)


def grep(
    store: Store,
    pattern: str,
    digests: Iterable[Digest] | None = None,
    options: GrepOptions | None = None,
) -> Iterator[Hit]:
    """Every hit of a regular expression in these objects, or in all that the caller sees.

    Raises InvalidOption for a pattern that is none; LimitExceeded; after the last hit ObjectMissing,
    ObjectPurged or ObjectDamaged, if objects could not be searched.
    """
    search = Search(store, pattern, digests, options)
    yield from search.hits()
    if search.problems:
        raise search.problems[0]


# --- In the processes ------------------------------------------------------------------------------

_MISSING, _DAMAGED, _FAILED = "missing", "damaged", "failed"

Answer = tuple[tuple[str, str] | None, list[tuple[Any, ...]]]
"""What went wrong, and the hits."""


class _Searcher:
    """What a process does. It opens the store for itself: a connection to the index is for one process. Which
    objects the caller sees was asked before."""

    def __init__(self, folder: str, needle: Needle, options: GrepOptions, hits_max: int | None) -> None:
        self._folder = folder
        self._needle = needle
        self._options = options
        self._hits_max = hits_max
        self._store: Store | None = None
        self._held: tuple[str, Readable] | None = None

    def search(self, job: Sequence[_Piece], alive: Callable[[], None]) -> list[Answer]:
        return [self._piece(each, alive) for each in job]

    def _piece(self, piece: _Piece, alive: Callable[[], None]) -> Answer:
        alive()
        try:
            found = self._found(piece, alive)
        except ObjectDamaged as error:
            return (_DAMAGED, str(error.fields["reason"])), []
        except NotFound:
            return (_MISSING, ""), []
        except LimitExceeded:
            raise
        except CastoreError as error:
            return (_FAILED, error.message), []
        except OSError as error:
            return (_FAILED, error.strerror or str(error)), []
        return None, [_packed(each) for each in found]

    def _found(self, piece: _Piece, alive: Callable[[], None]) -> list[Inside]:
        digest = Digest(piece.hex)
        store = self._opened()
        if piece.start is None:
            data = store.read(digest, count=ReadCount())
            return hits_in(data, self._needle, self._options, self._hits_max, alive)
        if self._held is None or self._held[0] != piece.hex:
            self._held = piece.hex, store.ranged(digest, count=ReadCount())
        return hits_in_window(self._held[1], piece.start, self._needle, self._options, self._hits_max, alive)

    def _opened(self) -> Store:
        if self._store is None:
            self._store = Store.open(self._folder, access=Access((OPERATOR,)))
        return self._store


def _windows(digest: Digest, size: int | None) -> list[_Piece]:
    if size is None or size <= HELD_BYTES_MAX:
        return [_Piece(digest.hex, size, None)]
    return [_Piece(digest.hex, size, start) for start in range(0, size, WINDOW_BYTES)]


def _shared_out(pieces: list[_Piece]) -> list[list[_Piece]]:
    """In order; a job is closed by the objects or the bytes in it."""
    jobs: list[list[_Piece]] = []
    taken = _JOB_BYTES
    for each in pieces:
        if taken >= _JOB_BYTES or len(jobs[-1]) >= _JOB_OBJECTS_MAX:
            jobs.append([])
            taken = 0
        jobs[-1].append(each)
        taken += WINDOW_BYTES if each.start is not None else each.size or 0
    return jobs


def _packed(found: Inside) -> tuple[Any, ...]:
    address = found.address
    ranges = tuple(
        None if each is None else (str(each.unit), each.start, each.stop)
        for each in (address.range, address.cut)
    )
    return address.selects, *ranges, found.reads, found.excerpt, found.brief, found.before, found.after


def _hit(hex_digits: str, packed: tuple[Any, ...]) -> Hit:
    selects, outer, cut, *rest = packed
    address = Address(
        tuple(selects), *(None if each is None else Range(Unit(each[0]), *each[1:]) for each in (outer, cut))
    )
    return Hit(Digest(hex_digits), address, *rest)
