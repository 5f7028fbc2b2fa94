"""Every kind of damage that a store can take, as something to do to one; and what must hold afterwards."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from castore.digest import Digest
from castore.gc.salvage import digest_in
from castore.roots.files import encode_root
from castore.store import Store
from castore.store.access import Access

from .conftest import content, file_of, flip, overwrite, put

FIRST, SECOND, LARGE = b"first" * 60, b"second" * 60, bytes(range(256)) * 5000
KEPT = (FIRST, SECOND, LARGE, b"third" * 80)
DIGESTS = tuple(map(Digest.of, KEPT))


OPERATOR = Access(("*",))


def prepared(folder: Path, clock: Callable[[], float], scope: str = "other") -> Store:
    """A store of four objects and three roots, one of them named."""
    store = Store.init(folder, clock=clock, access=OPERATOR)
    put(store, FIRST, SECOND, LARGE)
    put(store, KEPT[3], name="mine")
    put(store, FIRST, source_name="again", scope=scope)
    return store


def _bit_rot(store: Store) -> None:
    flip(file_of(store, DIGESTS[0]), 8 * 12)


def _cut(store: Store) -> None:
    path = file_of(store, DIGESTS[2])
    overwrite(path, content(path)[:-30])


def _emptied(store: Store) -> None:
    overwrite(file_of(store, DIGESTS[1]), b"")


def _swapped(store: Store) -> None:
    one, two = file_of(store, DIGESTS[0]), file_of(store, DIGESTS[1])
    first = content(one)
    overwrite(one, content(two))
    overwrite(two, first)


def _one_over_another(store: Store) -> None:
    overwrite(file_of(store, DIGESTS[0]), content(file_of(store, DIGESTS[1])))


def _foreign(store: Store) -> None:
    """The file of a good object that the store has not had."""
    from castore.codec import encode

    overwrite(file_of(store, DIGESTS[0]), encode(b"from elsewhere", 3))


def _changed(store: Store) -> None:
    """Another level: other bytes of the file, the same bytes of the object."""
    from castore.codec import encode

    overwrite(file_of(store, DIGESTS[0]), encode(FIRST, -50))


def _missing(store: Store) -> None:
    file_of(store, DIGESTS[0]).unlink()


def _shard_missing(store: Store) -> None:
    shutil.rmtree(file_of(store, DIGESTS[1]).parent)


def _link(store: Store) -> None:
    path = file_of(store, DIGESTS[0])
    outside = Path(store.folder).parent / "outside"
    shutil.move(path, outside)
    path.symlink_to(outside)


def _hard_link(store: Store) -> None:
    os.link(file_of(store, DIGESTS[0]), Path(store.folder).parent / "other-name")


def _folder_in_place(store: Store) -> None:
    path = file_of(store, DIGESTS[0])
    path.unlink()
    path.mkdir()
    (path / "file").write_bytes(b"x")


def _pipe(store: Store) -> None:
    path = file_of(store, DIGESTS[0])
    path.unlink()
    os.mkfifo(path)


def _shard_elsewhere(store: Store) -> None:
    folder = file_of(store, DIGESTS[0]).parent
    outside = Path(store.folder).parent / "shard"
    shutil.move(folder, outside)
    folder.symlink_to(outside)


def _misplaced(store: Store) -> None:
    path = file_of(store, DIGESTS[0])
    other = path.parent.parent / ("00" if path.parent.name != "00" else "01")
    other.mkdir(exist_ok=True)
    path.rename(other / path.name)


def _strays(store: Store) -> None:
    folder = file_of(store, DIGESTS[0]).parent
    (folder / "notes.txt").write_bytes(b"notes")
    (folder.parent / "zz").mkdir()
    (folder.parent / "zz" / "inside").write_bytes(b"inside")
    (Path(store.folder) / "roots" / "file").write_bytes(b"file")
    (Path(store.folder) / "roots" / ("n" * 250)).write_bytes(b"long")


def _unnamed(store: Store) -> None:
    with store.parts.writing() as connection:
        staged = store.parts.database.stage(b"left by a crash")
        store.parts.source.publish([(staged.digest, staged.frames)])
        connection.execute("SELECT 1")


def _root_of(store: Store, name: str | None) -> Path:
    (root,) = (each for each in store.roots() if each.name == name and each.source_name is None)
    return Path(store.parts.layout.root_file(root.id))


def _root_rot(store: Store) -> None:
    flip(_root_of(store, None), 8 * 100)


def _root_gone(store: Store) -> None:
    _root_of(store, "mine").unlink()


def _root_link(store: Store) -> None:
    path = _root_of(store, "mine")
    outside = Path(store.folder).parent / "root"
    shutil.move(path, outside)
    path.symlink_to(outside)


def _root_hard_link(store: Store) -> None:
    os.link(_root_of(store, "mine"), Path(store.folder).parent / "root-name")


def _root_swapped(store: Store) -> None:
    """A good root under another root's name."""
    overwrite(_root_of(store, "mine"), encode_root(store.roots()[0]))


