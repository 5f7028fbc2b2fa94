"""Parts of large objects: each frame that is read is checked, by rows that follow from the bytes."""

from __future__ import annotations

import io
import json
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from castore import codec
from castore.api import fold_bytes
from castore.config import FRAME_BYTES
from castore.digest import Digest
from castore.errors import ObjectDamaged, ObjectMissing, ObjectPurged
from castore.gc.repair import repair
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.index import frames, rebuild
from castore.objects.finding import FindingName
from castore.objects.frames import FrameFacts
from castore.roots.model import RootDraft, RootKind
from castore.store import Access, Store, staging
from castore.store.ranged import Mark
from castore.store.reads import ReadCount, noted
from tests.store.conftest import Clock, file_of, overwrite, put
from tests.store.limited import Limited

SIZE = 3 * FRAME_BYTES
TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]', re.DOTALL)
CONTINUATION = bytes(range(0x80, 0xC0))

AT_BOUNDARIES = [
    b'\\"',
    b"\\\\",
    b"\\u00e9",
    "é".encode(),
    "😀".encode(),
    b'","',
    b'",[{"a":"',
    b'",\n[\n],"',
]
"""In the middle of a string; each is put so that a frame begins inside of it, wherever it may."""


@pytest.fixture
def store(fast_path: Path, clock: Clock) -> Iterator[Store]:
    made = Store.init(fast_path / "s", clock=clock)
    yield made
    made.close()


def closing(text: bytes) -> bytes:
    """What ends what the text left open: a string, then arrays and objects."""
    opens = []
    for token in TOKEN.findall(text + b'"'):
        if token in b"[{":
            opens.append(token)
        elif token in b"]}":
            opens.pop()
    return b'"' + b"".join(reversed([b"]" if each == b"[" else b"}" for each in opens]))


