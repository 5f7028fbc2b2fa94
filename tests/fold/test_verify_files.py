"""verify FILES tells the truth about every reference, and about nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from castore import FoldPolicy, Store, fold_bytes
from castore.api import StoreHandle, verify_files
from castore.errors import StoreMissing

LOG = "".join(f"line {number}\n" for number in range(400))
ROWS = list(range(3000))
DOCUMENT = json.dumps({"deep": [{"log": LOG}], "rows": ROWS}).encode()


class Setting:
    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.file = folder / "folded.json"
        self.folded = fold_bytes(store, DOCUMENT)
        self.file.write_bytes(self.folded)

    def findings(self, *, quick: bool = False) -> list[str]:
        handle = StoreHandle(self.store.folder, may_create=False)
        return [str(each) for each in verify_files([str(self.file)], handle, quick=quick)]

    def edit(self, which: str, **changes: object) -> None:
        value = json.loads(self.folded)
        reference: dict[str, Any] = (value["deep"][0]["log"] if which == "log" else value["rows"])["$ctx"]
        reference.update(changes)
        self.file.write_text(json.dumps(value, ensure_ascii=False))

    def object_file(self, which: str) -> Path:
        value = json.loads(self.folded)
        digest = (value["deep"][0]["log"] if which == "log" else value["rows"])["$ctx"]["digest"]
        return Path(self.store.folder) / "objects" / digest[7:9] / digest[7:]


@pytest.fixture
def setting(store: Store, tmp_path: Path) -> Setting:
    return Setting(store, tmp_path)


class TestFindings:
    def test_none_in_a_good_document(self, setting: Setting) -> None:
        assert setting.findings() == []
        assert setting.findings(quick=True) == []

    @pytest.mark.parametrize(
        ("which", "changes", "name", "word"),
        [
            ("rows", {"size": 7}, "mismatch", "bytes"),
            ("rows", {"kind": "object"}, "mismatch", "can't be"),
            ("log", {"kind": "array"}, "mismatch", "can't be"),
            ("rows", {"items": 2999}, "mismatch", "items"),
            ("rows", {"items": "many"}, "mismatch", "items"),
            ("log", {"lines": 1}, "mismatch", "lines"),
            ("rows", {"preview": "[0, … 5 more …, 2999]"}, "mismatch", "preview"),
            ("log", {"preview": "line 0 … 12 more lines … line 399"}, "mismatch", "preview"),
            ("rows", {"digest": "sha256:" + "0" * 64}, "missing", "no such object"),
            ("rows", {"kind": "blob"}, "malformed", "kind"),
            ("rows", {"digest": "x"}, "malformed", "digest"),
        ],
    )
    def test_of_a_tampered_reference(
        self, setting: Setting, which: str, changes: dict[str, object], name: str, word: str
    ) -> None:
        setting.edit(which, **changes)
        (finding,) = setting.findings()
        assert finding.startswith(f"{name} ")
        assert word in finding
        assert f"{setting.file}:" in finding

    @pytest.mark.parametrize("preview", ["\ud800", "[0, … 2998 more …, \udfff", "", "x" * 3000])
    def test_a_preview_may_hold_anything(self, setting: Setting, preview: str) -> None:
        value = json.loads(setting.folded)
        value["rows"]["$ctx"]["preview"] = preview
        setting.file.write_text(json.dumps(value))
        assert setting.findings() == []

    def test_the_place_is_path_and_byte(self, setting: Setting) -> None:
        setting.object_file("log").unlink()
        (finding,) = setting.findings()
        offset = setting.folded.index(b'{"$ctx"')
        assert f"{setting.file}:$.deep[0].log@{offset} " in finding
        assert setting.findings(quick=True) == [finding]

    def test_damaged_bytes(self, setting: Setting) -> None:
        file = setting.object_file("rows")
        file.chmod(0o600)
        file.write_bytes(file.read_bytes()[:-3])
        (finding,) = setting.findings()
        assert finding.startswith("damaged sha256:")

    def test_quick_looks_at_presence_and_size(self, setting: Setting) -> None:
        setting.edit("rows", size=7)
        assert len(setting.findings(quick=True)) == 1
        setting.edit("rows", items=7)
        assert setting.findings(quick=True) == []

    def test_a_broken_document_that_holds_references(self, setting: Setting) -> None:
        setting.file.write_bytes(setting.folded[:-2])
        (finding,) = setting.findings()
        assert finding.startswith("malformed - ")


class TestOtherFiles:
    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"// a tsconfig\n{ 'a': 1, }",
            b"\xff\xfe\x00 not text",
            b'{"$$ctx": {"kind": 5}}',
            b'{"price": "$5", "ctx": "$ctx"',
            b"x" * 3_000_000 + b'"$',
        ],
    )
    def test_without_references_pass_unparsed_and_need_no_store(self, tmp_path: Path, content: bytes) -> None:
        file = tmp_path / "some.json"
        # The name as a value with a brace lost must not hide it; the fifth content holds it as a value.
        file.write_bytes(content.replace(b'"$ctx"', b'"$ctx '))
        handle = StoreHandle(tmp_path / "none", may_create=False)
        assert list(verify_files([str(file)], handle)) == []

    def test_every_spelling_is_seen_wherever_it_is_cut(self, tmp_path: Path) -> None:
        for name in (b'"$ctx"', b'"\\u0024ctx"', b'"$\\u0063\\u0074\\u0078"'):
            for shift in range(-30, 3):
                file = tmp_path / "some.json"
                file.write_bytes(b" " * ((1 << 20) + shift) + b"{" + name + b":1}")
                handle = StoreHandle(tmp_path / "none", may_create=False)
                assert len(list(verify_files([str(file)], handle))) == 1

    def test_references_without_a_store_are_an_error(self, setting: Setting, tmp_path: Path) -> None:
        with pytest.raises(StoreMissing):
            list(verify_files([str(setting.file)], StoreHandle(tmp_path / "none", may_create=True)))


class TestPreviewsAreTrue:
    @pytest.mark.parametrize("bytes_over", [100, 600, 1024])
    def test_no_false_findings_in_real_files(
        self, cases: Path, store: Store, tmp_path: Path, bytes_over: int
    ) -> None:
        files = [path for path in sorted(cases.rglob("*.jsonl")) if path.stat().st_size < 300_000][::9]
        assert files
        folded = tmp_path / "folded.jsonl"
        for path in files:
            folded.write_bytes(
                fold_bytes(store, path.read_bytes(), FoldPolicy(bytes_over=bytes_over, items_over=1))
            )
            handle = StoreHandle(store.folder, may_create=False)
            assert list(verify_files([str(folded)], handle)) == [], path.name
