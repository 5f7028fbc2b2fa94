"""verify --remote without files: whether a bucket has all that its roots and names need. It writes nothing.

Laws: what is told is so when it is told: what looks wrong because a push or a gc is in the middle of its work
is looked at again. Names are read before roots, and roots before objects, for a push writes in the opposite
order. Every root that is there must have its objects and its base there, whatever its expiry; a live one of a
log also the records before it. What is damaged keeps nothing else from being looked at.

Objects that nothing names are no findings: a push that was killed leaves some, and a gc takes them.
Memory: some 300 bytes a root and a name; what roots name is on disk, 32 bytes each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import TypeVar

from castore.digest import Digest
from castore.errors import ObjectDamaged, ObjectMissing, RemoteDamaged, ScopeDenied
from castore.gc.log_gaps import Logs
from castore.layout import SHARDS
from castore.objects.finding import Finding, FindingName
from castore.remote.bucket import Bucket
from castore.remote.keys import (
    INTENTS,
    MARKS,
    NAMES,
    OBJECTS,
    ROOTS,
    SWEEPS,
    digest_of,
    is_name_key,
    name_key,
    object_key,
    root_id_of,
    root_key,
)
from castore.remote.pull import remote_database
from castore.remote.records import (
    NameRecord,
    decode_intent,
    decode_marks,
    decode_name,
    decode_sweep,
)
from castore.remote.roots import Grants, RemoteRoots
from castore.remote.spool import DigestSpool
from castore.roots.joining import has_its_id
from castore.roots.model import Root
from castore.store import Store

__all__ = ["BucketSurvey", "survey"]

Progress = Callable[[int, int], None]
"""Is told of shards of objects, or, once they are read, of objects: how many, and of how many."""

T = TypeVar("T")

_STRAYS_MAX = 100
"""Keys that are none's are told one by one up to here, of each kind of key and shard."""

_SUSPECTS_MAX = 100_000
"""Objects that seem to be missing are looked at again so many at a time: all roots are read again for it."""


@dataclass(slots=True)
class BucketSurvey:
    """What was there. unnamed: objects that no root named."""

    roots: int = 0
    names: int = 0
    objects: int = 0
    unnamed: int = 0


def survey(
    store: Store,
    bucket: Bucket,
    *,
    whole: bool = False,
    told: BucketSurvey | None = None,
    progress: Progress | None = None,
) -> Iterator[Finding]:
    """What is wrong with the bucket, each with its key as the place.

    whole: each object is read and digested; else it is in a listing. told: is filled. Raises ScopeDenied
    unless the caller is the operator of the store, and the remote grants all; RemoteError.
    """
    store.require_operator("verify of a whole remote")
    if not Grants(store.granted, bucket.settings.granted).is_whole:
        words = f"verify of all of '{bucket.remote}' tells of every scope, and not all of it is granted"
        raise ScopeDenied(words, subject=bucket.remote)
    bucket.require_format()
    yield from _Survey(store, bucket, BucketSurvey() if told is None else told, progress).run(whole=whole)