def _roots_gone(store: Store) -> None:
    shutil.rmtree(store.parts.layout.roots)


def _roots_emptied(store: Store) -> None:
    shutil.rmtree(store.parts.layout.roots)
    os.mkdir(store.parts.layout.roots)


def _roots_is_a_file(store: Store) -> None:
    shutil.rmtree(store.parts.layout.roots)
    Path(store.parts.layout.roots).write_bytes(b"not a folder")


def _root_shard_elsewhere(store: Store) -> None:
    folder = _root_of(store, "mine").parent
    outside = Path(store.folder).parent / "roots-shard"
    shutil.move(folder, outside)
    folder.symlink_to(outside)


def _root_shard_is_a_file(store: Store) -> None:
    folder = _root_of(store, "mine").parent
    shutil.rmtree(folder)
    folder.write_bytes(b"no folder")


def _shard_is_a_file(store: Store) -> None:
    folder = file_of(store, DIGESTS[0]).parent
    shutil.rmtree(folder)
    folder.write_bytes(b"no folder either")


def _rows_gone(store: Store) -> None:
    with store.parts.writing() as connection:
        connection.execute("DELETE FROM objects WHERE digest=?", (DIGESTS[0].raw,))


def _row_without_file(store: Store) -> None:
    with store.parts.writing() as connection:
        connection.execute("INSERT INTO objects VALUES (?,1,1,?)", (bytes(32), bytes(32)))


def _wrong_rows(store: Store) -> None:
    with store.parts.writing() as connection:
        connection.execute("UPDATE objects SET size=7, stored_bytes=8")


def _wrong_root_rows(store: Store) -> None:
    with store.parts.writing() as connection:
        connection.execute("UPDATE roots SET source_name='somebody else'")


def _newer_index(store: Store) -> None:
    with store.parts.index.writing() as connection:
        connection.execute("PRAGMA user_version=1000")
    store.close()


def _junk_index(store: Store) -> None:
    store.close()
    for ending in ("-wal", "-shm"):
        Path(store.parts.layout.index + ending).unlink(missing_ok=True)
    Path(store.parts.layout.index).write_bytes(b"junk" * 5000)


def _index_is_a_folder(store: Store) -> None:
    store.close()
    Path(store.parts.layout.index).unlink(missing_ok=True)
    Path(store.parts.layout.index).mkdir()


def _tombstone_rot(store: Store) -> None:
    folder = Path(store.parts.layout.tombstones)
    folder.mkdir(exist_ok=True)
    (folder / f"{'ab' * 32}.json").write_bytes(b"{}")


DAMAGES: dict[str, Callable[[Store], None]] = {
    name.removeprefix("_"): damage
    for name, damage in list(globals().items())
    if name.startswith("_") and callable(damage) and name not in ("_root_of",) and not name.startswith("__")
}
OF_THE_INDEX = frozenset(
    (
        "rows_gone",
        "row_without_file",
        "wrong_rows",
        "wrong_root_rows",
        "newer_index",
        "junk_index",
        "index_is_a_folder",
    )
)
"""Damages that need an index."""

LOSING = frozenset(
    (
        "bit_rot",
        "cut",
        "emptied",
        "one_over_another",
        "foreign",
        "missing",
        "shard_missing",
        "shard_is_a_file",
        "folder_in_place",
        "pipe",
    )
)
"""After which an object's bytes are nowhere in the store."""


def contents(folder: Path) -> set[bytes]:
    """Every byte string that lies in objects/, roots/, tombstones/ or damaged/, and every object's bytes."""
    found = set()
    for top in ("objects", "roots", "tombstones", "damaged"):
        for path, _, names in os.walk(folder / top, followlinks=True):
            for name in names:
                each = Path(path, name)
                if each.is_file():
                    found.add(each.read_bytes())
    return found


def objects(folder: Path) -> set[Digest]:
    """Those that were put, or have a file of their name, and are an object file in objects/ or damaged/."""
    found = set()
    for top in ("objects", "damaged"):
        for path, _, names in os.walk(folder / top, followlinks=True):
            for name in names:
                each = Path(path, name)
                if each.is_file():
                    with each.open("rb") as file:
                        digest = digest_in(file)
                    if digest is not None and (digest in DIGESTS or digest.hex in name):
                        found.add(digest)
    return found
