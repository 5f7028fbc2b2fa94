"""repair from a remote: what is damaged or missing here and whole there comes back; nothing else changes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from castore import api
from castore.digest import Digest
from castore.errors import RemoteMissing, RemoteUnavailable, ScopeDenied
from castore.gc.repair import RepairReport
from castore.gc.verify import verify
from castore.remote.bucket import Bucket
from castore.remote.choosing import choose
from castore.remote.connecting import connect
from castore.remote.fetch import Fetcher
from castore.remote.forgetting import forget
from castore.remote.keys import object_key, root_key
from castore.remote.mending import repair_from_remote
from castore.remote.pull import pull
from castore.remote.push import push
from castore.remote.remotes import add
from castore.roots.model import Content, RootDraft, RootKind
from castore.settings import RemoteSettings
from castore.store import Access, Store
from tests.remote.machine import Machine, document
from tests.store.faults import Crash, Script, scripted

OPERATOR = Access(("*",))
OTHER_CALLS = ("open", "write", "fsync", "syncfs", "unlink", "mkdir")


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castore.gc.verify._LOOK_AGAIN_SECONDS", ())


@pytest.fixture
def bucket(fast_path: Path) -> Bucket:
    return connect("origin", RemoteSettings(url=f"file://{fast_path}/bucket"))


@pytest.fixture
def store(fast_path: Path, bucket: Bucket) -> Iterator[Store]:
    """Two documents, one of them named, pushed."""
    store = Store.init(fast_path / "store", access=OPERATOR)
    api.fold_bytes(store, document(1, 3))
    api.fold_bytes(store, document(2, 2), name="named")
    push(store, bucket, choose(store, (), everything=True))
    yield store
    store.close()


def mended(store: Store, bucket: Bucket, **options: bool) -> RepairReport:
    return repair_from_remote(store, bucket, **options)


def found_in(store: Store) -> list[str]:
    return [str(each) for each in verify(store)]


def state(store: Store) -> dict[str, bytes]:
    folder = Path(store.folder)
    paths = [path for kind in ("objects", "roots") for path in (folder / kind).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def damage(path: str, length: int = 40) -> None:
    os.chmod(path, 0o600)
    os.truncate(path, length)


def object_file(store: Store, digest: Digest) -> str:
    return store.parts.layout.object_file(digest.hex)


def objects_of(store: Store) -> list[Digest]:
    return sorted({digest for root in store.roots() for digest in root.objects})


def in_bucket(bucket: Bucket, key: str) -> str:
    return bucket.settings.url.removeprefix("file://") + "/" + key


def without_index(store: Store) -> Store:
    store.close()
    for path in Path(store.folder).glob("index.sqlite*"):
        path.unlink()
    return Store.open(store.folder, access=OPERATOR)


class TestObjects:
    def test_what_is_damaged_or_gone_comes_back(self, store: Store, bucket: Bucket) -> None:
        before = state(store)
        rotten, gone, *_ = objects_of(store)
        damage(object_file(store, rotten))
        os.unlink(object_file(store, gone))
        report = mended(store, bucket)
        assert not report.remaining
        healed = {act.digest: act.source for act in report.acts if act.kind == "healed"}
        assert healed == {rotten: "remote 'origin'", gone: "remote 'origin'"}
        assert state(store) == before
        assert found_in(store) == []
        assert len(list(Path(store.folder, "damaged").iterdir())) == 1, "what was damaged is kept"
        assert list(Path(store.folder, "tmp").iterdir()) == []

    def test_what_is_whole_is_not_asked_for(self, store: Store, bucket: Bucket) -> None:
        before = state(store)
        asked = bucket.requests.copy()
        assert not mended(store, bucket).acts
        assert (bucket.requests - asked).total() == 1, "whether a castore is there"
        os.unlink(object_file(store, objects_of(store)[0]))
        asked = bucket.requests.copy()
        mended(store, bucket)
        assert (bucket.requests - asked).total() == 2
        assert state(store) == before

    def test_what_is_damaged_there_too_is_told_and_the_others_come(
        self, store: Store, bucket: Bucket
    ) -> None:
        first, second, third, *_ = objects_of(store)
        for digest in (first, second, third):
            damage(object_file(store, digest))
        damage(in_bucket(bucket, object_key(first)))
        os.unlink(in_bucket(bucket, object_key(second)))
        report = mended(store, bucket)
        assert {finding.digest for finding in report.remaining} == {first, second}
        assert report.notes == (f"object '{first.abbreviated}' can't be had: damaged at remote 'origin' too",)
        assert store.read(third)
        assert {each.split()[1] for each in found_in(store)} == {str(first), str(second)}

    def test_a_swapped_object_does_not_come(self, store: Store, bucket: Bucket) -> None:
        first, second, *_ = objects_of(store)
        os.unlink(object_file(store, first))
        shutil.copyfile(in_bucket(bucket, object_key(second)), in_bucket(bucket, object_key(first)))
        assert [each.digest for each in mended(store, bucket).remaining] == [first]

    def test_what_no_root_names_is_not_asked_for(self, store: Store, bucket: Bucket) -> None:
        alone = api.put(store, b"an object of its own " * 40)
        push(store, bucket, choose(store, [str(alone)]))
        (root,) = store.roots_naming(alone)
        os.unlink(store.parts.layout.root_file(root.id))
        damage(object_file(store, alone))
        store = without_index(store)
        asked = bucket.requests.copy()
        report = mended(store, bucket)
        assert (bucket.requests - asked).total() == 1
        assert [str(act.kind) for act in report.acts if act.digest == alone] == []
        store.close()

    def test_a_file_given_asks_for_what_it_names(self, fast_path: Path, store: Store, bucket: Bucket) -> None:
        other = Store.init(fast_path / "other", access=OPERATOR)
        folded = api.fold_bytes(store, document(1, 3))
        (digest, *_) = store.document_roots(Digest.of(folded))[0].objects
        report = repair_from_remote(other, bucket, asked={digest: "folded.json"})
        assert [str(act.kind) for act in report.acts] == ["healed", "named", "rebuilt"]
        assert other.read(digest) == store.read(digest)
        other.close()

    def test_one_that_lies_there_by_promise_is_named_by_that(
        self, fast_path: Path, store: Store, bucket: Bucket
    ) -> None:
        other = Store.init(fast_path / "other", access=OPERATOR)
        pull(other, bucket, everything=True, lazily=True)
        first, second, *_ = objects_of(store)
        other.fetcher = Fetcher()
        add(other, "origin", bucket.settings)
        assert other.read(first) == store.read(first)
        damage(object_file(other, first))
        report = mended(other, bucket)
        assert sorted(str(act.kind) for act in report.acts) == ["healed", "moved"]
        assert not os.path.exists(object_file(other, second)), "what was never here is not missing"
        assert found_in(other) == []
        other.close()


class TestRoots:
    def test_a_damaged_root_is_had_from_a_sound_index_first(self, store: Store, bucket: Bucket) -> None:
        root = store.roots()[0]
        damage(store.parts.layout.root_file(root.id))
        report = mended(store, bucket)
        assert [act.source for act in report.acts if act.kind == "restored"] == [""]

    def test_without_an_index_it_comes_back_with_its_objects(self, store: Store, bucket: Bucket) -> None:
        root = store.named_roots("named")[0]
        damage(store.parts.layout.root_file(root.id))
        os.unlink(object_file(store, root.objects[0]))
        store = without_index(store)
        report = mended(store, bucket)
        assert f"restored root {root.id} from remote 'origin'" in map(str, report.acts)
        assert not [act for act in report.acts if act.kind == "named"]
        assert not report.remaining
        back = next(each for each in store.roots() if each.id == root.id)
        assert (back.objects, back.name, back.created) == (root.objects, root.name, root.created)
        assert found_in(store) == []
        store.close()

    def test_what_it_is_based_on_comes_with_it_and_lasts_as_long(self, store: Store, bucket: Bucket) -> None:
        ids = self.chain(store)
        push(store, bucket, choose(store, [ids[-1]]))
        for each in ids[:2]:
            damage(store.parts.layout.root_file(each))
        os.unlink(store.parts.layout.root_file(ids[0]))
        store = without_index(store)
        report = mended(store, bucket)
        assert {act.root for act in report.acts if act.kind == "restored"} == set(ids[:2])
        assert not report.remaining
        assert found_in(store) == []
        roots = [store.parts.root_files.read(each) for each in ids]
        assert [root.expires for root in roots] == [None, None, None]
        store.close()

    def chain(self, store: Store) -> list[str]:
        """Three roots, each based on the one before; the first two expire alone."""
        ids: list[str] = []
        for number in range(3):
            with store.batch() as batch:
                staged = batch.stage(f"part {number} ".encode() * 90)
                draft = RootDraft(
                    RootKind.VIEW,
                    (staged.digest,),
                    document=Content(Digest.of(f"view {number}".encode()), 6),
                    base=ids[-1] if ids else None,
                    keep_seconds=None if number == 2 else 3_600,
                )
                ids.append(batch.commit(draft).id)
        return ids

    def test_a_record_that_a_log_lacks_comes_back(self, store: Store, bucket: Bucket) -> None:
        ids = []
        for place in range(1, 5):
            with store.batch() as batch:
                staged = batch.stage(f"record {place} ".encode() * 90)
                draft = RootDraft(RootKind.COLLAPSE, (staged.digest,), source_name="log", place=place)
                ids.append(batch.commit(draft).id)
        push(store, bucket, choose(store, [ids[-1]]))
        for each in ids[1:3]:
            os.unlink(store.parts.layout.root_file(each))
        store = without_index(store)
        assert any("records 2 to 3 are missing" in each for each in found_in(store))
        report = mended(store, bucket)
        assert {act.root for act in report.acts if act.kind == "restored"} == set(ids[1:3])
        assert not report.remaining
        assert found_in(store) == []
        store.close()

    def test_a_name_that_went_to_another_root_stays_there(self, store: Store, bucket: Bucket) -> None:
        root = store.named_roots("named")[0]
        store.tag("named", api.put(store, b"of another root " * 40).hex, move=True)
        damage(store.parts.layout.root_file(root.id))
        store = without_index(store)
        report = mended(store, bucket)
        assert not [act for act in report.acts if act.kind == "restored"]
        assert [each.id for each in store.named_roots("named")] != [root.id]
        assert found_in(store) == []
        store.close()

    def test_a_base_that_lost_its_name_is_kept_for_what_needs_it(self, store: Store, bucket: Bucket) -> None:
        base = store.tag("named", api.put(store, b"a base " * 90).hex, move=True)
        with store.batch() as batch:
            staged = batch.stage(b"more " * 90)
            document = Content(Digest.of(b"view"), 4)
            draft = RootDraft(RootKind.VIEW, (staged.digest,), document=document, base=base.id)
            batch.commit(draft)
        push(store, bucket, choose(store, (), everything=True), move=True)
        store.tag("named", api.put(store, b"of another root " * 40).hex, move=True)
        damage(store.parts.layout.root_file(base.id))
        store = without_index(store)
        assert not mended(store, bucket).remaining
        back = store.parts.root_files.read(base.id)
        assert (back.expires, back.forgotten is None) == (None, False)
        assert base.id not in [each.id for each in store.named_roots("named") if each.forgotten is None]
        assert found_in(store) == []
        store.close()

    def test_what_is_over_there_stays_away(self, store: Store, bucket: Bucket) -> None:
        root = store.named_roots("named")[0]
        forget(store, bucket, ["named"], at_once=True)
        damage(store.parts.layout.root_file(root.id))
        store = without_index(store)
        report = mended(store, bucket)
        assert [act.kind for act in report.acts if act.root] == ["named"], "its objects are kept, as before"
        store.close()

    def test_what_was_purged_here_stays_away(self, store: Store, bucket: Bucket) -> None:
        root = store.named_roots("named")[0]
        purged = root.objects[0]
        store.purge(purged, reason="a secret")
        damage(store.parts.layout.root_file(root.id))
        store = without_index(store)
        report = mended(store, bucket)
        assert not report.remaining
        assert purged not in next(each for each in store.roots() if each.id == root.id).objects
        assert not os.path.exists(object_file(store, purged))
        assert found_in(store) == []
        store.close()

    def test_one_that_is_damaged_there_too_is_told(self, store: Store, bucket: Bucket) -> None:
        root = store.named_roots("named")[0]
        damage(store.parts.layout.root_file(root.id))
        damage(in_bucket(bucket, root_key(root.id)))
        store = without_index(store)
        report = mended(store, bucket)
        assert report.notes == (f"root '{root.id}' can't be had: damaged at remote 'origin' too",)
        assert [act.kind for act in report.acts if act.root] == ["named"]
        store.close()


class TestScopes:
    def test_only_the_operator_may(self, store: Store, bucket: Bucket) -> None:
        other = Store.open(store.folder, access=Access(("default",)))
        with pytest.raises(ScopeDenied):
            mended(other, bucket)
        other.close()

    def test_a_remote_gives_what_its_grants_cover(
        self, store: Store, bucket: Bucket, fast_path: Path
    ) -> None:
        theirs = Store.open(store.folder, access=Access(("team/a",), "team/a"))
        api.fold_bytes(theirs, document(3, 1))
        theirs.close()
        push(store, bucket, choose(store, (), everything=True))
        of = {root.scope: root for root in store.roots()}
        for digest in objects_of(store):
            os.unlink(object_file(store, digest))
        url = bucket.settings.url
        narrow = connect("origin", RemoteSettings(url=url, granted=("team/*",)))
        report = mended(store, narrow)
        assert {act.digest for act in report.acts if act.kind == "healed"} == set(of["team/a"].objects)
        assert narrow.requests["get"] == 1 + len(of["team/a"].objects), "nothing else was asked for"
        assert not mended(store, bucket).remaining


class TestRefusals:
    def test_a_remote_that_fails_is_an_error_and_nothing_is_changed(
        self, store: Store, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        damage(object_file(store, objects_of(store)[0]))
        os.unlink(object_file(store, objects_of(store)[1]))
        before = state(store)
        real, calls = bucket.service.get, 0

        def get(*arguments: object) -> object:
            nonlocal calls
            calls += 1
            if calls == 3:
                raise RemoteUnavailable("origin", "it is gone")
            return real(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(bucket.service, "get", get)
        with pytest.raises(RemoteUnavailable):
            mended(store, bucket)
        assert state(store) == before
        assert not os.path.exists(store.parts.layout.damaged) or not os.listdir(store.parts.layout.damaged)
        assert list(Path(store.folder, "tmp").iterdir()) == []

    def test_no_castore_there(self, store: Store, fast_path: Path) -> None:
        with pytest.raises(RemoteMissing):
            mended(store, connect("new", RemoteSettings(url=f"file://{fast_path}/new")))

    def test_a_dry_run_tells_the_same_and_changes_nothing(self, store: Store, bucket: Bucket) -> None:
        root = store.named_roots("named")[0]
        damage(store.parts.layout.root_file(root.id))
        damage(object_file(store, objects_of(store)[0]))
        store = without_index(store)
        before = state(store)
        told = mended(store, bucket, dry_run=True)
        assert state(store) == before
        assert sorted(map(str, told.acts)) == sorted(map(str, mended(store, bucket).acts))
        assert not mended(store, bucket).acts
        store.close()


class TestCommand:
    def test_acts_are_told_and_what_is_left(self, fast_path: Path) -> None:
        machine = Machine(fast_path / "here", RemoteSettings(url=f"file://{fast_path}/bucket"))
        machine.fold(document(1, 3))
        machine.done("push", "--all")
        with machine.store() as store:
            first, second, *_ = objects_of(store)
            damage(object_file(store, first))
            os.unlink(object_file(store, second))
            os.unlink(in_bucket(machine.bucket, object_key(second)))
        planned = machine("repair", "--remote", "origin", "--dry-run")
        assert (planned.code, f"would heal {first} from remote 'origin'" in planned.lines) == (3, True)
        done = machine("repair", "--remote", "origin", "--json")
        assert done.code == 3
        records = [json.loads(line) for line in done.lines]
        assert [each["source"] for each in records if each["event"] == "healed"] == ["remote 'origin'"]
        assert [each["digest"] for each in records if each["event"] == "remaining"] == [str(second)]
        assert machine("repair", "--remote", "origin", "--from", "in.json").code == 0
        machine.hold()

    def test_an_unknown_remote_and_no_leave_to_ask(self, fast_path: Path) -> None:
        machine = Machine(fast_path / "here", RemoteSettings(url=f"file://{fast_path}/bucket"))
        assert machine("repair", "--remote", "nowhere").code == 2
        assert machine("repair", "--remote", "origin", CTX_OFFLINE="1").code == 16
        assert machine("repair", "--remote", "origin").code == 16, "no castore is there"


class TestKilled:
    """At each call to the disk; run again, it ends the same."""

    @pytest.mark.parametrize(
        "call", ["rename", *(pytest.param(each, marks=pytest.mark.long) for each in OTHER_CALLS)]
    )
    def test_run_again_it_does_the_rest(
        self, fast_path: Path, store: Store, bucket: Bucket, call: str
    ) -> None:
        expected = state(store)
        damage(store.parts.layout.root_file(store.named_roots("named")[0].id))
        damage(object_file(store, objects_of(store)[0]))
        os.unlink(object_file(store, objects_of(store)[1]))
        without_index(store).close()
        for before in range(100):
            copy = fast_path / f"copy-{before}"
            shutil.copytree(store.folder, copy)
            script = Script("." * before + "X")
            killed = Store.open(copy, access=OPERATOR)
            with scripted({call: script}), contextlib.suppress(Crash):
                mended(killed, bucket)
            killed.close()
            again = Store.open(copy, access=OPERATOR)
            assert not mended(again, bucket).remaining
            assert objects_in(state(again)) == objects_in(expected)
            assert sorted(state(again)) == sorted(expected)
            assert found_in(again) == []
            again.close()
            shutil.rmtree(copy)
            if script.count <= before:
                break
        assert before > 0


def objects_in(found: dict[str, bytes]) -> dict[str, bytes]:
    """Roots get other numbers."""
    return {path: data for path, data in found.items() if path.startswith("objects")}
