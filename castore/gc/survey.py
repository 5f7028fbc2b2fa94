"""What repair finds in a store: the facts on which it decides. It reads, and changes nothing.

Laws: what this process may not read is an error, never a finding: "I can't see it" is not "it is gone".
Links are followed to read bytes, which are then digested, and for nothing else.

Memory: some 130 bytes an object.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from castore import codec
from castore.digest import Digest
from castore.errors import CastoreError, ObjectDamaged, ObjectMissing
from castore.gc.look import (
    RootLook,
    damaged_tombstones,
    entries,
    look_at_roots,
    look_at_shard,
    strays,
)
from castore.gc.mending import Facts, Fault, Held
from castore.gc.salvage import digest_in
from castore.layout import OBJECT_NAME, ROOT_NAME, SHARD_NAME, SHARDS, Layout
from castore.objects.frames import fingerprint
from castore.roots.files import RootFiles
from castore.roots.model import Root
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

    from castore.index.objects import ObjectRow

__all__ = ["NEW_ROOTS", "held_in", "survey"]

NEW_ROOTS = "new-roots"
"""In tmp/: the folder that becomes roots/, once it is whole."""

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


def survey(
    parts: Transactions,
    connection: Connection | None,
    suspects: Iterable[str],
    *,
    is_rebuilt: bool,
    asked: Mapping[Digest, str],
) -> tuple[Facts, RootLook]:
    """connection: of a sound index, if there is one. suspects: hex of the objects that looked damaged.

    asked: digests, and by what, that must be there too. Raises CastoreError for what can't be read.
    """
    layout = parts.layout
    facts = Facts(layout.folder, is_rebuilt=is_rebuilt, asked={each.hex: by for each, by in asked.items()})
    roots = look_at_roots(parts, connection, now=parts.clock())
    if roots.denied is not None:
        raise CastoreError(
            f"can't read '{roots.denied}', so it is not known what is kept",
            hint="nothing was changed; run it as the owner of the store",
            file=roots.denied,
        )
    facts.named = dict(roots.names)
    facts.purged = {digest.hex for digest in parts.tombstones.digests()}
    facts.lost = list(roots.lost)
    facts.baseless = {
        root_id: (roots.links[root_id].base or "", words) for root_id, words in roots.baseless.items()
    }
    facts.roots_behind = roots.behind
    facts.log_gaps = list(roots.logs.gaps())
    for entry in entries(layout.damaged):
        facts.taken[entry.name] = entry.inode()
    for each in roots.damaged:
        if each.id is not None:
            facts.damaged_roots[each.id] = _held(layout.folder, each.path)
    if facts.damaged_roots:
        facts.unexplained = _kept_by_none(parts, roots)
    _sort_strays(parts, facts, roots)
    in_way = {each.path for each in facts.strays}
    facts.known = (
        facts.named.keys() | facts.asked.keys() | {each.hex for root in facts.lost for each in root.objects}
    )
    suspected = set(suspects)
    for shard in SHARDS:
        _look_at_objects(parts, connection, facts, shard, suspected, is_odd=f"objects/{shard}" in in_way)
        _name_promised(facts, roots.promised.shard(shard))
    return facts, roots


def held_in(folder: str, path: str) -> tuple[tuple[Digest, str], ...]:
    """The objects whose files `path` (relative to `folder`) is, leads to, or has in it."""
    whole = f"{folder}/{path}"
    try:
        mode = os.stat(whole).st_mode
    except OSError:
        return ()  # A link to nowhere holds nothing.
    if not stat.S_ISDIR(mode):
        digest = _digest_of_file(whole)
        return () if digest is None else ((digest, path),)
    found = []
    for each in _files_below(whole, is_link=os.path.islink(whole)):
        digest = _digest_of_file(each)
        if digest is not None:
            found.append((digest, path + each.removeprefix(whole)))
    return tuple(found)


# --- Helpers ---------------------------------------------------------------------------------------


def _sort_strays(parts: Transactions, facts: Facts, roots: RootLook) -> None:
    layout = parts.layout
    if roots.folder_problem is not None:
        facts.new_roots = roots.folder_problem != "the folder is gone" or _holds_anything(parts, facts)
        if os.path.lexists(layout.roots):
            facts.roots_in_way = _held(layout.folder, layout.roots)
        facts.lost += _left_by_a_kill(parts, {root.id for root in facts.lost})
    for stray in strays(layout):
        place = stray.path.removeprefix(layout.folder + "/")
        if place.startswith("roots/"):
            _sort_root_stray(parts.root_files, facts, stray.path, place)
        elif not _is_object_place(place):
            holds = held_in(layout.folder, place) if place.startswith("objects/") else ()
            facts.strays.append(_held(layout.folder, stray.path, holds))
    for entry in entries(layout.tmp):
        is_leftover = entry.name != NEW_ROOTS or roots.folder_problem is None
        if entry.is_dir(follow_symlinks=False) and is_leftover:
            facts.strays.append(_held(layout.folder, entry.path))
    # A stray tombstone that bears another name elsewhere is a good one; only what is damaged moves.
    in_way = {each.path for each in facts.strays}
    for tombstone in damaged_tombstones(parts):
        broken = _held(layout.folder, tombstone.path)
        if broken.path not in in_way:
            facts.strays.append(broken)


def _kept_by_none(parts: Transactions, roots: RootLook) -> set[str]:
    """Hex of the objects of bases that last longer than anything readable needs them, and of their bases."""
    explained = {(link.base, link.expires) for link in roots.links.values()}
    lasting = {root_id for root_id, link in roots.links.items() if link.expires_alone is not None}
    found: set[str] = set()
    for root_id in sorted(lasting):
        if (root_id, roots.links[root_id].expires) in explained:
            continue
        at: str | None = root_id
        while at is not None and at in lasting:
            lasting.discard(at)
            with contextlib.suppress(FileNotFoundError):
                found.update(digest.hex for digest in parts.root_files.read(at).objects)
            at = roots.links[at].base
    return found


def _left_by_a_kill(parts: Transactions, known: set[str]) -> list[Root]:
    """The roots that a killed repair had written for a roots/ that is not there."""
    new = Layout(parts.layout.folder)
    new.roots = new.staged_file(NEW_ROOTS)
    if not os.path.isdir(new.roots):
        return []
    files = RootFiles(new, file_mode=parts.modes.file, folder_mode=parts.modes.folder)
    return [root for root in files.all() if root.id not in known]


def _sort_root_stray(files: RootFiles, facts: Facts, path: str, place: str) -> None:
    """Something in the place of a shard may have taken roots away, so that roots/ is replaced as a whole."""
    parts = place.split("/")
    if len(parts) == 2 and SHARD_NAME.match(parts[1]):
        facts.new_roots = True
        facts.roots_in_way = _held(facts.folder, f"{facts.folder}/roots")
        return
    match = ROOT_NAME.match(parts[-1])
    if match is None or len(parts) != 3 or not match[1].startswith(parts[1]):
        facts.root_strays.append(_held(facts.folder, path))
    elif os.path.isfile(path) and not os.path.islink(path) and match[1] not in facts.damaged_roots:
        # A good root file with another name elsewhere is written anew, as a file of its own.
        facts.lost.append(files.read(match[1]))


def _look_at_objects(
    parts: Transactions,
    connection: Connection | None,
    facts: Facts,
    shard: str,
    suspected: set[str],
    *,
    is_odd: bool,
) -> None:
    look = look_at_shard(parts, connection, shard)
    sizes = {} if is_odd else look.sizes
    rows = look.rows or {}
    facts.known |= rows.keys()
    for name in sizes:
        row = rows.get(name)
        try:
            has_row = row is not None or facts.is_rebuilt
            if name not in suspected and has_row and not _is_odd_file(parts, name):
                facts.good.add(name)
                continue
            fault = _inspect(parts, Digest(name), row)
            if fault is not None:
                facts.faults.append(fault)
                continue
            if not facts.is_rebuilt and not _says_so(parts, Digest(name), row, look.frames.get(name)):
                facts.rows_wrong.add(name)
            facts.good.add(name)
        except (FileNotFoundError, ObjectMissing):
            continue  # Looked at without the lock, it may go: then it is not there.
    there = facts.good | {fault.digest.hex for fault in facts.faults if fault.is_good}
    for name in rows.keys() - there:
        facts.rows_gone.add(name)
        facts.sizes[name] = rows[name].size


def _name_promised(facts: Facts, promised: Mapping[str, str]) -> None:
    """What roots promise is named by them where it is here; where it is not, nothing is missing."""
    facts.promised.update(promised)
    here = facts.good | {fault.digest.hex for fault in facts.faults if fault.is_good}
    for name in promised.keys() & here:
        facts.named.setdefault(name, f"remote '{promised[name]}'")


def _is_odd_file(parts: Transactions, name: str) -> bool:
    found = os.lstat(parts.layout.object_file(name))
    return not stat.S_ISREG(found.st_mode) or found.st_nlink > 1


def _inspect(parts: Transactions, digest: Digest, row: ObjectRow | None) -> Fault | None:
    """What is wrong with the object's file; None if nothing is, whatever its row says."""
    folder, path = parts.layout.folder, parts.layout.object_file(digest.hex)
    found = os.lstat(path)
    place = _held(folder, path)
    if not stat.S_ISREG(found.st_mode):
        return Fault(digest, _held(folder, path, held_in(folder, place.path)), is_file=False)
    try:
        checked = parts.database.check(digest)
    except ObjectDamaged:
        return Fault(digest, _held(folder, path, held_in(folder, place.path)), is_file=True)
    is_changed = row is not None and checked.file_sha256 != row.file_sha256
    if is_changed and _as_we_write(parts, digest) != checked.file_sha256:
        return Fault(digest, place, is_file=True, is_good=True)
    if found.st_nlink > 1:
        return Fault(digest, place, is_file=True, is_good=True, has_other_name=True)
    return None


