"""L2: a power loss takes nothing that was acknowledged. Real commands on a real ext4, whose power is cut."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from castore import api
from castore.errors import CastoreError
from castore.remote.connecting import connect
from castore.remote.pull import pull
from castore.settings import RemoteSettings
from castore.store import Store
from tests.durability.crew import Crew
from tests.durability.disk import Disk, why_not
from tests.durability.shell import Done, Shell, document
from tests.durability.test_many_at_once import findings, serious
from tests.remote.laws import hold_bucket

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"power can't be cut here: {why_not()}")

Run = Callable[..., Done]


@pytest.fixture
def disk() -> Iterator[Disk]:
    """Not in a folder of pytest's: another pytest would try to clear it away, mounted as it is."""
    with tempfile.TemporaryDirectory(prefix="castore-disk-") as folder:
        made = Disk(Path(folder) / "disk.ext4", Path(folder) / "disk")
        try:
            made.mount()
        except OSError as error:
            pytest.skip(f"power can't be cut here: {error}")
        try:
            yield made
        finally:
            made.unmount(even_if_busy=True)


@pytest.fixture
def shell(disk: Disk, tmp_path: Path) -> Shell:
    (tmp_path / "home").mkdir()
    return Shell(disk.folder, tmp_path / "home")


class Session:
    """Commands, and what they acknowledged: all of it is checked after each cut."""

    def __init__(self, shell: Shell, run: Run) -> None:
        self.shell = shell
        self._run = run
        self.folded: dict[bytes, bytes] = {}
        """By the folded document: its source."""
        self.files: dict[str, bytes] = {}
        self.put: dict[str, bytes] = {}
        self.tags: dict[str, str] = {}
        self.gone: set[str] = set()
        self.pushed: dict[bytes, bytes] = {}
        """Of those folded, that are in the bucket too."""

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        done = self._run(*arguments, stdin=stdin)
        assert done.code == 0, done.err
        return done.out

    def do_fold(self, seed: object, values: int = 2) -> bytes:
        source = document(seed, values)
        folded = self.run("fold", stdin=source)
        self.folded[folded] = source
        return folded

    def do_fold_to_file(self, seed: object, name: str) -> None:
        source = document(seed)
        self.run("fold", "-o", name, stdin=source)
        folded = (self.shell.folder / name).read_bytes()
        self.files[name] = folded
        self.folded[folded] = source

    def do_put(self, data: bytes) -> None:
        self.put[self.run("put", "-", stdin=data).decode().strip()] = data

    def do_tag(self, name: str, digest: str, *options: str) -> None:
        self.run("tag", name, digest, *options)
        self.tags[name] = digest

    def do_push(self) -> None:
        """To a bucket on the same disk."""
        if not self.pushed:
            self.run("remote", "add", "origin", f"file://{self.shell.folder}/bucket")
        self.run("push", "--all")
        self.pushed |= self.folded

    def do_lose_index(self) -> None:
        """By hand: the next write makes it anew."""
        for path in self.shell.store.glob("index.sqlite*"):
            path.unlink()

    def do_forget_and_collect(self, folded: bytes) -> None:
        digest = str(api.Digest.of(folded))
        self.run("forget", "--now", digest)
        self.run("gc")
        del self.folded[folded]
        self.gone.add(digest)

    def broken(self) -> list[str]:
        """What was acknowledged and is not so."""
        try:
            store = Store.open(self.shell.store)
        except CastoreError as error:
            return [str(error)]
        try:
            return [*self._broken(store), *serious(findings(store))]
        finally:
            # An open index would keep the disk from being unmounted.
            store.close()

    def _broken(self, store: Store) -> list[str]:
        found = [
            f"the folded {source[:20]!r}"
            for folded, source in self.folded.items()
            if not gives(lambda folded=folded: api.unfold_bytes(store, folded), source)
        ]  # type: ignore[misc]
        found += [
            name
            for name, data in self.files.items()
            if not gives((self.shell.folder / name).read_bytes, data)
        ]
        found += [
            digest
            for digest, data in self.put.items()
            if not gives(lambda digest=digest: api.get(store, digest), data)
        ]  # type: ignore[misc]
        for name, digest in self.tags.items():
            named = store.named_roots(name)
            if [str(each) for root in named for each in root.objects] != [digest]:
                found.append(f"tag {name}")
        found += self.broken_there() if self.pushed else []
        documents = {str(root.document.digest) for root in store.roots() if root.document}
        return found + sorted(f"{digest} came back" for digest in documents & self.gone)

    def broken_there(self) -> list[str]:
        """Of what was pushed, what another store can't have."""
        bucket = connect("origin", RemoteSettings(url=f"file://{self.shell.folder}/bucket"))
        with tempfile.TemporaryDirectory() as folder:
            other = Store.init(Path(folder) / "store")
            try:
                hold_bucket(bucket, other)
                pull(other, bucket, everything=True)
                return [
                    f"the pushed {source[:20]!r}"
                    for folded, source in self.pushed.items()
                    if not gives(lambda folded=folded: api.unfold_bytes(other, folded), source)  # type: ignore[misc]
                ]
            except (AssertionError, CastoreError) as error:
                return [f"in the bucket: {error}"]
            finally:
                other.close()


