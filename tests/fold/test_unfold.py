"""L4 in documents: what can't be given back is an error with its place, and nothing is written."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from castore import FoldPolicy, Store, fold_bytes, open_store, put, unfold_bytes
from castore.api import StoreHandle, fold_stream, unfold_stream
from castore.digest import Digest
from castore.errors import (
    CastoreError,
    DocumentInvalid,
    InvalidConfig,
    InvalidOption,
    ObjectDamaged,
    ObjectMissing,
    StoreMissing,
    UnfoldMismatch,
)

LOG = "a line of the log\n" * 400
ROWS = list(range(3000))
DOCUMENT = json.dumps({"before": "x", "deep": [{"log": LOG}], "rows": ROWS}).encode()


def object_file(store: Store, digest: str) -> Path:
    digits = digest.removeprefix("sha256:")
    return Path(store.folder) / "objects" / digits[:2] / digits


def references(folded: bytes) -> dict[str, dict[str, Any]]:
    value = json.loads(folded)
    return {"log": value["deep"][0]["log"]["$ctx"], "rows": value["rows"]["$ctx"]}


def edited(folded: bytes, which: str, **changes: object) -> bytes:
    value = json.loads(folded)
    reference = value["deep"][0]["log"]["$ctx"] if which == "log" else value["rows"]["$ctx"]
    for name, new in changes.items():
        if new is None:
            del reference[name]
        else:
            reference[name] = new
    return json.dumps(value).encode()


class TestMissing:
    def test_an_object_that_is_gone_is_named_with_its_place(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        digest = references(folded)["log"]["digest"]
        object_file(store, digest).unlink()
        target = io.BytesIO()
        with pytest.raises(ObjectMissing) as caught:
            unfold_stream(io.BytesIO(folded), target, StoreHandle.of(store))
        assert caught.value.exit_code == 12
        assert caught.value.fields["digest"] == digest
        offset = folded.index(b'{"$ctx"')
        assert caught.value.place == f"$.deep[0].log (byte {offset})"
        assert target.getvalue() == b""

    def test_no_store(self, store: Store, tmp_path: Path) -> None:
        folded = fold_bytes(store, DOCUMENT)
        handle = StoreHandle(tmp_path / "elsewhere", may_create=True)
        with pytest.raises(StoreMissing):
            unfold_stream(io.BytesIO(folded), io.BytesIO(), handle)
        assert not (tmp_path / "elsewhere").exists()

    def test_no_store_is_needed_where_nothing_is_folded(self, tmp_path: Path) -> None:
        target = io.BytesIO()
        handle = StoreHandle(tmp_path / "elsewhere", may_create=False)
        unfold_stream(io.BytesIO(b'{"$$ctx":1}'), target, handle)
        assert target.getvalue() == b'{"$ctx":1}'


class TestDamage:
    def test_other_bytes_are_never_given(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        file = object_file(store, references(folded)["rows"]["digest"])
        file.chmod(0o600)
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 0x10
        file.write_bytes(data)
        with pytest.raises(ObjectDamaged) as caught:
            unfold_bytes(store, folded)
        assert caught.value.exit_code == 13
        assert "$.rows" in (caught.value.place or "")

    def test_folding_again_heals(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        file = object_file(store, references(folded)["rows"]["digest"])
        file.chmod(0o600)
        file.write_bytes(b"rotten")
        assert fold_bytes(store, DOCUMENT) == folded
        assert unfold_bytes(store, folded) == DOCUMENT

    def test_swapped_objects(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        files = [object_file(store, each["digest"]) for each in references(folded).values()]
        contents = [file.read_bytes() for file in files]
        for file, content in zip(files, reversed(contents), strict=True):
            file.chmod(0o600)
            file.write_bytes(content)
        with pytest.raises(ObjectDamaged):
            unfold_bytes(store, folded)


class TestEditedReferences:
    @pytest.mark.parametrize(
        ("which", "changes"),
        [
            ("rows", {"size": 5}),
            ("rows", {"kind": "object"}),
            ("rows", {"kind": "string"}),
            ("log", {"kind": "array"}),
            ("log", {"kind": "string", "escape": None}),
        ],
    )
    def test_what_the_bytes_can_not_be_is_refused(
        self, store: Store, which: str, changes: dict[str, object]
    ) -> None:
        with pytest.raises(UnfoldMismatch) as caught:
            unfold_bytes(store, edited(fold_bytes(store, DOCUMENT), which, **changes))
        assert caught.value.exit_code == 18
        assert which in (caught.value.place or "")

    def test_what_they_can_be_is_given(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        as_text = edited(folded, "rows", kind="text", escape="minimal", items=None)
        assert json.loads(unfold_bytes(store, as_text))["rows"] == json.dumps(ROWS)
        as_go = edited(folded, "log", escape="go")
        assert json.loads(unfold_bytes(store, as_go))["deep"][0]["log"] == LOG

    @pytest.mark.parametrize(
        "data", [b"", b"[1", b"[1] ", b" [1]", b"[1][2]", b"[01]", b"\xff", b"[\xff]", b"5"]
    )
    def test_an_array_is_one_array(self, store: Store, data: bytes) -> None:
        digest = put(store, data)
        reference = {"$ctx": {"kind": "array", "digest": str(digest), "size": len(data)}}
        with pytest.raises(UnfoldMismatch):
            unfold_bytes(store, json.dumps(reference).encode())

    def test_large_ones_too(self, store: Store) -> None:
        for data in (b"[" + b"1," * 100_000 + b"]", b"[" + b'"\xff",' * 40_000 + b"1]"):
            digest = put(store, data)
            reference = {"$ctx": {"kind": "array", "digest": str(digest), "size": len(data)}}
            with pytest.raises(UnfoldMismatch):
                unfold_bytes(store, json.dumps(reference).encode())

    def test_text_is_utf8(self, store: Store) -> None:
        digest = put(store, b"\xff\xfe")
        reference = {"$ctx": {"kind": "text", "digest": str(digest), "size": 2, "escape": "minimal"}}
        with pytest.raises(UnfoldMismatch):
            unfold_bytes(store, json.dumps(reference).encode())

    def test_malformed_ones_say_where(self, store: Store) -> None:
        with pytest.raises(DocumentInvalid) as caught:
            unfold_bytes(store, b'{"a":1}\n{"b":[{"$ctx":1}]}')
        assert caught.value.fields["path"] == "$.b[0]['$ctx']"
        assert caught.value.fields["line"] == 2

    def test_an_unmodified_document_is_held_to_its_source(self, store: Store, tmp_path: Path) -> None:
        """A root that says another source: what unfolds is not what was folded."""
        from castore.roots.model import Content, RootDraft, RootKind

        digest = put(store, b'["x"]')
        reference = {"$ctx": {"kind": "array", "digest": str(digest), "size": 5}}
        document = json.dumps(reference).encode()
        with store.batch() as batch:
            batch.commit(
                RootDraft(
                    RootKind.DOCUMENT,
                    (digest,),
                    source=Content(Digest.of(b"other"), 5),
                    document=Content(Digest.of(document), len(document)),
                )
            )
        with pytest.raises(UnfoldMismatch):
            unfold_bytes(store, document)


class TestPartialUnfold:
    def test_expands_a_part_and_stays_a_folded_document(self, store: Store) -> None:
        document = json.dumps({"a": [{"$ctx": 1}] * 900, "b": LOG, "$ctx": "mine"}).encode()
        folded = fold_bytes(store, document)
        for only in (("$.a",), (json.loads(folded)["a"]["$ctx"]["digest"][:20],)):
            partly = unfold_bytes(store, folded, only=only)
            assert b'{"$$ctx": 1}' in partly
            assert b'"b": {"$ctx":' in partly
            assert b'"$$ctx": "mine"' in partly
            assert unfold_bytes(store, partly) == document

    def test_of_what_does_not_match_nothing_changes(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        assert unfold_bytes(store, folded, only=("$.nothing",)) == folded
        with pytest.raises(InvalidOption):
            unfold_bytes(store, folded, only=("rows",))

    def test_other_objects_need_not_be_there(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        object_file(store, references(folded)["log"]["digest"]).unlink()
        assert json.loads(unfold_bytes(store, folded, only=("$.rows",)))["rows"] == ROWS


class TestNothingIsHalfWritten:
    def test_of_an_invalid_document_nothing_is_kept(self, store: Store) -> None:
        target = io.BytesIO()
        lines = (json.dumps({"log": LOG}) + "\n").encode() * 100
        with pytest.raises(DocumentInvalid):
            fold_stream(io.BytesIO(lines + b"{"), target, StoreHandle.of(store), FoldPolicy())
        assert target.getvalue() == b""
        assert list(store.digests()) == []
        assert not list((Path(store.folder) / "tmp").iterdir())

    def test_a_large_output_is_held_back_too(self, store: Store) -> None:
        record = (json.dumps({"short": ["y" * 500] * 6}) + "\n").encode()
        document = record * 8000
        assert len(document) > 20 << 20
        target = io.BytesIO()
        with pytest.raises(CastoreError):
            fold_stream(io.BytesIO(document + b"x"), target, StoreHandle.of(store), FoldPolicy())
        assert target.getvalue() == b""
        fold_stream(io.BytesIO(document), target, StoreHandle.of(store), FoldPolicy())
        assert target.getvalue() == document


class TestTheObjectsAreEnough:
    """L9: objects/ and the folded document give the source back, whatever else has happened to the store."""

    def test_with_damaged_roots_and_no_index(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        folder = Path(store.folder)
        store.close()
        for root in folder.glob("roots/*/*.json"):
            root.chmod(0o600)
            root.write_bytes(b"")
        for file in folder.glob("index.sqlite*"):
            file.unlink()
        assert unfold_bytes(open_store(folder), folded) == DOCUMENT

    def test_with_nothing_but_the_objects(self, store: Store, tmp_path: Path) -> None:
        folded = fold_bytes(store, DOCUMENT)
        bare = tmp_path / "bare"
        (bare / "objects").mkdir(parents=True)
        (bare / "format").write_bytes((Path(store.folder) / "format").read_bytes())
        for file in Path(store.folder).glob("objects/*/*"):
            (bare / "objects" / file.parent.name).mkdir(exist_ok=True)
            (bare / "objects" / file.parent.name / file.name).write_bytes(file.read_bytes())
        assert unfold_bytes(open_store(bare), folded) == DOCUMENT

    def test_with_settings_of_another_version(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT)
        for settings in ("[store]\nfuture = 1\n", "not toml at all ["):
            (Path(store.folder) / "config.toml").write_text(settings)
            opened = open_store(store.folder)
            assert unfold_bytes(opened, folded) == DOCUMENT
            with pytest.raises(InvalidConfig):
                fold_bytes(opened, DOCUMENT)


class TestSizesComeFirst:
    def test_an_object_that_unpacks_to_more_is_not_unpacked(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What the file declares is held against the reference before a frame of it is decoded."""
        from castore import codec

        for size in (1 << 20, 5_000_000):
            digest = put(store, b"x" * size)
            reference = {"kind": "text", "digest": str(digest), "size": 299, "escape": "minimal"}
            decoded: list[int] = []
            monkeypatch.setattr(codec, "_decode_frame", lambda *_, seen=decoded: seen.append(1) or b"")
            with pytest.raises(UnfoldMismatch):
                unfold_bytes(store, json.dumps({"$ctx": reference}).encode())
            assert decoded == []
            monkeypatch.undo()


class TestOneStoreManyThreads:
    def test_folds_and_unfolds(self, store: Store) -> None:
        from concurrent.futures import ThreadPoolExecutor

        documents = [json.dumps({"n": at, "rows": list(range(at, at + 3000))}).encode() for at in range(12)]
        with ThreadPoolExecutor(4) as pool:
            folded = list(pool.map(lambda document: fold_bytes(store, document), documents))
            assert list(pool.map(lambda document: unfold_bytes(store, document), folded)) == documents