class _Survey:
    def __init__(self, store: Store, bucket: Bucket, told: BucketSurvey, progress: Progress | None) -> None:
        self._bucket = bucket
        self._told = told
        self._progress = progress
        self._database = remote_database(bucket, store)
        self._roots = RemoteRoots(bucket)
        self._tmp = store.parts.layout.tmp
        self._now = store.parts.clock()

    def run(self, *, whole: bool) -> Iterator[Finding]:
        for prefix, decode in ((INTENTS, decode_intent), (SWEEPS, decode_sweep), (MARKS, decode_marks)):
            yield from self._records(prefix, decode)
        names: dict[str, str] = {}
        yield from self._names(names)
        with DigestSpool(self._tmp) as named, DigestSpool(self._tmp) as lacking:
            yield from self._read_roots(names, named)
            yield from self._listed(named, lacking, whole=whole)
            if whole:
                yield from self._read_objects(lacking)
            suspects = iter(lacking)
            while part := set(islice(suspects, _SUSPECTS_MAX)):
                yield from self._missing(part)

    # --- Records ---

    def _records(self, prefix: str, decode: Callable[[bytes, str, str], object]) -> Iterator[Finding]:
        """Of a push or a gc: one that can't be read holds the others up."""

        def look(key: str) -> Finding | None:
            try:
                found = self._bucket.get(key)
                if found is not None:
                    decode(found[0], self._bucket.remote, key)
            except RemoteDamaged as error:
                return _damaged(error)
            return None

        keys = (entry.key for entry in self._bucket.entries(prefix))
        yield from (finding for finding in self._bucket.map(look, keys) if finding is not None)

    def _names(self, names: dict[str, str]) -> Iterator[Finding]:
        """`names` gets the ids of the roots that names mean, by their keys."""
        listed = _Keys(self._bucket, NAMES, lambda key: key if is_name_key(key) else None)
        for found in self._bucket.map(self._name, listed):
            if isinstance(found, Finding):
                yield found
            elif found is not None:
                self._told.names += 1
                names[name_key(found.scope, found.name)] = found.root
        yield from listed.strays()

    def _name(self, key: str) -> NameRecord | Finding | None:
        try:
            found = self._bucket.get(key)
            if found is None:
                return None
            record = decode_name(found[0], self._bucket.remote, key)
        except RemoteDamaged as error:
            return _damaged(error)
        if name_key(record.scope, record.name) != key:
            return _at(FindingName.DAMAGED, key, f"it is the record of the name '{record.name}'")
        return record

    # --- Roots ---

    def _read_roots(self, names: dict[str, str], named: DigestSpool) -> Iterator[Finding]:
        """`named` gets what they name. What they are based on, names mean and logs tell of is there."""
        there, bases, logs = set[str](), dict[str, str](), Logs()
        listed = _Keys(self._bucket, ROOTS, root_id_of)
        for found in self._bucket.map(self._root, listed):
            if isinstance(found, RemoteDamaged):
                yield _damaged(found)
                there.add(str(root_id_of(str(found.fields["key"]))))
            elif found is not None:
                there.add(found.id)
                named.add(found.objects)
                logs.add(found, self._now)
                if found.base is not None:
                    bases[found.id] = found.base
                if not has_its_id(found):
                    words = "its id is not that of what it says"
                    yield _at(FindingName.DAMAGED, root_key(found.id), words)
        yield from listed.strays()
        self._told.roots = len(there)
        yield from self._baseless({one: base for one, base in bases.items() if base not in there})
        yield from self._rootless({key: root_id for key, root_id in names.items() if root_id not in there})
        for gap in logs.gaps():
            if self._root(gap.root_id) is None:
                yield _at(FindingName.MISSING, root_key(gap.root_id), gap.words)

    def _root(self, root_id: str) -> Root | RemoteDamaged | None:
        try:
            found = self._roots.get(root_id)
        except RemoteDamaged as error:
            return error
        return None if found is None else found.root

    def _baseless(self, bases: dict[str, str]) -> Iterator[Finding]:
        for root_id, base in bases.items():
            root = self._root(root_id)
            if isinstance(root, Root) and root.base == base and self._root(base) is None:
                words = f"root '{base}', on which it is based, is not there"
                yield _at(FindingName.MISSING, root_key(root_id), words)

    def _rootless(self, names: dict[str, str]) -> Iterator[Finding]:
        for key, root_id in names.items():
            record = self._name(key)
            if isinstance(record, NameRecord) and record.root == root_id and self._root(root_id) is None:
                words = f"root '{root_id}', which the name '{record.name}' means, is not there"
                yield _at(FindingName.MISSING, key, words)

    # --- Objects ---

    def _listed(self, named: DigestSpool, lacking: DigestSpool, *, whole: bool) -> Iterator[Finding]:
        """`lacking` gets what is named and in no listing."""
        lock = Lock()

        def lack(raw: bytes) -> None:
            with lock:
                lacking.add_raw(raw)

        def look(shard: str) -> list[Finding]:
            findings: list[Finding] = []
            listed = _Keys(self._bucket, f"{OBJECTS}{shard}/", digest_of, None if whole else findings)
            wanted = named.in_order(shard)
            each = next(wanted, None)
            try:
                for digest in listed:
                    raw = bytes.fromhex(digest.hex)
                    while each is not None and each < raw:
                        lack(each)
                        each = next(wanted, None)
                    is_named = each == raw
                    if is_named:
                        each = next(wanted, None)
                    with lock:
                        self._told.objects += 1
                        self._told.unnamed += not is_named
            except RemoteDamaged as error:
                # The listing broke off: what comes after is not known.
                return [*findings, _damaged(error)]
            while each is not None:
                lack(each)
                each = next(wanted, None)
            return [*findings, *listed.strays()]

        for count, findings in enumerate(self._bucket.map(look, SHARDS), start=1):
            yield from findings
            self._tell(count, len(SHARDS))

    def _read_objects(self, lacking: DigestSpool) -> Iterator[Finding]:
        """Of every object that is there, named or not: a push takes each for granted."""

        def check(digest: Digest) -> Finding | Digest | None:
            try:
                self._database.check(digest, alone=False)
            except ObjectMissing:
                return digest
            except ObjectDamaged as error:
                return Finding(FindingName.DAMAGED, digest, object_key(digest), str(error.fields["reason"]))
            except RemoteDamaged as error:
                return _damaged(error, digest)
            return None

        def there() -> Iterator[Digest]:
            for shard in SHARDS:
                # A listing that breaks off was told already.
                with suppress(RemoteDamaged):
                    yield from _Keys(self._bucket, f"{OBJECTS}{shard}/", digest_of)

        for count, found in enumerate(self._bucket.map(check, there()), start=1):
            if isinstance(found, Finding):
                yield found
            elif found is not None:
                lacking.add([found])
            self._tell(count, max(count, self._told.objects))

    def _missing(self, suspects: set[bytes]) -> Iterator[Finding]:
        """Those of them that a root names, and that are not there, now."""
        places: dict[bytes, str] = {}
        for root in self._bucket.map(self._root, self._roots.ids()):
            if isinstance(root, Root):
                for digest in root.objects:
                    raw = bytes.fromhex(digest.hex)
                    if raw in suspects:
                        places.setdefault(raw, root_key(root.id))

        def look(raw: bytes) -> Finding | None:
            digest = Digest(raw.hex())
            try:
                if self._bucket.head(object_key(digest)) is not None:
                    return None
            except RemoteDamaged as error:
                return _damaged(error, digest)
            return Finding(FindingName.MISSING, digest, places[raw], "is named by this root")

        for finding in self._bucket.map(look, sorted(places)):
            if finding is not None:
                yield finding

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)


