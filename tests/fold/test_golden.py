"""The format, pinned: golden documents with their stores, made once by `python -m tests.fold.make_golden`.

Laws: what was folded once unfolds for ever, by castore and by a decoder made from docs/format.md alone; and
castore folds the same source with the same options to the same bytes.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import zstandard

from castore.api import (
    Digest,
    Store,
    StoreHandle,
    fold_stream,
    init_store,
    open_store,
    put,
    unfold_bytes,
    unfold_stream,
)
from castore.errors import Damaged, DocumentInvalid, NotFound, UnfoldMismatch
from tests.fold import decoder
from tests.fold.make_golden import CASES, GOLDEN, digest, frame, policy_of, raw_blocks, run_block

MEBI = 1 << 20
FOLDED_CASES = sorted(path.parent.name for path in GOLDEN.glob("*/folded"))
needs_zstd = pytest.mark.skipif(shutil.which("zstd") is None, reason="the zstd program is not installed")


class Golden:
    """One case of golden/."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = GOLDEN / name
        self.store = self.folder / "store"
        self.folded = (self.folder / "folded").read_bytes()
        self.options: dict[str, Any] | None = None
        if (self.folder / "options.json").exists():
            self.options = json.loads((self.folder / "options.json").read_bytes())

    @property
    def source(self) -> bytes:
        packed = self.folder / "source.zst"
        if packed.exists():
            return zstandard.ZstdDecompressor().decompress(packed.read_bytes())
        return (self.folder / "source").read_bytes()


@pytest.fixture(params=FOLDED_CASES)
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(request.param)


def copied(golden: Golden, tmp_path: Path) -> Path:
    """The store of the case, where castore may write."""
    target = tmp_path / "store"
    if golden.store.exists():
        shutil.copytree(golden.store, target)
    return target


class TestEveryCaseIsThere:
    def test_none_is_missing(self) -> None:
        assert sorted(CASES) == FOLDED_CASES

    def test_every_kind_and_encoder_is_in_one(self) -> None:
        folded = b"".join(Golden(name).folded for name in FOLDED_CASES)
        for kind in ("array", "object", "string", "text", "bytes"):
            assert f'"kind":"{kind}"'.encode() in folded
        for member in ('"escape":"minimal"', '"escape":"ascii"', '"escape":"go"'):
            assert member.encode() in folded
        for member in ('"encoding":"base64"', '"encoding":"data-uri"'):
            assert member.encode() in folded

    def test_objects_of_one_and_of_several_frames_are_in_one(self) -> None:
        sizes = [path.read_bytes()[-4:] == b"\xb1\xea\x92\x8f" for path in GOLDEN.glob("*/store/objects/*/*")]
        assert {True, False} == set(sizes)


@needs_zstd
class TestDecoderGivesTheSource:
    def test_document(self, golden: Golden) -> None:
        assert decoder.unfold(golden.folded, str(golden.store)) == golden.source

    def test_as_a_script(self) -> None:
        golden = Golden("kinds")
        ran = subprocess.run(
            [sys.executable, decoder.__file__, golden.store],
            input=golden.folded,
            capture_output=True,
            check=True,
        )
        assert ran.stdout == golden.source

    def test_twice_folded_needs_two_unfolds(self) -> None:
        again, once = Golden("folded-again"), Golden("kinds")
        unfolded = decoder.unfold(again.folded, str(again.store))
        assert unfolded.startswith(once.folded)
        assert decoder.unfold(unfolded, str(once.store)).startswith(once.source)


class TestCastoreGivesTheSource:
    def test_document(self, golden: Golden, tmp_path: Path) -> None:
        target = io.BytesIO()
        handle = StoreHandle(copied(golden, tmp_path), may_create=False)
        unfold_stream(io.BytesIO(golden.folded), target, handle)
        handle.close()
        assert target.getvalue() == golden.source


class TestFoldIsPinned:
    def test_document_and_objects(self, golden: Golden, tmp_path: Path) -> None:
        if golden.options is None:
            pytest.skip("another program wrote this one")
        handle = StoreHandle(tmp_path / "store", may_create=True)
        target = io.BytesIO()
        fold_stream(io.BytesIO(golden.source), target, handle, policy_of(golden.options))
        assert target.getvalue() == golden.folded
        kept = sorted(path.name for path in golden.store.glob("objects/*/*"))
        assert ([each.hex for each in handle.get().digests()] if handle.exists else []) == kept
        handle.close()


