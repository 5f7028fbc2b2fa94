"""Roots that promise: their objects lie at a remote, and come when they are read."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from castore.digest import Digest
from castore.errors import ObjectDamaged, ObjectMissing, RemoteForbidden
from castore.gc.mending import ActKind
from castore.gc.repair import repair
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.roots.model import REMOTE, Root, RootDraft, RootKind
from castore.store import Access, Store, StoreHandle
from castore.store.keeping import RootChoice
from castore.store.life import LifeState

from .conftest import Clock, everything, file_of, overwrite, put


class Remote:
    """Another store that has what is promised; what it was asked for."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.calls: list[tuple[str, list[Digest]]] = []
        self.is_forbidden = False

    def __call__(self, store: Store, remote: str, digests: Sequence[Digest]) -> None:
        if self.is_forbidden:
            raise RemoteForbidden(remote, "no")
        self.calls.append((remote, list(digests)))
        with store.importing() as importing:
            for digest in digests:
                importing.bring(self.store.parts.database, digest)
            importing.commit_objects()


@pytest.fixture
def remote(tmp_path: Path, clock: Clock) -> Iterator[Remote]:
    other = Store.init(tmp_path / "there", clock=clock)
    yield Remote(other)
    other.close()


def promise(store: Store, remote: Remote, *pieces: bytes, **draft: object) -> Root:
    """A root of these bytes is here, and they are there."""
    root = put(remote.store, *pieces, **draft)
    with store.importing() as importing:
        for digest in importing.needed([root], lazily=True):
            importing.bring(remote.store.parts.database, digest)
        (done,) = importing.commit([root], lazily="origin")
    store.fetcher = remote
    return done.root


class TestReading:
    def test_the_root_says_where_what_is_not_here_is(self, store: Store, remote: Remote) -> None:
        root = promise(store, remote, b"a", b"b")
        assert root.details[REMOTE] == "origin"
        assert not file_of(store, root.objects[0]).exists()
        assert store.promised(root.objects) == dict.fromkeys(root.objects, "origin")

    @pytest.mark.parametrize(
        "read",
        [
            lambda store, digest: store.read(digest),
            lambda store, digest: b"".join(store.chunks(digest)),
            lambda store, digest: store.ranged(digest).read(0, 99),
            lambda store, digest: store.read(store.resolve(digest.hex[:8])),
            lambda store, digest: store.read(store.resolve(digest.hex)),
            lambda store, digest: store.read(store.find("n")),
        ],
    )
    def test_it_comes_once_and_stays(self, store: Store, remote: Remote, read: object) -> None:
        (digest,) = promise(store, remote, b"bytes", name="n").objects
        for _ in range(2):
            assert read(store, digest) == b"bytes"  # type: ignore[operator]
        assert remote.calls == [("origin", [digest])]
        other = Store.open(store.folder)
        assert other.read(digest) == b"bytes"
        other.close()
        assert list(verify(store)) == []

    def test_many_are_asked_for_at_once(self, store: Store, remote: Remote) -> None:
        root = promise(store, remote, *(b"%d" % number for number in range(1200)))
        here = root.objects[7]
        store.read(here)
        assert store.want([*root.objects, Digest.of(b"nobody's")]) == 1199
        assert remote.calls[1:] == [("origin", [each for each in root.objects if each != here])]
        assert store.want(root.objects) == 0

    def test_nothing_is_asked_for_that_no_root_promises(self, store: Store, remote: Remote) -> None:
        promise(store, remote, b"a")
        put(remote.store, b"there alone")
        mine = put(store, b"mine")
        file_of(store, mine.objects[0]).unlink()
        for digest in (Digest.of(b"there alone"), mine.objects[0]):
            assert store.want([digest]) == 0
            with pytest.raises(ObjectMissing):
                store.read(digest)
            with pytest.raises(ObjectMissing):
                store.resolve(digest.hex)
        assert remote.calls == []

    def test_what_is_here_and_damaged_is_told(self, store: Store, remote: Remote) -> None:
        (digest,) = promise(store, remote, b"bytes" * 99).objects
        store.read(digest)
        overwrite(file_of(store, digest), b"junk")
        with pytest.raises(ObjectDamaged):
            store.read(digest)
        assert len(remote.calls) == 1

    def test_without_a_fetcher_it_is_missing_and_said_where_it_lies(
        self, store: Store, remote: Remote
    ) -> None:
        (digest,) = promise(store, remote, b"bytes").objects
        store.fetcher = None
        with pytest.raises(ObjectMissing) as failure:
            store.read(digest)
        assert "origin" in (failure.value.hint or "")
        remote.is_forbidden = True
        store.fetcher = remote
        with pytest.raises(RemoteForbidden):
            store.read(digest)

    def test_bytes_that_are_others_are_not_taken(self, store: Store, remote: Remote) -> None:
        (digest,) = promise(store, remote, b"bytes" * 99).objects
        (other,) = put(remote.store, b"other" * 99).objects
        overwrite(file_of(remote.store, digest), file_of(remote.store, other).read_bytes())
        with pytest.raises(ObjectDamaged):
            store.read(digest)
        assert not file_of(store, digest).exists()
        assert os.listdir(store.parts.layout.tmp) == []

    def test_an_expired_promise_is_none(self, store: Store, remote: Remote, clock: Clock) -> None:
        (digest,) = promise(store, remote, b"bytes", keep_seconds=5).objects
        clock.now += 6
        with pytest.raises(ObjectMissing):
            store.read(digest)
        assert remote.calls == []