class _Keys(Iterable[T]):
    """What lies under a prefix, as `meant` reads each key; and once it was gone through, what is none's.

    empty: gets a finding for each that has no bytes at all.
    """

    def __init__(
        self,
        bucket: Bucket,
        prefix: str,
        meant: Callable[[str], T | None],
        empty: list[Finding] | None = None,
    ) -> None:
        self._entries = bucket.entries(prefix)
        self._prefix = prefix
        self._meant = meant
        self._empty = empty
        self._strays: list[str] = []
        self._more = 0

    def __iter__(self) -> Iterator[T]:
        for entry in self._entries:
            what = self._meant(entry.key)
            if what is None:
                self._stray(entry.key)
                continue
            if entry.size == 0 and self._empty is not None:
                digest = digest_of(entry.key)
                self._empty.append(Finding(FindingName.DAMAGED, digest, entry.key, "there are no bytes"))
            yield what

    def strays(self) -> Sequence[Finding]:
        found = [_at(FindingName.STRAY, key, "is no key of castore") for key in self._strays]
        if self._more:
            found.append(_at(FindingName.STRAY, self._prefix, f"{self._more:,} more such keys"))
        return found

    def _stray(self, key: str) -> None:
        if len(self._strays) < _STRAYS_MAX:
            self._strays.append(key)
        else:
            self._more += 1


# --- Helpers ---------------------------------------------------------------------------------------


def _damaged(error: RemoteDamaged, digest: Digest | None = None) -> Finding:
    return Finding(FindingName.DAMAGED, digest, str(error.fields["key"]), str(error.fields["reason"]))


def _at(name: FindingName, key: str, words: str) -> Finding:
    return Finding(name, None, key, words)
