"""The store's folder itself: made whole or not at all, recognised, and its settings read.

Law: a folder that has a `format` file is a whole store. It is made under another name beside its place,
synced and renamed, so that of several processes that make the same one exactly one does, and a crash
leaves a folder with another name or nothing. Such a folder is swept after a day.
"""

from __future__ import annotations

import errno
import os
import re
import stat

from castore import durable
from castore.config import CONFIG_BYTES_MAX, STAGED_AGE_SECONDS_MAX
from castore.errors import (
    CastoreError,
    InvalidConfig,
    StoreExists,
    StoreMissing,
    StoreUnavailable,
    UnknownStoreFormat,
)
from castore.layout import FORMAT_VERSION, GITATTRIBUTES_TRACKED, GITIGNORE_PRIVATE, GITIGNORE_TRACKED, Layout
from castore.objects.loose import Modes
from castore.settings import CONFIG_TEMPLATE, Config, parse_config

__all__ = [
    "create_folder",
    "is_store",
    "read_config",
    "read_config_text",
    "read_format",
    "remove_unfinished",
    "seems_to_grant",
    "shared_modes",
]

_FORMAT_BYTES_MAX = 200
_SEARCHED_BYTES_MAX = 16 << 20
_GRANTING = re.compile(rb"^[^#\n]*(?:granted|\bscope\b *(?:[.\]]|= *\{))", re.MULTILINE)
"""In a line that is no comment: the key `granted`, or a table of one scope."""

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
"""A planted pipe can't make us wait, nor a link lead us elsewhere."""


def is_store(layout: Layout) -> bool:
    return os.path.isfile(layout.format)


def read_format(layout: Layout) -> None:
    """The store is there, and of our version. Raises StoreMissing, UnknownStoreFormat."""
    try:
        line = _read_file(layout.format, _FORMAT_BYTES_MAX)
    except (FileNotFoundError, NotADirectoryError):
        raise StoreMissing(f"no store in '{layout.folder}'", folder=layout.folder) from None
    if line.rstrip() != FORMAT_VERSION.encode():
        shown = line.decode("utf-8", "replace").split("\n")[0][:40]
        raise UnknownStoreFormat(f"the store in '{layout.folder}' has the unknown format '{shown}'")
    _check_folders(layout)


def read_config(layout: Layout) -> Config:
    """The settings in config.toml; the defaults if there is none. Raises InvalidConfig."""
    text = read_config_text(layout)
    # Most stores have the file as it was written, all comments: then no parser is loaded.
    if text in ("", CONFIG_TEMPLATE):
        return Config()
    try:
        return parse_config(text)
    except InvalidConfig as error:
        raise _invalid(layout, error) from error.__cause__


def read_config_text(layout: Layout) -> str:
    """config.toml as it is; the empty text if there is none. Raises InvalidConfig."""
    try:
        data = _read_file(layout.config, CONFIG_BYTES_MAX + 1)
    except FileNotFoundError:
        return ""
    if len(data) > CONFIG_BYTES_MAX:
        raise _invalid(layout, InvalidConfig(f"it is longer than {CONFIG_BYTES_MAX:,} bytes"))
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _invalid(layout, InvalidConfig("it is not UTF-8")) from error


def seems_to_grant(layout: Layout) -> bool:
    """Whether a config.toml that is not valid may still mean to say who sees what."""
    data = _read_file(layout.config, _SEARCHED_BYTES_MAX + 1)
    return len(data) > _SEARCHED_BYTES_MAX or _GRANTING.search(data) is not None


def _read_file(path: str, length_max: int) -> bytes:
    """The beginning of a file. Raises FileNotFoundError, NotADirectoryError; CastoreError for the rest."""
    try:
        descriptor = os.open(path, _READ)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CastoreError(f"'{path}' is not a regular file", file=path)
            return os.read(descriptor, length_max)
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        reason = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise CastoreError(f"can't read '{path}': {reason}", file=path, errno=error.errno) from error


def _check_folders(layout: Layout) -> None:
    """None of the store's folders leads elsewhere: what is written or removed there would not be ours.

    It would not even be durable: what is synced is the file system of the store's own folder.
    """
    for path in (layout.objects, layout.roots, layout.tmp, layout.tombstones, layout.damaged):
        if os.path.islink(path):
            raise StoreUnavailable(
                f"'{path}' is a link, and a store's own folders are none",
                hint="keep the store in one place: move the folder back, or link to the store as a whole",
                folder=layout.folder,
            )


