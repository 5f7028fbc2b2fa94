"""Roots with a key, for tests: a summary and its source, made in one commit."""

from __future__ import annotations

import os
from pathlib import Path

from castore.digest import Digest
from castore.roots.model import Content, Root, RootDraft, RootKind
from castore.store import Access, Store

KEY, OTHER_KEY = "a1" * 32, "b2" * 32
SOURCE, TEXT = b"the source, which is long", b"short"
GRACE = 14 * 86_400


def made(
    store: Store,
    text: bytes = TEXT,
    source: bytes = SOURCE,
    *,
    key: str = KEY,
    replaces: int = 0,
    with_source: bool = True,
    **draft: object,
) -> Root:
    """The root that has the key now. with_source: it names the source, too."""
    with store.batch() as batch:
        pieces = (text, source) if with_source else (text,)
        digests = tuple(batch.stage(piece).digest for piece in pieces)
        whole = RootDraft(
            RootKind.SUMMARY,
            digests,
            key=key,
            replaces=replaces,
            source=Content(Digest.of(source), len(source)),
            **draft,  # type: ignore[arg-type]
        )
        return batch.commit(whole)


def current(store: Store, key: str = KEY) -> Root | None:
    return store.keyed_root(RootKind.SUMMARY, key)


def replaced_of(store: Store) -> list[Root]:
    """The roots that keep what was replaced."""
    return [root for root in store.roots() if root.kind is RootKind.SUMMARY and root.key is None]


def root_file(store: Store, root: Root) -> Path:
    return Path(store.parts.layout.root_file(root.id))


def lose_index(store: Store) -> None:
    store.close()
    for name in os.listdir(store.folder):
        if name.startswith("index.sqlite"):
            os.unlink(os.path.join(store.folder, name))


def reopened(store: Store) -> Store:
    """By the operator."""
    return Store.open(store.folder, clock=store.parts.clock, access=Access(("*",)))
