"""Root files: `roots/ab/<id>.json`, the truth about what is kept.

Laws: a file holds one root, as canonical JSON (sorted members, ASCII, a line feed at the end) whose
member `check` is the SHA-256 of the same JSON without it: a changed bit is RootDamaged, never another
root. A file is published and replaced at once; after a crash it is the old or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from castore import durable
from castore.config import (
    COUNT_MAX,
    OPERATOR,
    ROOT_BYTES_MAX,
    ROOT_VALUES_MAX,
    SOURCE_NAME_BYTES_MAX,
    TIME_MAX,
    parse_name,
    parse_scope,
)
from castore.digest import Digest
from castore.errors import CastoreError, InvalidOption, LimitExceeded, RootDamaged
from castore.layout import KEY, ROOT_ID, ROOT_NAME, SHARDS, Layout
from castore.roots.model import PURGED, REMOTE, Content, Root, RootKind, keyed_root_id, log_root_id

__all__ = ["RootFiles", "RootStamp", "check_file", "check_root", "decode_root", "encode_root"]

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class RootStamp(NamedTuple):
    """Changes when the root file does."""

    inode: int
    size: int
    mtime_ns: int


class RootFiles:
    """The root files of one store folder. Only a caller inside the write transaction changes them."""

    def __init__(self, layout: Layout, *, file_mode: int, folder_mode: int) -> None:
        self._layout = layout
        self._file_mode = file_mode
        self._folder_mode = folder_mode

    def publish(self, root: Root, *, unproven: bool = False) -> RootStamp:
        """The file of `root` holds it, on the disk, in place of what was there. Raises LimitExceeded.

        unproven: the name of its folder is synced whoever made it.
        """
        layout = self._layout
        data = encode_root(root)
        check_root(root)
        _check_length(data)
        folder = layout.root_folder(root.id)
        if not durable.make_folders([folder], layout.roots, self._folder_mode, unproven=unproven):
            self._check_shard(root.id[:2])
        durable.publish(layout.root_file(root.id), data, staged=self._new_path(), mode=self._file_mode)
        return self.stamp(root.id)

    def publish_again(self, found: Sequence[Root]) -> list[RootStamp]:
        """As `publish` for roots that have their files already, all in one shard; synced in bulk.

        For those that an unfinished writer left: only what is written anew is surely on the disk.
        """
        for shard in sorted({root.id[:2] for root in found}):
            self._check_shard(shard)
        staged: list[str] = []
        try:
            for root in found:
                path = self._new_path()
                durable.write_new(path, [encode_root(root)], self._file_mode)
                staged.append(path)
            durable.sync_files(staged, self._layout.folder)
            for path, root in zip(staged, found, strict=True):
                durable.rename(path, self._layout.root_file(root.id))
        except BaseException:
            for path in staged:
                with contextlib.suppress(CastoreError):
                    durable.remove(path)
            raise
        durable.sync_folders({self._layout.root_folder(root.id) for root in found}, self._layout.folder)
        return [self.stamp(root.id) for root in found]

    def remove(self, root_ids: list[str]) -> None:
        """None of these roots has a file any more, on the disk."""
        for shard in sorted({each[:2] for each in root_ids}):
            self._check_shard(shard)
        for each in root_ids:
            durable.remove(self._layout.root_file(each))
        durable.sync_folders(
            sorted({self._layout.root_folder(each) for each in root_ids}), self._layout.folder
        )

    def read(self, root_id: str) -> Root:
        """The root in a file. Raises RootDamaged; FileNotFoundError if there is none."""
        path = self._layout.root_file(root_id)
        self._check_shard(root_id[:2])
        try:
            descriptor = os.open(path, _READ)
            with os.fdopen(descriptor, "rb") as file:
                # Asked for more bytes than there are, Python would make room for all of them.
                size = os.fstat(descriptor).st_size
                data = file.read(min(size, ROOT_BYTES_MAX + 1))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _unreadable(path, "it can't be read", error) from error
        root = decode_root(data, path)
        if root.id != root_id:
            raise RootDamaged(path, f"it holds the root '{root.id}'")
        return root

    def _new_path(self) -> str:
        return self._layout.staged_file(f"root-{os.getpid()}-{os.urandom(6).hex()}")

    def stamp(self, root_id: str) -> RootStamp:
        found = os.lstat(self._layout.root_file(root_id))
        return RootStamp(found.st_ino, found.st_size, found.st_mtime_ns)

    def all(self) -> Iterator[Root]:
        """Every root, by its file. Raises RootDamaged for the first that is not readable."""
        for shard in SHARDS:
            for root_id in self.ids(shard):
                try:
                    yield self.read(root_id)
                except FileNotFoundError:
                    continue

    def ids(self, shard: str) -> list[str]:
        """The ids of the root files in one shard, sorted. Raises RootDamaged if it can't be listed."""
        ids = []
        for name in self.names(shard):
            match = ROOT_NAME.match(name)
            if match is not None and match[1][:2] == shard:
                ids.append(match[1])
        return ids

    def names(self, shard: str) -> list[str]:
        self._check_shard(shard)
        folder = self._layout.root_folder(shard)
        try:
            return sorted(os.listdir(folder))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unreadable(folder, "it can't be listed", error) from error

    def shard_times(self) -> dict[str, int]:
        """The mtime of each shard's folder, in nanoseconds: a file that comes or goes changes it."""
        times = {}
        prefix = self._layout.roots + "/"
        for shard in self.shards():
            try:
                times[shard] = os.lstat(prefix + shard).st_mtime_ns
            except FileNotFoundError:
                continue
        return times

    def shard_time(self, shard: str) -> int:
        return os.lstat(self._layout.root_folder(shard)).st_mtime_ns

    def shards(self) -> list[str]:
        """The shards that have a folder. Raises RootDamaged if roots/ itself can't be listed."""
        try:
            found = set(os.listdir(self._layout.roots))
        except OSError as error:
            raise _unreadable(self._layout.roots, "the folder can't be listed", error) from error
        return [shard for shard in SHARDS if shard in found]

    def _check_shard(self, shard: str) -> None:
        """Raises RootDamaged where a shard's folder is a link to another: those are not our roots."""
        folder = self._layout.root_folder(shard)
        if os.path.islink(folder):
            raise RootDamaged(folder, "it is a link, and a store's own folders are none")


