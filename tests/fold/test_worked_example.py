"""The example at the end of docs/format.md, taken from the page and computed again.

Law: every byte that the page shows is what castore writes, and what a decoder made from the page reads.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from castore.api import FoldPolicy, StoreHandle, fold_stream, unfold_stream
from tests.fold import decoder

ROOT = Path(__file__).parents[2]
needs_zstd = pytest.mark.skipif(shutil.which("zstd") is None, reason="the zstd program is not installed")


@dataclass(frozen=True)
class Page:
    """What the example says."""

    source_name: str
    source: bytes
    source_bytes: int
    arguments: tuple[str, ...]
    folded: bytes
    folded_bytes: int
    object_path: str
    object_bytes: int
    literal: bytes
    object_file: bytes
    root_id: str
    named: str


def found(pattern: str, text: str) -> re.Match[str]:
    matches = list(re.finditer(pattern, text, re.MULTILINE))
    assert len(matches) == 1, f"{pattern} stands {len(matches)} times in the example"
    return matches[0]


@pytest.fixture(scope="module")
def page() -> Page:
    text = (ROOT / "docs/format.md").read_text(encoding="utf-8").partition("\n## A worked example\n")[2]
    source, folded, file = re.findall(r"^ {4}(.+)$", text, re.MULTILINE)
    head = found(r"^`(.+)`, (\d+) bytes with its line feed:$", text)
    command = found(r"^`ctx fold (.+)` prints, in (\d+) bytes:$", text)
    the_object = found(r"^The one object is `(objects/.+)`, the (\d+) bytes `(.+)`\.", text)
    root = found(r"^The root's id is `([0-9a-f]{32})`, from\n`(\{.+\})`\.$", text)
    return Page(
        head[1],
        source.encode() + b"\n",
        int(head[2]),
        tuple(argument.strip("'") for argument in command[1].split()),
        folded.encode() + b"\n",
        int(command[2]),
        the_object[1],
        int(the_object[2]),
        the_object[3].encode(),
        bytes.fromhex(file),
        root[1],
        root[2],
    )


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class TestThePageIsConsistent:
    def test_sizes(self, page: Page) -> None:
        assert len(page.source) == page.source_bytes
        assert len(page.folded) == page.folded_bytes
        assert len(page.literal) == page.object_bytes

    def test_reference(self, page: Page) -> None:
        reference = json.loads(page.folded)["rows"]["$ctx"]
        assert reference == {
            "kind": "array",
            "digest": "sha256:" + sha256(page.literal),
            "size": page.object_bytes,
            "items": len(json.loads(page.literal)),
            "preview": page.literal.decode(),
        }

    def test_object_is_in_its_place(self, page: Page) -> None:
        name = sha256(page.literal)
        assert page.object_path == f"objects/{name[:2]}/{name}"

    def test_root_id(self, page: Page) -> None:
        named = {
            "document": "sha256:" + sha256(page.folded),
            "kind": "document",
            "name": None,
            "scope": "default",
            "source": "sha256:" + sha256(page.source),
            "source_name": page.source_name,
        }
        assert page.named == json.dumps(named, sort_keys=True, separators=(",", ":"))
        assert page.root_id == sha256(page.named.encode())[:32]

    @needs_zstd
    def test_program_decodes_the_object_file(self, page: Page) -> None:
        ran = subprocess.run(["zstd", "-dcq"], input=page.object_file, capture_output=True, check=True)
        assert ran.stdout == page.literal

    @needs_zstd
    def test_decoder_unfolds_what_the_page_shows(self, page: Page, tmp_path: Path) -> None:
        path = tmp_path / page.object_path
        path.parent.mkdir(parents=True)
        path.write_bytes(page.object_file)
        assert decoder.unfold(page.folded, str(tmp_path)) == page.source


class TestCastoreDoesWhatThePageSays:
    def test_fold(self, page: Page, tmp_path: Path) -> None:
        name, *options = page.arguments
        assert name == page.source_name
        assert options == ["--fold", "$.rows", "--grow"]
        handle = StoreHandle(tmp_path / "store", may_create=True)
        target = io.BytesIO()
        policy = FoldPolicy(fold=("$.rows",), grow=True)
        report = fold_stream(io.BytesIO(page.source), target, handle, policy, source_name=name)
        assert target.getvalue() == page.folded
        assert report.root is not None
        assert report.root.id == page.root_id
        assert [str(each) for each in report.root.objects] == ["sha256:" + sha256(page.literal)]
        handle.close()

    @needs_zstd
    def test_object_file_decodes_with_the_program(self, page: Page, tmp_path: Path) -> None:
        handle = StoreHandle(tmp_path / "store", may_create=True)
        fold_stream(io.BytesIO(page.source), io.BytesIO(), handle, FoldPolicy(fold=("$.rows",), grow=True))
        handle.close()
        assert [path.relative_to(tmp_path / "store") for path in tmp_path.glob("store/objects/*/*")] == [
            Path(page.object_path)
        ]
        path = tmp_path / "store" / page.object_path
        ran = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True)
        assert ran.stdout == page.literal

    def test_unfold_from_the_file_that_the_page_shows(self, page: Page, tmp_path: Path) -> None:
        path = tmp_path / "store" / page.object_path
        path.parent.mkdir(parents=True)
        path.write_bytes(page.object_file)
        (tmp_path / "store" / "format").write_text("castore 1\n", encoding="utf-8")
        target = io.BytesIO()
        unfold_stream(io.BytesIO(page.folded), target, StoreHandle(tmp_path / "store", may_create=False))
        assert target.getvalue() == page.source

    def test_command(self, page: Page, tmp_path: Path) -> None:
        (tmp_path / page.source_name).write_bytes(page.source)
        environment = {key: each for key, each in os.environ.items() if not key.startswith(("CTX_", "XDG_"))}
        environment |= {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}

        def ctx(*arguments: str, stdin: bytes = b"") -> bytes:
            return subprocess.run(
                [sys.executable, "-m", "castore", *arguments],
                cwd=tmp_path,
                env=environment,
                input=stdin,
                capture_output=True,
                check=True,
            ).stdout

        ctx("init")
        assert ctx("fold", *page.arguments) == page.folded
        roots = list((tmp_path / ".ctxstore" / "roots").glob("*/*"))
        assert [path.name for path in roots] == [f"{page.root_id}.json"]
        assert ctx("unfold", stdin=page.folded) == page.source

    def test_root_file(self, page: Page, tmp_path: Path) -> None:
        """As the page says under *Root file*: canonical, with a check of its own."""
        handle = StoreHandle(tmp_path / "store", may_create=True)
        policy = FoldPolicy(fold=("$.rows",), grow=True)
        fold_stream(io.BytesIO(page.source), io.BytesIO(), handle, policy, source_name=page.source_name)
        handle.close()
        (path,) = (tmp_path / "store" / "roots").glob("*/*")
        assert path.relative_to(tmp_path / "store") == Path("roots", page.root_id[:2], page.root_id + ".json")
        written = path.read_bytes()
        root = json.loads(written)
        assert written == json.dumps(root, sort_keys=True, separators=(",", ":")).encode() + b"\n"
        check = root.pop("check")
        assert check == sha256(json.dumps(root, sort_keys=True, separators=(",", ":")).encode())
        assert root["id"] == page.root_id
        assert root["source"] == {"digest": "sha256:" + sha256(page.source), "size": page.source_bytes}
        assert root["document"] == {"digest": "sha256:" + sha256(page.folded), "size": page.folded_bytes}
        assert root["objects"] == ["sha256:" + sha256(page.literal)]
        assert set(root["created"]) == {"time", "sequence"}
