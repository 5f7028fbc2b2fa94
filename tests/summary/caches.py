"""A cache in a store of its own, with a clock that the test moves, and strategies that count their runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from castore.digest import Digest
from castore.roots.model import Root, RootDraft, RootKind
from castore.store import Access, Store, StoreHandle
from castore.summary.cache import SummaryCache
from castore.summary.key import OptionValue
from castore.summary.listing import Listed

NOW = 1_700_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


class Marked:
    """A strategy whose summaries say what they are of, and that counts how often it ran."""

    def __init__(
        self, name: str = "marked", version: int = 1, options: Mapping[str, OptionValue] | None = None
    ) -> None:
        self.name = name
        self.version = version
        self.options: Mapping[str, OptionValue] = options or {}
        self.runs = 0

    def summarize(self, source: bytes) -> str:
        self.runs += 1
        return f"{self.name}@{self.version} of {source.decode()[:40]!r}"


class Caching:
    """A store, and its operator's cache."""

    def __init__(self, folder: Path, clock: Clock, access: Access | None = None) -> None:
        self.folder = folder
        self.clock = clock
        self.opened: list[StoreHandle] = []
        self.handle = self._handle(access or Access(("*",)))
        self.cache = SummaryCache(self.handle)

    @property
    def store(self) -> Store:
        return self.handle.get_or_create()

    def _handle(self, access: Access | None) -> StoreHandle:
        handle = StoreHandle(self.folder, may_create=True, clock=self.clock, access=access)
        self.opened.append(handle)
        return handle

    def other(self, *grants: str, scope: str | None = None) -> SummaryCache:
        """The cache of a caller who was granted these."""
        return SummaryCache(self._handle(Access(grants or None, scope)))

    def set(self, key: str, value: str) -> None:
        self.store.change_setting(key, value)

    def put(self, data: bytes, scope: str | None = None) -> Root:
        """The bytes are an object, kept by a root of their own."""
        with self.store.batch() as batch:
            staged = batch.stage(data)
            return batch.commit(RootDraft(RootKind.PUT, (staged.digest,), scope=scope))

    def object_file(self, digest: Digest) -> Path:
        return Path(self.store.parts.layout.object_file(digest.hex))

    def files(self) -> dict[str, bytes]:
        """Every file of the store, but those that notes and databases write for themselves."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and path.name != "reads" and not path.name.startswith("index.sqlite")
        }

    def listed(self, name: str | None = None) -> dict[str, Listed]:
        """The live entries by the text of their source."""
        found = self.cache.entries(name=name)
        return {self.store.read(each.entry.source.digest).decode(): each for each in found}

    def close(self) -> None:
        for handle in self.opened:
            handle.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def caching(fast_path: Path, clock: Clock) -> Iterator[Caching]:
    made = Caching(fast_path / "s", clock)
    yield made
    made.close()
