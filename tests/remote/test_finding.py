"""What is meant at a remote: one bad root or record stops no others, and tells those nothing whom it does not
concern."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from castore import api
from castore.digest import Digest
from castore.errors import CastoreError, NameMissing, NotFound, RemoteDamaged
from castore.fold.check import opened
from castore.objects.finding import FindingName
from castore.remote import roots as remote_roots
from castore.remote.bucket import Bucket
from castore.remote.choosing import choose
from castore.remote.connecting import connect
from castore.remote.finding import find
from castore.remote.forgetting import forget
from castore.remote.gc import collect
from castore.remote.keys import name_key, root_key
from castore.remote.names import Names
from castore.remote.pull import PullReport, pull
from castore.remote.push import push
from castore.remote.records import NameRecord, decode_name, encode
from castore.remote.roots import RemoteRoots
from castore.remote.tracking import Tracking
from castore.remote.verifying import verify_at_remote
from castore.roots.files import decode_root, encode_root
from castore.roots.model import Root, RootDraft, RootKind
from castore.settings import RemoteSettings
from castore.store import Access, Store
from castore.store.importing import Outcome
from castore.store.keeping import RootChoice

A, B = "team/a", "team/b"


@pytest.fixture
def bucket(tmp_path: Path) -> Bucket:
    return connect("origin", RemoteSettings(url=f"file://{tmp_path}/bucket"))


@pytest.fixture
def here(tmp_path: Path, bucket: Bucket) -> Iterator[Store]:
    """A store that pushed two documents of team/a and one of team/b, each with a name."""
    store = Store.init(tmp_path / "here")
    operator = Store.open(store.folder, access=Access(("*",)))
    store.close()
    for number, scope in enumerate((A, A, B)):
        document(operator, tmp_path / f"{number}.json", scope)
    push(operator, bucket, choose(operator, [], everything=True))
    yield operator
    operator.close()


@contextmanager
def store_of(tmp_path: Path, *grants: str) -> Iterator[Store]:
    Store.init(tmp_path / "there").close()
    store = Store.open(tmp_path / "there", access=Access(grants))
    yield store
    store.close()


def document(store: Store, path: Path, scope: str) -> None:
    text = json.dumps({"rows": [f"row {number} of {path.name} " * 9 for number in range(300)]})
    path.write_bytes(api.fold_bytes(store, text.encode(), scope=scope))
    kept = api.put(store, f"kept beside {path.name} ".encode() * 90, scope=scope)
    store.keep([RootDraft(RootKind.TAG, (kept,), name=f"name-{path.stem}", scope=scope)])


def root_of(store: Store, path: Path) -> Root:
    return next(r for r in store.document_roots(Digest.of(path.read_bytes())) if r.name is None)


def count_of(store: Store, scope: str) -> int:
    return sum(root.scope == scope for root in store.roots())


def change(bucket: Bucket, root: Root, data: bytes | Root) -> None:
    bucket.put(root_key(root.id), data if isinstance(data, bytes) else encode_root(data))


def told(
    store: Store, bucket: Bucket, texts: Sequence[object] = (), *, everything: bool = False
) -> PullReport | str:
    """The report, or what was raised, as it is told."""
    try:
        return pull(store, bucket, [str(text) for text in texts], everything=everything)
    except CastoreError as error:
        return f"{error.exit_code} {error.message} {error.hint}"


BAD: dict[str, Callable[[Root, Root, Root], bytes | Root]] = {
    "unreadable": lambda bad, other, foreign: b"{",
    "an id not its own": lambda bad, other, foreign: replace(bad, name="another"),
    "on nothing": lambda bad, other, foreign: replace(bad, base="0" * 32),
    "on itself": lambda bad, other, foreign: replace(bad, base=bad.id),
    "of another scope": lambda bad, other, foreign: replace(bad, base=foreign.id),
}


class TestOneBadRoot:
    """It is refused alone, with what is based on it; and who asks for it alone is told why."""

    @pytest.mark.parametrize("how", BAD)
    def test_all_others_come(self, here: Store, bucket: Bucket, tmp_path: Path, how: str) -> None:
        bad, other, foreign = (root_of(here, tmp_path / f"{number}.json") for number in range(3))
        change(bucket, bad, BAD[how](bad, other, foreign))
        change(bucket, other, replace(other, base=bad.id))
        with store_of(tmp_path, "*") as there:
            report = pull(there, bucket, everything=True)
            came = {root.id for root in there.roots()}
        sent = {root.id for root in here.roots()}
        assert came == sent - {bad.id, other.id}
        assert {each.fields["key"] for each in report.damaged} == {root_key(bad.id), root_key(other.id)}

    @pytest.mark.parametrize("how", BAD)
    def test_named_with_others(self, here: Store, bucket: Bucket, tmp_path: Path, how: str) -> None:
        bad, other, foreign = (root_of(here, tmp_path / f"{number}.json") for number in range(3))
        change(bucket, bad, BAD[how](bad, other, foreign))
        with store_of(tmp_path, "*") as there:
            with pytest.raises(RemoteDamaged):
                pull(there, bucket, [str(tmp_path / "0.json")])
            pull(there, bucket, [str(tmp_path / "2.json")])
            assert {root.id for root in there.roots()} == {foreign.id}

    def test_a_circle_and_a_long_chain(self, here: Store, bucket: Bucket, tmp_path: Path) -> None:
        first, second, last = (root_of(here, tmp_path / f"{number}.json") for number in range(3))
        change(bucket, first, replace(first, base=second.id))
        change(bucket, second, replace(second, base=first.id))
        made = here.keep(
            [RootDraft(RootKind.KEEP, tuple(last.objects), name=f"n{each:03}", scope=B) for each in range(70)]
        )
        push(here, bucket, made)
        for base, root in pairwise(made):
            change(bucket, root, replace(root, base=base.id))
        with store_of(tmp_path, "*") as there:
            report = pull(there, bucket, everything=True)
            came = {root.id for root in there.roots()}
        assert {first.id, second.id}.isdisjoint(came)
        assert [root.id in came for root in made] == [each < 64 for each in range(70)]
        assert len(report.damaged) == 8


class TestOthersDamage:
    """Who may not use all that is there reads the same of others' damage as of what is not there."""

    @pytest.mark.parametrize("text", ["--all", "id", "digest", "prefix", "FILE", "name", "nothing"])
    def test_reads_as_nothing(self, here: Store, bucket: Bucket, tmp_path: Path, text: str) -> None:
        foreign = root_of(here, tmp_path / "2.json")
        asked: dict[str, list[str]] = {
            "--all": [],
            "id": [foreign.id],
            "digest": [str(foreign.objects[0])],
            "prefix": [foreign.objects[0].hex[:9]],
            "FILE": [str(tmp_path / "2.json")],
            "name": ["name-2"],
            "nothing": ["nosuch"],
        }
        with store_of(tmp_path, A) as there:
            before = told(there, bucket, asked[text], everything=text == "--all")
            for root in here.roots():
                if root.scope == B:
                    change(bucket, root, b"{")
            bucket.put(name_key(B, "name-2"), b"{")
            bucket.put("names/stray", b"{")
            after = told(there, bucket, asked[text], everything=text == "--all")
        if text == "--all":
            assert isinstance(after, PullReport)
            assert (after.damaged, len(after.imported)) == ([], count_of(here, A))
        else:
            assert (after, str(after)[:2]) == (before, "12")

    @pytest.mark.parametrize("how", ["its own", "another's", "nobody's"])
    def test_a_base_that_is_not_granted(self, here: Store, bucket: Bucket, tmp_path: Path, how: str) -> None:
        """That it is there can't be told from that it is not."""
        ours, foreign = root_of(here, tmp_path / "0.json"), root_of(here, tmp_path / "2.json")
        base = {"its own": None, "another's": foreign.id, "nobody's": "0" * 32}[how]
        change(bucket, ours, replace(ours, base=base))
        with store_of(tmp_path, A) as there:
            report = pull(there, bucket, everything=True)
            assert [each.fields["reason"] for each in report.damaged] == (
                ["what it is based on is not there, or can't be read or used"] if base else []
            )
            assert len(there.roots()) == count_of(here, A) - (base is not None)

    def test_verify_goes_on(self, here: Store, bucket: Bucket, tmp_path: Path) -> None:
        change(bucket, root_of(here, tmp_path / "2.json"), b"{")
        files = [str(tmp_path / name) for name in ("0.json", "2.json")]
        with store_of(tmp_path, A) as there:
            found = list(verify_at_remote(there, bucket, opened(files)))
        assert [each.name for each in found] == [FindingName.MISSING]

    def test_a_stray_name_is_no_error_of_a_search(self, here: Store, bucket: Bucket, tmp_path: Path) -> None:
        bucket.put("names/stray", b"{")
        bucket.put(name_key(B, "junk"), b"{")
        with store_of(tmp_path, "*") as there:
            with pytest.raises(NameMissing):
                pull(there, bucket, ["nosuch"])
            pull(there, bucket, ["name-2"])
            assert there.named_roots("name-2")


