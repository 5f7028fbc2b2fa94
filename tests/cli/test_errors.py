"""What a mistake, a damage and a bug look like: exit code, words, JSON form, and never a traceback."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from castore.cli.failure import describe
from castore.config import FIELD_CHARACTERS_MAX, MESSAGE_CHARACTERS_MAX, WORD_CHARACTERS_MAX
from castore.errors import CastoreError, ObjectDamaged
from tests.cli.conftest import Shell

USAGE = [
    ["nonsense"],
    ["fold", "--nonsense"],
    ["fold", "a", "b"],
    ["fold", "--bytes-over", "x", "in.json"],
    ["fold", "--bytes-over", "-1", "in.json"],
    ["fold", "--min-saving", "2", "in.json"],
    ["fold", "--min-saving", "nan", "in.json"],
    ["fold", "--preview", "some", "in.json"],
    ["fold", "--fold", "rows", "in.json"],
    ["fold", "--for", "tomorrow", "in.json"],
    ["fold", "--name", "abcdef12", "in.json"],
    ["fold", "--name", "two words", "in.json"],
    ["fold", "--scope", "../up", "in.json"],
    ["cat"],
    ["ls", "-n", "many"],
    ["tag", "onlyname"],
    ["config", "fold.nonsense"],
    ["config", "fold.bytes-over", "x"],
    ["--store"],
]


class TestUsage:
    @pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
    def test_is_exit_2_with_words_and_a_way_out(self, ctx: Shell, arguments: list[str]) -> None:
        done = ctx(*arguments)
        assert done.code == 2, done
        assert done.out == b""
        first = done.err.splitlines()[0]
        assert first.startswith("error: ")
        assert not first.endswith(".")
        assert first[7] == first[7].lower()
        assert "Traceback" not in done.err
        assert "\nhint: " in done.err

    @pytest.mark.parametrize("arguments", USAGE[:3], ids=" ".join)
    def test_as_json_is_one_line(self, ctx: Shell, arguments: list[str]) -> None:
        error = ctx(*arguments, "--json").error
        assert list(error) == ["event", "code", "name", "message", "hint", "fields"]
        assert (error["code"], error["name"]) == (2, "InvalidOption")

    def test_a_near_miss_is_named(self, ctx: Shell) -> None:
        assert "did you mean 'ctx unfold'?" in ctx("unfodl").err


class TestInput:
    @pytest.mark.parametrize("command", ["fold", "unfold", "verify", "put"])
    def test_that_is_not_there_is_exit_1(self, ctx: Shell, command: str) -> None:
        done = ctx(command, "absent.json")
        assert (done.code, done.out) == (1, b"")
        assert done.err.splitlines()[0] == "error: can't read 'absent.json': No such file or directory"

    @pytest.mark.parametrize("command", ["fold", "unfold", "verify", "put"])
    def test_that_is_a_folder_is_exit_1(self, ctx: Shell, command: str) -> None:
        (ctx.folder / "folder").mkdir()
        done = ctx(command, "folder")
        assert (done.code, done.out) == (1, b"")
        assert done.err.startswith("error: can't read 'folder': ")

    def test_one_of_many_is_named_and_the_others_are_done(self, ctx: Shell) -> None:
        (ctx.folder / "folded.json").write_bytes(ctx("fold", "in.json").out)
        for done in (ctx("verify", "folded.json", "absent"), ctx("put", "in.json", "absent")):
            assert done.code == 3
            assert done.err == "error: can't read 'absent': No such file or directory\nhint: check the path\n"
        assert ctx("put", "in.json", "absent").lines == ctx("put", "in.json").lines

    def test_that_is_no_document_says_where(self, ctx: Shell) -> None:
        (ctx.folder / "bad.json").write_bytes(b'{"a": 1}\n{"b": NaN}\n')
        done = ctx("fold", "bad.json", "-o", "out.json")
        assert (done.code, done.out) == (18, b"")
        assert "at bad.json: byte 15, line 2, column 7" in done.err
        assert "'ctx put' stores any file" in done.err
        assert not (ctx.folder / "out.json").exists()

    def test_a_name_that_is_not_text_is_printed(self, ctx: Shell) -> None:
        name = os.fsdecode(b"caf\xe9\x1b[31m.json")
        done = ctx("fold", name)
        assert done.code == 1
        assert "\x1b" not in done.err
        (ctx.folder / name).write_bytes(b"[]")
        put = ctx("put", "--json", name)
        assert put.code == 0
        assert put.rows[0]["path"] == name

    def test_that_is_no_reference_is_not_told_what_fold_takes(self, ctx: Shell) -> None:
        done = ctx("unfold", stdin=b'{"$ctx": 1}')
        assert done.code == 18
        assert done.err.startswith("error: not a well-formed reference: ")
        assert "\nhint: undo the edit" in done.err
        assert "RFC" not in done.err

    def test_folded_document_cut_off(self, ctx: Shell) -> None:
        folded = ctx("fold", "in.json").out
        done = ctx("unfold", stdin=folded[:-9])
        assert (done.code, done.out) == (18, b"")
        assert "\nat stdin: " in done.err


class TestOutput:
    def test_a_folder_is_refused(self, ctx: Shell) -> None:
        assert ctx("fold", "in.json", "-o", ".").code == 1

    def test_a_folder_that_is_not_there(self, ctx: Shell) -> None:
        done = ctx("fold", "in.json", "-o", "no/where.json")
        assert (done.code, done.out) == (1, b"")
        assert "can't write 'no/where.json'" in done.err

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
    @pytest.mark.parametrize("command", [["--version"], ["fold", "in.json"], ["config"]], ids=" ".join)
    def test_a_full_disk(self, ctx: Shell, command: list[str]) -> None:
        import subprocess

        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                ctx.command(*command),
                cwd=ctx.folder,
                env=ctx.environment,
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
                timeout=60,
            )
        assert done.returncode == 1
        assert done.stderr.startswith(b"error: No space left on device\nhint: ")
        assert b"Traceback" not in done.stderr


class TestObjects:
    def damage(self, ctx: Shell) -> str:
        digest = json.loads(ctx("fold", "in.json").out)["rows"]["$ctx"]["digest"]
        path = ctx.folder / ".ctxstore/objects" / digest[7:9] / digest[7:]
        path.chmod(0o600)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 4
        path.write_bytes(data)
        return str(digest)

    def test_damage_is_13_and_names_the_object(self, ctx: Shell) -> None:
        folded = ctx("fold", "in.json").out
        digest = self.damage(ctx)
        for done in (ctx("cat", digest), ctx("unfold", stdin=folded)):
            assert (done.code, done.out) == (13, b"")
            assert f"object '{digest[:23]}' is damaged" in done.err
            assert "\nhint: " in done.err
        assert "\nat stdin: $.rows" in ctx("unfold", stdin=folded).err
        error = ctx("cat", "--json", digest).error
        assert error["name"] == "ObjectDamaged"
        assert error["fields"]["digest"] == digest

    def test_missing_is_12_with_its_place(self, ctx: Shell) -> None:
        folded = ctx("fold", "in.json").out
        digest = json.loads(folded)["rows"]["$ctx"]["digest"]
        (ctx.folder / ".ctxstore/objects" / digest[7:9] / digest[7:]).unlink()
        done = ctx("unfold", stdin=folded)
        assert (done.code, done.out) == (12, b"")
        assert "\nat stdin: $.rows" in done.err
        assert ctx("cat", digest).code == 12
        assert ctx("cat", "nothing-has-this-name").code == 12

    def test_what_is_no_single_object_says_what_it_is(self, ctx: Shell) -> None:
        summary = json.loads(ctx("fold", "in.json", "--json", "--name", "outage").err)
        document = summary["document"]["digest"][7:23]
        root = roots_id(ctx)
        for reference, words, hint in (
            ("outage", "name 'outage' names 2 objects", "'ctx show outage' lists them"),
            (
                document[:8],
                f"'{document}' is a folded document, which is not stored itself",
                f"'ctx show {document}' lists its objects",
            ),
            (
                root,
                f"'{root}' is a root, which is not an object itself",
                f"'ctx show {root}' lists its objects",
            ),
        ):
            done = ctx("cat", reference)
            assert (done.code, done.out) == (12, b"")
            assert done.err == f"error: {words}\nhint: {hint}\n"

    @pytest.mark.parametrize("command", ["cat", "show"])
    def test_digits_of_nothing(self, ctx: Shell, command: str) -> None:
        done = ctx(command, "ffffff")
        assert done.code == 12
        assert done.err.startswith("error: no object's digest begins with 'ffffff'\nhint: ")
        assert ctx(command, "ffffff", "--json").error["name"] == "ObjectMissing"
        done = ctx(command, "ffff")
        assert done.code == 12
        assert "hint: a digest takes 6 digits or more; " in done.err
        assert ctx(command, "ffff", "--json").error["name"] == "NameMissing"


def roots_id(ctx: Shell) -> str:
    return str(ctx("log", "--json").rows[0]["id"])[:16]


LONG = "x" * 10_000
LONG_WORDS = [
    ["cat", LONG],
    ["cat", LONG, "--scope", "a"],
    ["fold", LONG],
    ["unfold", LONG],
    ["put", LONG],
    ["show", LONG],
    ["tag", LONG, "abcdef"],
    ["tag", "name", LONG],
    ["keep", LONG],
    ["fold", "in.json", "-o", LONG],
    ["fold", "in.json", "--fold", LONG],
    ["fold", "in.json", "--name", LONG],
    ["gc", "--documents", LONG],
    ["repair", "--from", LONG],
    ["ls", "--scope", LONG],
    ["ls", "--store", LONG],
    ["config", LONG],
    ["config", "store.grace", LONG],
    ["scope", "create", LONG],
    ["--" + LONG],
    [LONG],
]


class TestLongWords:
    """Of a word of 10 kB the head and the tail are told, to people and to programs."""

    @pytest.mark.parametrize("arguments", LONG_WORDS, ids=lambda words: " ".join(words).replace(LONG, "LONG"))
    def test_are_clipped(self, ctx: Shell, arguments: list[str]) -> None:
        done = ctx(*arguments)
        assert done.code in (1, 2, 3, 10, 12, 14)
        assert max(map(len, done.err.splitlines())) <= MESSAGE_CHARACTERS_MAX + 30
        assert "x" * (WORD_CHARACTERS_MAX + 1) not in done.err
        as_json = ctx(*arguments, "--json")
        assert "x" * (FIELD_CHARACTERS_MAX + 1) not in as_json.err
        for each in map(json.loads, as_json.err.splitlines()):
            assert "x" * (WORD_CHARACTERS_MAX + 1) not in str(each.get("message"))

    def test_a_path_that_a_system_takes_is_whole_in_its_field(self, ctx: Shell) -> None:
        path = "/".join(["y" * 250] * 12)
        error = ctx("cat", "--json", "--store", path, "abcdef").error
        assert error["fields"]["folder"].endswith(path)
        assert path not in error["message"]

    def test_directions_are_shown_in_errors_and_notes(self, ctx: Shell) -> None:
        for arguments in (["fold", "a\u202eb"], ["cat", "a\u202eb"], ["scope", "create", "a\u202eb"]):
            assert "a\\u202eb" in ctx(*arguments).err


class TestDescription:
    """failure.describe, the one place that words an exception."""

    def test_causes_are_told_once(self) -> None:
        found = ObjectDamaged("sha256:" + "0" * 64, "it can't be read")
        found.__cause__ = OSError(5, "Input/output error")
        assert describe(found).causes == ("Input/output error",)
        said = CastoreError("can't read 'x': Input/output error")
        said.__cause__ = found.__cause__
        assert describe(said).causes == ()

    def test_what_nobody_expected_is_a_bug(self) -> None:
        found = describe(ZeroDivisionError("division by zero"))
        assert (found.code, found.is_bug) == (70, True)
        assert "bug in castore" in (found.hint or "")

    @pytest.mark.parametrize(
        ("error", "code"),
        [(KeyboardInterrupt(), 130), (BrokenPipeError(), 141), (MemoryError(), 1), (OSError(28, "full"), 1)],
    )
    def test_codes_without_a_class(self, error: BaseException, code: int) -> None:
        assert describe(error).code == code
        assert not describe(error).is_bug
