"""ctx clip, by law: a short text passes, of a long one the whole is kept, and failures leave nothing."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from castore.api import clip_text, open_store
from castore.digest import Digest
from castore.errors import DocumentInvalid
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

    def test_the_words_to_read_on_with(self, desk: Desk) -> None:
        digest = Digest.of(TEXT.encode()).hex[:16]
        out = desk("clip", "--retrieve-with", "to see it: read_more", stdin=TEXT.encode()).out
        assert f" left out; to see it: read_more {digest}]\n" in out

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

    @pytest.mark.parametrize("words", ["", " ", "two\nlines", "a ] bracket"])
    def test_words_for_a_marker(self, desk: Desk, words: str) -> None:
        refused(desk, 2, "clip", "--retrieve-with", words, stdin=TEXT.encode())

    def test_files_that_cannot_be_read(self, desk: Desk) -> None:
        refused(desk, 1, "clip", str(desk.folder))
        refused(desk, 1, "clip", str(desk.folder / "missing.log"))

    def test_a_place_that_cannot_be_written(self, desk: Desk) -> None:
        told = desk("clip", "-o", str(desk.folder / "no" / "b.log"), stdin=TEXT.encode())
        assert (told.code, told.out) == (1, "")
        assert not desk.store.exists()


class TestWhatIsNoText:
    """Of any bytes, head and tail stand as they are."""

    @pytest.mark.parametrize(
        ("data", "head", "tail"),
        [
            (b"\xff" * 900, b"\xff" * 6, b"\xff" * 3),
            ("é".encode() * 900 + b"\xc3", "é".encode() * 6, "éé".encode() + b"\xc3"),
            (b"\x80" + "漢".encode() * 900, b"\x80" + "漢".encode() * 5, "漢".encode() * 3),
            (b"\xed\xa0\x80" * 900, b"\xed\xa0\x80" * 2, b"\xed\xa0\x80"),
            (bytes(range(256)) * 4, bytes(range(6)), bytes(range(253, 256))),
        ],
    )
    def test_bytes_are_clipped(self, shell: Shell, data: bytes, head: bytes, tail: bytes) -> None:
        done = shell("clip", "--limit", "9", stdin=data)
        assert done.code == 0
        digest = Digest.of(data).hex[:16]
        assert done.out.startswith(head + f"\n[ctx {digest}: bytes, {len(data)} bytes; first 6".encode())
        assert done.out.endswith(b"]\n" + tail)
        assert shell("cat", digest).out == data

    @pytest.mark.parametrize("data", [b"\xff", b"a\xc3", "é".encode("latin-1") * 200])
    def test_short_ones_pass(self, shell: Shell, data: bytes) -> None:
        assert shell("clip", "--limit", "9", stdin=data).out == data

    def test_half_a_character_is_a_typed_error_of_the_api(self, fast_path: Path) -> None:
        store = open_store(fast_path / "store", create=True)
        for text in ("\ud800", "x" * 9_000 + "\udc80"):
            with pytest.raises(DocumentInvalid, match="lone surrogate"):
                clip_text(store, text)
        store.close()


class TestWhatCannotBeStored:
    """It goes out whole, and the exit code says that it was not clipped."""

    def lost_nothing(self, desk: Desk, code: int, *options: str, words: str) -> None:
        before = desk.kept()
        told = desk("clip", *options, stdin=TEXT.encode())
        assert (told.code, told.out) == (code, TEXT)
        assert told.err.startswith("note: the text was not clipped")
        assert "\nerror: " in told.err
        assert words in told.err
        out = desk.folder / "out.log"
        assert desk("clip", *options, "-o", str(out), stdin=TEXT.encode()).code == code
        assert out.read_text() == TEXT
        assert desk.kept() == before
        error = json.loads(desk("clip", "--json", *options, stdin=TEXT.encode()).err.splitlines()[-1])
        assert (error["event"], error["code"]) == ("error", code)

    def test_a_purged_text(self, desk: Desk) -> None:
        assert desk("clip", stdin=TEXT.encode()).code == 0
        digest = Digest.of(TEXT.encode()).hex
        assert desk("purge", digest, "--reason", "a secret", "--yes").code == 0
        self.lost_nothing(desk, 12, words="was purged on")
        assert "[ctx " in desk("clip", "--allow-purged", stdin=TEXT.encode()).out

    def test_over_a_quota(self, desk: Desk) -> None:
        assert desk("scope", "create", "team/a", "--quota", "1kB", scope="*").code == 0
        told = desk("clip", "--scope", "team/a", stdin=TEXT.encode(), scope="team/a")
        assert (told.code, told.out) == (17, TEXT)
        assert "quota" in told.err

    def test_a_scope_that_was_not_granted(self, desk: Desk) -> None:
        assert desk("init", str(desk.folder)).code == 0
        told = desk("clip", "--scope", "team/b", stdin=TEXT.encode(), scope="team/a")
        assert (told.code, told.out) == (14, TEXT)

    def test_where_no_store_can_be_made(self, desk: Desk) -> None:
        (desk.folder / "a.txt").write_text("a file")
        told = desk("clip", "--store", str(desk.folder / "a.txt" / "store"), stdin=TEXT.encode())
        assert told.out == TEXT
        assert told.code in (1, 10)
        assert "\nerror: " in told.err

    def test_a_store_of_another_format(self, desk: Desk) -> None:
        assert desk("clip", stdin=TEXT.encode()).code == 0
        (desk.store / "format").write_text("castore 99\n")
        self.lost_nothing(desk, 10, words="format")

    def test_a_short_text_needs_no_store(self, desk: Desk) -> None:
        told = desk("clip", "--store", str(desk.folder / "nowhere" / "at" / "all"), stdin=b"short")
        assert told == (0, "short", "")
