"""What a document is, and that both scanners say the same of it (laws L1 and L10)."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from castore.config import DEPTH_MAX
from castore.document import structure
from castore.document.grammar import Node, scan_strictly
from castore.document.scan import Read, segments
from castore.errors import DocumentInvalid, LimitExceeded
from tests.document.strategies import NEAR_MISSES, SEQUENCES

Outcome = tuple[str, object]


def trickle(data: bytes, size: int) -> Read:
    """A stream that gives at most `size` bytes at a time, as a pipe may."""
    stream = io.BytesIO(data)
    return lambda wanted: stream.read(min(wanted, size))


def scanned(read: Read, floor: int, small_bytes_max: int) -> tuple[list[Node], bytes]:
    nodes, data = [], b""
    for segment in segments(read, floor, small_bytes_max=small_bytes_max):
        assert segment.origin.offset == len(data)
        for node in segment.nodes:
            last_comma = node.last_comma + len(data) if node.last_comma >= 0 else -1
            nodes.append(
                Node(node.start + len(data), node.end + len(data), node.kind, node.items, last_comma)
            )
        data += segment.data
    return nodes, data


def outcome(read: Read, floor: int, small_bytes_max: int) -> Outcome:
    try:
        return "fine", scanned(read, floor, small_bytes_max)
    except DocumentInvalid as error:
        return "invalid", (error.message, error.fields)
    except LimitExceeded as error:
        return "limit", (error.message, error.fields)


@pytest.fixture
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "_CHUNK_BYTES", 7)
    monkeypatch.setattr(structure, "_LONG_STRING_BYTES", 3)


class TestBothScannersAgree:
    """The fast scan is held to the strict one: nodes, bytes, and the place and words of every error."""

    @settings(max_examples=100)
    @given(SEQUENCES, st.integers(0, 40), st.integers(1, 64))
    @pytest.mark.usefixtures("_small_chunks")
    def test_on_documents(self, document: bytes, floor: int, size: int) -> None:
        strict = outcome(io.BytesIO(document).read, floor, 1 << 30)
        assert strict[0] == "fine"
        assert outcome(trickle(document, size), floor, 0) == strict

    @settings(max_examples=80)
    @given(NEAR_MISSES, st.integers(0, 40), st.integers(1, 64))
    @example(b'["\xc3', 0, 1)
    @example(b"\xef\xbb\xbf" * 2, 0, 1)
    @example(b'{"a":1}{"b":}', 0, 64)
    @pytest.mark.usefixtures("_small_chunks")
    def test_on_near_misses(self, document: bytes, floor: int, size: int) -> None:
        strict = outcome(io.BytesIO(document).read, floor, 1 << 30)
        assert outcome(trickle(document, size), floor, 0) == strict

    @settings(max_examples=80)
    @given(st.binary(max_size=60), st.integers(1, 9))
    @pytest.mark.usefixtures("_small_chunks")
    def test_on_any_bytes(self, document: bytes, size: int) -> None:
        strict = outcome(io.BytesIO(document).read, 0, 1 << 30)
        assert outcome(trickle(document, size), 0, 0) == strict

    @pytest.mark.parametrize("slashes", [1, 2, 3, 62, 63, 64, 65, 66, 500, 5001])
    def test_on_long_runs_of_backslashes(self, slashes: int) -> None:
        document = b'{"a":"' + b"\\" * (slashes * 2) + b'","b":["' + b"\\" * (slashes * 2) + b'\\"x"]}\n'
        assert outcome(io.BytesIO(document).read, 0, 0) == outcome(io.BytesIO(document).read, 0, 1 << 30)


class TestTheGrammar:
    @given(SEQUENCES)
    def test_segments_joined_are_the_document(self, document: bytes) -> None:
        assert scanned(io.BytesIO(document).read, 1 << 40, 1 << 30)[1] == document
        assert scanned(io.BytesIO(document).read, 1 << 40, 0)[1] == document

    @pytest.mark.parametrize(
        "document",
        [
            b"",
            b" ",
            b"\xef\xbb\xbf",
            b"[][]",
            b"{}[]{}",
            b"1 2",
            b'"a" "b"',
            b'{"a":1}5',
            b"[1]\r\n\r\n[2]",
            b"1e400",
        ],
    )
    def test_takes(self, document: bytes) -> None:
        for small_bytes_max in (0, 1 << 30):
            scanned(io.BytesIO(document).read, 0, small_bytes_max)

    @pytest.mark.parametrize(
        ("document", "offset"),
        [
            (b"12[", 2),
            (b'"a""b"', 3),
            (b"1[2]", 1),
            (b"[NaN]", 1),
            (b"[01]", 2),
            (b"[1,]", 3),
            (b'{"a":1,}', 7),
            (b"{a:1}", 1),
            (b"[1 2]", 3),
            (b'["\t"]', 2),
            (b'["\\x"]', 2),
            (b'["\xff"]', 2),
            (b'["a', 3),
            (b"[1", 2),
            (b'{"a"', 4),
            (b"\x0b1", 0),
            (b"[1]\x00", 3),
            (b"[1]\xef\xbb\xbf", 3),
            (b"// x\n1", 0),
            (b"[1}", 2),
            (b"]", 0),
            (b"tru", 0),
            (b"-", 0),
            (b"1.", 1),
            (b"[1]]", 3),
        ],
    )
    def test_refuses_at_the_first_byte_in_error(self, document: bytes, offset: int) -> None:
        for small_bytes_max in (0, 1 << 30):
            with pytest.raises(DocumentInvalid) as caught:
                scanned(io.BytesIO(document).read, 0, small_bytes_max)
            assert caught.value.fields["offset"] == offset

    def test_says_line_and_column_in_a_later_segment(self) -> None:
        document = b'{"a":1}\n' * 200_000 + b'{"a":\n  tru}\n'
        with pytest.raises(DocumentInvalid) as caught:
            scanned(io.BytesIO(document).read, 0, 0)
        fields = caught.value.fields
        assert (fields["line"], fields["column"]) == (200_002, 3)
        assert fields["offset"] == document.rindex(b"tru")

    @given(st.binary(max_size=200))
    def test_any_bytes_raise_only_what_is_documented(self, document: bytes) -> None:
        kind, found = outcome(io.BytesIO(document).read, 0, 1 << 30)
        if kind == "fine":
            assert isinstance(found, tuple)
            assert found[1] == document

    def test_depth_is_limited_and_placed(self) -> None:
        for small_bytes_max in (0, 1 << 30):
            fine = b"[" * DEPTH_MAX + b"]" * DEPTH_MAX
            scanned(io.BytesIO(fine).read, 0, small_bytes_max)
            with pytest.raises(LimitExceeded) as caught:
                scanned(io.BytesIO(b"[" * 100_000).read, 0, small_bytes_max)
            assert caught.value.fields["offset"] == DEPTH_MAX


class TestNodes:
    @given(SEQUENCES)
    def test_are_the_large_containers_and_strings(self, document: bytes) -> None:
        body = document.removeprefix(b"\xef\xbb\xbf")
        for node in scan_strictly(body, 0):
            literal = body[node.start : node.end].decode()
            value = json.loads(literal)
            assert {list: 0x5B, dict: 0x7B, str: 0x22}[type(value)] == node.kind
            if isinstance(value, list):
                assert node.items == len(value)
                if len(value) > 1:
                    assert body[node.last_comma] == 0x2C
                    json.loads(body[node.last_comma + 1 : node.end - 1].decode())
            assert node.end - node.start > 0

    @given(SEQUENCES, st.integers(0, 60))
    def test_floor_only_leaves_out(self, document: bytes, floor: int) -> None:
        body = document.removeprefix(b"\xef\xbb\xbf")
        every = [node for node in scan_strictly(body, 0) if node.end - node.start > floor]
        assert scan_strictly(body, floor) == every


class TestBoundedMemory:
    def test_records_come_in_segments_of_bounded_size(self) -> None:
        record = b'{"text":"' + b"x" * 1000 + b'"}\n'
        stream = io.BytesIO(record * 30_000)
        sizes = [len(segment.data) for segment in segments(stream.read, 1024)]
        assert max(sizes) < 6 << 20
        assert sum(sizes) == len(record) * 30_000
