"""Markers and references in files: all of them, wherever they begin, and nothing else."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest

from castore.descriptor import Descriptor, Kind
from castore.digest import Digest
from castore.document.reference import write_reference
from castore.transcript.marker import clip_marker, marker, same_marker
from castore.transcript.markers import find, find_in_stream

HEX = "3f9ac01b77de5a10"
MARKER = f"[ctx {HEX}: tool result, 48213 bytes, 812 lines]"
DIGEST = Digest.of(b"x")
DESCRIPTOR = Descriptor(Kind.STRING, DIGEST, 48213, lines=812, preview="{ a } ]")
REFERENCE = write_reference(DESCRIPTOR, 4096) or b"there is none"


def places(data: bytes) -> list[tuple[int, int]]:
    return [(found.line, found.column) for found in find(data)]


class TestFound:
    def test_markers_are_with_line_and_column(self) -> None:
        data = f"import os\n\nx = 1  # {MARKER}\n{MARKER}{MARKER}".encode()
        assert places(data) == [(3, 10), (4, 1), (4, 1 + len(MARKER))]
        (found, *_) = find(data)
        assert found.text == MARKER
        assert found.digest == HEX
        assert not found.is_reference

    @pytest.mark.parametrize(
        "text",
        [
            marker(DESCRIPTOR, "tool result", None),
            marker(DESCRIPTOR, "tool result", "run ctx cat"),
            same_marker(DESCRIPTOR, "tool result", "toolu_1", None),
            clip_marker(DESCRIPTOR, "text", head=10, tail=10, left_out=4000, retrieve_with=None),
        ],
    )
    def test_every_marker_that_a_view_writes_is(self, text: str) -> None:
        (found,) = find(b"a " + text.encode() + b" b")
        assert (found.line, found.column) == (1, 3)
        assert found.digest == DIGEST.hex[:16]

    @pytest.mark.parametrize("depth", [0, 1, 2, 3])
    def test_every_reference_is_however_deep_in_strings(self, depth: int) -> None:
        text = REFERENCE.decode()
        for _ in range(depth):
            text = json.dumps(text)
        (found,) = find(b"\n " + text.encode())
        assert found.is_reference
        assert found.digest == DIGEST.hex
        assert found.line == 2

    def test_a_reference_is_in_any_layout(self) -> None:
        digest = str(DIGEST)
        text = json.dumps(
            {"$ctx": {"preview": "{}{}", "size": 3, "digest": digest, "kind": "text"}}, indent=4
        )
        assert [found.digest for found in find(text.encode() * 3)] == [DIGEST.hex] * 3

    @pytest.mark.parametrize("escape", ["\\u005b", "\\u005B", "\\\\u005b"])
    def test_a_marker_is_though_its_bracket_is_escaped(self, escape: str) -> None:
        (found,) = find(f'x\n{{"a": "{escape}{MARKER[1:-1]}\\u005d"}}'.encode())
        assert (found.line, found.column, found.digest) == (2, 8, HEX)
        (found,) = find(f'"{escape}ctx {HEX}\\u005d"'.encode())
        assert found.digest == HEX

    @pytest.mark.parametrize(
        "text",
        [
            '{"\\u0024ctx": {"digest": "%s"}}',
            '{"note": "x", "$ctx": {"kind": "text", "digest": "%s"}}',
            "{'$ctx': {'kind': 'text', 'digest': '%s'}}",
            '"{\\u0022$ctx\\u0022:{\\u0022digest\\u0022:\\u0022%s\\u0022}}"',
        ],
    )
    def test_a_reference_is_in_other_spellings(self, text: str) -> None:
        text = text % str(DIGEST)
        (found,) = find(b"\n" + text.encode())
        assert (found.line, found.is_reference, found.digest) == (2, True, DIGEST.hex)
        assert found.column == 1 + max(text.find("{", 0, 2), 0) if "note" not in text else found.column == 15

    @pytest.mark.parametrize("cut", ["]", ": tool result", ": tool", ":"])
    def test_a_marker_is_though_its_words_are_lost(self, cut: str) -> None:
        assert places(f"x [ctx {HEX}{cut}\nmore".encode()) == [(1, 3)]

    def test_binary_files_are_looked_through(self) -> None:
        data = bytes(range(256)) + MARKER.encode() + b"\xff\x00"
        (found,) = find(data)
        assert found.line == 2
        assert found.text == MARKER

    def test_text_is_one_short_line(self) -> None:
        (found,) = find(f"[ctx {HEX}: {'x' * 5000}".encode())
        assert len(found.text) < 200
        (found,) = find(REFERENCE)
        assert len(found.text) < 200


class TestNotFound:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[ctx 3f9ac01b77de5a1: fifteen digits]",
            f"[ctx {HEX}0: seventeen digits]",
            f"[ctx {HEX.upper()}: capitals]",
            f"[ctx  {HEX}]",
            f"ctx cat {HEX}",
            "[ctx 3f9a…: as a page writes it]",
            '{"$ctx": {"kind": "text"}}',
            '{"$ctx": "words"}',
            '{"$$ctx":{"digest":"sha256:' + "0" * 64 + '"}}',
            '{"ctx":{"digest":"sha256:' + "0" * 64 + '"}}',
            '{"digest":"sha256:' + "0" * 64 + '"}',
        ],
    )
    def test_what_only_looks_like_one_is(self, text: str) -> None:
        assert list(find(text.encode())) == []


class TestStream:
    def test_nothing_is_lost_at_the_seam_of_pieces(self) -> None:
        """Markers that begin at each of the last bytes of a piece, and end in the next."""
        piece = 1 << 20
        reference = REFERENCE.decode()
        for text in (MARKER, reference):
            for begin in (0, 1, piece - 5200, piece - 5120, piece - len(text), piece - 20, piece - 1, piece):
                data = b"\n" * begin + text.encode() + b"\n" + MARKER.encode()
                assert places(data) == [(begin + 1, 1), (begin + 2, 1)], begin

    def test_short_reads_change_nothing(self) -> None:
        class Trickle(io.RawIOBase):
            def __init__(self, data: bytes) -> None:
                self.source = io.BytesIO(data)

            def read(self, size: int = -1) -> bytes:
                return self.source.read(min(size, 1000))

        data = (b"x" * 777 + b"\n" + MARKER.encode()) * 30
        assert list(find_in_stream(Trickle(data))) == list(find(data))  # type: ignore[arg-type]

    def test_memory_does_not_grow_with_the_file(self) -> None:
        class Endless:
            """64 MiB of one line, with a marker in each MiB."""

            left = 64

            def read(self, size: int) -> bytes:
                self.left -= 1
                return MARKER.encode().ljust(size, b"{") if self.left >= 0 else b""

        tracemalloc.start()
        found = list(find_in_stream(Endless()))  # type: ignore[arg-type]
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert [each.column for each in found] == [1 + (number << 20) for number in range(64)]
        assert peak < 8 << 20