def _unreadable(path: str, what: str, error: OSError) -> CastoreError:
    """Too many open files say nothing of the file."""
    if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        return CastoreError(f"can't read '{path}': {error.strerror}", file=path, errno=error.errno)
    return RootDamaged(path, f"{what} ({error.strerror})")


def encode_root(root: Root) -> bytes:
    """The bytes of the root's file."""
    members: dict[str, Any] = {
        "id": root.id,
        "scope": root.scope,
        "kind": root.kind.value,
        "created": {"time": root.created, "sequence": root.sequence},
        "objects": [str(digest) for digest in root.objects],
    }
    for name, value in (
        ("name", root.name),
        ("source_name", root.source_name),
        ("source", _content(root.source)),
        ("document", _content(root.document)),
        ("expires", root.expires),
        ("forgotten", root.forgotten),
        ("expires_unforgotten", root.expires_unforgotten),
        ("details", dict(root.details) or None),
        ("base", root.base),
        ("expires_alone", root.expires_alone),
        ("place", root.place),
        ("key", root.key),
    ):
        if value is not None:
            members[name] = value
    members["check"] = sha256(_canonical(members)).hexdigest()
    return _canonical(members) + b"\n"


def decode_root(data: bytes, path: str) -> Root:
    """The root in a file's bytes. Raises RootDamaged unless they are exactly what `encode_root` writes."""
    import json

    try:
        _check_length(data)
        members = json.loads(data, parse_constant=_no_constant)
    except LimitExceeded as error:
        raise RootDamaged(path, error.message) from None
    except (ValueError, RecursionError):
        # The parser's own words are about its text, and nobody edits a root file.
        raise RootDamaged(path, "it is not JSON") from None
    try:
        if not isinstance(members, dict):
            raise ValueError("it is not an object")
        check = members.pop("check", None)
        if check != sha256(_canonical(members)).hexdigest():
            raise ValueError("its check does not fit")
        root = _root_of(members)
        check_root(root)
        if encode_root(root) != data:
            raise ValueError("it is not in canonical form")
    except (ValueError, InvalidOption, LimitExceeded) as error:
        raise RootDamaged(path, str(error)) from None
    except (KeyError, TypeError, RecursionError):
        raise RootDamaged(path, "a member is absent, or not what it must be") from None
    return root


def check_file(root: Root) -> None:
    """A file can hold it. Raises LimitExceeded, InvalidOption."""
    check_root(root)
    _check_length(encode_root(root))


def _check_length(data: bytes) -> None:
    """A root's file is not longer, and does not hold more, than a reader takes. Raises LimitExceeded."""
    if len(data) > ROOT_BYTES_MAX:
        raise LimitExceeded(f"a root's file is over {ROOT_BYTES_MAX:,} bytes", limit="ROOT_BYTES_MAX")
    if data.count(b",") + data.count(b"[") + data.count(b"{") > ROOT_VALUES_MAX:
        raise LimitExceeded(f"a root's file has over {ROOT_VALUES_MAX:,} values", limit="ROOT_VALUES_MAX")


