"""Tools that read and write files, by the names that agents give them: for telling a repeated read.

Law: a call is told as a read or a write only by its tool's name (any case) and a path that stands in its
arguments; what a shell command reads or writes is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from castore.transcript.builder import Builder
from castore.transcript.values import Value

__all__ = ["READ_TOOLS", "WRITE_TOOLS", "patched_paths", "path_of", "tell_files"]

READ_TOOLS = frozenset(
    {
        "cat",
        "fs_read",
        "get_file_contents",
        "open_file",
        "read",
        "read_file",
        "read_text_file",
        "readfile",
        "view",
        "view_file",
    }
)
"""Lower case."""

WRITE_TOOLS = frozenset(
    {
        "apply_patch",
        "create_file",
        "edit",
        "edit_file",
        "fs_write",
        "insert_edit_into_file",
        "multiedit",
        "notebookedit",
        "replace",
        "replace_in_file",
        "replace_string_in_file",
        "search_replace",
        "str_replace",
        "str_replace_editor",
        "str_replace_based_edit_tool",
        "write",
        "write_file",
        "write_to_file",
        "writefile",
    }
)
"""Lower case. Those that edit and view, by a `command`, are here: a view of theirs counts as a read."""

_PATHS = ("path", "file_path", "filePath", "filename", "notebook_path", "target_file", "absolute_path")
_PATCHES = ("input", "patch", "patchText")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)


def path_of(arguments: Value) -> str | None:
    """The path that a call's arguments (an object) name; None if they name none."""
    for name in _PATHS:
        path = arguments.text(name)
        if path:
            return path
    return None


def patched_paths(patch: str) -> Iterator[str]:
    """The paths that a patch of `apply_patch` changes."""
    for found in _PATCHED.finditer(patch):
        yield found[1]


def tell_files(
    builder: Builder, call_id: str | None, tool: str | None, arguments: Value, *, at: Value | None = None
) -> None:
    """What files this call reads or writes. at: where it stands, if `arguments` are not of the source."""
    name = (tool or "").lower()
    if name in READ_TOOLS or (name in WRITE_TOOLS and arguments.text("command") == "view"):
        path = path_of(arguments)
        if path is not None and call_id is not None:
            builder.reads_file(call_id, path)
        return
    path = path_of(arguments)
    if path is not None:
        builder.writes_file(at or arguments, path, name, is_known=name in WRITE_TOOLS)
    elif name == "apply_patch":
        for member in _PATCHES:
            for patched in patched_paths(arguments.text(member) or ""):
                builder.writes_file(at or arguments, patched, name)
