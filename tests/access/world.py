"""Two stores: one that two scopes share, and its twin, in which the other scope never was.

What a caller of scope OWN is told must be the same in both, byte for byte.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from castore import api
from castore.cli.app import run
from castore.digest import Digest
from castore.errors import CastoreError
from castore.roots.model import STATE, Root, RootDraft, RootKind
from castore.settings import declare_scope
from castore.store import Access, Store, StoreHandle
from castore.store.keeping import RootChoice
from castore.summary.cache import SummaryCache
from castore.summary.strategy import NamedMaker
from tests.access.sessions import others_view, we_view

NOW = 1_700_000_000.0
OWN, OTHER = "team/a", "team/b"
LOG, OTHER_LOG = "session.jsonl", "theirs.jsonl"
"""Logs: one that each of them has, and one of the others alone."""


def _pair() -> tuple[bytes, bytes]:
    """Two objects whose digests begin with the same six digits."""
    found: dict[str, bytes] = {}
    number = 0
    while True:
        data = b"a twin, number %d, with some more bytes" % number
        prefix = Digest.of(data).hex[:6]
        if prefix in found:
            return found[prefix], data
        found[prefix] = data
        number += 1


OWN_TWIN, OTHER_TWIN = _pair()

OBJECTS = {
    "own": b"bytes of our own\n" * 40,
    "both": b"bytes that both have\n" * 40,
    "other": b"bytes of the others\n" * 40,
    "other damaged": b"bytes of the others that rot\n" * 40,
    "other lost": b"bytes of the others that are lost\n" * 40,
    "other purged": b"a secret of the others\n" * 40,
    "own purged": b"a secret of our own\n" * 40,
    "own expired": b"what we had once\n" * 40,
    "none": b"bytes that nobody has\n" * 40,
}
DIGESTS = {what: Digest.of(data) for what, data in OBJECTS.items()}

OWN_DOCUMENT = json.dumps({"rows": list(range(900)), "note": "our own text, again and again\n" * 60}).encode()
OTHER_DOCUMENT = json.dumps({"rows": list(range(700)), "note": "text of the others\n" * 90}).encode()


def clock() -> float:
    return NOW


def opened(folder: Path, scope: str = OWN) -> Store:
    return Store.open(folder, clock=clock, access=Access((scope,)))


def operator(folder: Path) -> Store:
    return Store.open(folder, clock=clock, access=Access(("*",)))


def reference(data: bytes) -> bytes:
    """What a forger writes who knows a digest and a size: it gives back `data` as a string."""
    facts = {"kind": "text", "digest": str(Digest.of(data)), "size": len(data), "escape": "minimal"}
    return json.dumps({"x": {"$ctx": facts}}).encode()


def build(folder: Path, *, with_others: bool) -> Path:
    """Everything that OWN does, and between it, if wanted, what OTHER does."""
    Store.init(folder, clock=clock).close()
    if with_others:
        _others_begin(folder)
    store = opened(folder)
    api.fold_bytes(store, OWN_DOCUMENT, source_name="own.json")
    for what in ("own", "both", "own purged", "own expired"):
        api.put(store, OBJECTS[what])
    api.put(store, OWN_TWIN)
    store.tag("mine", str(DIGESTS["own"]))
    store.tag("same", str(DIGESTS["own"]))
    store.forget(RootChoice(references=(str(DIGESTS["own expired"]),)), at_once=True)
    we_view(store)
    _save_log(store, 2)
    _summarise(store, {"own": "what we say of our own", "both": "what we say of both"})
    store.close()
    if with_others:
        _others_end(folder)
    owner = operator(folder)
    owner.purge(DIGESTS["own purged"], "it was ours")
    owner.close()
    _declare(folder, [OWN, OTHER] if with_others else [OWN])
    return folder


def _save_log(store: Store, count: int, session: str = LOG) -> None:
    """A log of a session, with so many records; each names an object."""
    with store.batch() as batch:
        digest = batch.stage(b"a summary, number %d of its scope\n" % count * 20).digest
        places = [*range(1, count + 1), STATE]
        batch.commit_all(
            [RootDraft(RootKind.COLLAPSE, (digest,), source_name=session, place=place) for place in places]
        )


def _summarise(store: Store, texts: Mapping[str, str]) -> None:
    cache = SummaryCache(StoreHandle.of(store))
    for what, text in texts.items():
        cache.put(DIGESTS[what], text, NamedMaker("theirs", 1, {"model": "a"}), names=("theirs", what))


def _others_begin(folder: Path) -> None:
    store = opened(folder, OTHER)
    api.fold_bytes(store, OTHER_DOCUMENT, source_name="own.json", name="folded")
    for what in ("other", "both", "other damaged", "other lost", "other purged", "own expired"):
        api.put(store, OBJECTS[what])
    api.put(store, OTHER_TWIN)
    others_view(store)
    _save_log(store, 5)
    _save_log(store, 1, OTHER_LOG)
    store.close()


def _others_end(folder: Path) -> None:
    store = opened(folder, OTHER)
    store.tag("theirs", str(DIGESTS["other"]))
    store.tag("same", str(DIGESTS["other"]))
    store.tag("short", str(DIGESTS["other"]), keep_seconds=60)
    _summarise(store, {"other": "what they say of theirs", "both": "what they say of both"})
    for _ in range(3):
        store.read(DIGESTS["other"])
        store.read(DIGESTS["both"])
    store.close()
    owner = operator(folder)
    owner.purge(DIGESTS["other purged"], "it was theirs")
    object_file(folder, "other lost").unlink()
    path = object_file(folder, "other damaged")
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-3] + b"rot")
    owner.close()


def _declare(folder: Path, scopes: Sequence[str]) -> None:
    path = folder / "config.toml"
    text = path.read_text()
    for scope in scopes:
        text = declare_scope(text, scope, "10MB" if scope == OWN else "60kB")
    path.write_text(text)


def object_file(folder: Path, what: str) -> Path:
    hex_digits = DIGESTS[what].hex
    return folder / "objects" / hex_digits[:2] / hex_digits


# --- What else may be the matter with the shared store ---------------------------------------------


def without_index(folder: Path) -> None:
    for path in folder.glob("index.sqlite*"):
        path.unlink()


def behind(folder: Path) -> None:
    """The index does not know what the others did last."""
    saved = folder.parent / "saved"
    saved.mkdir()
    for path in folder.glob("index.sqlite*"):
        shutil.copy2(path, saved)
    store = opened(folder, OTHER)
    api.put(store, b"the last that the others did\n" * 40)
    store.tag("last", str(DIGESTS["other"]))
    store.close()
    without_index(folder)
    for path in saved.iterdir():
        shutil.move(path, folder)


def roots_damaged(folder: Path) -> None:
    """Every root file of the others is junk, without a word of whose it was."""
    for path in folder.glob("roots/*/*.json"):
        if json.loads(path.read_bytes())["scope"] == OTHER:
            path.chmod(0o600)
            path.write_bytes(b"junk")


def roots_damaged_without_index(folder: Path) -> None:
    roots_damaged(folder)
    without_index(folder)


def tombstone_damaged(folder: Path) -> None:
    path = folder / "tombstones" / f"{DIGESTS['other purged'].hex}.json"
    path.chmod(0o600)
    path.write_bytes(b"junk")


STATES: dict[str, Any] = {
    "as it is": lambda folder: None,
    "without index": without_index,
    "index behind": behind,
    "roots of others damaged": roots_damaged,
    "roots of others damaged, without index": roots_damaged_without_index,
    "tombstone of others damaged": tombstone_damaged,
}


# --- The command line, in this process -------------------------------------------------------------


class Told(NamedTuple):
    code: int
    out: str
    err: str

    def about(self, digest: Digest) -> Told:
        """The same words, were they about an object that nobody has."""
        none = DIGESTS["none"]
        texts = (
            text.replace(digest.hex, none.hex)
            .replace(digest.hex[:16], none.hex[:16])
            .replace(digest.hex[:12], none.hex[:12])
            for text in (self.out, self.err)
        )
        return Told(self.code, *texts)


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def ctx(folder: Path, *arguments: str, scope: str | None = OWN, stdin: bytes = b"") -> Told:
    """One command line. Where the store is, and what time it is, are no part of what is told."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    with (
        _variables(CTX_STORE=str(folder), **({} if scope is None else {"CTX_SCOPE": scope})),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))),
        mock.patch.object(sys, "stdout", streams[0]),
        mock.patch.object(sys, "stderr", streams[1]),
    ):
        code = run(list(arguments))
    texts = []
    for stream in streams:
        stream.flush()
        text = stream.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]
        texts.append(_TIME.sub("TIME", text.replace(str(folder), "STORE")))
    return Told(code, *texts)