class TestScopes:
    def test_what_others_were_promised_is_not_asked_for(self, store: Store, remote: Remote) -> None:
        operator = Store.open(store.folder, access=Access(grants=("*",)))
        mine = promise(operator, remote, b"mine", scope="team/a")
        other = promise(operator, remote, b"other", scope="team/b")
        operator.close()
        limited = Store.open(store.folder, access=Access(grants=("team/a",)))
        limited.fetcher = remote
        with pytest.raises(ObjectMissing):
            limited.read(other.objects[0])
        with pytest.raises(ObjectMissing):
            limited.resolve(other.objects[0].hex[:10])
        assert remote.calls == []
        assert limited.read(mine.objects[0]) == b"mine"
        assert list(limited.digests()) == list(mine.objects)
        limited.close()

    def test_what_others_were_promised_is_not_counted(self, store: Store, remote: Remote) -> None:
        operator = Store.open(store.folder, access=Access(grants=("*",)))
        promise(operator, remote, b"mine", b"both", scope="team/a")
        promise(operator, remote, b"other", b"both", b"more", scope="team/b")
        assert operator.stats().at_remotes == {"origin": 4}
        limited = Store.open(store.folder, access=Access(grants=("team/a",)))
        assert limited.stats().at_remotes == {"origin": 2}
        for each in (operator, limited):
            each.close()


