"""dedupe-reads: a write between two reads of a file counts, however paths are spelled and calls are made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from castore.transcript.decision import Act
from castore.transcript.view import ViewRequest, plan_view

TEXT = "".join(f"line {at} of the file\n" for at in range(40))
READ = ("read", {"path": "/shop/a.txt"})
Call = tuple[str, dict[str, Any]]


def repeats(*replies: list[Call]) -> int:
    """How many results are told as repeats. Each reply makes its calls at once; all reads give the same."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for at, calls in enumerate(replies):
        ids = [f"t{at}_{index}" for index in range(len(calls))]
        uses = [
            {"type": "tool_use", "id": id, "name": name, "input": arguments}
            for id, (name, arguments) in zip(ids, calls, strict=True)
        ]
        results = [
            {"type": "tool_result", "tool_use_id": id, "content": TEXT if "read" in name else "done"}
            for id, (name, _) in zip(ids, calls, strict=True)
        ]
        messages += [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    data = json.dumps({"model": "claude-x", "system": "s", "messages": messages}).encode()
    decisions = plan_view(data, ViewRequest(("dedupe-reads",))).decisions.values()
    return sum(decision.act is Act.SAME for decision in decisions)


def write(**arguments: Any) -> Call:
    return "write", arguments


class TestSpelling:
    @pytest.mark.parametrize(
        "path",
        ["/shop/a.txt", "/shop/./a.txt", "a.txt", "./a.txt", "shop/a.txt", "file:///shop/a%2Etxt", "/shop"],
    )
    def test_a_write_to_the_file_counts(self, path: str) -> None:
        assert repeats([READ], [write(path=path)], [READ]) == 0

    @pytest.mark.parametrize("path", ["/shop/A.txt", "/other/a.txt", "b.txt", "/shop/a.txt/b", "/sho"])
    def test_a_write_to_another_does_not(self, path: str) -> None:
        assert repeats([READ], [write(path=path)], [READ]) == 1

    def test_a_relative_read_is_of_any_file_of_its_name(self) -> None:
        read = ("read", {"path": "src/a.txt"})
        assert repeats([read], [write(path="/anywhere/a.txt")], [read]) == 0
        assert repeats([read], [write(path="/anywhere/src")], [read]) == 1

    def test_a_windows_path_is_absolute(self) -> None:
        read = ("read", {"path": "C:\\shop\\a.txt"})
        assert repeats([read], [write(path="D:/shop/a.txt")], [read]) == 1
        assert repeats([read], [write(path="C:/shop/a.txt")], [read]) == 0


class TestAtOnce:
    def test_a_write_in_the_reply_of_the_first_read_counts(self) -> None:
        assert repeats([READ, write(path="a.txt")], [READ]) == 0

    def test_a_write_in_the_reply_of_the_second_counts(self) -> None:
        assert repeats([READ], [READ, write(path="a.txt")]) == 0

    def test_a_write_before_the_first_does_not(self) -> None:
        assert repeats([write(path="a.txt")], [READ], [READ]) == 1


class TestTools:
    @pytest.mark.parametrize(
        "call",
        [
            ("move_file", {"source": "/shop/a.txt", "destination": "/shop/b.txt"}),
            ("move_file", {"source": "/shop/b.txt", "destination": "/shop/a.txt"}),
            ("mcp__files__move_file", {"source": "/shop", "destination": "/gone"}),
            ("rename", {"old_path": "/shop/b.txt", "new_path": "/shop/a.txt"}),
            ("delete_file", {"uri": "file:///shop/a.txt"}),
            ("copy_file", {"path": "/shop/b.txt", "destination": "/shop/a.txt"}),
            ("multiedit", {"edits": [{"path": "/shop/b.txt"}, {"path": "/shop/a.txt"}]}),
            ("apply_patch", {"patch": "*** Begin Patch\n*** Update File: a.txt  \n"}),
        ],
    )
    def test_of_several_paths_count_by_each(self, call: Call) -> None:
        assert repeats([READ], [call], [READ]) == 0

    @pytest.mark.parametrize(
        "arguments", [{"uri": "file:///shop/a.txt"}, {"paths": ["/shop/b.txt", "/shop/a.txt"]}]
    )
    def test_that_read_by_uri_or_several_paths_are_reads(self, arguments: dict[str, Any]) -> None:
        read = ("read_files", arguments)
        assert repeats([read], [read]) == 1
        assert repeats([read], [write(path="/shop/c.txt")], [read]) == 1
        assert repeats([read], [write(path="/shop/a.txt")], [read]) == 0

    def test_a_read_of_very_many_paths_counts_any_write(self) -> None:
        read = ("read_files", {"paths": [f"/shop/{at}" for at in range(100)]})
        assert repeats([read], [read]) == 1
        assert repeats([read], [write(path="/else")], [read]) == 0