def _says_so(parts: Transactions, digest: Digest, row: ObjectRow | None, frames: bytes | None) -> bool:
    """Whether the row says what the good file is, and those of its frames what is in them."""
    if row is None:
        return False
    found = parts.database.check(digest, measure=True)
    if frames != (fingerprint(found.frames) if found.frames else None):
        return False
    return (row.size, row.stored_bytes, row.file_sha256) == (
        found.size,
        found.stored_bytes,
        found.file_sha256,
    )


def _as_we_write(parts: Transactions, digest: Digest) -> bytes:
    """The SHA-256 of the file that would be written for the object now."""
    whole = sha256()
    with contextlib.suppress(ObjectMissing):
        for piece in codec.encode_pieces(parts.database.chunks(digest), parts.config.compression_level):
            whole.update(piece)
    return whole.digest()


def _holds_anything(parts: Transactions, facts: Facts) -> bool:
    return bool(facts.lost) or next(parts.source.digests(), None) is not None


def _held(folder: str, path: str, holds: tuple[tuple[Digest, str], ...] = ()) -> Held:
    return Held(path.removeprefix(folder + "/"), os.lstat(path).st_ino, holds)


def _is_object_place(place: str) -> bool:
    """Where an object's file belongs: what is there is looked at with the objects."""
    parts = place.split("/")
    is_name = OBJECT_NAME.match(parts[-1]) is not None and parts[-1].startswith(parts[-2])
    return is_name and len(parts) == 3 and parts[0] == "objects"


def _files_below(folder: str, *, is_link: bool) -> Iterator[str]:
    """Of a folder in the store all; of one that a link leads to those that lie directly in it."""
    for path, folders, names in os.walk(folder):
        if is_link:
            folders.clear()
        folders.sort()
        for name in sorted(names):
            yield f"{path}/{name}"


def _digest_of_file(path: str) -> Digest | None:
    try:
        with os.fdopen(os.open(path, _READ), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return digest_in(file)
    except OSError:
        return None  # It can't be read, and so is no source; where it lies is told all the same.