def _invalid(layout: Layout, error: InvalidConfig) -> InvalidConfig:
    """`error`, saying which file it is about and that this is the one to edit."""
    hint = f"correct '{layout.config}'; a key that is left out has its default"
    if error.hint is not None:
        hint = f"{error.hint}; {hint}"
    fields = {**error.fields, "file": layout.config}
    return InvalidConfig(f"'{layout.config}' is invalid: {error.message}", hint=hint, **fields)


def shared_modes(layout: Layout) -> Modes:
    """As the store was made: a group shares it if it may write in objects/, and the group is inherited."""
    try:
        mode = os.stat(layout.objects).st_mode
    except OSError:
        # A clone of a store that held nothing has no objects/ yet; it is private.
        return Modes(is_shared=False)
    return Modes(is_shared=bool(mode & stat.S_IWGRP and mode & stat.S_ISGID))


def create_folder(layout: Layout, *, is_shared: bool, is_tracked: bool) -> None:
    """An empty store is in the folder, on the disk. Raises StoreExists, also where something else is."""
    if is_store(layout):
        raise StoreExists(f"a store is already in '{layout.folder}'", folder=layout.folder)
    if os.path.lexists(layout.folder) and not _is_empty_folder(layout.folder):
        raise StoreExists(
            f"'{layout.folder}' exists and is not a store",
            hint="nothing in it was changed; move it away, or name another folder",
            folder=layout.folder,
        )
    _make_parents(os.path.dirname(layout.folder))
    new = Layout(f"{layout.folder}.new-{os.urandom(6).hex()}")
    modes = Modes(is_shared=is_shared)
    try:
        _fill(new, modes, is_tracked=is_tracked)
        remove_unfinished(layout.folder, os.stat(new.folder).st_mtime)
        try:
            durable.move(new.folder, layout.folder)
        except CastoreError as error:
            if os.path.lexists(layout.folder):
                raise StoreExists(f"a store is already in '{layout.folder}'", folder=layout.folder) from error
            raise
    except BaseException:
        _discard(new)
        raise


def remove_unfinished(folder: str, now: float) -> None:
    """Gone is what a killed `create_folder` of this store left, if that is more than a day ago.

    Best effort, and strict: a folder of ours by its name, its owner and all that is in it, which is nothing
    that anybody could miss. folder: the store's, which may be there or not. now: unix seconds.
    """
    parent, name = os.path.split(folder)
    pattern = re.compile(re.escape(f"{name}.new-") + r"[0-9a-f]{12}\Z")
    try:
        with os.scandir(parent) as entries:
            found = [entry.path for entry in entries if pattern.match(entry.name) and _is_left(entry, now)]
    except OSError:
        return
    for path in found:
        new = Layout(path)
        files = (new.format, new.config, new.gitignore, new.gitattributes)
        folders = (new.objects, new.roots, new.tmp)
        if set(_names(path)) <= {os.path.basename(each) for each in (*files, *folders)}:
            durable.remove_leftover(files, (*folders, path))


def _is_left(entry: os.DirEntry[str], now: float) -> bool:
    found = entry.stat(follow_symlinks=False)
    is_ours = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    return stat.S_ISDIR(found.st_mode) and is_ours and found.st_mtime < now - STAGED_AGE_SECONDS_MAX


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return [""]


def _fill(new: Layout, modes: Modes, *, is_tracked: bool) -> None:
    durable.make_folder(new.folder, modes.folder, sync=False)
    for folder in (new.objects, new.roots, new.tmp):
        durable.make_folder(folder, modes.folder, sync=False)
    editable = 0o660 if modes.is_shared else 0o600
    files = {
        new.format: FORMAT_VERSION + "\n",
        new.config: CONFIG_TEMPLATE,
        new.gitignore: GITIGNORE_TRACKED if is_tracked else GITIGNORE_PRIVATE,
    }
    if is_tracked:
        files[new.gitattributes] = GITATTRIBUTES_TRACKED
    for path, text in files.items():
        durable.write_new(path, [text.encode()], editable)
        os.chmod(path, editable)
    durable.sync_files(list(files), new.folder)
    durable.sync_folders([new.folder], new.folder)


def _is_empty_folder(path: str) -> bool:
    try:
        return not os.listdir(path)
    except OSError:
        return False


def _make_parents(path: str) -> None:
    if path and not os.path.isdir(path):
        _make_parents(os.path.dirname(path))
        durable.make_folder(path, 0o777)


def _discard(new: Layout) -> None:
    import shutil

    shutil.rmtree(new.folder, ignore_errors=True)
