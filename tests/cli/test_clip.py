"""ctx clip, by law: a short text passes, of a long one the whole is kept, and failures leave nothing."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from castore.digest import Digest
from tests.cli.conftest import Shell
from tests.cli.desk import Desk, refused

TEXT = "".join(f"line {number} of a log\n" for number in range(900))
SLACK = 200
"""A text over its limit by no more than this would hardly get shorter."""


@pytest.fixture
def desk(fast_path: Path) -> Desk:
    return Desk(fast_path)


class TestShort:
    @pytest.mark.parametrize("text", ["", "a", "x" * (50 + SLACK), "é" * (50 + SLACK)])
    def test_passes_and_stores_nothing(self, desk: Desk, text: str) -> None:
        told = desk("clip", "--limit", "50", stdin=text.encode())
        assert told == (0, text, "")
        assert not desk.store.exists()

    def test_the_default_limit(self, desk: Desk) -> None:
        assert desk("clip", stdin=b"x" * (4000 + SLACK)).out == "x" * (4000 + SLACK)
        assert "[ctx " in desk("clip", stdin=b"x" * (4000 + SLACK + 1)).out


class TestLong:
    def test_head_marker_and_tail(self, desk: Desk) -> None:
        told = desk("clip", "--limit", "90", stdin=TEXT.encode())
        assert told.code == 0
        digest = Digest.of(TEXT.encode()).hex[:16]
        marker = re.search(r"\n(\[ctx .*\])\n", told.out)
        assert marker is not None
        assert marker[1] == (
            f"[ctx {digest}: text, {len(TEXT)} bytes, 900 lines; first 60 and last 30 characters stand here, "
            f"{len(TEXT) - 90} left out; read on: ctx cat {digest}]"
        )
        assert told.out.partition(marker[0])[0] == TEXT[:60]
        assert told.out.partition(marker[0])[2] == TEXT[-30:]

    @pytest.mark.parametrize("what", ["é", "\U0001f34e", "e\u0301", "漢"])
    def test_no_character_is_cut(self, desk: Desk, what: str) -> None:
        told = desk("clip", "--limit", "9", stdin=(what * 500).encode())
        head, _, rest = told.out.partition("\n[ctx ")
        assert (len(head), len(rest.partition("]\n")[2])) == (6, 3)
        assert "\ufffd" not in told.out

    def test_one_character_more_than_may_stand(self, desk: Desk) -> None:
        told = desk("clip", "--limit", "1", stdin=b"x" * (1 + SLACK + 1))
        assert told.out.startswith("x\n[ctx ")
        assert "first 1 characters stand here, 201 left out" in told.out
        assert told.out.endswith("]\n")

    def test_the_whole_is_kept(self, desk: Desk) -> None:
        out = desk("clip", "--limit", "90", "--for", "1d", "--scope", "default", stdin=TEXT.encode()).out
        (root,) = desk.roots()
        assert (root["kind"], root["objects"]) == ("put", 1)
        assert root["expires"] is not None
        assert desk("gc").code == 0
        marker = next(line for line in out.splitlines() if line.startswith("[ctx "))
        assert desk("cat", marker).out == TEXT

    def test_files(self, desk: Desk) -> None:
        file, out = desk.folder / "a.log", desk.folder / "b.log"
        file.write_text(TEXT)
        assert desk("clip", str(file), "-o", str(out)) == (0, "", "note: made the store 'STORE'\n")
        assert out.read_text() == desk("clip", str(file)).out
        assert desk("clip", str(file), "-o", str(file)).code == 0
        assert file.read_text() == out.read_text()
        assert {root["source_name"] for root in desk.roots()} == {str(file)}

    def test_in_a_pipe(self, shell: Shell) -> None:
        ctx = " ".join(shell.command("clip", "--limit", "100"))
        done = subprocess.run(
            ["sh", "-c", f"yes 'a line of it' | head -n 5000 | {ctx} | tail -n 1"],
            cwd=shell.folder,
            env=shell.environment,
            capture_output=True,
            check=True,
            timeout=60,
        )
        assert done.stdout == b"a line of it\n"


class TestRefused:
    @pytest.mark.parametrize("limit", ["0", "-1", "many", "1.5"])
    def test_limits(self, desk: Desk, limit: str) -> None:
        refused(desk, 2, "clip", "--limit", limit, stdin=TEXT.encode())

    @pytest.mark.parametrize("data", [b"\xff", TEXT.encode() + b"\xc3", TEXT.encode("utf-16")])
    def test_what_is_no_text(self, desk: Desk, data: bytes) -> None:
        told = refused(desk, 18, "clip", stdin=data)
        assert "not UTF-8 text" in told.err
        assert "'ctx put' stores any file" in told.err

    def test_files_that_cannot_be_read(self, desk: Desk) -> None:
        refused(desk, 1, "clip", str(desk.folder))
        refused(desk, 1, "clip", str(desk.folder / "missing.log"))

    def test_a_place_that_cannot_be_written(self, desk: Desk) -> None:
        told = desk("clip", "-o", str(desk.folder / "no" / "b.log"), stdin=TEXT.encode())
        assert (told.code, told.out) == (1, "")
        assert not desk.store.exists()

    def test_what_was_purged(self, desk: Desk) -> None:
        assert desk("clip", stdin=TEXT.encode()).code == 0
        digest = Digest.of(TEXT.encode()).hex
        assert desk("purge", digest, "--reason", "a secret", "--yes").code == 0
        refused(desk, 12, "clip", stdin=TEXT.encode())
        assert desk("clip", "--allow-purged", stdin=TEXT.encode()).code == 0

    def test_the_error_as_json(self, desk: Desk) -> None:
        error = json.loads(desk("clip", "--json", stdin=b"a\xff").err)
        assert (error["code"], error["fields"]["offset"]) == (18, 1)
