"""What was read, and when, is noted: as well as it can be, and for those alone who may know it."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.api import fold_bytes, unfold_bytes, verify_documents
from castore.digest import Digest
from castore.roots.model import RootDraft, RootKind
from castore.store import Access, Store, StoreHandle, reads
from castore.store.reads import OTHERS, Read, ReadLog, noted
from tests.store.conftest import NOW, Clock, put

DAY = 86_400
TODAY, TOMORROW = "2023-11-14", "2023-11-15"
DOCUMENT = b'{"a": "%s", "b": "%s"}' % (b"x" * 2000, b"y" * 3000)


def lines(store: Store) -> list[str]:
    path = Path(store.parts.layout.reads)
    return path.read_text("ascii").splitlines() if path.exists() else []


def everybody(reader: str) -> bool:
    return True


def opened(store: Store, *grants: str, scope: str | None = None) -> Store:
    access = Access(grants or None, scope)
    return Store.open(store.folder, clock=store.parts.clock, access=access)


def digest_of(store: Store, *pieces: bytes, **draft: object) -> Digest:
    return put(store, *pieces, **draft).objects[0]


class TestWholeReads:
    """What is read whole is noted when the store is closed; what is not, is not."""

    def test_of_one_object_are_one_line(self, store: Store) -> None:
        digest = digest_of(store, b"abc")
        store.read(digest)
        assert b"".join(store.chunks(digest)) == b"abc"
        assert lines(store) == []
        store.close()
        assert lines(store) == [f"{TODAY} default {digest.hex} 2 6"]

    def test_a_read_that_was_given_up_is_not_noted(self, store: Store) -> None:
        digest = digest_of(store, bytes(3 << 20))
        pieces = store.chunks(digest)
        next(pieces)
        pieces.close()
        store.close()
        assert lines(store) == []

    def test_checks_are_not_reads(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        put(store, b"abc")
        put(store, b"abc")
        assert list(verify_documents([("f", io.BytesIO(folded))], StoreHandle.of(store))) == []
        store.close()
        assert lines(store) == []

    def test_nothing_is_written_where_nothing_was_read(self, store: Store) -> None:
        store.stats()
        store.close()
        assert not os.path.exists(store.parts.layout.reads)

    def test_a_store_that_stays_open_writes_after_a_minute(self, store: Store, clock: Clock) -> None:
        digest = digest_of(store, b"abc")
        store.read(digest)
        clock.now += 61
        store.read(digest)
        assert lines(store) == [f"{TODAY} default {digest.hex} 2 6"]

    def test_many_are_held_up_to_a_limit(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reads, "READS_HELD_MAX", 3)
        found = put(store, *(bytes([each]) for each in range(7))).objects
        for digest in found:
            store.read(digest)
        assert len(lines(store)) == 6
        store.close()
        assert len(lines(store)) == 7


class TestDocuments:
    """Unfolding a recorded document is one line, and every object it names was read that day."""

    def test_whole(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        assert unfold_bytes(store, folded) == DOCUMENT
        store.close()
        root = store.roots()[0]
        assert root.document is not None
        size = sum(each.size for digest in root.objects if (each := store.stat(digest)))
        assert lines(store) == [f"{TODAY} default {root.document.digest.hex} 1 {size}"]
        assert {store.life(digest).last_read for digest in root.objects} == {TODAY}

    def test_in_part(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        root = store.roots()[0]
        unfold_bytes(store, folded, only=("$.a",))
        read = [digest for digest in root.objects if store.life(digest).last_read]
        assert len(read) == 1
        assert len(root.objects) == 2

    def test_that_no_root_records(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        unfold_bytes(store, folded + b"\n")
        store.close()
        assert {line.split()[2] for line in lines(store)} == {
            digest.hex for digest in store.roots()[0].objects
        }

    def test_of_more_objects_than_are_told_apart(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reads, "READS_HELD_MAX", 3)
        document = b"[%s]" % b",".join(b'"%s"' % (b"%02d" % each * 1000) for each in range(7))
        folded = fold_bytes(store, document)
        unfold_bytes(store, folded + b"\n")
        store.close()
        found = noted(store.parts.layout, everybody)
        assert sum(each.bytes for each in found.values()) == 7 * 2000
        assert found[OTHERS] == Read(TODAY, 4, 8000)


class TestWhoIsTold:
    """A note is told to those who see the reader's scope, and to nobody else."""

    def shared(self, store: Store) -> Digest:
        for scope in ("team/a", "team/b"):
            digest = digest_of(store, b"shared", scope=scope)
        return digest

    def test_another_scope_is_not_told_who_reads_the_same_object(self, store: Store) -> None:
        digest = self.shared(store)
        reader = opened(store, "team/a")
        reader.read(digest)
        reader.close()
        told = {
            grants: opened(store, *grants).life(digest).last_read
            for grants in (("team/a",), ("team/b",), ("team/*",), ("*",), ("team/b", "team/a"))
        }
        assert told == {
            ("team/a",): TODAY,
            ("team/b",): None,
            ("team/*",): TODAY,
            ("*",): TODAY,
            ("team/b", "team/a"): TODAY,
        }
        assert opened(store, "team/b").stats().read_bytes == 0
        assert opened(store, "team/a").stats().read_bytes == 6

    @pytest.mark.parametrize(
        ("grants", "scope", "label"),
        [
            (("*",), None, "*"),
            (("*",), "team/a", "team/a"),
            (("team/*",), None, "team/*"),
            (("team/*", "team/b"), None, "team/b"),
            (("team/*",), "team/a", "team/a"),
            (("team/a", "team/b"), "team/b", "team/b"),
        ],
    )
    def test_the_reader_is(
        self, store: Store, grants: tuple[str, ...], scope: str | None, label: str
    ) -> None:
        digest = self.shared(store)
        reader = opened(store, *grants, scope=scope)
        reader.read(digest)
        reader.close()
        assert [line.split()[1] for line in lines(store)] == [label]

    def test_what_one_within_a_glob_read_is_not_told_to_one_of_its_scopes(self, store: Store) -> None:
        digest = self.shared(store)
        reader = opened(store, "team/*")
        reader.read(digest)
        reader.close()
        assert opened(store, "team/a").life(digest).last_read is None
        assert opened(store, "*", scope="team/a").life(digest).last_read is None
        assert opened(store, "t*").life(digest).last_read == TODAY

    def test_who_was_granted_nothing_is_of_the_default_scope(self, store: Store) -> None:
        digest = digest_of(store, b"mine")
        store.read(digest)
        store.close()
        digest_of(store, b"other", scope="team/a")
        later = opened(store)
        assert not later.granted.is_operator
        assert later.life(digest).last_read == TODAY


