"""A cache held to a dict: any sequence of gets, puts, forgets, sweeps, purges, evictions and lost indexes.

An entry that is live has its source and its summary; what is served is what was stored for just this; and
what was forgotten is gone once gc ran after the grace, unless something else keeps it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from castore.digest import Digest
from castore.errors import KeyTaken, NotFound, ObjectMissing, ObjectPurged
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.roots.model import RootKind, keyed_root_id
from castore.store import Access, StoreHandle
from castore.store.keeping import RootChoice
from castore.summary.cache import SummaryCache
from castore.summary.key import SummaryKey
from castore.summary.strategy import NamedMaker
from tests.summary.caches import Caching, Clock, Marked

GRACE_SECONDS = 10
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

SOURCES = st.sampled_from([b"Returns within 7 days.", b"Returns within 14 days.", b"x" * 3000])
SCOPES = st.sampled_from(["team/a", "team/b"])
MAKERS = st.sampled_from(["marked", "other"])
TEXTS = st.sampled_from(["seven days", "a text that is put"])
NAMES = st.sampled_from([(), (), ("policy.md",), ("policy.md", "b.md")])


class CacheAgainstDict(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(dir=IN_MEMORY)
        self.clock = Clock()
        self.caching = Caching(Path(self.folder) / "s", self.clock)
        self.caching.set("store.grace", f"{GRACE_SECONDS}s")
        self.entries_max: dict[str, int] = {}
        self.live: dict[SummaryKey, str] = {}
        self.gone: dict[SummaryKey, tuple[str, float]] = {}
        """Those forgotten, with their text and when they expire."""
        self.purged: set[bytes] = set()

    def teardown(self) -> None:
        try:
            if self.live:
                self.caching.cache.forget(self.live, at_once=True)
            self.clock.now += GRACE_SECONDS + 1
            sweep(self.caching.store)
            assert list(self.caching.store.digests()) == []
        finally:
            self.caching.close()
            shutil.rmtree(self.folder)

    def cache(self, scope: str) -> SummaryCache:
        return SummaryCache(self.caching.handle, scope)

    @rule(scope=SCOPES, source=SOURCES, maker=MAKERS, names=NAMES, is_named=st.booleans())
    def get(self, scope: str, source: bytes, maker: str, names: tuple[str, ...], is_named: bool) -> None:
        cache, strategy = self.cache(scope), Marked(maker)
        key = cache.key(source, strategy)
        try:
            made = cache.get(Digest.of(source) if is_named else source, strategy, names=names)
        except ObjectPurged:
            assert source in self.purged
            assert key not in self.live
            return
        except ObjectMissing:
            assert is_named
            assert key not in self.live
            return
        assert made.is_hit == (key in self.live)
        assert strategy.runs == (not made.is_hit)
        assert made.text == self.live.get(key, strategy.summarize(source))
        assert set(names) <= set(made.entry.names)
        self._made(key, made.text, [each.entry.key for each in made.evicted])

    @rule(scope=SCOPES, source=SOURCES, maker=MAKERS, text=TEXTS, can_replace=st.booleans())
    def put(self, scope: str, source: bytes, maker: str, text: str, can_replace: bool) -> None:
        cache = self.cache(scope)
        key = cache.key(source, NamedMaker(maker))
        try:
            made = cache.put(source, text, NamedMaker(maker), can_replace=can_replace)
        except ObjectPurged:
            assert source in self.purged
            return
        except KeyTaken:
            assert key in self.live
            assert self.live[key] != text
            assert not can_replace
            return
        assert made.is_hit == (self.live.get(key) == text)
        self._made(key, text, [each.entry.key for each in made.evicted])

    @rule(scope=SCOPES, source=SOURCES, maker=MAKERS, at_once=st.booleans())
    def forget(self, scope: str, source: bytes, maker: str, at_once: bool) -> None:
        key = self.cache(scope).key(source, NamedMaker(maker))
        if key in self.live:
            self.caching.cache.forget([key], at_once=at_once)
            self._forgotten([key], 0 if at_once else GRACE_SECONDS)

    @rule(scope=SCOPES, source=SOURCES, maker=MAKERS)
    def remember(self, scope: str, source: bytes, maker: str) -> None:
        key = self.cache(scope).key(source, NamedMaker(maker))
        if key not in self.gone:
            return
        choice = RootChoice(roots=(keyed_root_id(RootKind.SUMMARY, scope, key.hex),))
        try:
            self.caching.store.remember(choice)
        except NotFound:
            assert self.gone[key][1] <= self.clock.now, "gc took it"
            del self.gone[key]
            return
        self.live[key] = self.gone.pop(key)[0]

    @rule(source=SOURCES)
    def purge(self, source: bytes) -> None:
        try:
            self.caching.store.purge(Digest.of(source), "a secret")
        except ObjectMissing:
            return
        self.purged.add(source)
        for known in (self.live, self.gone):
            for key in [key for key in known if key.source == Digest.of(source)]:
                del known[key]

    @rule(maker=MAKERS, most=st.integers(1, 3))
    def bound(self, maker: str, most: int) -> None:
        self.caching.set(f"summary.{maker}.entries-max", str(most))
        self.entries_max[maker] = most

    @rule(scope=SCOPES)
    def evict(self, scope: str) -> None:
        evicted = [each.entry.key for each in self.cache(scope).evict()]
        self._forgotten(evicted, GRACE_SECONDS)
        for maker, most in self.entries_max.items():
            assert self._count(scope, maker) <= most

    @rule(seconds=st.integers(1, 15))
    def wait(self, seconds: int) -> None:
        self.clock.now += seconds

    @rule()
    def gc(self) -> None:
        sweep(self.caching.store)
        assert [each.words for each in verify(self.caching.store)] == []

    @rule()
    def lose_the_index(self) -> None:
        self.caching.store.close()
        for path in self.caching.folder.glob("index.sqlite*"):
            path.unlink()

    @invariant()
    def what_is_live_is_whole_and_nothing_else_is(self) -> None:
        entries = {each.entry.key: each.entry for each in self.caching.cache.entries()}
        assert set(entries) == set(self.live)
        for key, text in self.live.items():
            assert self.caching.cache.text(entries[key]) == text
            assert Digest.of(self.caching.store.read(key.source)) == key.source

    @invariant()
    def a_scope_sees_its_own(self) -> None:
        for scope in ("team/a", "team/b"):
            handle = StoreHandle(
                self.caching.folder, may_create=False, clock=self.clock, access=Access((scope,))
            )
            ours = SummaryCache(handle)
            assert {each.entry.key for each in ours.entries()} == {
                key for key in self.live if key.scope == scope
            }
            handle.close()

    # --- Helpers ---

    def _made(self, key: SummaryKey, text: str, evicted: list[SummaryKey]) -> None:
        self.live[key] = text
        self.gone.pop(key, None)
        assert key not in evicted
        self._forgotten(evicted, GRACE_SECONDS)

    def _forgotten(self, keys: list[SummaryKey], grace_seconds: int) -> None:
        for key in keys:
            self.gone[key] = self.live.pop(key), self.clock.now + grace_seconds

    def _count(self, scope: str, maker: str) -> int:
        return sum(key.scope == scope and key.strategy == maker for key in self.live)


TestCacheAgainstDict = CacheAgainstDict.TestCase
TestCacheAgainstDict.settings = settings(max_examples=10, stateful_step_count=25, deadline=None)


@pytest.mark.long
class TestCacheAgainstDictForLong(CacheAgainstDict.TestCase):
    settings = settings(max_examples=150, stateful_step_count=50, deadline=None)