class TestNamesOfOthers:
    """A record means only the name that its key is of."""

    def test_under_the_wrong_key_it_is_damaged_and_mended(
        self, here: Store, bucket: Bucket, tmp_path: Path
    ) -> None:
        found = bucket.get(name_key(A, "name-0"))
        assert found is not None
        key = name_key(A, "name-1")
        bucket.put(key, found[0])
        ours = Store.open(here.folder, access=Access((A,)))
        with store_of(tmp_path, A) as there, pytest.raises(RemoteDamaged):
            pull(there, bucket, ["name-1"])
        with pytest.raises(RemoteDamaged):
            collect(bucket, tmp=here.parts.layout.tmp)
        [root] = ours.named_roots("name-1")
        assert not push(ours, bucket, choose(ours, ["name-1"]), anew=True).refused
        mended = bucket.get(key)
        assert mended is not None
        record = decode_name(mended[0], "origin", key)
        assert (record.scope, record.name, record.root) == (A, "name-1", root.id)
        collect(bucket, tmp=here.parts.layout.tmp)
        ours.close()

    @pytest.mark.parametrize("whose", ["of another scope", "of another name"])
    def test_what_had_a_name_is_forgotten_only_if_it_was_this_one(
        self, here: Store, bucket: Bucket, whose: str
    ) -> None:
        [victim] = here.named_roots("name-2" if whose == "of another scope" else "name-1")
        [root] = here.named_roots("name-0")
        forged = NameRecord(A, "name-0", root.id, 7, victim.id)
        bucket.put(name_key(A, "name-0"), encode(forged))
        push(here, bucket, [root])
        found = RemoteRoots(bucket).get(victim.id)
        assert found is not None
        assert found.root.forgotten is None