def array(*tokens: tuple[bytes, int], fill: bytes = b"x", size: int = SIZE + 1000) -> bytes:
    """A JSON array of one or more long strings. tokens: what is put at each boundary of frames, and how many
    of its bytes come before it."""
    data = b'["'
    for number, (token, before) in enumerate(tokens, 1):
        room = number * FRAME_BYTES - before - len(data)
        data += b"x" * (room % len(fill)) + fill * (room // len(fill)) + token
    data += fill * ((size - len(data)) // len(fill))
    return data + closing(data)


def rows_of(store: Store, digest: Digest) -> tuple[FrameFacts, ...] | None:
    with sqlite3.connect(store.parts.layout.index) as connection:
        found = frames.rows(connection, digest)
    connection.close()
    return found


def change_rows(store: Store, statement: str) -> None:
    store.close()
    with sqlite3.connect(store.parts.layout.index) as connection:
        connection.execute(statement)
    connection.close()


def expected_marks(data: bytes) -> list[Mark]:
    """Of a JSON array, by its tokens from the beginning."""
    marks, depth, commas = [], 0, 0
    starts = list(range(0, len(data), FRAME_BYTES))
    for token in TOKEN.finditer(data):
        while len(marks) < len(starts) and starts[len(marks)] <= token.start():
            marks.append((commas, depth, 0))
        while len(marks) < len(starts) and starts[len(marks)] < token.end():
            inside = data[token.start() + 1 : starts[len(marks)]]
            escapes = len(inside) - len(inside.rstrip(b"\\"))
            marks.append((commas, depth, 2 if escapes % 2 else 1))
        depth += (token[0] in b"[{") - (token[0] in b"]}")
        commas += token[0] == b"," and depth == 1
    before = [data[:start] for start in starts]
    return [
        Mark(len(each), each.count(b"\n"), len(each.translate(None, CONTINUATION)), *mark)
        for each, mark in zip(before, marks, strict=True)
    ]


def other_frame(data: bytes, number: int) -> bytes:
    """A valid file of as many bytes, of which one frame is another."""
    start = number * FRAME_BYTES
    changed = bytearray(data)
    changed[start + 100 : start + 103] = b"???"
    pieces = (bytes(changed[at : at + FRAME_BYTES]) for at in range(0, len(data), FRAME_BYTES))
    return b"".join(codec.encode_pieces(pieces, 3))


class TestMarks:
    @pytest.mark.parametrize("before", [1, 2, 3, 5])
    def test_are_those_of_the_bytes_wherever_a_frame_begins(self, store: Store, before: int) -> None:
        for at in range(0, len(AT_BOUNDARIES), 4):
            # As few as are measured without numpy, and more.
            for tokens in (AT_BOUNDARIES[at : at + 2], AT_BOUNDARIES[at : at + 4]):
                fitting = [(token, min(before, len(token))) for token in tokens]
                data = array(*fitting, size=len(tokens) * FRAME_BYTES + 1000)
                ranged = store.ranged(put(store, data).objects[0])
                assert ranged.is_array
                assert list(ranged.marks()) == expected_marks(data)

    @pytest.mark.parametrize("size", [FRAME_BYTES, FRAME_BYTES + 1, 2 * FRAME_BYTES])
    def test_of_whole_frames(self, store: Store, size: int) -> None:
        data = b"[" + b" " * (size - 3) + b"1]"
        ranged = store.ranged(put(store, data).objects[0])
        assert ranged.is_array
        assert list(ranged.marks()) == expected_marks(data)

    def test_of_rows(self, store: Store) -> None:
        rows = [{"id": each, "é": ["a\n,", {"b": "\\" * (each % 900)}]} for each in range(5_000)]
        data = json.dumps(rows, ensure_ascii=False, indent=1).encode()
        assert len(data) > 4 * FRAME_BYTES
        ranged = store.ranged(put(store, data).objects[0])
        assert list(ranged.marks()) == expected_marks(data)

    @pytest.mark.parametrize(
        "data",
        [
            b"x\n\xc3\xa9" * FRAME_BYTES,
            b"[1]" + b" " * FRAME_BYTES + b"[2]",
            b"[" + b" " * FRAME_BYTES + b"1}",
            b'["' + b"a" * FRAME_BYTES,
            b"[[1" + b" " * 5 * FRAME_BYTES + b"]",
        ],
    )
    def test_of_what_is_no_array_count_lines_and_characters_alone(self, store: Store, data: bytes) -> None:
        ranged = store.ranged(put(store, data).objects[0])
        assert not ranged.is_array
        for mark in ranged.marks():
            before = data[: mark.offset]
            counts = (before.count(b"\n"), len(before.translate(None, CONTINUATION)))
            assert mark[1:] == (*counts, 0, 0, 0)

    @pytest.mark.parametrize("data", [b"", b"[1, 2]", b'  ["a"]\n', b"[1", b"abc\n", b'{"a":[1]}', b"[1] 2"])
    def test_of_a_short_object_are_one_at_its_beginning(self, store: Store, data: bytes) -> None:
        ranged = store.ranged(put(store, data).objects[0])
        assert list(ranged.marks()) == [Mark(0, 0, 0, 0, 0, 0)]
        assert ranged.is_array is (data in (b"[1, 2]", b'  ["a"]\n'))


class TestRanges:
    def test_are_slices_of_the_whole(self, store: Store) -> None:
        for data in (
            b"",
            b"abc",
            os.urandom(FRAME_BYTES - 1),
            os.urandom(2 * FRAME_BYTES),
            os.urandom(SIZE - 7),
        ):
            ranged = store.ranged(put(store, data).objects[0])
            assert ranged.size == len(data)
            edges = {at + by for at in range(0, len(data) + 1, FRAME_BYTES) for by in (-1, 0, 1)}
            for start in {0, len(data) - 1, len(data) + 5, *edges}:
                for stop in (0, start - 1, start, start + 1, start + FRAME_BYTES + 1, len(data) + 1):
                    wanted = data[max(0, start) : max(0, stop)]
                    assert ranged.read(start, stop) == wanted
                    assert b"".join(ranged.pieces(start, stop)) == wanted

    def test_are_one_read_of_the_bytes_that_came_back(self, store: Store) -> None:
        digest = put(store, bytes(SIZE)).objects[0]
        ranged = store.ranged(digest)
        ranged.marks()
        ranged.read(0, 10)
        ranged.read(FRAME_BYTES - 5, FRAME_BYTES + 5)
        store.close()
        (read,) = noted(store.parts.layout, lambda reader: True).values()
        assert (read.times, read.bytes) == (1, 20)

    def test_are_counted_by_who_asks_for_it(self, store: Store) -> None:
        digest = put(store, bytes(SIZE)).objects[0]
        count = ReadCount()
        store.ranged(digest, count=count).read(5, 10)
        store.close()
        assert count.take() == [(digest.hex, 1, 5)]
        assert not noted(store.parts.layout, lambda reader: True)

    def test_of_what_is_not_there_or_not_seen_are_missing(self, store: Store) -> None:
        digest = put(store, bytes(SIZE), scope="a").objects[0]
        for other in (Digest.of(b"nothing"), digest):
            reader = Store.open(store.folder, access=Access(("b",)))
            with pytest.raises(ObjectMissing):
                reader.ranged(other)
            reader.close()

    def test_of_what_goes_meanwhile_are_missing_and_of_what_is_purged_purged(self, store: Store) -> None:
        digest = put(store, os.urandom(SIZE)).objects[0]
        ranged = store.ranged(digest)
        store.purge(digest, "asked for")
        with pytest.raises(ObjectPurged):
            ranged.read(0, 1)
        with pytest.raises(ObjectPurged):
            store.ranged(digest)


class TestDamage:
    """A valid frame of other bytes is caught by the ranges that touch it, and by no other."""

    @pytest.mark.parametrize("number", range(3))
    def test_of_a_frame(self, store: Store, number: int) -> None:
        data = array((b"x", 1), (b"x", 1))
        digest = put(store, data).objects[0]
        overwrite(file_of(store, digest), other_frame(data, number))
        for each in range(3):
            ranged = store.ranged(digest)
            start = each * FRAME_BYTES
            if each == number:
                with pytest.raises(ObjectDamaged):
                    ranged.read(start + 500_000, start + 500_001)
            else:
                assert ranged.read(start, start + FRAME_BYTES) == data[start : start + FRAME_BYTES]

    def test_is_caught_without_an_index(self, store: Store) -> None:
        data = array((b"x", 1), (b"x", 1))
        digest = put(store, data).objects[0]
        overwrite(file_of(store, digest), other_frame(data, 1))
        store.close()
        os.remove(store.parts.layout.index)
        ranged = store.ranged(digest)
        for act in (lambda: ranged.read(0, 1), ranged.marks, lambda: ranged.is_array):
            with pytest.raises(ObjectDamaged):
                act()
        assert not os.path.exists(store.parts.layout.index)

    def test_of_pieces_gives_those_before_it(self, store: Store) -> None:
        data = array((b"x", 1), (b"x", 1))
        digest = put(store, data).objects[0]
        overwrite(file_of(store, digest), other_frame(data, 1))
        pieces = store.ranged(digest).pieces(10, SIZE)
        assert next(pieces) == data[10:FRAME_BYTES]
        with pytest.raises(ObjectDamaged):
            next(pieces)

    @pytest.mark.parametrize("length", [0, 10, 500, 3000])
    def test_of_a_file_that_is_cut_off(self, store: Store, length: int) -> None:
        digest = put(store, os.urandom(SIZE)).objects[0]
        ranged = store.ranged(digest)
        overwrite(file_of(store, digest), file_of(store, digest).read_bytes()[:length])
        with pytest.raises(ObjectDamaged):
            ranged.read(SIZE - 10, SIZE)
        with pytest.raises(ObjectDamaged):
            store.ranged(digest)

    def test_that_is_mended_between_two_reads_is_not_seen(self, store: Store) -> None:
        """The new file's frames may lie elsewhere."""
        data = json.dumps([[each, str(each) * 3] for each in range(120_000)]).encode()
        digest = put(store, data).objects[0]
        ranged = store.ranged(digest)
        assert ranged.read(0, 5) == data[:5]
        file_of(store, digest).unlink()
        store.parts.config = type(store.config)(compression_level=15)
        put(store, data, name="again")
        assert ranged.read(2 * FRAME_BYTES, 2 * FRAME_BYTES + 9) == data[2 * FRAME_BYTES :][:9]


class TestRowsThatDoNotFit:
    """They cost time, and lead to no other bytes or lines; verify tells them, and repair mends them."""

    CHANGES = (
        "DELETE FROM frames",
        "DELETE FROM frames WHERE number=1",
        "UPDATE frames SET sha256=zeroblob(32) WHERE number=2",
        "UPDATE frames SET sha256=(SELECT sha256 FROM frames WHERE number=0)",
        "UPDATE frames SET number=number+1 WHERE number=3",
        "INSERT INTO frames SELECT digest,4,sha256,0,0,0,0,0 FROM frames WHERE number=3",
        "UPDATE frames SET newlines=-9",
        "UPDATE frames SET commas=1 << 40 WHERE number=1",
        "UPDATE frames SET commas=7 WHERE number=1",
        "UPDATE frames SET newlines=newlines+1 WHERE number=2",
        "UPDATE frames SET characters=characters-1, depth=2 WHERE number=1",
        "UPDATE frame_checks SET sha256=zeroblob(32)",
        "DELETE FROM frame_checks",
    )

    @pytest.mark.parametrize("change", CHANGES)
    def test_are_done_without(self, store: Store, change: str) -> None:
        data = array((b'","', 1), (b"\n", 0), (b"\\n", 1))
        digest = put(store, data).objects[0]
        change_rows(store, change)
        ranged = store.ranged(digest)
        assert ranged.read(0, len(data)) == data
        assert ranged.is_array
        assert list(ranged.marks()) == expected_marks(data)
        store.close()

    @pytest.mark.parametrize("change", CHANGES)
    def test_are_found_and_mended(self, store: Store, change: str) -> None:
        data = array((b'","', 1), (b"\n", 0), (b"\\n", 1))
        digest = put(store, data).objects[0]
        before = rows_of(store, digest)
        change_rows(store, change)
        (finding,) = verify(store)
        assert (finding.name, finding.digest) == (FindingName.MISMATCH, digest)
        assert [str(act) for act in repair(store).acts] == ["corrected 1 row of the index"]
        store.close()
        assert rows_of(store, digest) == before is not None
        assert list(verify(store)) == []

    def test_of_a_short_object_too(self, store: Store) -> None:
        digest = put(store, b"abc").objects[0]
        store.close()
        with sqlite3.connect(store.parts.layout.index) as connection:
            connection.execute("INSERT INTO frames VALUES (?,0,zeroblob(32),0,0,0,0,0)", (digest.raw,))
        connection.close()
        assert store.ranged(digest).read(0, 3) == b"abc"
        assert [each.name for each in verify(store)] == [FindingName.MISMATCH]
        repair(store)
        assert rows_of(store, digest) is None


class TestEveryWayIn:
    """Whatever brings a large object, its frames have their rows, and the same ones."""

    DATA = json.dumps([{"n": each, "s": '"é'} for each in range(70_000)]).encode()

    @pytest.fixture
    def expected(self, tmp_path: Path) -> tuple[FrameFacts, ...]:
        other = Store.init(tmp_path / "other")
        digest = put(other, self.DATA).objects[0]
        other.close()
        found = rows_of(other, digest)
        assert found is not None
        assert len(found) == -(-len(self.DATA) // FRAME_BYTES) > 1
        assert [each.depth for each in found] == [0, 2, 2][: len(found)] or found[1].depth > 0
        return found

    def test_in_pieces(self, store: Store, expected: tuple[FrameFacts, ...]) -> None:
        with store.batch() as batch:
            staged = batch.stage_chunks(self.DATA[at : at + 7777] for at in range(0, len(self.DATA), 7777))
            batch.commit(RootDraft(RootKind.PUT, (staged.digest,)))
        assert rows_of(store, staged.digest) == expected

    def test_in_files_that_forked_processes_stage(
        self, store: Store, expected: tuple[FrameFacts, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(staging, "_SHARE_FILES_MIN", 1)
        monkeypatch.setattr(staging, "core_count", lambda: 2)
        monkeypatch.setattr(staging, "may_fork", lambda: True)
        paths = []
        for number, data in enumerate((b"a", b"b", b"c", self.DATA)):
            (tmp_path / str(number)).write_bytes(data)
            paths.append(str(tmp_path / str(number)))
        with store.batch() as batch:
            staged = batch.stage_files(paths)
            batch.commit(RootDraft(RootKind.PUT, tuple(each.digest for each in staged)))  # type: ignore[union-attr]
        assert rows_of(store, Digest.of(self.DATA)) == expected

    def test_in_a_folded_document(self, store: Store, expected: tuple[FrameFacts, ...]) -> None:
        fold_bytes(store, b'{"rows": ' + self.DATA + b"}")
        store.close()
        assert rows_of(store, Digest.of(self.DATA)) == expected

    def test_that_is_there_already(self, store: Store, expected: tuple[FrameFacts, ...]) -> None:
        put(store, self.DATA)
        change_rows(store, "DELETE FROM frames")
        put(store, self.DATA, name="again")
        store.close()
        assert rows_of(store, Digest.of(self.DATA)) == expected

    def test_when_the_index_is_built_anew(self, store: Store, expected: tuple[FrameFacts, ...]) -> None:
        put(store, self.DATA)
        store.close()
        os.remove(store.parts.layout.index)
        put(store, b"other")
        store.close()
        assert rows_of(store, Digest.of(self.DATA)) == expected

    def test_when_what_a_writer_left_is_adopted(self, store: Store, expected: tuple[FrameFacts, ...]) -> None:
        digest = put(store, self.DATA).objects[0]
        with store.parts.writing() as connection:
            connection.execute("DELETE FROM frames")
            rebuild.adopt(connection, store.parts.database, [digest])
        store.close()
        assert rows_of(store, digest) == expected

    def test_when_it_is_healed(self, store: Store, expected: tuple[FrameFacts, ...]) -> None:
        digest = put(store, self.DATA).objects[0]
        change_rows(store, "DELETE FROM frames")
        file_of(store, digest).unlink()
        report = repair(store, [("source", io.BytesIO(b'{"a":' + self.DATA + b"}"))])
        assert f"healed {digest} from source" in map(str, report.acts)
        store.close()
        assert rows_of(store, digest) == expected

    def test_and_its_rows_go_with_it(self, store: Store, clock: Clock) -> None:
        kept, swept, purged = (
            put(store, os.urandom(FRAME_BYTES), name=name, keep_seconds=seconds).objects[0]
            for name, seconds in (("a", None), ("b", 60), ("c", None))
        )
        clock.now += 100
        sweep(store)
        store.purge(purged, "asked for")
        store.close()
        assert rows_of(store, kept) is not None
        assert rows_of(store, swept) is None
        assert rows_of(store, purged) is None


class TestCost:
    def test_the_end_of_a_large_array_takes_little_memory(self, store: Store, limited: Limited) -> None:
        rows = json.dumps([{"id": each, "text": "a\\b"} for each in range(20_000)]).encode()[1:-1]
        with store.batch() as batch:
            pieces = (b"[", *((rows + b",",) * 127), rows, b"]")
            staged = batch.stage_chunks(pieces)
            batch.commit(RootDraft(RootKind.PUT, (staged.digest,)))
        store.close()
        assert staged.size > 70_000_000
        idle = limited(Path(store.folder), "log")
        last = limited(Path(store.folder), "cat", staged.digest.hex, "--items", "-1")
        assert last.out == b'{"id": 19999, "text": "a\\\\b"}\n'
        assert last.peak_bytes < idle.peak_bytes + (32 << 20)