class TestNeverInTheWay:
    """Where nothing can be noted the read is as good."""

    @pytest.fixture
    def digest(self, store: Store) -> Digest:
        return digest_of(store, b"abc")

    def read(self, store: Store, digest: Digest) -> None:
        assert store.read(digest) == b"abc"
        store.close()
        assert store.life(digest).state == "kept"

    def test_a_folder_stands_there(self, store: Store, digest: Digest) -> None:
        os.mkdir(store.parts.layout.reads)
        self.read(store, digest)

    def test_a_pipe_does(self, store: Store, digest: Digest) -> None:
        os.mkfifo(store.parts.layout.reads)
        self.read(store, digest)

    def test_a_pipe_that_somebody_reads(self, store: Store, digest: Digest) -> None:
        os.mkfifo(store.parts.layout.reads)
        listener = os.open(store.parts.layout.reads, os.O_RDONLY | os.O_NONBLOCK)
        try:
            self.read(store, digest)
            assert os.read(listener, 100) == b""
        finally:
            os.close(listener)

    @pytest.mark.parametrize("link", [os.symlink, os.link])
    def test_a_link_is_not_followed(self, store: Store, digest: Digest, tmp_path: Path, link: object) -> None:
        other = tmp_path / "other"
        other.write_bytes(b"theirs")
        link(other, store.parts.layout.reads)  # type: ignore[operator]
        self.read(store, digest)
        assert other.read_bytes() == b"theirs"

    def test_a_link_to_nothing_makes_nothing(self, store: Store, digest: Digest, tmp_path: Path) -> None:
        os.symlink(tmp_path / "new", store.parts.layout.reads)
        self.read(store, digest)
        assert not (tmp_path / "new").exists()

    def test_the_disk_is_full(self, store: Store, digest: Digest, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(descriptor: int, data: bytes) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        self.read(store, digest)

    def test_junk_and_a_torn_line_are_skipped(self, store: Store, digest: Digest) -> None:
        good = f"{TODAY} default {digest.hex} 1 3\n"
        junk = [b"\xff\x00\n", b"2023-11-14 default\n", b"2023-11-14 ../x zz 1 1\n", b"x" * 99_999 + b"\n"]
        huge = f"{TODAY} default {digest.hex} {'9' * 40} 1\n".encode()
        torn = good[:-3].encode()
        Path(store.parts.layout.reads).write_bytes(b"".join(junk) + good.encode() + huge + torn)
        assert noted(store.parts.layout, everybody) == {digest.hex: Read(TODAY, 1, 3)}
        self.read(store, digest)

    def test_deleting_it_loses_nothing(self, store: Store, digest: Digest) -> None:
        store.read(digest)
        store.close()
        os.unlink(store.parts.layout.reads)
        self.read(store, digest)


class TestTheFile:
    @pytest.mark.parametrize(("is_shared", "mode"), [(False, 0o600), (True, 0o660)])
    def test_is_as_private_as_the_store(self, tmp_path: Path, is_shared: bool, mode: int) -> None:
        with_mode = os.umask(0o077)
        try:
            made = Store.init(tmp_path / "s", shared=is_shared)
            made.read(digest_of(made, b"abc"))
            made.close()
        finally:
            os.umask(with_mode)
        assert stat.S_IMODE(os.stat(made.parts.layout.reads).st_mode) == mode

    def test_is_no_part_of_a_tracked_store(self, tmp_path: Path) -> None:
        made = Store.init(tmp_path / "s", tracked=True)
        assert "/reads" in Path(made.parts.layout.gitignore).read_text().splitlines()


DIGESTS = st.sampled_from([f"{each:064x}" for each in range(8)] + [OTHERS])
NOTES = st.lists(
    st.tuples(
        st.sampled_from(["2023-01-02", "2023-01-03", "2024-05-06"]),
        st.sampled_from(["default", "team/a", "team/*", "*"]),
        DIGESTS,
        st.integers(0, 10**6),
        st.integers(0, 10**12),
    ),
    max_size=60,
)


class TestCompaction:
    """No sum changes, for no reader; what has a line of its own is right."""

    @given(NOTES, st.integers(0, 3000))
    def test_no_sum_changes(self, notes: list[tuple[str, str, str, int, int]], length_max: int) -> None:
        text = "".join(f"{' '.join(map(str, each))}\n" for each in notes).encode()
        small = reads._compacted(text, length_max)
        for reader in {each[1] for each in notes}:
            before = reads._merged(reads._lines(text), reader.__eq__)
            after = reads._merged(reads._lines(small), reader.__eq__)
            for field in ("times", "bytes"):
                assert sum(getattr(each, field) for each in after.values()) == sum(
                    getattr(each, field) for each in before.values()
                )
            assert max(each.day for each in after.values()) == max(each.day for each in before.values())
            for digest, read in after.items():
                assert digest == OTHERS or before[digest] == read
        assert reads._compacted(small, length_max) == small
        others = [line for line in small.splitlines() if b" - " in line]
        assert len(small) - sum(len(line) + 1 for line in others) <= length_max
        assert len(others) <= 4

    def test_a_long_file_is_halved_by_who_finds_it(
        self, store: Store, monkeypatch: pytest.MonkeyPatch, clock: Clock
    ) -> None:
        monkeypatch.setattr(reads, "READS_BYTES_MAX", 4000)
        found = put(store, *(b"%d" % each for each in range(30))).objects
        total = 0
        for turn in range(40):
            clock.now = NOW + turn % 2 * DAY
            for digest in found:
                total += len(store.read(digest))
            store.close()
            assert os.path.getsize(store.parts.layout.reads) <= 4000 + 30 * 100
        assert sum(each.bytes for each in noted(store.parts.layout, everybody).values()) == total
        assert os.listdir(store.parts.layout.tmp) == []
        assert TOMORROW in {store.life(digest).last_read for digest in found}

    def test_while_another_does_it_nothing_happens(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import fcntl

        monkeypatch.setattr(reads, "READS_BYTES_MAX", 100)
        digest = digest_of(store, b"abc")
        store.read(digest)
        store.close()
        with open(store.parts.layout.reads, "rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            store.read(digest)
            store.close()
        assert len(lines(store)) == 2
        store.read(digest)
        store.close()
        assert len(lines(store)) == 1

    def test_logs_of_many_processes_do_not_mix(self, store: Store) -> None:
        parts = store.parts
        logs = [ReadLog(parts.layout, parts.modes, parts.clock, lambda: "default") for _ in range(5)]
        digest = Digest("a" * 64)
        for log in logs:
            log.note(digest, 10)
        for log in logs:
            log.flush()
        assert noted(parts.layout, everybody) == {digest.hex: Read(TODAY, 5, 50)}


def test_a_draft_kept_by_hand_is_read_like_any(store: Store) -> None:
    """A keep root of a document counts as its record too."""
    folded = fold_bytes(store, DOCUMENT)
    root = store.roots()[0]
    store.keep([RootDraft(RootKind.KEEP, tuple(root.objects), document=root.document)])
    unfold_bytes(store, folded)
    assert {store.life(digest).last_read for digest in root.objects} == {TODAY}