class TestForgottenThere:
    """It is told as forgotten, with what brings it back; once it is gone, as not there."""

    @pytest.mark.parametrize("text", ["FILE", "name", "id"])
    def test_what_brings_it_back_is_told(
        self, here: Store, bucket: Bucket, tmp_path: Path, text: str
    ) -> None:
        path = tmp_path / "0.json"
        texts = [{"FILE": str(path), "name": "name-0", "id": root_of(here, path).id}[text]]
        forget(here, bucket, texts)
        with store_of(tmp_path, "*") as there:
            with pytest.raises(NotFound) as caught:
                pull(there, bucket, texts)
            assert f"'ctx push origin {texts[0][:80]}' brings it back" in str(caught.value.hint)
            push(here, bucket, choose(here, texts), restore=True)
            assert pull(there, bucket, texts).imported

    def test_a_file_of_which_nothing_is_there(self, here: Store, bucket: Bucket, tmp_path: Path) -> None:
        path = tmp_path / "new.json"
        document(here, path, A)
        with store_of(tmp_path, "*") as there, pytest.raises(NotFound) as caught:
            pull(there, bucket, [str(path)])
        assert "ctx push origin" in str(caught.value.hint)
        assert "repair" not in str(caught.value.hint)


class TestMemory:
    def test_what_no_word_means_is_not_held(
        self, here: Store, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And large ones are decoded one after another, by who asks."""
        import gc
        import threading
        import weakref

        alive: weakref.WeakSet[Root] = weakref.WeakSet()
        most, threads = 0, set()

        def decoded(data: bytes, key: str) -> Root:
            nonlocal most
            root = decode_root(data, key)
            kept = Held(**{name: getattr(root, name) for name in root.__dataclass_fields__})
            alive.add(kept)
            gc.collect()
            most = max(most, len(alive))
            threads.add(threading.current_thread())
            return kept

        class Held(Root):
            __slots__ = ("__weakref__",)
            __hash__ = object.__hash__

        monkeypatch.setattr(remote_roots, "_SMALL_BYTES_MAX", 0)
        monkeypatch.setattr(remote_roots, "decode_root", decoded)
        texts = [root_of(here, tmp_path / "0.json").objects[0].hex[:12]]
        with store_of(tmp_path, "*") as there:
            names = Names(bucket, RemoteRoots(bucket), Tracking(there, "origin"))
            assert len(find(there, bucket, names, texts).roots) == 1
        assert threads == {threading.current_thread()}
        assert most <= 3 < len(here.roots())


class TestForgottenHere:
    """It comes back when it is asked for, not with all; also where a name, or --move, might bring it."""

    @pytest.mark.parametrize("move", [False, True])
    @pytest.mark.parametrize("named", [False, True])
    def test_it_stays_so_with_all(
        self, here: Store, bucket: Bucket, tmp_path: Path, named: bool, move: bool
    ) -> None:
        [root] = here.named_roots("name-0") if named else [root_of(here, tmp_path / "0.json")]
        with store_of(tmp_path, "*") as there:
            pull(there, bucket, everything=True)
            there.forget(RootChoice(roots=(root.id,)))
            [left] = [
                each
                for each in pull(there, bucket, everything=True, move=move).imported
                if each.outcome != "same"
            ]
            assert (left.root.id, left.outcome) == (root.id, Outcome.FORGOTTEN)
            assert root.id not in {each.id for each in there.roots() if each.forgotten is None}
            pull(there, bucket, [root.id])
            assert root.id in {each.id for each in there.roots() if each.forgotten is None}

    def test_what_takes_its_name_back_comes_back(self, here: Store, bucket: Bucket, tmp_path: Path) -> None:
        with store_of(tmp_path, "*") as there:
            pull(there, bucket, ["name-0"])
            [first] = here.named_roots("name-0")
            other = here.roots_naming(root_of(here, tmp_path / "1.json").objects[0])[0].objects[0]
            here.tag("name-0", other.hex, move=True, scope=A)
            push(here, bucket, choose(here, ["name-0"]), restore=True)
            pull(there, bucket, everything=True)
            here.tag("name-0", first.objects[0].hex, move=True, scope=A)
            assert here.named_roots("name-0")[0].id == first.id
            push(here, bucket, choose(here, ["name-0"]), restore=True)
            pull(there, bucket, everything=True)
            assert [each.id for each in there.named_roots("name-0")] == [first.id]


class TestPushing:
    """What is damaged there refuses what needs it alone; who sees a part learns nothing of others."""

    @pytest.mark.parametrize("what", ["root", "name"])
    def test_damage_refuses_one_root(self, here: Store, bucket: Bucket, tmp_path: Path, what: str) -> None:
        [root] = here.named_roots("name-0")
        key = root_key(root.id) if what == "root" else name_key(A, "name-0")
        bucket.put(key, b"{")
        report = push(here, bucket, choose(here, [], everything=True))
        [refused] = report.refused
        assert (refused.root.id, type(refused.error)) == (root.id, RemoteDamaged)
        assert len(report.pushed) == len(here.roots()) - 1
        assert not push(here, bucket, choose(here, [], everything=True), anew=True).refused

    @pytest.mark.parametrize(("grants", "is_told"), [(("*",), True), ((A,), False)])
    def test_progress_is_for_who_sees_all(
        self, here: Store, bucket: Bucket, tmp_path: Path, grants: tuple[str, ...], is_told: bool
    ) -> None:
        """How many objects are to be sent says which are there, of whomever."""
        told: list[tuple[int, int]] = []
        with store_of(tmp_path, *grants) as there:
            document(there, tmp_path / "new.json", A)
            push(there, bucket, choose(there, [], everything=True), progress=lambda *of: told.append(of))
        assert bool(told) == is_told
