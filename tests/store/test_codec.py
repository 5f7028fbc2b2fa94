"""The shape of an object's file: exactly what we write decodes, and nothing else does."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from castore.config import FRAME_BYTES
from castore.digest import Digest
from castore.errors import CastoreError, ObjectDamaged
from castore.objects.database import ObjectDatabase
from castore.objects.memory import MemorySource

TEXT = b"".join(b"line %d of a log that compresses\n" % number for number in range(80_000))
SIZES = [0, 1, 100, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 2 * FRAME_BYTES, 2 * FRAME_BYTES + 7]


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def stored(data: bytes) -> tuple[MemorySource, ObjectDatabase, Digest]:
    source = MemorySource()
    database = ObjectDatabase(source, level=lambda: 3)
    staged = database.stage(data)
    source.publish([(staged.digest, staged.frames)])
    return source, database, staged.digest


def refuse(data: bytes, change: Callable[[bytes], bytes]) -> str:
    """The reason why a changed file of `data` is refused, by every way to read it."""
    source, database, digest = stored(data)
    source.files[digest.hex] = change(source.files[digest.hex])
    with pytest.raises(ObjectDamaged) as failure:
        database.read(digest)
    with pytest.raises(ObjectDamaged):
        list(database.chunks(digest))
    with pytest.raises(ObjectDamaged):
        database.check(digest)
    assert failure.value.fields["digest"] == str(digest)
    return str(failure.value.fields["reason"])


class TestRoundTrip:
    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("make", [noise, lambda size: TEXT[:size]])
    def test_every_way_to_write_and_read_gives_the_bytes(
        self, size: int, make: Callable[[int], bytes]
    ) -> None:
        data = make(size)
        source, database, digest = stored(data)
        assert digest.hex == hashlib.sha256(data).hexdigest()
        assert database.read(digest) == data
        pieces = list(database.chunks(digest))
        assert b"".join(pieces) == data
        assert all(0 < len(piece) <= FRAME_BYTES for piece in pieces)
        found = database.stat(digest)
        assert found is not None
        assert (found.size, found.stored_bytes) == (len(data), len(source.files[digest.hex]))
        streamed = database.stage_chunks(data[at : at + 99_991] for at in range(0, len(data), 99_991))
        assert b"".join(streamed.frames.held or ()) == source.files[digest.hex]

    @pytest.mark.skipif(shutil.which("zstd") is None, reason="the zstd program is not installed")
    @pytest.mark.parametrize("size", SIZES)
    def test_the_zstd_program_prints_the_object(self, size: int, tmp_path: Path) -> None:
        source, _, digest = stored(TEXT[:size])
        file = tmp_path / "object"
        file.write_bytes(source.files[digest.hex])
        printed = subprocess.run(["zstd", "-dc", str(file)], capture_output=True, check=True).stdout
        assert hashlib.sha256(printed).hexdigest() == digest.hex

    @given(st.lists(st.binary(max_size=300_000), max_size=12))
    @settings(max_examples=20, deadline=None)
    def test_the_file_does_not_depend_on_how_the_bytes_came(self, pieces: list[bytes]) -> None:
        database = ObjectDatabase(MemorySource(), level=lambda: 3)
        whole = database.stage(b"".join(pieces))
        streamed = database.stage_chunks(pieces)
        assert (whole.digest, whole.file_sha256) == (streamed.digest, streamed.file_sha256)


class TestDamage:
    @pytest.mark.parametrize("size", [0, 300, FRAME_BYTES, FRAME_BYTES + 50])
    def test_a_file_that_is_cut_off_anywhere_is_refused(self, size: int) -> None:
        source, _, digest = stored(TEXT[:size])
        length = len(source.files[digest.hex])
        for end in {0, 1, 4, 5, 8, length // 2, length - 9, length - 1} & set(range(length)):
            refuse(TEXT[:size], lambda file, end=end: file[:end])  # type: ignore[misc]

    @pytest.mark.parametrize("size", [0, 300, FRAME_BYTES, FRAME_BYTES + 50])
    @pytest.mark.parametrize("junk", [b"x", b"\0" * 9, struct.pack("<II", 0x184D2A50, 0), bytes(2 << 20)])
    def test_anything_after_the_end_is_refused(self, size: int, junk: bytes) -> None:
        refuse(TEXT[:size], lambda file: file + junk)

    def test_a_second_frame_is_refused(self) -> None:
        refuse(TEXT[:300], lambda file: file + file)
        empty = stored(b"")[0].files[Digest.of(b"").hex]
        refuse(b"", lambda file: file + empty)

    def test_a_frame_of_other_bytes_is_refused_with_both_digests(self) -> None:
        reason = refuse(b"what was put", lambda _: zstandard.compress(b"something else"))
        assert Digest.of(b"something else").abbreviated in reason

    def test_a_declared_size_is_refused_before_it_is_decompressed(self) -> None:
        header = struct.pack("<IBQ", 0xFD2FB528, 0xE0, 50 << 30)
        assert "53687091200" in refuse(b"x", lambda _: header + b"\x01\x00\x00")
        assert "no size" in refuse(
            b"x", lambda _: zstandard.ZstdCompressor(write_content_size=False).compress(b"x")
        )

    def test_frames_that_we_do_not_write_are_refused(self) -> None:
        data = TEXT[:4000]
        refuse(data, lambda _: zstandard.ZstdCompressor(write_checksum=True).compress(data))
        parameters = zstandard.ZstdCompressionParameters(window_log=24, write_content_size=True)
        wide = zstandard.ZstdCompressor(compression_params=parameters).compressobj().compress(data)
        refuse(data, lambda _: wide or b"")
        dictionary = zstandard.ZstdCompressionDict(TEXT[:9000])
        refuse(data, lambda _: zstandard.ZstdCompressor(dict_data=dictionary).compress(data))

    def test_one_large_frame_instead_of_several_is_refused(self) -> None:
        data = TEXT[: FRAME_BYTES + 50]
        refuse(data, lambda _: zstandard.compress(data))

    def test_a_seek_table_that_lies_is_refused(self) -> None:
        data = TEXT[: 2 * FRAME_BYTES + 50]

        def with_entry(index: int, stored_by: int, decoded_by: int) -> Callable[[bytes], bytes]:
            def change(file: bytes) -> bytes:
                changed = bytearray(file)
                at = len(file) - 9 - 8 * 3 + 8 * index
                stored_bytes, decoded = struct.unpack_from("<II", changed, at)
                struct.pack_into("<II", changed, at, stored_bytes + stored_by, decoded + decoded_by)
                return bytes(changed)

            return change

        for index in range(3):
            refuse(data, with_entry(index, 1, 0))
            refuse(data, with_entry(index, 0, 1))
            refuse(data, with_entry(index, 0, -1))

    def test_a_count_of_frames_that_does_not_fit_is_refused(self) -> None:
        data = TEXT[: FRAME_BYTES + 50]
        for count in (0, 1, 3, 0xFFFFFFFF):
            refuse(data, lambda file, count=count: file[:-9] + struct.pack("<I", count) + file[-5:])  # type: ignore[misc]

    def test_data_that_ends_like_a_seek_table_is_data(self) -> None:
        table = struct.pack("<IIIIIBI", 0x184D2A5E, 17, 100, FRAME_BYTES, 1, 0, 0x8F92EAB1)
        for size in (200, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 200):
            data = noise(size - len(table)) + table
            _, database, digest = stored(data)
            assert database.read(digest) == data

    def test_every_flipped_bit_of_a_small_file_gives_the_bytes_or_an_error(self) -> None:
        data = TEXT[:700] + noise(60)
        source, database, digest = stored(data)
        file = source.files[digest.hex]
        refused = 0
        for bit in range(8 * len(file)):
            changed = bytearray(file)
            changed[bit // 8] ^= 1 << bit % 8
            source.files[digest.hex] = bytes(changed)
            try:
                assert database.read(digest) == data
            except ObjectDamaged:
                refused += 1
        assert refused > 8 * len(file) * 0.9

    @given(st.binary(max_size=200), st.integers(0, 200))
    @settings(max_examples=300, deadline=None)
    def test_no_bytes_raise_anything_else(self, junk: bytes, keep: int) -> None:
        source, database, digest = stored(TEXT[:500])
        source.files[digest.hex] = source.files[digest.hex][:keep] + junk
        with contextlib.suppress(ObjectDamaged):
            assert database.read(digest) == TEXT[:500]


class TestProofOfTheFrames:
    def test_a_compressor_that_goes_wrong_is_noticed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        honest = zstandard.ZstdCompressor()

        class Liar:
            def __init__(self, **_: object) -> None:
                pass

            def compress(self, data: bytes) -> bytes:
                return honest.compress(bytes(data)[:-1] + b"?")

        monkeypatch.setattr(zstandard, "ZstdCompressor", Liar)
        with pytest.raises(CastoreError, match="does not decode"):
            ObjectDatabase(MemorySource(), level=lambda: 17).stage(os.urandom(50))
