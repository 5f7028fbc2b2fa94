"""bundle create, bundle import: between two stores, by way of a file or a pipe."""

from __future__ import annotations

import json
import sys
import tarfile
from pathlib import Path

import pytest

from tests.cli.conftest import DOCUMENT, Done, Shell
from tests.cli.test_output_page import columns, fields, summary


class Desk:
    """Two machines, each with a store of its own; `here` has a folded document."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        for each in ("here", "there"):
            (shell.folder / each).mkdir()
            assert shell("init", cwd=shell.folder / each).code == 0
        (shell.folder / "here/in.json").write_bytes(DOCUMENT)
        assert self.here("fold", "in.json", "-o", "folded.json", "--name", "outage").code == 0

    def here(self, *arguments: str, stdin: bytes = b"") -> Done:
        return self.shell(*arguments, stdin=stdin, cwd=self.shell.folder / "here")

    def there(self, *arguments: str, stdin: bytes = b"") -> Done:
        return self.shell(*arguments, stdin=stdin, cwd=self.shell.folder / "there")

    @property
    def bundle(self) -> Path:
        return self.shell.folder / "x.tar"

    def bundled(self, *arguments: str) -> bytes:
        done = self.here("bundle", "create", *arguments)
        assert done.code == 0, done.err
        return done.out


@pytest.fixture
def desk(shell: Shell) -> Desk:
    return Desk(shell)


class TestThereAndBack:
    def test_a_document_by_way_of_a_file(self, desk: Desk) -> None:
        done = desk.here("bundle", "create", "folded.json", "-o", "../x.tar")
        assert (done.code, done.out, done.err) == (0, b"", "")
        done = desk.there("bundle", "import", "../x.tar")
        assert (done.code, done.err) == (0, "")
        assert desk.there("unfold", "../here/folded.json").out == DOCUMENT
        assert desk.there("verify").code == 0

    def test_by_way_of_a_pipe(self, desk: Desk) -> None:
        bundle = desk.bundled("outage")
        for arguments in (["-"], []):
            assert desk.there("bundle", "import", *arguments, stdin=bundle).code == 0
        assert desk.there("unfold", "../here/folded.json").out == DOCUMENT

    def test_a_file_and_a_pipe_are_the_same_bytes(self, desk: Desk) -> None:
        assert desk.here("bundle", "create", "--all", "-o", "../x.tar").code == 0
        assert desk.bundle.read_bytes() == desk.bundled("--all") == desk.bundled("outage")

    def test_a_store_is_made_where_there_is_none(self, desk: Desk) -> None:
        folder = desk.shell.folder / "there/new.ctxstore"
        done = desk.there("bundle", "import", "--store", str(folder), stdin=desk.bundled("--all"))
        assert done.code == 0
        assert "made the store" in done.err

    def test_what_has_no_root_is_kept_first(self, desk: Desk) -> None:
        path = desk.shell.folder / "here/edited.json"
        path.write_bytes((desk.shell.folder / "here/folded.json").read_bytes() + b"\n")
        assert desk.there("bundle", "import", stdin=desk.bundled("edited.json")).code == 0
        assert [line.split("\t")[1] for line in desk.there("log").lines] == ["keep"]


class TestWhatIsTold:
    def test_lines_and_fields(self, desk: Desk) -> None:
        bundle = desk.bundled("--all")
        (line,) = desk.there("bundle", "import", stdin=bundle).lines
        assert len(line.split("\t")) == len(columns()["bundle import"])
        assert line.split("\t")[:3] == ["imported", "document", "outage"]
        assert desk.there("bundle", "import", stdin=bundle).out == b"", "it is here already"
        desk.there("forget", "outage")
        done = desk.there("bundle", "import", "--json", stdin=bundle)
        facts = {"imported": 0, "same": 0, "left": 1, "objects": 0, "objects_here": 2}
        assert {key: summary(done.err)[key] for key in facts} == facts
        assert done.out == b""

    def test_json(self, desk: Desk) -> None:
        done = desk.there("bundle", "import", "--json", stdin=desk.bundled("--all"))
        assert [set(each) for each in done.rows] == [
            fields()["bundle import", "a root"] | fields()["log", "a root"]
        ]
        assert set(summary(done.err)) == fields()["bundle import", "the summary"]
        done = desk.here("bundle", "create", "--all", "--json", "-o", "../x.tar")
        assert summary(done.err)["size"] == desk.bundle.stat().st_size

    def test_nothing_is_named(self, desk: Desk) -> None:
        done = desk.here("bundle", "create", "-o", "../x.tar")
        assert (done.code, desk.bundle.exists()) == (2, False)
        assert "--all" in done.err


class TestRefused:
    def test_what_means_nothing_leaves_the_file_as_it_was(self, desk: Desk) -> None:
        desk.bundle.write_bytes(b"before")
        assert desk.here("bundle", "create", "nothing", "-o", "../x.tar").code == 12
        assert desk.bundle.read_bytes() == b"before"

    def test_a_damaged_object_too_and_a_pipe_gets_no_whole_bundle(self, desk: Desk) -> None:
        for path in (desk.shell.folder / "here/.ctxstore/objects").glob("*/*"):
            path.chmod(0o600)
            path.write_bytes(path.read_bytes()[:-1])
        assert desk.here("bundle", "create", "--all", "-o", "../x.tar").code == 13
        assert not desk.bundle.exists()
        done = desk.here("bundle", "create", "--all")
        assert done.code == 13
        assert desk.there("bundle", "import", stdin=done.out).code == 13

    def test_what_is_no_bundle(self, desk: Desk) -> None:
        for name in ("in.json", "folded.json"):
            done = desk.there("bundle", "import", f"../here/{name}", "--json")
            assert (done.code, done.error["name"]) == (13, "BundleDamaged")
        assert desk.there("bundle", "import", "nowhere.tar").code == 1

    def test_a_link_is_named_and_nothing_is_here(self, desk: Desk) -> None:
        assert desk.here("bundle", "create", "--all", "-o", "../x.tar").code == 0
        with tarfile.open(desk.bundle, "a", format=tarfile.USTAR_FORMAT) as tar:
            planted = tarfile.TarInfo(f"objects/ff/{'ff' * 32}")
            planted.type, planted.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(planted)
        done = desk.there("bundle", "import", "../x.tar")
        assert done.code == 13
        assert f"objects/ff/{'ff' * 32}" in done.err
        assert "a symbolic link" in done.err
        assert desk.there("ls").out == b""

    def test_a_name_that_another_root_has(self, desk: Desk) -> None:
        digest = desk.there("put", "../here/in.json").lines[0]
        desk.there("tag", "outage", digest)
        bundle = desk.bundled("--all")
        done = desk.there("bundle", "import", stdin=bundle)
        assert (done.code, done.out) == (15, b"")
        assert "--move" in done.err
        assert desk.there("bundle", "import", "--move", stdin=bundle).code == 0
        assert json.loads(desk.there("show", "outage", "--json").out)["kind"] == "document"


class TestOfNothingElse:
    def test_no_client_of_a_remote_is_loaded(self, desk: Desk) -> None:
        code = (
            "import io, sys, castore.api as api; s = api.open_store('here/.ctxstore'); t = io.BytesIO(); "
            "api.create_bundle(s, t, everything=True); t.seek(0); "
            "api.import_bundle(api.open_store('there/.ctxstore'), t); "
            "sys.exit('obstore' in sys.modules)"
        )
        import subprocess

        assert (
            subprocess.run([sys.executable, "-c", code], cwd=desk.shell.folder, check=False).returncode == 0
        )