def check_root(root: Root) -> None:
    """Its times, counts and names are some that a root can have. Raises LimitExceeded, InvalidOption.

    Whoever wrote it: none of them may lead a reader into what no calendar, column or path has.
    """
    times = (root.created, root.expires, root.forgotten, root.expires_unforgotten, root.expires_alone)
    if not all(0 <= time <= TIME_MAX for time in times if time is not None):
        raise LimitExceeded("a time is before 1970 or after the year 8307", limit="TIME_MAX")
    counts = [root.sequence, *(each.size for each in (root.source, root.document) if each is not None)]
    if not all(0 <= count <= COUNT_MAX for count in counts):
        raise LimitExceeded(f"a size or number is over {COUNT_MAX:,}", limit="COUNT_MAX")
    if root.scope != OPERATOR:
        parse_scope(root.scope)
    if root.name is not None:
        parse_name(root.name)
    if root.source_name is not None:
        _check_source_name(root.source_name)
    if root.base is not None and (ROOT_ID.match(root.base) is None or root.base == root.id):
        raise InvalidOption("what it is based on is no other root's id")
    alone = root.expires_alone
    if alone is not None and root.expires is not None and root.expires <= alone:
        raise InvalidOption("its expiry is not later than the one that it has alone")
    if root.place is not None:
        _check_place(root, root.place)
    if root.key is not None:
        _check_key(root, root.key)
    if PURGED in root.details or REMOTE in root.details:
        _check_details(root.details)


def _check_place(root: Root, place: int) -> None:
    """What has a place in a log is nothing else, and has the id of that place."""
    if not 0 <= place <= COUNT_MAX:
        raise LimitExceeded(f"a place in a log is over {COUNT_MAX:,}", limit="COUNT_MAX")
    if root.source_name is None or (root.name, root.source, root.document, root.base) != (None,) * 4:
        raise InvalidOption("a root of a log has the log's name alone: no other, no source, document or base")
    if root.id != log_root_id(root.kind, root.scope, root.source_name, place):
        raise InvalidOption("its id is not that of its place in the log")


def _check_key(root: Root, key: str) -> None:
    """What has a key is a summary and nothing else, and has the id of that key."""
    if KEY.match(key) is None:
        raise InvalidOption("a key is no 64 lower-case hex digits")
    if root.kind is not RootKind.SUMMARY or (root.name, root.document, root.place) != (None,) * 3:
        raise InvalidOption("a root with a key is a summary, and has no name, document or place")
    if root.id != keyed_root_id(root.kind, root.scope, key):
        raise InvalidOption("its id is not that of its key")


def _check_details(details: Mapping[str, Any]) -> None:
    """What every store relies on in them, whoever wrote it."""
    purged, remote = details.get(PURGED, []), details.get(REMOTE)
    if not isinstance(purged, list | tuple) or not all(isinstance(each, str) for each in purged):
        raise InvalidOption("what it was purged of is no list of digests")
    for each in purged:
        Digest.parse(each)
    if remote is not None:
        if not isinstance(remote, str):
            raise InvalidOption("the remote that has its objects is no name")
        parse_name(remote)


def _check_source_name(text: str) -> None:
    try:
        length = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidOption("a source name is not Unicode", hint="escape what is not") from error
    if length > SOURCE_NAME_BYTES_MAX:
        raise LimitExceeded(
            f"a source name is over {SOURCE_NAME_BYTES_MAX:,} bytes", limit="SOURCE_NAME_BYTES_MAX"
        )


def _root_of(members: dict[str, Any]) -> Root:
    created = members["created"]
    return Root(
        id=_text(members["id"]),
        scope=_text(members["scope"]),
        kind=_kind(members["kind"]),
        name=_text_or_none(members.get("name")),
        source_name=_text_or_none(members.get("source_name")),
        source=_content_of(members.get("source")),
        document=_content_of(members.get("document")),
        created=_time(created["time"]),
        sequence=_integer(created["sequence"]),
        expires=_time_or_none(members.get("expires")),
        forgotten=_time_or_none(members.get("forgotten")),
        expires_unforgotten=_time_or_none(members.get("expires_unforgotten")),
        objects=tuple(Digest.parse(_text(each)) for each in members["objects"]),
        details=_mapping(members.get("details", {})),
        base=_text_or_none(members.get("base")),
        expires_alone=_time_or_none(members.get("expires_alone")),
        place=None if "place" not in members else _integer(members["place"]),
        key=_text_or_none(members.get("key")),
    )


def _canonical(members: Mapping[str, Any]) -> bytes:
    import json

    return json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def _content(content: Content | None) -> dict[str, Any] | None:
    return None if content is None else {"digest": str(content.digest), "size": content.size}


def _content_of(value: Any) -> Content | None:
    if value is None:
        return None
    return Content(Digest.parse(_text(value["digest"])), _integer(value["size"]))


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is no JSON")


def _kind(value: Any) -> RootKind:
    try:
        return RootKind(value)
    except ValueError:
        raise ValueError("its kind is none of the kinds") from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a member that must be a string is not")
    return value


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("a member that must be a count is not")
    return value


def _time(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a member that must be a time is not")
    return value


def _time_or_none(value: Any) -> float | None:
    return None if value is None else _time(value)


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("a member that must be an object is not")
    return value
