"""Publishing is all or nothing, in an order that a power loss can't turn around."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from castore import durable
from castore.errors import CastoreError
from castore.roots.model import RootDraft, RootKind
from castore.store import Store

from .conftest import put
from .faults import Script, scripted


class TestReplacing:
    def test_the_new_bytes_are_there_at_once_and_the_mode_stays(self, tmp_path: Path) -> None:
        target = tmp_path / "out"
        target.write_bytes(b"old")
        target.chmod(0o640)
        with durable.replacing(target) as file:
            file.write(b"new")
            file.flush()
            assert target.read_bytes() == b"old"
        assert target.read_bytes() == b"new"
        assert target.stat().st_mode & 0o777 == 0o640
        assert os.listdir(tmp_path) == ["out"]

    def test_a_new_file_gets_the_mode_that_others_get(self, tmp_path: Path) -> None:
        (tmp_path / "plain").write_bytes(b"")
        with durable.replacing(tmp_path / "out") as file:
            file.write(b"x")
        assert (tmp_path / "out").stat().st_mode == (tmp_path / "plain").stat().st_mode

    def test_an_exception_changes_nothing(self, tmp_path: Path) -> None:
        target = tmp_path / "out"
        target.write_bytes(b"old")
        with pytest.raises(ZeroDivisionError), durable.replacing(target) as file:
            file.write(b"%d" % (1 // (file.write(b"new") - 3)))
        assert target.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["out"]

    def test_the_target_of_a_link_is_replaced_and_the_link_stays(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        real, link = tmp_path / "folder" / "real", tmp_path / "link"
        real.write_bytes(b"old")
        link.symlink_to(real)
        with durable.replacing(link) as file:
            file.write(b"new")
        assert link.is_symlink()
        assert real.read_bytes() == b"new"

    def test_a_pipe_gets_the_bytes_at_the_end_or_none(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        got: list[bytes] = []
        reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
        reader.start()
        with durable.replacing(pipe) as file:
            file.write(b"x" * 300_000)
        reader.join(10)
        assert got == [b"x" * 300_000]

    def test_a_device_is_written_to(self) -> None:
        with durable.replacing("/dev/null") as file:
            file.write(b"x")

    @pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="there is no /dev/stdout")
    def test_what_is_open_already_is_appended_to(self, tmp_path: Path) -> None:
        code = (
            "from castore.durable import replacing\n"
            "with replacing('/dev/stdout') as file:\n    file.write(b'new' * 50_000)\n"
        )
        command = [sys.executable, "-c", code]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        piped = subprocess.run(command, env=environment, capture_output=True, check=True)
        assert (piped.stdout, piped.stderr) == (b"new" * 50_000, b"")
        log = tmp_path / "log"
        log.write_bytes(b"old")
        with log.open("ab") as file:
            subprocess.run(command, env=environment, stdout=file, check=True)
        assert log.read_bytes() == b"old" + b"new" * 50_000

    def test_a_folder_or_a_missing_folder_is_an_error(self, tmp_path: Path) -> None:
        for path in (tmp_path, tmp_path / "absent" / "out"):
            with pytest.raises(CastoreError), durable.replacing(path):
                pass

    @pytest.mark.parametrize("call", ["fsync", "rename"])
    @pytest.mark.parametrize("fault", "EF")
    def test_a_failing_disk_leaves_the_old_bytes(self, tmp_path: Path, call: str, fault: str) -> None:
        target = tmp_path / "out"
        target.write_bytes(b"old")
        with scripted({call: Script(fault)}), pytest.raises(CastoreError), durable.replacing(target) as file:
            file.write(b"new")
        assert target.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["out"]


class TestOrder:
    def test_a_commit_syncs_bytes_then_names_then_the_root(self, store: Store) -> None:
        with scripted({}) as log, store.batch() as batch:
            staged = batch.stage(b"data")
            batch.commit(RootDraft(RootKind.PUT, (staged.digest,)))
        hex_digits = staged.digest.hex
        steps = [step for step in log if step[0] in ("fsync", "rename")]
        placed = next(
            at for at, step in enumerate(steps) if step[0] == "rename" and step[1].endswith(hex_digits)
        )
        root = next(at for at, step in enumerate(steps) if step[0] == "rename" and step[1].endswith(".json"))
        assert any(step[0] == "fsync" and "/tmp/" in step[1] for step in steps[:placed])
        before = {os.path.basename(step[1]) for step in steps[:placed] if step[0] == "fsync"}
        between = {os.path.basename(step[1]) for step in steps[placed:root] if step[0] == "fsync"}
        assert "objects" in before, "the folder has a name before anything has one in it"
        assert hex_digits[:2] in between
        after = {os.path.basename(step[1]) for step in steps[root:] if step[0] == "fsync"}
        assert os.path.basename(steps[root][1])[:2] in after

    def test_many_objects_are_synced_at_once_in_the_same_order(self, store: Store) -> None:
        with scripted({}) as log:
            put(store, *(b"%d" % number for number in range(200)))
        calls = [step[0] for step in log if step[0] in ("syncfs", "rename")]
        assert calls[0] == "syncfs"
        assert calls.count("syncfs") == 2
        assert calls.index("rename") < len(calls) - 1 - calls[::-1].index("syncfs")
        assert calls[-1] == "rename"

    def test_a_new_store_is_synced_before_it_has_its_name(self, tmp_path: Path) -> None:
        with scripted({}) as log:
            Store.init(tmp_path / "a" / "b")
        steps = [step for step in log if step[0] in ("fsync", "rename")]
        placed = next(at for at, step in enumerate(steps) if step[0] == "rename")
        assert {"format", "config.toml"} <= {os.path.basename(step[1]) for step in steps[:placed]}
        assert steps[placed + 1][1] == str(tmp_path / "a")
        assert ("fsync", str(tmp_path)) in steps

    def test_a_failed_sync_is_not_tried_again(self, store: Store) -> None:
        with scripted({"fsync": Script("E")}) as log, pytest.raises(CastoreError) as failure:
            put(store, b"data")
        assert failure.value.fields["errno"] == errno.EIO
        assert [step[0] for step in log].count("fsync") == 1
        assert list(store.digests()) == []