class TestOldStoreOpens:
    """A store without its index and with the modes of a checkout: all that it holds is found."""

    def test_root_is_found(self, golden: Golden, tmp_path: Path) -> None:
        if not any(golden.store.glob("roots/*/*")):
            pytest.skip("nothing folded, or another program wrote this one")
        store = open_store(copied(golden, tmp_path))
        root = store.document_root(Digest(sha256(golden.folded).hexdigest()))
        assert root is not None
        assert root.source is not None
        assert root.source.digest.hex == sha256(golden.source).hexdigest()
        assert sorted(root.objects) == list(store.digests())

    def test_more_can_be_stored(self, golden: Golden, tmp_path: Path) -> None:
        if not any(golden.store.glob("roots/*/*")):
            pytest.skip("nothing folded, or another program wrote this one")
        store = open_store(copied(golden, tmp_path))
        before = set(store.digests())
        added = put(store, b"an object that no case holds")
        assert set(store.digests()) == before | {added}
        assert unfold_bytes(store, golden.folded) == golden.source


# --- What both read, and what both refuse -----------------------------------------------------------------

ARRAY, TEXT, BINARY = b"[1, 2]", 'é "'.encode(), b"\xff\xfe"
OBJECTS = [ARRAY, TEXT, BINARY, b"", b" [1]", b"[1] ", b"[1][2]", b'["\xff"]', b'{"a":1}', b'"a"', b"7"]


def reference(data: bytes, kind: str, **others: object) -> str:
    """As fold writes it; members that are None are left out."""
    members = {"kind": kind, "digest": digest(data), "size": len(data), **others}
    return json.dumps({"$ctx": {key: each for key, each in members.items() if each is not None}})


GOOD = reference(ARRAY, "array")
MEMBERS = GOOD[len('{"$ctx": {') : -2]

ACCEPTED: dict[str, tuple[str, bytes]] = {
    "plain": (GOOD, ARRAY),
    "object": (reference(b'{"a":1}', "object"), b'{"a":1}'),
    "string": (reference(b'"a"', "string"), b'"a"'),
    "empty text": (reference(b"", "text", escape="go"), b'""'),
    "empty bytes": (reference(b"", "bytes", encoding="base64"), b'""'),
    "empty media type": (
        reference(BINARY, "bytes", encoding="data-uri", media_type=""),
        b'"data:;base64,//4="',
    ),
    "media type with escapes": (
        reference(BINARY, "bytes", encoding="data-uri", media_type="a\\/b"),
        b'"data:a\\/b;base64,//4="',
    ),
    "wrong facts for the reader": (reference(ARRAY, "array", items="x", lines=-1, preview=7), ARRAY),
    "members of other kinds": (reference(ARRAY, "array", escape=1, encoding=[], media_type={}), ARRAY),
    "unknown members": (reference(ARRAY, "array", **{"$ctx": {"$ctx": 1}, "x": [{"$$ctx": 1}]}), ARRAY),
    "spelt": (GOOD.replace("$ctx", "\\u0024\\u0063\\u0074\\u0078").replace("kind", "k\\u0069nd"), ARRAY),
    "spaced": (
        GOOD.replace("{", " {\r\n").replace(":", "\t: ").replace("sha256\t: ", "sha256:"),
        b" " + ARRAY,
    ),
    "of 4096 bytes": (GOOD[:-2] + f', "x": "{"x" * (4096 - len(GOOD[9:-1]) - 9)}"' + "}}", ARRAY),
    "name that only looks like one": (
        '{"$ctx\\n": 1, "ctx": 2, "$Ctx": 3}',
        b'{"$ctx\\n": 1, "ctx": 2, "$Ctx": 3}',
    ),
}

MALFORMED = {
    "a number": '{"$ctx": 1}',
    "null": '{"$ctx": null}',
    "an array": '{"$ctx": []}',
    "no members": '{"$ctx": {}}',
    "not alone": f'{{"a": 1, {GOOD[1:]}',
    "not alone either": f'{GOOD[:-1]}, "a": 1}}',
    "twice": f"{GOOD[:-1]}, {GOOD[1:]}",
    "with an escaped one": f'{GOOD[:-1]}, "$$ctx": 1}}',
    "deep inside": f'[[{{"a": [{{"$ctx": {GOOD}}}]}}]]',
    "no kind": GOOD.replace('"kind": "array", ', ""),
    "unknown kind": GOOD.replace('"array"', '"Array"'),
    "kind of another type": GOOD.replace('"array"', '["array"]'),
    "member given twice": GOOD[:-2] + ', "kind": "array"}}',
    "member given twice, spelt": GOOD[:-2] + ', "k\\u0069nd": "array"}}',
    "fact for the reader given twice": GOOD[:-2] + ', "items": 2, "items": 2}}',
    "no digest": reference(ARRAY, "array", digest=None),
    "digest without its algorithm": GOOD.replace("sha256:", ""),
    "upper-case digest": reference(ARRAY, "array", digest="sha256:" + digest(ARRAY)[7:].upper()),
    "short digest": reference(ARRAY, "array", digest=digest(ARRAY)[:-1]),
    "long digest": reference(ARRAY, "array", digest=digest(ARRAY) + "\n"),
    "no size": reference(ARRAY, "array", size=None),
    "size as text": reference(ARRAY, "array", size="6"),
    "size with a fraction": reference(ARRAY, "array", size=6.0),
    "size that is true": reference(ARRAY, "array", size=True),
    "negative size": reference(ARRAY, "array", size=-6),
    "no escape": reference(TEXT, "text"),
    "unknown escape": reference(TEXT, "text", escape="Minimal"),
    "no encoding": reference(BINARY, "bytes"),
    "unknown encoding": reference(BINARY, "bytes", encoding="hex"),
    "no media type": reference(BINARY, "bytes", encoding="data-uri"),
    "media type with a comma": reference(BINARY, "bytes", encoding="data-uri", media_type="a,b"),
    "media type that is no ASCII": reference(BINARY, "bytes", encoding="data-uri", media_type="é"),
    "long media type": reference(BINARY, "bytes", encoding="data-uri", media_type="m" * 201),
    "over 4096 bytes": GOOD[:-2] + f', "x": "{"x" * (4097 - len(GOOD[9:-1]) - 9)}"' + "}}",
}

