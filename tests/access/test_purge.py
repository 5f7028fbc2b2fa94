"""Purge: the bytes are gone; who could see them is told when and why; to all others nothing has happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from castore import api
from castore.digest import Digest
from castore.errors import InvalidOption, ObjectMissing, ObjectPurged, RootDamaged
from castore.gc.sweep import sweep
from castore.roots.model import RootDraft, RootKind
from castore.store.keeping import RootChoice
from tests.access.conftest import Twins
from tests.access.world import (
    DIGESTS,
    OBJECTS,
    OTHER,
    OWN,
    OWN_DOCUMENT,
    ctx,
    object_file,
    opened,
    operator,
    unchanged,
)
from tests.store.faults import Crash, Script, scripted

BOTH = DIGESTS["both"]


def purge(folder: Path, reason: str = "a secret") -> None:
    owner = operator(folder)
    owner.purge(BOTH, reason)
    owner.close()


def sees(folder: Path, scope: str) -> bool:
    store = opened(folder, scope)
    try:
        return store.read(BOTH) == OBJECTS["both"]
    except (ObjectPurged, ObjectMissing):
        return False
    finally:
        store.close()


class TestTold:
    @pytest.mark.parametrize("scope", [OWN, OTHER, "team/*", "*"])
    def test_who_could_see_it_is_told_by_every_read(self, twins: Twins, scope: str) -> None:
        purge(twins.shared, "it held a key")
        document = str(twins.documents / "both.json")
        for line in (["cat", BOTH.hex], ["show", BOTH.hex[:12]], ["why", BOTH.hex], ["unfold", document]):
            told = ctx(twins.shared, *line, scope=scope)
            assert (told.code, told.out) == (12, ""), line
            assert "was purged on 2023-11-14: it held a key" in told.err
        told = ctx(twins.shared, "verify", document, scope=scope)
        assert told.code == 3
        assert told.out.startswith("purged")

    @pytest.mark.parametrize("scope", ["team/c", "default", "other"])
    def test_others_are_not(self, twins: Twins, scope: str) -> None:
        missing = ctx(twins.shared, "cat", BOTH.hex, scope=scope)
        purge(twins.shared)
        assert ctx(twins.shared, "cat", BOTH.hex, scope=scope) == missing
        assert "purged" not in missing.err

    def test_who_saw_it_only_once_is_not(self, twins: Twins) -> None:
        store = opened(twins.shared)
        store.forget(RootChoice(references=(BOTH.hex,)), at_once=True)
        keyed = [root.id for root in store.keyed_roots(RootKind.SUMMARY) if BOTH in root.objects]
        store.forget(RootChoice(roots=tuple(keyed)), at_once=True)
        purge(twins.shared)
        with pytest.raises(ObjectMissing):
            store.read(BOTH)
        store.close()


class TestGone:
    def test_the_roots_keep_the_rest_and_nothing_is_damaged(self, twins: Twins) -> None:
        store = opened(twins.alone)
        root = store.keep([RootDraft(RootKind.KEEP, (BOTH, DIGESTS["own"]), name="pair")])[0]
        purge(twins.alone)
        (now,) = [each for each in store.roots() if each.id == root.id]
        assert list(now.objects) == [DIGESTS["own"]]
        assert now.details["purged"] == [str(BOTH)]
        assert not object_file(twins.alone, "both").exists()
        owner = operator(twins.alone)
        assert list(api.verify_store(owner)) == []
        sweep(owner)
        assert list(api.verify_store(owner)) == []
        assert store.read(DIGESTS["own"]) == OBJECTS["own"]
        owner.close()
        store.close()

    def test_undoing_a_forget_does_not_bring_it_back(self, twins: Twins) -> None:
        store = opened(twins.shared)
        choice = RootChoice(references=(BOTH.hex,))
        store.forget(choice)
        purge(twins.shared)
        store.remember(choice)
        assert not sees(twins.shared, OWN)
        store.close()

    @pytest.mark.parametrize("reason", ["", " ", "a\nb", "a\0b", "x" * 10_000])
    def test_it_takes_a_reason(self, twins: Twins, reason: str) -> None:
        owner = operator(twins.shared)
        with unchanged(twins.shared), pytest.raises(InvalidOption):
            owner.purge(BOTH, reason)
        owner.close()


class TestPutAgain:
    def test_is_refused_to_who_could_see_it(self, twins: Twins) -> None:
        purge(twins.shared)
        path = str(twins.documents / "both.bin")
        with unchanged(twins.shared):
            assert ctx(twins.shared, "put", path).code == 12
            assert ctx(twins.shared, "put", path, str(twins.documents / "none.bin")).code == 12
        assert ctx(twins.shared, "put", "--allow-purged", path).code == 0
        assert sees(twins.shared, OWN)
        assert not sees(twins.shared, OTHER)

    def test_fold_too(self, twins: Twins) -> None:
        owner = operator(twins.alone)
        named = next(root for root in owner.roots() if root.source_name == "own.json").objects
        owner.purge(named[0], "a secret in a document")
        owner.close()
        store = opened(twins.alone)
        with unchanged(twins.alone), pytest.raises(ObjectPurged):
            api.fold_bytes(store, OWN_DOCUMENT)
        document = api.fold_bytes(store, OWN_DOCUMENT, allow_purged=True)
        assert api.unfold_bytes(store, document) == OWN_DOCUMENT
        store.close()

    def test_elsewhere_is_as_if_nothing_had_been(self, twins: Twins) -> None:
        put = ["put", "--json", str(twins.documents / "both.bin")]
        expected = ctx(twins.alone, *put, scope="team/c")
        purge(twins.shared)
        assert ctx(twins.shared, *put, scope="team/c") == expected
        assert sees(twins.shared, "team/c")
        assert not sees(twins.shared, OWN)
        assert ctx(twins.shared, "cat", BOTH.hex, scope=OWN).code == 12


class TestKilled:
    @pytest.mark.parametrize("call", ["open", "write", "fsync", "rename", "unlink", "mkdir"])
    def test_and_done_again_it_ends(self, twins: Twins, tmp_path: Path, call: str) -> None:
        import shutil

        for before in range(40):
            folder = Path(shutil.copytree(twins.shared, tmp_path / f"{call}-{before}"))
            script = Script("." * before + "X")
            owner = operator(folder)
            crashed = False
            with scripted({call: script}):
                try:
                    owner.purge(BOTH, "a secret")
                except Crash:
                    crashed = True
            owner.close()
            if not crashed:
                return
            if not object_file(folder, "both").exists():
                _elsewhere(folder)
            purge(folder)
            assert not object_file(folder, "both").exists()
            for scope in (OWN, OTHER, "*"):
                store = opened(folder, scope)
                with pytest.raises(ObjectPurged):
                    store.read(BOTH)
                store.close()
        raise AssertionError("it has fewer calls")


def _elsewhere(folder: Path) -> None:
    """The file is gone and the roots still name it: what another scope puts then is not theirs to see."""
    store = opened(folder, "team/c")
    api.put(store, OBJECTS["both"])
    store.close()
    assert sees(folder, "team/c")
    assert not sees(folder, OWN)
    assert not sees(folder, OTHER)


class TestDamagedTombstone:
    def test_tells_nobody_and_stops_who_would_put_the_bytes(self, twins: Twins) -> None:
        path = twins.shared / "tombstones" / f"{DIGESTS['own purged'].hex}.json"
        path.chmod(0o600)
        path.write_bytes(b"junk")
        store = opened(twins.shared)
        with pytest.raises(ObjectMissing):
            store.read(DIGESTS["own purged"])
        with unchanged(twins.shared), pytest.raises(RootDamaged) as caught:
            api.put(store, OBJECTS["own purged"])
        assert ".json" not in caught.value.message
        api.put(store, b"any other bytes")
        assert store.read(Digest.of(b"any other bytes"))
        store.close()
