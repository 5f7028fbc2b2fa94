"""Before a purge: whatever else holds the object's bytes, or names it, is told, and nothing else is."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castore.config import FRAME_BYTES
from castore.descriptor import Escape
from castore.digest import Digest
from castore.document.strings import encode_text
from castore.errors import ScopeDenied
from castore.gc import spellings as module
from castore.gc.copies import Copy, CopyPlace, copies
from castore.gc.spellings import BASE64_BYTES_MIN, spelling_in, spellings
from castore.roots.model import Content, RootDraft, RootKind
from castore.store import Access, Store

from .conftest import file_of, flip, put

SECRET = 'the key is "sk-12345"\n<and> it is secret: größer 😀'.encode()


def cut(data: bytes, sizes: Iterable[int]) -> Iterator[bytes]:
    """The same bytes in pieces of these sizes, over and over."""
    at = 0
    while at < len(data):
        for size in sizes:
            yield data[at : at + size]
            at += size


def held(needle: bytes, container: bytes, sizes: Iterable[int] = (7,)) -> str | None:
    found = spelling_in(
        lambda: cut(container, sizes),
        spellings(lambda: iter((needle[:5], needle[5:])) if needle else iter(())),
    )
    return None if found is None else found.words


def spelt(needle: bytes, way: str, around: tuple[bytes, bytes]) -> bytes:
    """The needle inside something, spelt in one of the ways."""
    if way == "as they are":
        return needle
    if way == "base64":
        return base64.b64encode(around[0] + needle + around[1])
    return encode_text(needle.decode(), Escape(way))[1:-1]


small = st.binary(max_size=30)
texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20).map(str.encode)
sizes = st.lists(st.integers(1, 40), min_size=1, max_size=4)


class TestNothingIsMissed:
    @given(texts, st.sampled_from(["as they are", *Escape]), small, small, sizes)
    def test_of_text_in_any_spelling(
        self, needle: bytes, way: str, before: bytes, after: bytes, pieces: list[int]
    ) -> None:
        container = before + spelt(needle, str(way), (b"", b"")) + after
        assert held(needle, container, pieces) is not None

    @pytest.mark.parametrize("escape", list(Escape))
    def test_of_text_that_each_encoder_spells_otherwise(self, escape: Escape) -> None:
        assert held(SECRET, encode_text(SECRET.decode(), escape)) == "as a JSON string"

    @given(st.binary(min_size=BASE64_BYTES_MIN, max_size=40), small, small, small, small, sizes)
    def test_inside_other_base64(
        self, needle: bytes, head: bytes, tail: bytes, before: bytes, after: bytes, pieces: list[int]
    ) -> None:
        container = before + spelt(needle, "base64", (head, tail)) + after
        assert held(needle, container, pieces) is not None

    @given(st.binary(min_size=1, max_size=BASE64_BYTES_MIN - 1), small, small)
    def test_of_few_bytes_in_base64_of_their_own(self, needle: bytes, before: bytes, after: bytes) -> None:
        assert held(needle, before + base64.b64encode(needle) + after) is not None

    @settings(max_examples=60)
    @given(st.data())
    def test_of_what_is_longer_than_its_anchor(self, data: st.DataObject) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "ANCHOR_BYTES", 16)
            needle = data.draw(
                st.lists(st.sampled_from([b"ab", b"a", b'"\n', "ß".encode()]), min_size=20).map(b"".join)
            )
            way = data.draw(st.sampled_from(["as they are", "base64", *Escape]))
            around = data.draw(small), data.draw(small)
            # Beginnings of it, which may not hide the whole.
            false = needle[: data.draw(st.integers(0, len(needle) - 1))] * data.draw(st.integers(0, 3))
            container = around[0] + false + spelt(needle, str(way), around) + around[1]
            assert held(needle, container, data.draw(sizes)) is not None

    def test_of_bytes_that_repeat_without_end_something_is_said_in_time(self) -> None:
        needle = bytes(200_000) + b"x"
        assert held(needle, bytes(3_000_000), (1 << 20,)) is not None
        assert held(b"\n" + needle, bytes(3_000_000), (1 << 20,)) is None


class TestNothingElseIsTold:
    @given(st.binary(max_size=20), st.binary(max_size=200), sizes)
    def test_what_is_told_is_there(self, needle: bytes, container: bytes, pieces: list[int]) -> None:
        words = held(needle, container, pieces)
        ways = [needle]
        with contextlib.suppress(UnicodeDecodeError):
            ways += [encode_text(needle.decode(), escape)[1:-1] for escape in Escape]
        if words is None or not needle:
            assert words is None
            assert not needle or not any(way in container for way in ways)
        elif words != "in base64":
            assert any(way in container for way in ways)

    @pytest.mark.parametrize("anchor_bytes", [4, 1000])
    @pytest.mark.parametrize("size", [8, 9, 10])
    def test_base64_of_bytes_that_differ_in_one_bit(
        self, size: int, anchor_bytes: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "ANCHOR_BYTES", anchor_bytes)
        needle = random.Random(size).randbytes(size)
        for shift in range(3):
            for bit in range(8 * size):
                changed = bytearray(needle)
                changed[bit // 8] ^= 1 << bit % 8
                assert held(needle, base64.b64encode(bytes(shift) + bytes(changed) + b"z")) is None
            assert held(needle, base64.b64encode(bytes(shift) + needle + b"z")) == "in base64"

    def test_what_shares_a_long_beginning(self) -> None:
        needle = random.Random(1).randbytes(200_000)
        assert held(needle, needle[:-1] + b"?", (1 << 16,)) is None
        assert held(needle, b"?" + needle[:150_000] + needle, (1 << 16,)) == "as they are"


def told(store: Store, digest: Digest) -> list[tuple[str, str]]:
    return [(str(each.place), each.subject) for each in copies(store, digest)]


class TestObjects:
    def test_that_hold_the_bytes_are_named_and_no_others(self, store: Store) -> None:
        text = SECRET.decode()
        holders = [
            b"before " + SECRET + b" after",
            json.dumps({"a": text}).encode(),
            json.dumps({"a": text}, ensure_ascii=False).encode(),
            b"data:;base64," + base64.b64encode(b"xy" + SECRET + b"z"),
            random.Random(2).randbytes(FRAME_BYTES - 9) + SECRET + bytes(FRAME_BYTES),
        ]
        others = [SECRET[:-1], SECRET[1:] + b"x", b"", b"sk-12345", SECRET.upper(), bytes(2 * FRAME_BYTES)]
        (secret,) = put(store, SECRET).objects
        expected = {str(each) for each in put(store, *holders).objects}
        put(store, *others)
        found = list(copies(store, secret))
        assert {each.place for each in found} == {CopyPlace.OBJECT}
        assert {each.subject for each in found} == expected
        assert {each.words for each in found} == {
            "holds its bytes, as they are",
            "holds its bytes, as a JSON string",
            "holds its bytes, in base64",
        }

    def test_a_large_one_in_a_larger(self, store: Store) -> None:
        large = random.Random(3).randbytes(3 * FRAME_BYTES + 5)
        (digest,) = put(store, large).objects
        (holder,) = put(store, b"x" + large + b"x").objects
        (coded,) = put(store, b"x" + base64.b64encode(b"x" + large)).objects
        put(store, large[:-1], b"x" + large[1:], base64.b64encode(large[:-1]))
        assert told(store, digest) == sorted([("object", str(holder)), ("object", str(coded))])

    def test_the_empty_object_is_nowhere_else(self, store: Store) -> None:
        (digest,) = put(store, b"").objects
        put(store, b"x")
        assert told(store, digest) == []

    def test_a_damaged_one_is_read_as_far_as_it_goes(self, store: Store) -> None:
        (secret,) = put(store, SECRET).objects
        noise = random.Random(4).randbytes(FRAME_BYTES)
        (holder,) = put(store, noise + noise + SECRET + noise).objects
        flip(file_of(store, holder), 8 * 1000)
        assert told(store, secret) == [("object", str(holder))]

    def test_is_the_operators(self, store: Store) -> None:
        (secret,) = put(store, SECRET).objects
        caller = Store.open(store.folder, clock=store.parts.clock, access=Access(("default",)))
        with pytest.raises(ScopeDenied):
            list(copies(caller, secret))
        caller.close()

    def test_progress_is_told_of_each(self, store: Store) -> None:
        (secret,) = put(store, SECRET).objects
        put(store, *(b"%d" % number for number in range(20)))
        looked: list[None] = []
        assert list(copies(store, secret, progress=lambda: looked.append(None))) == []
        assert len(looked) == 20

    def test_changes_nothing(self, store: Store) -> None:
        from .conftest import everything

        (secret,) = put(store, SECRET).objects
        put(store, SECRET + b"x")
        before = everything(Path(store.folder))
        assert len(list(copies(store, secret))) == 1
        assert everything(Path(store.folder)) == before


class TestFilesOfTheStore:
    @pytest.fixture
    def secret(self, store: Store) -> Digest:
        (digest,) = put(store, SECRET).objects
        return digest

    @pytest.fixture(params=["damaged", "tmp"])
    def folder(self, request: pytest.FixtureRequest, store: Store) -> Path:
        folder = Path(store.folder) / request.param
        folder.mkdir(exist_ok=True)
        return folder

    def found(self, store: Store, secret: Digest) -> dict[str, str]:
        return {os.path.basename(each.subject): each.words for each in copies(store, secret)}

    def test_are_searched_as_they_lie_and_decoded(self, store: Store, secret: Digest, folder: Path) -> None:
        noise = random.Random(5).randbytes(FRAME_BYTES - 20)
        (long,) = put(store, noise + SECRET + noise).objects
        (other,) = put(store, noise + b"nothing").objects
        file = file_of(store, secret).read_bytes()
        long_file = file_of(store, long).read_bytes()
        store.parts.source.delete(long)
        (folder / "plain").write_bytes(b"x" + SECRET)
        (folder / "copy").write_bytes(file)
        (folder / "inside").write_bytes(b"junk \x28\xb5\x2f\xfd" + file + b"junk")
        (folder / "cut").write_bytes(long_file[:-40])
        (folder / "other").write_bytes(file_of(store, other).read_bytes())
        (folder / "sub").mkdir()
        (folder / "sub" / "deep").write_bytes(long_file)
        words = self.found(store, secret)
        assert set(words) == {"plain", "copy", "inside", "cut", "deep"}
        assert set(words.values()) == {"holds its bytes, as they are"}
        assert {str(each.place) for each in copies(store, secret)} == {
            {"tmp": "staged", "damaged": "damaged"}[folder.name]
        }

    def test_wherever_a_frame_begins_and_as_far_as_it_decodes(self, store: Store, folder: Path) -> None:
        long_secret = SECRET * 50  # So that its frame does not hold it as it is.
        (secret,) = put(store, long_secret).objects
        words = " ".join(random.Random(6).choices(SECRET.decode().split(), k=200_000)).encode()
        (early,) = put(store, long_secret + words[: FRAME_BYTES // 2]).objects
        rotten = bytearray(file_of(store, early).read_bytes())
        rotten[-20_000:] = b"\xff" * 20_000
        store.parts.source.delete(early)
        file = file_of(store, secret).read_bytes()
        # What seems to begin a frame inside another one must not come between that and the next.
        noise = random.Random(7).randbytes(FRAME_BYTES // 2) + file
        noise += random.Random(8).randbytes(FRAME_BYTES - len(noise) - 10)
        (crossing,) = put(store, noise + b"z" * 100).objects
        (part,) = put(store, noise[-5:] + b"z" * 90).objects
        (folder / "crossing").write_bytes(file_of(store, crossing).read_bytes())
        store.parts.source.delete(crossing)
        assert self.found(store, part) == {"crossing": "holds its bytes, as they are"}
        (folder / "rotten").write_bytes(rotten)
        for shift in range(5):
            (folder / f"late{shift}").write_bytes(b"x" * ((1 << 20) - shift) + file)
        late = {f"late{shift}" for shift in range(5)}
        assert set(self.found(store, secret)) == {"rotten", *late}

    def test_that_name_it_are_told(self, store: Store, secret: Digest, folder: Path) -> None:
        (folder / f"{secret.hex}.1").write_bytes(b"rotten")
        (folder / "root.json").write_bytes(json.dumps({"objects": [str(secret)]}).encode())
        (folder / "short").write_bytes(secret.short.encode())
        words = self.found(store, secret)
        assert set(words) == {f"{secret.hex}.1", "root.json"}
        assert all(each.startswith("names it") for each in words.values())

    def test_what_is_no_file_is_left_alone(self, store: Store, secret: Digest, folder: Path) -> None:
        (folder / "link").symlink_to(file_of(store, secret))
        (folder / "loop").symlink_to(folder)
        os.mkfifo(folder / f"{secret.hex}-pipe")
        assert self.found(store, secret) == {}

    def test_many_false_beginnings_take_a_bounded_time(
        self, store: Store, secret: Digest, folder: Path
    ) -> None:
        (folder / "hostile").write_bytes(b"\x28\xb5\x2f\xfd" * 500_000)
        assert self.found(store, secret) == {}


def document(store: Store, path: Path, kind: RootKind = RootKind.DOCUMENT) -> None:
    """A root that says that its folded document lies there."""
    content = Content(Digest.of(os.fsencode(path)), 1)
    store.keep([RootDraft(kind, (), document=content, details={"file": str(path)})])


class TestDocuments:
    @pytest.fixture
    def secret(self, store: Store) -> Digest:
        (digest,) = put(store, SECRET).objects
        return digest

    def reference(self, digest: Digest) -> str:
        return json.dumps({"$ctx": {"kind": "text", "digest": str(digest), "size": 5, "escape": "minimal"}})

    def test_that_roots_record_are_read(self, store: Store, secret: Digest, tmp_path: Path) -> None:
        other = Digest.of(b"other")
        contents = {
            "folded": f'[1, {{"a": {self.reference(secret)}}}]\n{{"b": 2}}',
            "unfolded": json.dumps({"a": SECRET.decode()}),
            "invalid": "this was " + self.reference(secret),
            "other": self.reference(other),
            "data": json.dumps({"$$ctx": {"digest": str(secret)}}),
            "rest": "sha256",
        }
        for name, text in contents.items():
            (tmp_path / name).write_text(text)
            document(store, tmp_path / name, RootKind.KEEP if name == "folded" else RootKind.DOCUMENT)
        (tmp_path / "unrecorded").write_text(contents["folded"])
        document(store, tmp_path / "gone")
        found = list(copies(store, secret))
        assert {each.place for each in found} == {CopyPlace.DOCUMENT}
        words = {os.path.basename(each.subject): each.words.partition(" ")[0] for each in found}
        assert words == {"folded": "names", "unfolded": "holds", "invalid": "names"}

    def test_what_can_not_be_read_is_said(self, store: Store, secret: Digest, tmp_path: Path) -> None:
        path = tmp_path / "locked"
        path.write_text("x")
        path.chmod(0)
        if os.access(path, os.R_OK):
            os.unlink(path)
            path.symlink_to(path)  # Who may read everything can't read this.
        document(store, path)
        (found,) = copies(store, secret)
        assert "can't be read" in found.words

    def test_what_is_no_file_is_left_alone(self, store: Store, secret: Digest, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for name in ("pipe", "", "nul\0byte"):
            document(store, Path(f"{tmp_path}/{name}"))
        assert list(copies(store, secret)) == []

    @pytest.mark.parametrize("kind", [RootKind.SUMMARY, RootKind.VIEW])
    def test_views_and_summaries_that_name_it(self, store: Store, secret: Digest, kind: RootKind) -> None:
        (root,) = store.keep([RootDraft(kind, (secret,))])
        assert list(copies(store, secret)) == [
            Copy(CopyPlace.ROOT, root.id, f"a {kind} of scope 'default' names it", holds_bytes=False)
        ]

    def test_without_its_bytes_the_names_are_told(self, store: Store, secret: Digest, tmp_path: Path) -> None:
        put(store, SECRET + b"x")
        (tmp_path / "folded").write_text(self.reference(secret))
        document(store, tmp_path / "folded")
        file_of(store, secret).unlink()
        assert told(store, secret) == [("document", str(tmp_path / "folded"))]