@contextmanager
def _variables(**ours: str) -> Iterator[None]:
    """Of the variables that castore reads, these alone. (`mock.patch.dict` sets all others anew, twice.)"""
    theirs = {key: value for key, value in os.environ.items() if key.startswith(("CTX_", "_CTX"))}
    _replace(theirs, ours)
    try:
        yield
    finally:
        _replace(ours, theirs)


def _replace(old: Mapping[str, str], new: Mapping[str, str]) -> None:
    for key in old:
        os.environ.pop(key, None)
    os.environ.update(new)


# --- Python calls ----------------------------------------------------------------------------------


def outcome(call: Any, *arguments: Any) -> Any:
    """What a call gave, or its error, in plain values."""
    try:
        return plain(call(*arguments))
    except CastoreError as error:
        return (type(error).__name__, error.message, error.hint, error.place, sorted(error.fields.items()))


def plain(value: Any) -> Any:
    """A root without its sequence number, which counts the roots of all: no front end shows it."""
    if isinstance(value, Root):
        kept = {each.name: getattr(value, each.name) for each in fields(value) if each.name != "sequence"}
        return plain({**kept, "objects": tuple(value.objects)})
    if isinstance(value, Digest):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, Iterator)):
        return [plain(each) for each in value]
    return value


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """Nothing that is truth changes in the block: no object, root, tombstone, setting, staged file."""
    before = truth(folder)
    yield
    assert truth(folder) == before


def truth(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith("index.sqlite") and path.name != "reads"
    }