class TestTheStore:
    def test_it_is_no_finding_but_for_what_a_root_must_have_here(self, store: Store, remote: Remote) -> None:
        root = promise(store, remote, b"a", b"b", b"c")
        store.read(root.objects[2])
        told: Counter[str] = Counter()
        assert list(verify(store, at_remotes=told)) == []
        assert told == {"origin": 2}
        store.keep([RootDraft(RootKind.KEEP, (root.objects[0],))])
        assert list(verify(store)) == []
        file_of(store, root.objects[0]).unlink()
        (finding,) = verify(store)
        assert finding.digest == root.objects[0]

    def test_another_root_that_names_it_has_it_here(self, store: Store, remote: Remote) -> None:
        root = promise(store, remote, b"a", b"b")
        kept = store.keep([store.keep_draft(root.id)])[0]
        assert remote.calls == [("origin", list(root.objects))]
        assert REMOTE not in kept.details
        assert store.tag("n", root.objects[0].hex).objects == (root.objects[0],)

    def test_commands_on_the_whole_store_go_on(self, store: Store, remote: Remote) -> None:
        root = promise(store, remote, b"a", b"b")
        store.read(root.objects[0])
        assert list(store.digests()) == list(root.objects)
        states = [each.life.state for each in store.lives(store.digests()) if each.life is not None]
        assert states == [LifeState.KEPT, LifeState.REMOTE]
        assert (store.stats().objects, store.stats().at_remotes) == (1, {"origin": 1})
        sweep(store)
        assert file_of(store, root.objects[0]).exists()
        for name in os.listdir(store.folder):
            if name.startswith("index.sqlite"):
                os.unlink(f"{store.folder}/{name}")
        assert (store.stats().objects, store.stats().at_remotes) == (1, {"origin": 1})
        put(store, b"again")
        assert list(verify(store)) == []
        assert {store.read(each) for each in root.objects} == {b"a", b"b"}

    def test_a_pull_of_the_whole_keeps_the_promise(self, store: Store, remote: Remote) -> None:
        root = promise(store, remote, b"a", b"b")
        there = remote.store.root(root.id)
        assert there is not None
        with store.importing() as importing:
            for digest in importing.needed([there]):
                importing.bring(remote.store.parts.database, digest)
            (done,) = importing.commit([there])
        assert REMOTE not in done.root.details
        assert {store.read(each) for each in root.objects} == {b"a", b"b"}
        assert remote.calls == []

    def test_a_forgotten_one_takes_nothing_along_that_is_not_here(self, store: Store, remote: Remote) -> None:
        root = promise(store, remote, b"a", b"b")
        store.read(root.objects[0])
        store.forget(RootChoice(roots=(root.id,)), at_once=True)
        assert sweep(store).objects == 1
        assert store.roots() == []
        assert list(verify(store)) == []

    def test_reading_offline_changes_nothing(self, store: Store, remote: Remote) -> None:
        root = promise(store, remote, b"a", b"b")
        remote.is_forbidden = True
        before = everything(Path(store.folder) / "objects")
        with pytest.raises(RemoteForbidden):
            store.want(root.objects)
        assert everything(Path(store.folder) / "objects") == before


class TestFetchThatDidNotEnd:
    def test_what_it_left_has_its_row_with_the_next(self, store: Store, remote: Remote) -> None:
        root = promise(store, remote, b"a", b"b", b"c")
        # What a crash leaves between the object and its row.
        staged = store.parts.database.stage(b"a")
        store.parts.source.publish([(staged.digest, staged.frames)])
        assert list(verify(store)) == []
        assert store.stats().objects == 0
        store.read(Digest.of(b"b"))
        assert store.stats().objects == 2
        assert store.want(root.objects) == 1
        assert store.stats().objects == 3
        assert list(verify(store)) == []


class TestRepair:
    def test_what_is_promised_is_not_damage(self, store: Store, remote: Remote) -> None:
        root = promise(store, remote, b"a", b"b", b"c" * 99)
        for each in root.objects[:2]:
            store.read(each)
        assert repair(store).acts == ()
        overwrite(file_of(store, root.objects[0]), b"junk")
        report = repair(store)
        assert [act.kind for act in report.acts] == [ActKind.MOVED, ActKind.CORRECTED]
        assert report.remaining == ()
        assert list(verify(store)) == []
        assert {store.read(each) for each in root.objects} == {b"a", b"b", b"c" * 99}
        assert repair(store).acts == ()


class TestDocuments:
    def test_what_a_document_names_comes_at_once(self, store: Store, remote: Remote) -> None:
        from castore.fold.fold import fold_stream
        from castore.fold.policy import FoldPolicy
        from castore.fold.unfold import unfold_stream

        source = b"".join(b'{"line": "%s"}\n' % (b"%d, " % number * 400) for number in range(30))
        folded = io.BytesIO()
        fold_stream(io.BytesIO(source), folded, StoreHandle.of(remote.store), FoldPolicy())
        (root,) = remote.store.roots()
        with store.importing() as importing:
            importing.commit([root], lazily="origin")
        store.fetcher = remote
        target = io.BytesIO()
        unfold_stream(io.BytesIO(folded.getvalue()), target, StoreHandle.of(store))
        assert target.getvalue() == source
        assert [len(digests) for _, digests in remote.calls] == [30]