OTHER_OBJECT = {
    "size of another": reference(ARRAY, "array", size=7),
    "huge size": reference(ARRAY, "array", size=10**30),
    "array for an object": reference(b'{"a":1}', "array"),
    "object for an array": reference(ARRAY, "object"),
    "string for an array": reference(ARRAY, "string"),
    "number for a string": reference(b"7", "string"),
    "nothing for an array": reference(b"", "array"),
    "space before": reference(b" [1]", "array"),
    "space behind": reference(b"[1] ", "array"),
    "two values": reference(b"[1][2]", "array"),
    "array that is not UTF-8": reference(b'["\xff"]', "array"),
    "text that is not UTF-8": reference(BINARY, "text", escape="minimal"),
}

INVALID = {
    "NaN": b"NaN",
    "comma at the end": b"[1,]",
    "cut off": b'{"a":',
    "control character": b'"\x01"',
    "unknown escape": b'"\\x"',
    "not UTF-8": b'"\xff"',
    "encoded surrogate": b'"\xed\xa0\x80"',
    "two marks": b"\xef\xbb\xbf\xef\xbb\xbf1",
    "mark in the middle": b"1 \xef\xbb\xbf2",
    "other white space": b"\xc2\xa01",
    "form feed": b"\x0c1",
    "glued scalars": b"1true",
    "glued strings": b'"a""b"',
    "array behind a string": b'"a"[1]',
    "leading zero": b"01",
    "reference behind a number": b"1" + GOOD.encode(),
}


@pytest.fixture(scope="class")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = init_store(tmp_path_factory.mktemp("filled") / "store")
    for each in OBJECTS:
        put(store, each)
    yield store
    store.close()


