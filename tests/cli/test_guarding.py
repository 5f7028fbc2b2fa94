"""`ctx guard` before a call, and `ctx verify --no-markers` after it: exit codes, words, and no store."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.cli.conftest import DOCUMENT, Shell

MARKER = b"[ctx 3f9ac01b77de5a10: tool result, 48213 bytes, 812 lines]"


def session(*inputs: Any, prompt_after: bool = False) -> bytes:
    """An Anthropic body with a call of each of `inputs`, answered."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number, each in enumerate(inputs):
        id = f"toolu_{number}"
        use = {"type": "tool_use", "id": id, "name": "read", "input": each}
        result = {"type": "tool_result", "tool_use_id": id, "content": "the same"}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    if prompt_after:
        messages += [{"role": "assistant", "content": "done"}, {"role": "user", "content": "again"}]
    return json.dumps({"model": "m", "max_tokens": 9, "system": "be brief", "messages": messages}).encode()


REPEATING = session({"path": "a"}, {"path": "a"})
GUARD = ["guard", "-", "--name", "read", "--arguments", '{"path":"a"}']


class TestGuard:
    def test_stops_a_third_identical_call_with_words_for_the_model(self, shell: Shell) -> None:
        done = shell(*GUARD, stdin=REPEATING)
        assert done.code == 3
        (line,) = done.lines
        assert line.startswith(
            '\'read\' was called 2 times in a row with these very arguments, {"path":"a"}:'
        )
        assert done.err == ""

    @pytest.mark.parametrize(
        "data",
        [
            session({"path": "a"}),
            session({"path": "a"}, {"path": "b"}),
            session({"path": "a"}, {"path": "a"}, {"path": "b"}),
            session({"path": "a"}, {"path": "a"}, prompt_after=True),
        ],
    )
    def test_lets_every_other_call_pass_silently(self, shell: Shell, data: bytes) -> None:
        done = shell(*GUARD, stdin=data)
        assert (done.code, done.out, done.err) == (0, b"", "")

    def test_compares_values(self, shell: Shell) -> None:
        given = ["--name", "read", "--arguments", ' { "path" : "\\u0061" } ']
        assert shell("guard", "-", *given, stdin=REPEATING).code == 3

    def test_reads_a_file_of_a_named_format_and_makes_no_store(self, shell: Shell) -> None:
        (shell.folder / "body.json").write_bytes(REPEATING)
        done = shell("guard", "body.json", *GUARD[2:], "--format", "anthropic", "--json")
        assert done.code == 3
        (row,) = done.rows
        assert (row["tool"], row["in_a_row"]) == ("read", 2)
        assert [path.name for path in shell.folder.iterdir()] == ["body.json"]

    @pytest.mark.parametrize("arguments", ['{"path":', "", "{} {}", "["], ids=repr)
    def test_refuses_arguments_that_are_no_json(self, shell: Shell, arguments: str) -> None:
        done = shell("guard", "-", "--name", "read", "--arguments", arguments, stdin=REPEATING)
        assert (done.code, done.out) == (2, b"")
        assert "\nhint: " in done.err

    def test_takes_numbers_of_any_length(self, shell: Shell) -> None:
        done = shell("guard", "-", "--name", "read", "--arguments", "1" * 5000, stdin=REPEATING)
        assert (done.code, done.out) == (0, b"")

    def test_needs_a_name(self, shell: Shell) -> None:
        done = shell("guard", "-", "--arguments", "{}", stdin=REPEATING)
        assert (done.code, done.out) == (2, b"")

    @pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\t\n"], ids=repr)
    def test_lets_the_first_call_of_a_session_pass(self, shell: Shell, data: bytes) -> None:
        (shell.folder / "new.jsonl").write_bytes(data)
        for file in ("-", "new.jsonl"):
            done = shell("guard", file, *GUARD[2:], stdin=data)
            assert (done.code, done.out, done.err) == (0, b"", "")
        assert shell("guard", "gone.jsonl", *GUARD[2:]).code == 1

    def test_in_a_loop_of_a_shell(self, shell: Shell) -> None:
        (shell.folder / "body.json").write_bytes(REPEATING)
        (shell.folder / "other.json").write_bytes(session({"path": "b"}))
        (shell.folder / "broken.json").write_bytes(b"{")
        given = " ".join(shell.command("guard"))
        loop = f"""
            for each in body other broken; do
                words=$({given} "$each.json" --name read --arguments '{{"path":"a"}}' 2>/dev/null)
                case $? in
                    0) echo "call $each" ;;
                    3) echo "tell: $words" ;;
                    *) echo "call $each, unguarded" ;;
                esac
            done
        """
        done = subprocess.run(
            ["sh", "-c", loop],
            cwd=shell.folder,
            env=shell.environment,
            capture_output=True,
            check=True,
            timeout=60,
        )
        told, *rest = done.stdout.decode().splitlines()
        assert told.startswith("tell: 'read' was called 2 times in a row")
        assert rest == ["call other", "call broken, unguarded"]

    def test_of_what_is_no_session_is_an_error(self, shell: Shell) -> None:
        assert shell(*GUARD, stdin=b'{"rows": [1, 2]}').code == 18


class TestNoMarkers:
    def test_finds_them_in_any_file_with_line_and_column(self, shell: Shell) -> None:
        (shell.folder / "app.py").write_bytes(b"import os\n\nX = '" + MARKER + b"'\n")
        (shell.folder / "image.bin").write_bytes(b"\x00\xff\n" + MARKER)
        (shell.folder / "clean.txt").write_bytes(b"ctx cat 3f9ac01b77de5a10\n")
        done = shell("verify", "--no-markers", "app.py", "image.bin", "clean.txt")
        assert done.code == 3
        assert done.lines == [
            f"marker - app.py:3:6 a marker of a view: {MARKER.decode()}",
            f"marker - image.bin:2:1 a marker of a view: {MARKER.decode()}",
        ]

    def test_finds_references_by_their_digests(self, ctx: Shell) -> None:
        assert ctx("fold", "in.json", "-o", "folded.json").code == 0
        rows = ctx("verify", "--no-markers", "folded.json", "--json").rows
        assert [row["name"] for row in rows] == ["marker", "marker"]
        for row in rows:
            assert row["words"].startswith("a reference of a view: ")
            assert ctx("cat", row["digest"]).code == 0

    def test_needs_no_store_and_reads_stdin(self, shell: Shell) -> None:
        environment = {"CTX_STORE": str(shell.folder / "nowhere"), "CTX_SCOPE": " "}
        done = shell("verify", "--no-markers", "-", stdin=DOCUMENT, **environment)
        assert (done.code, done.out) == (0, b"")
        done = shell("verify", "--no-markers", "-", stdin=DOCUMENT + MARKER, **environment)
        assert done.code == 3
        assert done.lines[0].startswith("marker - stdin:1:")
        assert list(shell.folder.iterdir()) == []

    @pytest.mark.parametrize("arguments", [[], ["--quick", "app.py"]])
    def test_is_of_files_alone(self, ctx: Shell, arguments: list[str]) -> None:
        done = ctx("verify", "--no-markers", *arguments)
        assert (done.code, done.out) == (2, b"")
        assert "\nhint: " in done.err

    def test_names_a_file_that_cant_be_read(self, shell: Shell) -> None:
        (shell.folder / "app.py").write_bytes(b"x = 1\n")
        assert shell("verify", "--no-markers", "gone.py").code == 1
        done = shell("verify", "--no-markers", "gone.py", "app.py")
        assert done.code == 3
        assert "gone.py" in done.err
