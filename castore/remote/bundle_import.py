"""Bundles are imported: what lies in one is in the store, all of it or nothing.

Laws:
- Everything in a bundle is looked through, and every object of it digested again, before anything is
  published. Then all its roots are in the store with all their objects, in one transaction, or an error says
  why none is.
- A bundle has no more than its roots name. What they name, or are based on, and it does not have must be here
  already, where the caller sees it. Each root is of a scope that the caller may write in.
- After a crash each root is there with all its objects, or is not there; importing again does the rest.

Memory: 50 bytes an object of the bundle, its roots, a few frames, and what a transaction takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import BinaryIO, NamedTuple

from castore.digest import Digest
from castore.errors import (
    BaseMissing,
    BundleDamaged,
    CastoreError,
    NameTaken,
    ObjectDamaged,
    ObjectMissing,
    RootDamaged,
    RootsDiverged,
)
from castore.objects.database import ObjectDatabase
from castore.remote.bundle_source import Bundle, TarSource, opened_bundle
from castore.remote.bundle_tar import Member
from castore.remote.keys import object_key, root_id_of
from castore.roots.files import decode_root
from castore.roots.joining import has_its_id
from castore.roots.model import Root
from castore.store import Store
from castore.store.arriving import Decision, Outcome, check_arriving
from castore.store.importing import Imported, Importing

__all__ = ["BundleImport", "import_bundle"]

Progress = Callable[[int, int], None]
"""Is told of objects: how many are done, of how many."""


_NEITHER = "the bundle does not have it either: make it again, from a store that does"


class BundleImport(NamedTuple):
    """roots: what became of each. objects: in the bundle, of which `objects_new` were not here."""

    roots: list[Imported]
    objects: int
    objects_new: int


def import_bundle(
    store: Store, source: BinaryIO, *, move: bool = False, progress: Progress | None = None
) -> BundleImport:
    """All that is in the bundle is in the store, on the disk; or nothing of it is.

    source: a bundle, from where it stands; what is no regular file is copied into the store's tmp/ first.
    move: a root may take its name from another, which is then forgotten. A root that was forgotten here stays
    so, and one that has expired by now does not come.

    Raises BundleDamaged; ObjectMissing and BaseMissing for what is neither here nor in it; ObjectPurged,
    NameTaken, RootsDiverged, ScopeDenied, LimitExceeded, StoreLocked, CastoreError.
    """
    with store.importing() as importing, opened_bundle(source, store.parts.layout.tmp) as bundle:
        roots = [_root(bundle, member) for member in bundle.roots]
        for root in roots:
            check_arriving(root, store.granted)
        _check_named(bundle.objects, roots)
        needed = _needed(store, importing, bundle.objects, roots)
        _bring(store, importing, bundle.objects, needed, progress)
        try:
            done = importing.commit(
                roots,
                moves=[root.id for root in roots if root.name is not None] if move else (),
                check=lambda decisions: _check_taken(store, decisions),
            )
        except BaseMissing as error:
            error.hint = _NEITHER
            raise
    return BundleImport(done, len(bundle.objects), len(needed))


# --- Helpers ---


def _root(bundle: Bundle, member: Member) -> Root:
    """The root in a file of the bundle. Raises BundleDamaged."""
    try:
        root = decode_root(bundle.read(member), member.name)
    except RootDamaged as error:
        raise BundleDamaged(member.name, str(error.fields["reason"])) from None
    if root.id != root_id_of(member.name) or not has_its_id(root):
        raise BundleDamaged(member.name, "its id is not that of the root in it")
    return root


def _check_named(objects: TarSource, roots: Iterable[Root]) -> None:
    """Each of the objects is named by a root. Raises BundleDamaged."""
    named = bytearray(len(objects))
    for root in roots:
        for digest in root.objects:
            number = objects.number(digest)
            if number is not None:
                named[number] = 1
    unnamed = named.find(0)
    if unnamed >= 0:
        raise BundleDamaged(object_key(objects.numbered(unnamed)), "no root of the bundle names it")


def _needed(store: Store, importing: Importing, objects: TarSource, roots: Iterable[Root]) -> set[Digest]:
    """The objects that are not here yet, all of which the bundle has. What it does not have, and a remote has
    for roots that are here, is fetched. Raises ObjectMissing, ObjectPurged, RemoteError."""
    needed = importing.needed(roots)
    lacking = [digest for digest in needed if objects.number(digest) is None]
    if lacking and store.want(lacking):
        needed = importing.needed(roots)
        lacking = [digest for digest in needed if objects.number(digest) is None]
    for digest in lacking:
        error = store.absence(digest)
        if not store.promised([digest]):
            error.hint = _NEITHER
        raise error
    return set(needed)


def _bring(
    store: Store, importing: Importing, objects: TarSource, needed: set[Digest], progress: Progress | None
) -> None:
    """Every object of the bundle is digested again; what is not here, or is damaged here, is staged."""
    database = ObjectDatabase(objects, level=lambda: store.config.compression_level)
    for done, digest in enumerate(objects.digests()):
        if progress is not None:
            progress(done, len(objects))
        try:
            if digest in needed or not _is_sound(store, digest):
                importing.bring(database, digest, anyway=True)
            else:
                database.check(digest)
        except ObjectDamaged as error:
            raise BundleDamaged(object_key(digest), str(error.fields["reason"])) from None


def _is_sound(store: Store, digest: Digest) -> bool:
    """What is here of an object is read and checked before anything relies on it, as in a put."""
    try:
        store.parts.database.check(digest)
    except (ObjectDamaged, ObjectMissing):
        return False
    return True


def _check_taken(store: Store, decisions: Iterable[Decision]) -> None:
    """Raises the error of the first root that can't come: then none does."""
    for each in decisions:
        root = each.root
        if each.outcome is Outcome.NAME_TAKEN:
            hint = "--move takes it from what has it here, which is then forgotten"
            raise NameTaken(str(root.name), root.scope, hint=hint)
        if each.outcome is Outcome.DIVERGED:
            raise RootsDiverged(root.id, "this store and the bundle's changed it apart")
        if each.outcome is Outcome.PURGED:
            raise _purged(store, root)


def _purged(store: Store, root: Root) -> CastoreError:
    tombstones = store.parts.tombstones
    for digest in sorted(set(tombstones.digests()).intersection(root.objects)):
        found = tombstones.get(digest)
        if found is not None and root.scope in found.scopes:
            error = found.error()
            error.hint = (
                "nothing was imported; 'ctx put --allow-purged' puts its bytes again, where you have them"
            )
            return error
    raise AssertionError("a root was told to name what was purged, and names nothing such")
