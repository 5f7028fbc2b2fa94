"""A store held to a dict: any sequence of puts, forgets, sweeps, damage and lost indexes."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from castore.digest import Digest
from castore.errors import ObjectMissing
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.store import Store
from castore.store.keeping import RootChoice

from .conftest import Clock, file_of, overwrite, put

PIECES = st.sampled_from([b"", b"a", b"b" * 500, b"c" * 5000, b"d"])
LISTS = st.lists(PIECES, min_size=1, max_size=3)


class StoreAgainstDict(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.clock = Clock()
        self.store = Store.init(self.folder + "/s", clock=self.clock)
        self.roots: dict[frozenset[bytes], float | None] = {}
        self.bytes: set[bytes] = set()

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    @rule(pieces=LISTS, seconds=st.none() | st.integers(0, 20))
    def put(self, pieces: list[bytes], seconds: int | None) -> None:
        put(self.store, *pieces, keep_seconds=seconds)
        key = frozenset(pieces)
        self.bytes |= key
        expires = None if seconds is None else self.clock.now + seconds
        old = self.roots.get(key, 0.0)
        if old is None or (old > self.clock.now and expires is not None and old > expires):
            expires = old
        self.roots[key] = expires

    @rule(pieces=LISTS)
    def forget(self, pieces: list[bytes]) -> None:
        references = tuple(Digest.of(piece).hex for piece in pieces)
        self.store.forget(RootChoice(references=references), at_once=True)
        for key, expires in self.roots.items():
            if key <= set(pieces) and (expires is None or expires > self.clock.now):
                self.roots[key] = self.clock.now

    @rule(seconds=st.integers(1, 15))
    def wait(self, seconds: int) -> None:
        self.clock.now += seconds

    @rule()
    def gc(self) -> None:
        sweep(self.store)
        self.roots = {key: at for key, at in self.roots.items() if at is None or at > self.clock.now}
        self.bytes = {piece for key in self.roots for piece in key}
        assert {self.store.read(digest) for digest in self.store.digests()} == self.bytes

    @rule()
    def lose_the_index(self) -> None:
        self.store.close()
        for name in os.listdir(self.store.folder):
            if name.startswith("index.sqlite"):
                os.unlink(f"{self.store.folder}/{name}")

    @rule(piece=PIECES)
    def damage_and_put_again(self, piece: bytes) -> None:
        digest = Digest.of(piece)
        if self.store.stat(digest) is not None:
            overwrite(file_of(self.store, digest), b"junk")
            assert [finding.digest for finding in verify(self.store)] == [digest]
        self.put([piece], None)

    @invariant()
    def every_object_is_whole_or_missing(self) -> None:
        for piece in (b"", b"a", b"b" * 500, b"c" * 5000, b"d"):
            if piece in self.bytes:
                assert self.store.read(Digest.of(piece)) == piece
            else:
                with pytest.raises(ObjectMissing):
                    self.store.read(Digest.of(piece))

    @invariant()
    def verify_finds_nothing(self) -> None:
        assert list(map(str, verify(self.store))) == []


StoreAgainstDict.TestCase.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
TestStoreAgainstDict = StoreAgainstDict.TestCase
