"""repair puts right what verify finds, deletes nothing, and may be killed at any instant."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from castore.digest import Digest
from castore.errors import CastoreError, ScopeDenied
from castore.gc.repair import repair
from castore.gc.salvage import Search
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.objects.finding import FindingName
from castore.roots.model import RootKind
from castore.store import Store

from .conftest import Clock, everything, file_of, overwrite, put
from .damages import (
    DAMAGES,
    DIGESTS,
    FIRST,
    KEPT,
    LOSING,
    OF_THE_INDEX,
    OPERATOR,
    SECOND,
    contents,
    objects,
    prepared,
)
from .faults import Crash, Script, scripted


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castore.gc.verify._LOOK_AGAIN_SECONDS", ())


def without_index(store: Store) -> None:
    store.close()
    for each in Path(store.folder).glob("index.sqlite*"):
        if each.is_file():
            each.unlink()


def reopened(store: Store) -> Store:
    store.close()
    return opened(Path(store.folder), store.parts.clock)


def opened(folder: Path, clock: Callable[[], float]) -> Store:
    return Store.open(folder, clock=clock, access=OPERATOR)


def sources(*pieces: bytes) -> list[tuple[str, io.BytesIO]]:
    return [(f"file-{number}", io.BytesIO(piece)) for number, piece in enumerate(pieces)]


def state(folder: Path) -> dict[str, bytes]:
    """Everything that repair has to bring about, without times."""
    found = {}
    for name, data in everything(folder).items():
        if name.startswith("roots"):
            members = json.loads(data)
            data = json.dumps([members["scope"], members["kind"], members["objects"]]).encode()
        found[name] = data
    return found


CASES = [
    (name, has_index)
    for name in DAMAGES
    for has_index in (True, False)
    if has_index or name not in OF_THE_INDEX
]


SAMPLE = [
    ("swapped", True),
    ("changed", True),
    ("folder_in_place", True),
    ("misplaced", False),
    ("root_rot", True),
    ("root_rot", False),
    ("roots_gone", True),
    ("root_shard_elsewhere", False),
    ("newer_index", True),
]
"""Damages that repair is killed at in the short run."""


@pytest.mark.parametrize(("name", "has_index"), CASES)
class TestEveryDamage:
    @pytest.fixture
    def damaged(self, fast_path: Path, clock: Clock, name: str, has_index: bool) -> Iterator[Store]:
        store = prepared(fast_path / "s", clock)
        DAMAGES[name](store)
        if not has_index:
            without_index(store)
        store = reopened(store)
        yield store
        store.close()

    def test_is_found_and_put_right(self, damaged: Store, name: str, has_index: bool) -> None:
        seen = {finding.name for finding in verify(damaged)}
        is_quiet = not has_index and name in ("changed", "root_gone")
        assert seen or is_quiet, name
        before, held = contents(Path(damaged.folder)), objects(Path(damaged.folder))
        report = repair(damaged)
        damaged = reopened(damaged)
        findings = list(verify(damaged))
        assert [finding.digest for finding in findings] == [each.digest for each in report.remaining]
        assert {finding.name for finding in findings} <= {FindingName.MISSING}
        assert bool(findings) == (name in LOSING), [*map(str, findings)]
        after = contents(Path(damaged.folder))
        if name not in ("link", "shard_elsewhere", "root_shard_elsewhere"):
            assert before <= after
        assert held <= objects(Path(damaged.folder))
        for digest in held:
            assert Digest.of(damaged.parts.database.read(digest)) == digest

    def test_a_dry_run_tells_it_and_repair_twice_is_repair_once(
        self, damaged: Store, name: str, has_index: bool
    ) -> None:
        before = everything(Path(damaged.folder))
        planned = repair(damaged, dry_run=True)
        assert all(act.words(is_done=False).startswith("would ") for act in planned.acts)
        assert everything(Path(damaged.folder)) == before
        done = repair(damaged)
        assert [each.kind for each in planned.acts] == [each.kind for each in done.acts]
        before = everything(Path(damaged.folder))
        again = repair(reopened(damaged))
        assert (again.acts, again.remaining) == ((), done.remaining)
        assert everything(Path(damaged.folder)) == before

    def test_with_the_bytes_at_hand_nothing_is_missing(
        self, damaged: Store, name: str, has_index: bool
    ) -> None:
        report = repair(damaged, sources(*KEPT))
        assert report.remaining == ()
        damaged = reopened(damaged)
        assert list(verify(damaged)) == []
        for digest, data in zip(DIGESTS, KEPT, strict=True):
            assert damaged.parts.database.read(digest) == data
        if has_index and not name.endswith("_index") and name != "index_is_a_folder":
            assert {(root.scope, root.name) for root in damaged.roots()} >= {
                ("default", None),
                ("default", "mine"),
                ("other", None),
            }
        assert sweep(damaged, forgotten_now=True).objects == 0


@pytest.mark.parametrize(("name", "has_index"), CASES)
class TestWhoMay:
    def test_the_owner_of_a_store_of_one_scope(
        self, fast_path: Path, clock: Clock, name: str, has_index: bool
    ) -> None:
        """Whatever is damaged: who repairs was not granted anything."""
        store = prepared(fast_path / "s", clock, scope="default")
        DAMAGES[name](store)
        if not has_index:
            without_index(store)
        store.close()
        store = Store.open(fast_path / "s", clock=clock)
        try:
            repair(store)
        except ScopeDenied:
            # Roots that can't be read may be of another scope: then the operator says who it is.
            assert name.startswith("root")
            repair(opened(fast_path / "s", clock))
        store.close()
        assert repair(Store.open(fast_path / "s", clock=clock)).acts == ()


class TestKilled:
    """The same, whatever it was that the killed run had done."""

    @pytest.mark.parametrize(
        ("name", "has_index"),
        [case if case in SAMPLE else pytest.param(*case, marks=pytest.mark.long) for case in CASES],
    )
    def test_at_every_call_and_run_again_it_ends_the_same(
        self, fast_path: Path, clock: Clock, name: str, has_index: bool
    ) -> None:
        store = prepared(fast_path / "s", clock)
        DAMAGES[name](store)
        if not has_index:
            without_index(store)
        store.close()
        whole = fast_path / "whole"
        _copy(fast_path, whole)
        repair(opened(whole / "s", clock), sources(FIRST))
        expected = state(whole / "s")
        for call in ("rename", "unlink", "fsync", "syncfs", "mkdir", "write", "link"):
            for before in range(200):
                copy = fast_path / f"{call}-{before}"
                _copy(fast_path, copy)
                script = Script("." * before + "X")
                killed = opened(copy / "s", clock)
                with scripted({call: script}), contextlib.suppress(Crash, CastoreError):
                    repair(killed, sources(FIRST))
                killed.close()
                again = opened(copy / "s", clock)
                repair(again, sources(FIRST))
                found = state(copy / "s")
                # What was staged, and a half-made roots/ that was moved aside, is nothing that is missed.
                extra = ("tmp/", "damaged/tmp-new-roots")
                assert {key: value for key, value in found.items() if not key.startswith(extra)} == expected
                again.close()
                shutil.rmtree(copy)
                if script.count <= before:
                    break


def _copy(source: Path, target: Path) -> None:
    """What lies in `source`, with its links, hard ones too, and times."""
    target.mkdir()
    names = [each.name for each in source.iterdir() if each != target and "-" not in each.name]
    names += [each for each in ("other-name", "root-name", "roots-shard") if (source / each).exists()]
    command = ["cp", "-a", *(str(source / each) for each in names if each != "whole"), str(target)]
    import subprocess

    subprocess.run(command, check=True)
    for path in target.rglob("*"):
        if path.is_symlink():
            aim = os.readlink(path)
            path.unlink()
            path.symlink_to(aim.replace(str(source), str(target)))


class TestCombined:
    @given(
        names=st.lists(st.sampled_from(sorted(DAMAGES)), min_size=2, max_size=4, unique=True),
        has_index=st.booleans(),
        number=st.integers(0, 1 << 60),
    )
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_any_damages_together(
        self, fast_path: Path, clock: Clock, names: list[str], has_index: bool, number: int
    ) -> None:
        folder = fast_path / os.urandom(8).hex() / "s"
        folder.parent.mkdir()
        store = prepared(folder, clock)
        for name in names:
            try:
                DAMAGES[name](store)
            except (OSError, CastoreError, ValueError):
                continue  # The one before left nothing to damage.
        if not has_index:
            without_index(store)
        store = reopened(store)
        held = objects(folder)
        report = repair(store)
        store = reopened(store)
        findings = list(verify(store))
        assert [finding.digest for finding in findings] == [each.digest for each in report.remaining]
        assert {finding.name for finding in findings} <= {FindingName.MISSING}
        assert held <= objects(folder)
        assert repair(store).acts == ()
        assert repair(store, sources(*KEPT)).remaining == ()
        assert list(verify(reopened(store))) == []
        store.close()


class TestRecovered:
    def test_what_no_root_names_is_the_operators(self, store: Store) -> None:
        root = put(store, FIRST, SECOND)
        without_index(store)
        os.unlink(store.parts.layout.root_file(root.id))
        put(store := reopened(store), b"kept")
        report = repair(store)
        (recovered,) = (each for each in store.roots() if each.kind is RootKind.RECOVERED)
        assert (recovered.scope, recovered.objects, recovered.expires) == ("*", root.objects, None)
        assert [str(act) for act in report.acts][-1] == f"named 2 objects by {recovered.id}"

    def test_many_are_shared_out(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("castore.gc.mending.RECOVERED_OBJECTS_MAX", 3)
        put(store, *(b"%d" % number for number in range(10)))
        without_index(store)
        shutil.rmtree(store.parts.layout.roots)
        planned = repair(store := reopened(store), dry_run=True)
        report = repair(store := reopened(store))
        named = [act for act in report.acts if act.kind == "named"]
        assert [act.count for act in named] == [3, 3, 3, 1]
        assert {act.root for act in named} == {root.id for root in store.roots()}
        assert planned.acts == report.acts
        assert list(verify(store)) == []

    def test_a_root_that_expired_or_lost_its_name_is_not_brought_back(
        self, store: Store, clock: Clock
    ) -> None:
        gone = put(store, FIRST, keep_seconds=10)
        clock.now += 20
        os.unlink(store.parts.layout.root_file(gone.id))
        assert "restored" not in {act.kind for act in repair(store).acts}


class TestWhatCantBeSeen:
    def test_is_an_error_and_nothing_is_done(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        root = put(store, FIRST)
        path = store.parts.layout.root_file(root.id)
        honest = os.open

        def denied(name: str, *options: int, **more: int) -> int:
            if name == path:
                raise PermissionError(13, "Permission denied", path)
            return honest(name, *options, **more)

        before = everything(Path(store.folder))
        monkeypatch.setattr("castore.roots.files.os.open", denied)
        with pytest.raises(CastoreError, match="can't read"):
            repair(store)
        monkeypatch.undo()
        assert everything(Path(store.folder)) == before


class TestSalvage:
    """Any file that still has the bytes heals; sizes known or not."""

    @pytest.mark.parametrize("is_size_known", [True, False])
    @pytest.mark.parametrize("is_large", [True, False])
    def test_any_json_value_and_what_it_says(self, is_size_known: bool, is_large: bool) -> None:
        binary = os.urandom(600)
        text = 'line\n"ü\u2028' * 90
        rows = [{"id": number, "n": [number] * 3} for number in range(60_000 if is_large else 300)]
        document = json.dumps(
            {
                "rows": rows,
                "text": text,
                "plain": base64.b64encode(binary).decode(),
                "uri": "data:image/png;base64," + base64.b64encode(binary[:300]).decode(),
                "small": [1, 2],
            }
        ).encode()
        wanted = [
            document,
            json.dumps(rows).encode(),
            json.dumps(rows[17]).encode(),
            text.encode(),
            json.dumps(text).encode(),
            binary,
            binary[:300],
            b"[1, 2]",
        ]
        if is_large and not is_size_known:
            wanted = [each for each in wanted if len(each) > 256]
        sizes = {Digest.of(each): len(each) if is_size_known else None for each in wanted}
        taken: dict[Digest, bytes] = {}
        search = Search(sizes, lambda digest, pieces: taken.update({digest: b"".join(pieces)}))
        search.file(io.BytesIO(document))
        assert {Digest.of(data) for data in taken.values()} == set(taken) == set(sizes)

    def test_a_session_that_breaks_off(self) -> None:
        lines = b"".join(json.dumps({"text": f"{number}" * 400}).encode() + b"\n" for number in range(50))
        wanted = {Digest.of(b"7" * 400): None, Digest.of(b"12" * 400): 800}
        taken = []
        Search(wanted, lambda digest, _: taken.append(digest)).file(io.BytesIO(lines + b'{"cut'))
        assert set(taken) <= set(wanted)

    def test_an_objects_file(self, store: Store, tmp_path: Path) -> None:
        for digest, data in zip(DIGESTS, KEPT, strict=True):
            put(store, data)
            backup = file_of(store, digest).read_bytes()
            overwrite(file_of(store, digest), b"junk")
            report = repair(store, sources(b"nothing", backup))
            assert (f"healed {digest} from file-1") in map(str, report.acts)
            assert store.read(digest) == data

    def test_hostile_files_cost_little(self) -> None:
        wanted: dict[Digest, int | None] = {Digest.of(b"x"): None}
        deep = b"[" * 500 + b"]" * 500
        for data in (
            b"[" * 100_000,
            b'"' + b"\\" * 1_000_000,
            deep * 1000,
            os.urandom(3_000_000),
            b"\x28\xb5\x2f\xfd",
        ):
            search = Search(wanted, lambda digest, pieces: None)
            search.file(io.BytesIO(data))
            assert search.wanted == wanted

    def test_what_was_asked_for_is_healed_and_kept(self, store: Store) -> None:
        put(store, b"something")
        asked = {Digest.of(FIRST): "folded.json", Digest.of(SECOND): "folded.json"}
        report = repair(store, sources(FIRST), asked=asked)
        assert [each.digest for each in report.remaining] == [Digest.of(SECOND)]
        assert store.read(Digest.of(FIRST)) == FIRST
        assert [each.name for each in verify(store)] == []


class TestPutHeals:
    """What is in the place of an object's file is replaced when its bytes are put, or folded, again."""

    @pytest.mark.parametrize("data", [FIRST, KEPT[2]], ids=["small", "large"])
    @pytest.mark.parametrize("kind", ["junk", "link", "dangling link", "pipe", "hard link to junk"])
    def test_whatever_is_there(self, store: Store, tmp_path: Path, data: bytes, kind: str) -> None:
        (digest,) = put(store, data).objects
        path, outside = file_of(store, digest), tmp_path / "outside"
        shutil.copy(path, outside)
        good = path.read_bytes()
        path.unlink()
        if kind == "junk":
            path.write_bytes(b"junk")
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "hard link to junk":
            overwrite(outside, b"junk")
            os.link(outside, path)
        else:
            path.symlink_to(outside if kind == "link" else tmp_path / "absent")
        before = outside.read_bytes()
        put(store, data)
        assert path.read_bytes() == good
        assert not path.is_symlink()
        assert outside.read_bytes() == before
        assert list(verify(store)) == []

    def test_a_folder_is_for_repair(self, store: Store) -> None:
        (digest,) = put(store, FIRST).objects
        path = file_of(store, digest)
        path.unlink()
        path.mkdir()
        (path / "somebody's").write_bytes(b"x")
        with pytest.raises(CastoreError):
            put(store, FIRST)
        assert repair(store, sources(FIRST)).remaining == ()
        assert store.read(digest) == FIRST
        assert list(verify(store)) == []