def gives(read: Callable[[], bytes], wanted: bytes) -> bool:
    try:
        return read() == wanted
    except (CastoreError, OSError):
        return False


class TestPowerLoss:
    def test_what_was_acknowledged_is_there_after_it(self, disk: Disk, shell: Shell) -> None:
        session = Session(shell, shell)
        steps: list[list[Callable[[], object]]] = [
            [lambda: session.do_fold("first")],
            [
                lambda: session.do_put(b"a log of no use " * 200),
                lambda: session.do_tag("kept", next(iter(session.put))),
                lambda: session.do_fold_to_file("to a file", "out.json"),
                session.do_push,
            ],
            [
                lambda: session.do_fold("first"),
                lambda: session.do_forget_and_collect(session.do_fold("doomed")),
            ],
            [
                lambda: session.do_fold("large", 90),
                lambda: session.do_fold_to_file("again", "out.json"),
            ],
            [
                lambda: session.do_put(b"another log " * 200),
                lambda: session.do_tag("kept", list(session.put)[-1], "--move"),
            ],
            [session.do_lose_index, lambda: session.do_fold("after the index was lost")],
            [session.do_lose_index, lambda: session.run("gc"), lambda: session.do_put(b"the last " * 200)],
        ]
        for step in steps:
            for act in step:
                act()
            disk.cut()
            disk.restore()
            assert session.broken() == []

    @pytest.mark.parametrize("which", ["everything", "all"])
    def test_without_syncs_the_same_is_lost(self, disk: Disk, shell: Shell, which: str) -> None:
        """Otherwise the test above would prove nothing. The syncs of the index alone (`all` but those) save
        names, and no bytes.
        """

        def unsynced(*arguments: str, stdin: bytes = b"") -> Done:
            return shell.run(shell.unsynced(which, *arguments), stdin)

        session = Session(shell, unsynced)
        session.do_fold("first")
        session.do_fold_to_file("to a file", "out.json")
        session.do_push()
        assert session.broken() == []
        disk.cut()
        disk.restore()
        assert len(session.broken()) >= 1
        if which == "all":
            assert session.broken_there() != []

    @pytest.mark.parametrize("cuts", [1, pytest.param(50, marks=pytest.mark.long)])
    def test_at_random_moments_of_two_writers_and_a_sweep(
        self, disk: Disk, shell: Shell, tmp_path: Path, cuts: int
    ) -> None:
        """They fold, put, move names and forget; before every third round the index is gone."""
        crew = Crew(shell, tmp_path, ("one", "two", "gc"))
        chance = random.Random(cuts)
        Store.init(shell.store)
        for number in range(cuts):
            done = crew.claims.done
            if number % 3 == 2:
                for path in shell.store.glob("index.sqlite*"):
                    path.unlink()
            crew.start()
            # On a busy machine the writers begin late; a cut before anything was done proves nothing.
            deadline = time.monotonic() + 60
            while crew.claims.done < done + 2 and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(chance.random())
            disk.cut()
            crew.stop()
            disk.restore()
            store = Store.open(shell.store)
            assert crew.claims.broken(store) == []
            assert serious(findings(store)) == []
            store.close()
        assert crew.claims.done > cuts
