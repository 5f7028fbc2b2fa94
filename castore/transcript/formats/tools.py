"""Tools that read and write files, by the names that agents give them: for telling a repeated read.

Law: a call is told as a read or a write only by its tool's name (any case, whatever server's name is before
it) and the paths that stand in its arguments, all of them; what a shell command does is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from castore.transcript.builder import Builder
from castore.transcript.values import Value

__all__ = ["READ_TOOLS", "WRITE_TOOLS", "patched_paths", "paths_of", "tell_files"]

READ_TOOLS = frozenset(
    {
        "cat",
        "fs_read",
        "get_file_contents",
        "open_file",
        "read",
        "read_file",
        "read_files",
        "read_many_files",
        "read_multiple_files",
        "read_resource",
        "read_text_file",
        "readfile",
        "view",
        "view_file",
    }
)
"""Lower case."""

WRITE_TOOLS = frozenset(
    {
        "append_file",
        "append_to_file",
        "apply_patch",
        "copy_file",
        "create_file",
        "delete",
        "delete_file",
        "edit",
        "edit_file",
        "fs_write",
        "insert_edit_into_file",
        "move",
        "move_file",
        "multi_edit",
        "multi_replace_string_in_file",
        "multiedit",
        "notebookedit",
        "remove_file",
        "rename",
        "rename_file",
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

_PATHS = (
    "path",
    "file_path",
    "filePath",
    "filename",
    "notebook_path",
    "target_file",
    "absolute_path",
    "uri",
    "source",
    "destination",
    "source_path",
    "destination_path",
    "old_path",
    "new_path",
    "oldPath",
    "newPath",
)
_LISTS = (
    "paths",
    "file_paths",
    "filePaths",
    "files",
    "uris",
    "edits",
    "changes",
    "replacements",
    "operations",
)
"""Of paths, or of objects that each name some."""
_PATCHES = ("input", "patch", "patchText")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)", re.MULTILINE)


def paths_of(arguments: Value) -> Iterator[str]:
    """The paths that a call's arguments (an object) name."""
    yield from _named_in(arguments)
    present = arguments.names()
    for name in _LISTS:
        several = arguments.get(name) if name in present else None
        for item in several.items() if several is not None else []:
            if item.is_string:
                yield item.text() or ""
            else:
                yield from _named_in(item)


def _named_in(arguments: Value) -> Iterator[str]:
    present = arguments.names()
    for name in _PATHS:
        if name in present and (path := arguments.text(name)):
            yield path


def patched_paths(patch: str) -> Iterator[str]:
    """The paths that a patch of `apply_patch` changes."""
    for found in _PATCHED.finditer(patch):
        yield found[1].rstrip()


def tell_files(
    builder: Builder, call_id: str | None, tool: str | None, arguments: Value, *, at: Value | None = None
) -> None:
    """What files this call reads or writes. at: where it stands, if `arguments` are not of the source."""
    name = (tool or "").lower()
    # A server's tools are called `mcp__server__tool`, or `server.tool`.
    own = name.rpartition("__")[2].rpartition(".")[2]
    if own in READ_TOOLS or (own in WRITE_TOOLS and arguments.text("command") == "view"):
        for path in paths_of(arguments):
            if call_id is not None:
                builder.reads_file(call_id, path)
        return
    for path in paths_of(arguments):
        builder.writes_file(at or arguments, path, name, is_known=own in WRITE_TOOLS)
    if own == "apply_patch":
        for member in _PATCHES:
            for patched in patched_paths(arguments.text(member) or ""):
                builder.writes_file(at or arguments, patched, name)
