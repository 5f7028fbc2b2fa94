"""A store with little in it, beside what is somebody else's, and every command run on it within limits."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from castore import api
from castore.digest import Digest
from castore.roots.model import Content, RootDraft, RootKind, root_id
from castore.store import Store
from tests.durability.shell import document
from tests.store.limited import CODES, Done, Limited

__all__ = ["PUT_DIGEST", "ROOT_ID", "SECRET_DIGEST", "Place", "limited", "place", "template"]

SECRET = b"an object of somebody else's store, " * 9
SECRET_DIGEST = Digest.of(SECRET)
PUT = b"an object that was put by itself " * 9
PUT_DIGEST = Digest.of(PUT)
ROOT_ID = root_id(RootDraft(RootKind.PUT, (PUT_DIGEST,), source=Content(PUT_DIGEST, len(PUT))), "default")


class Place:
    """A store with a document and a put in it, and beside it what is somebody else's."""

    def __init__(self, folder: Path, template: Path, limited: Limited) -> None:
        self.folder = folder
        self.outside = folder / "outside"
        shutil.copytree(template, folder, dirs_exist_ok=True)
        self.store = folder / "store"
        self.source = folder / "source.json"
        self.folded = folder / "folded.json"
        self.other = folder / "other.json"
        self._limited = limited
        self._before = self.look_outside()

    def __call__(self, *arguments: str) -> Done:
        done = self._limited(self.store, *arguments)
        assert done.code in CODES, (arguments, done)
        assert "Traceback" not in done.err, (arguments, done)
        assert done.code == 0 or done.code == 3 or "error: " in done.err, (arguments, done)
        return done

    def use_all(self) -> dict[str, Done]:
        """Every command once, and those that write twice: after them the store may be another."""
        assert not self.secret_is_read()
        commands = [
            ("unfold", str(self.folded)),
            ("cat", str(PUT_DIGEST)),
            ("show", str(PUT_DIGEST)),
            ("show", "tagged"),
            ("verify",),
            ("verify", str(self.folded)),
            ("ls",),
            ("log",),
            ("stats",),
            ("config",),
            ("why", str(PUT_DIGEST)),
            ("scope", "list"),
            ("config", "fold.bytes-over", "2000"),
            ("gc", "--dry-run"),
            ("put", str(self.other)),
            ("fold", str(self.other)),
            ("tag", "other", str(PUT_DIGEST)),
            ("keep", str(self.folded)),
            ("forget", "tagged", "--now"),
            ("gc",),
            ("log",),
            ("verify",),
            ("fold", str(self.source)),
            ("unfold", str(self.folded)),
        ]
        done = {" ".join(each): self(*each) for each in commands}
        for each in (f"unfold {self.folded}", f"cat {PUT_DIGEST}"):
            right = self.source.read_bytes() if each.startswith("unfold") else PUT
            assert done[each].out in (b"", right)
            assert (done[each].code == 0) == (done[each].out == right)
        assert not self.secret_is_read()
        self.check_outside()
        return done

    def secret_is_read(self) -> bool:
        done = self("cat", str(SECRET_DIGEST))
        listed = self("ls").out + self("show", SECRET_DIGEST.hex[:12]).out
        return bool(done.out) or done.code == 0 or SECRET_DIGEST.hex.encode() in listed

    def look_outside(self) -> dict[str, tuple[object, ...]]:
        found: dict[str, tuple[object, ...]] = {}
        for path in sorted(self.outside.rglob("*")):
            facts = path.lstat()
            data = path.read_bytes() if path.is_file() else sorted(each.name for each in path.iterdir())
            found[str(path)] = (facts.st_mode, facts.st_ino, facts.st_mtime_ns, data)
        return found

    def check_outside(self) -> None:
        assert self.look_outside() == self._before


@pytest.fixture(scope="session")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    runner = Limited(tmp_path_factory.mktemp("home"))
    yield runner
    runner.close()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    store = Store.init(folder / "store")
    source = document("hostile")
    (folder / "source.json").write_bytes(source)
    (folder / "folded.json").write_bytes(api.fold_bytes(store, source, source_name="source.json"))
    api.put(store, PUT)
    store.tag("tagged", str(PUT_DIGEST))
    store.close()
    (folder / "other.json").write_bytes(document("other"))
    outside = folder / "outside"
    shard = outside / "objects" / SECRET_DIGEST.hex[:2]
    shard.mkdir(parents=True)
    (shard / SECRET_DIGEST.hex).write_bytes(zstandard.ZstdCompressor().compress(SECRET))
    (outside / "file").write_bytes(b"somebody's file")
    (outside / "empty").mkdir()
    elsewhere = Store.init(outside / "elsewhere")
    api.put(elsewhere, SECRET)
    elsewhere.close()
    # An index that nobody has open: a plain file, and a database.
    for ending in ("-wal", "-shm"):
        (outside / f"elsewhere/index.sqlite{ending}").unlink(missing_ok=True)
    return folder


@pytest.fixture
def place(fast_path: Path, template: Path, limited: Limited) -> Place:
    return Place(fast_path, template, limited)
