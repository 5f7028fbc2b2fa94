"""Law: `FILE#PATTERN` means the objects at these places of a folded document, or a view, and no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from castore import api
from castore.digest import Digest
from castore.errors import CastoreError, DocumentInvalid, InvalidOption, NotFound, ObjectMissing
from castore.retrieve.references import resolve
from castore.store import Store

ROWS = json.dumps([[number] * 300 for number in range(9)])
LOG = "a line of the log\n" * 200


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return api.init_store(tmp_path / ".ctxstore")


@pytest.fixture
def file(store: Store, tmp_path: Path) -> str:
    log = json.dumps(LOG)
    document = f'{{"a": {{"rows": {ROWS}, "log": {log}}}, "b": [{ROWS}, 1]}}\n{{"b": [{log}]}}'
    path = tmp_path / "folded.json"
    path.write_bytes(api.fold_bytes(store, document.encode()))
    return str(path)


class TestPlaces:
    def test_one(self, store: Store, file: str) -> None:
        assert resolve(store, f"{file}#$.a.log") == [Digest.of(LOG.encode())]
        assert resolve(store, f"{file}#$.a.rows") == [Digest.of(ROWS.encode())]

    def test_several_in_order_each_once(self, store: Store, file: str) -> None:
        rows, log = Digest.of(ROWS.encode()), Digest.of(LOG.encode())
        assert resolve(store, f"{file}#$.a.*") == [rows, log]
        assert resolve(store, f"{file}#$.b[0]") == [rows, log]
        assert resolve(store, f"{file}#$..rows") == [rows]

    def test_a_place_without_a_reference(self, store: Store, file: str) -> None:
        for pattern in ("$.b[1]", "$.a", "$.nothing", "$", "$..digest"):
            with pytest.raises(NotFound, match="no reference"):
                resolve(store, f"{file}#{pattern}")

    def test_where_references_are_is_said_to_who_looked_elsewhere(
        self, store: Store, file: str, tmp_path: Path
    ) -> None:
        with pytest.raises(NotFound) as told:
            resolve(store, f"{file}#$.nothing")
        assert str(told.value.hint).endswith("references are at $.a.rows, $.a.log, $.b[0]")
        top, plain = tmp_path / "top", tmp_path / "plain"
        top.write_bytes(api.fold_bytes(store, ROWS.encode()))
        plain.write_text("[1]")
        with pytest.raises(NotFound) as told:
            resolve(store, f"{top}#$..*")
        assert str(told.value.hint).endswith("at $")
        assert resolve(store, f"{top}#$") == [Digest.of(ROWS.encode())]
        with pytest.raises(NotFound) as told:
            resolve(store, f"{plain}#$..*")
        assert "no reference and no marker" in str(told.value.hint)

    def test_a_marker_in_a_view(self, store: Store, tmp_path: Path) -> None:
        digest = api.put(store, LOG.encode())
        view = tmp_path / "view.jsonl"
        view.write_text(json.dumps({"content": f"[ctx {digest.short}: tool result, 3600 bytes, 200 lines]"}))
        assert resolve(store, f"{view}#$.content") == [digest]
        view.write_text(json.dumps({"content": f"[ctx {'0' * 16}: tool result, 3600 bytes]"}))
        with pytest.raises(ObjectMissing):
            resolve(store, f"{view}#$.content")

    def test_what_is_no_document(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "text"
        path.write_text("no json")
        with pytest.raises(DocumentInvalid) as raised:
            resolve(store, f"{path}#$.a")
        assert str(path) in str(raised.value.place)
        with pytest.raises(InvalidOption):
            resolve(store, f"{path}#$.a[")
        with pytest.raises(CastoreError, match="can't read"):
            resolve(store, f"{tmp_path}#$.a")

    def test_a_name_with_a_hash_sign_is_none(self, store: Store) -> None:
        with pytest.raises(NotFound):
            resolve(store, "nothing.json#$.a")


class TestAnythingElse:
    def test_is_what_the_store_makes_of_it(self, store: Store) -> None:
        digest = api.put(store, b"bytes", name="mine")
        for text in ("mine", digest.hex[:8], str(digest), f"[ctx {digest.short}: text, 5 bytes]"):
            assert resolve(store, text) == [digest]