def named(cases: dict[str, Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", list(cases.values()), ids=list(cases))


@needs_zstd
class TestBothReadTheSame:
    @named(ACCEPTED)
    def test_well_formed_reference(self, filled: Store, case: tuple[str, bytes]) -> None:
        folded, source = case[0].encode(), case[1]
        assert decoder.unfold(folded, filled.folder) == source
        assert unfold_bytes(filled, folded) == source

    @named(MALFORMED)
    def test_malformed_reference(self, filled: Store, case: str) -> None:
        with pytest.raises(ValueError):
            decoder.unfold(case.encode(), filled.folder)
        with pytest.raises(DocumentInvalid) as error:
            unfold_bytes(filled, case.encode())
        assert str(error.value.fields["path"]).startswith("$")

    @named(OTHER_OBJECT)
    def test_reference_that_its_object_does_not_fit(self, filled: Store, case: str) -> None:
        with pytest.raises(ValueError):
            decoder.unfold(case.encode(), filled.folder)
        with pytest.raises(UnfoldMismatch):
            unfold_bytes(filled, case.encode())

    @named(INVALID)
    def test_what_is_no_document(self, filled: Store, case: bytes) -> None:
        with pytest.raises(ValueError):
            decoder.unfold(case, filled.folder)
        with pytest.raises(DocumentInvalid):
            unfold_bytes(filled, case)

    def test_missing_object(self, filled: Store) -> None:
        document = reference(b"[0]", "array").encode()
        with pytest.raises(FileNotFoundError):
            decoder.unfold(document, filled.folder)
        with pytest.raises(NotFound):
            unfold_bytes(filled, document)


def raw(data: bytes) -> bytes:
    return frame(data, raw_blocks(data))


def windowed(data: bytes, window_byte: int) -> bytes:
    """With a window of its own: as frames of a stream have it."""
    return (
        bytes.fromhex("28b52ffd80")
        + bytes([window_byte])
        + len(data).to_bytes(4, "little")
        + raw_blocks(data)
    )


def table(*sizes: int) -> bytes:
    body = b"".join(size.to_bytes(4, "little") for size in (*sizes, len(sizes) // 2))
    body += bytes.fromhex("00b1ea928f")
    return bytes.fromhex("5e2a4d18") + len(body).to_bytes(4, "little") + body


def mebi_frame() -> bytes:
    blocks = b"".join(run_block(b"a", 128 << 10, is_last=at == 7) for at in range(8))
    return frame(b"a" * MEBI, blocks)


MEBI_OF_A = b"a" * MEBI
ONE_FRAME = len(mebi_frame())

SHAPES: dict[str, tuple[bytes, bytes]] = {
    "one raw block": (b"hello", raw(b"hello")),
    "several blocks": (b"hello", frame(b"hello", raw_blocks(b"he", b"", b"llo"))),
    "a window below the limit": (b"hello", windowed(b"hello", 80)),
    "exactly a frame": (MEBI_OF_A, mebi_frame() + table(ONE_FRAME, MEBI)),
    "two frames": (
        MEBI_OF_A + b"bc",
        mebi_frame() + raw(b"bc") + table(ONE_FRAME, MEBI, len(raw(b"bc")), 2),
    ),
}

OTHER_SHAPES: dict[str, tuple[bytes, bytes]] = {
    "two small frames": (b"hello", raw(b"he") + raw(b"llo")),
    "a seek table behind a small one": (b"hello", raw(b"hello") + table(len(raw(b"hello")), 5)),
    "a skippable frame in front": (b"hello", bytes.fromhex("502a4d1800000000") + raw(b"hello")),
    "bytes behind": (b"hello", raw(b"hello") + b"\0"),
    "an empty frame behind": (b"hello", raw(b"hello") + raw(b"")),
    "a window over the limit": (b"hello", windowed(b"hello", 81)),
    "a checksum": (b"hello", zstandard.ZstdCompressor(write_checksum=True).compress(b"hello")),
    "no size": (b"hello", bytes.fromhex("28b52ffd0050") + raw_blocks(b"hello")),
    "a size that is too small": (b"hello", frame(b"hell", raw_blocks(b"hello"))),
    "cut off": (b"hello", raw(b"hello")[:-1]),
    "no zstd": (b"hello", b"hello"),
    "an empty file": (b"", b""),
    "empty in another way": (b"", bytes.fromhex("28b52ffd8050") + bytes(4) + raw_blocks(b"")),
    "bytes behind the empty one": (b"", raw(b"") + b"\0"),
    "other bytes": (b"hello", raw(b"hullo")),
    "no seek table": (MEBI_OF_A, mebi_frame()),
    "a seek table that is cut off": (MEBI_OF_A, (mebi_frame() + table(ONE_FRAME, MEBI))[:-1]),
    "a seek table with wrong lengths": (MEBI_OF_A, mebi_frame() + table(ONE_FRAME - 1, MEBI)),
    "a seek table with an empty frame": (
        MEBI_OF_A,
        mebi_frame() + raw(b"") + table(ONE_FRAME, MEBI, len(raw(b"")), 0),
    ),
    "a short frame first": (
        b"bc" + MEBI_OF_A,
        raw(b"bc") + mebi_frame() + table(len(raw(b"bc")), 2, ONE_FRAME, MEBI),
    ),
    "bytes behind the seek table": (MEBI_OF_A, mebi_frame() + table(ONE_FRAME, MEBI) + b"\0"),
}


@needs_zstd
class TestBothReadTheSameFiles:
    """`A file of another shape is damaged, even if zstd would decode it.`"""

    @named(SHAPES)
    def test_good_shape(self, filled: Store, case: tuple[bytes, bytes]) -> None:
        document = self.stored(filled, *case)
        source = b'"' + case[0] + b'"'
        assert decoder.unfold(document, filled.folder) == source
        assert unfold_bytes(filled, document) == source

    @named(OTHER_SHAPES)
    def test_damaged(self, filled: Store, case: tuple[bytes, bytes]) -> None:
        document = self.stored(filled, *case)
        with pytest.raises(ValueError):
            decoder.unfold(document, filled.folder)
        with pytest.raises(Damaged):
            unfold_bytes(filled, document)

    def stored(self, store: Store, data: bytes, file: bytes) -> bytes:
        """The file is that of the object; a document that names it."""
        path = Path(store.folder, "objects", digest(data)[7:9], digest(data)[7:])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(file)
        return reference(data, "text", escape="minimal").encode()

    def test_program_decodes_every_file_of_the_golden_stores(self) -> None:
        for path in sorted(GOLDEN.glob("*/store/objects/*/*")):
            ran = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True)
            assert sha256(ran.stdout).hexdigest() == path.name
