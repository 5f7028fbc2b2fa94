"""Roots decide what is kept, and a root file says exactly what was written."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.config import COUNT_MAX
from castore.digest import Digest
from castore.errors import RootDamaged
from castore.roots.files import decode_root, encode_root
from castore.roots.model import Content, Root, RootDraft, RootKind, forgotten, merged, restored
from castore.store import Store
from castore.store.keeping import RootChoice

from .conftest import NOW, Clock, put

DIGESTS = st.binary(min_size=1, max_size=3).map(Digest.of)
CONTENTS = st.none() | st.builds(Content, DIGESTS, st.integers(0, 1 << 50))
NAMES = st.none() | st.from_regex(r"[G-Zg-z][A-Za-z0-9._-]{0,20}", fullmatch=True)
TIMES = st.none() | st.floats(0, 1e11)
ROOTS = st.builds(
    Root,
    id=st.just("0" * 32),
    scope=st.just("default"),
    kind=st.sampled_from(RootKind),
    name=NAMES,
    source_name=st.none() | st.text(max_size=20),
    source=CONTENTS,
    document=CONTENTS,
    created=st.floats(0, 1e11),
    sequence=st.integers(0, COUNT_MAX),
    expires=TIMES,
    forgotten=TIMES,
    expires_unforgotten=TIMES,
    objects=st.lists(DIGESTS, max_size=4).map(lambda each: tuple(sorted(set(each)))),
    details=st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3),
)
DRAFT = RootDraft(RootKind.PUT, (Digest.of(b"x"),))


def new(
    keep_seconds: int | None = None, old: Root | None = None, now: float = NOW, sequence: int = 1
) -> Root:
    return merged(replace(DRAFT, keep_seconds=keep_seconds), "default", old, now=now, sequence=sequence)


def canonical(members: dict[str, object]) -> bytes:
    return json.dumps(members, sort_keys=True, separators=(",", ":")).encode()


class TestFile:
    @given(ROOTS)
    def test_what_is_written_is_read(self, root: Root) -> None:
        assert decode_root(encode_root(root), "file") == root

    @given(ROOTS, st.data())
    def test_a_flipped_bit_is_never_another_root(self, root: Root, data: st.DataObject) -> None:
        file = bytearray(encode_root(root))
        bit = data.draw(st.integers(0, 8 * len(file) - 1))
        file[bit // 8] ^= 1 << bit % 8
        with pytest.raises(RootDamaged):
            decode_root(bytes(file), "file")

    @given(st.binary(max_size=100))
    def test_other_bytes_are_refused(self, data: bytes) -> None:
        with pytest.raises(RootDamaged):
            decode_root(data, "file")

    def test_the_reason_is_in_our_words(self) -> None:
        good = json.loads(encode_root(new()))
        del good["check"]
        for change, reason in (
            (None, "it is not JSON"),
            ({"created": None}, "a member is absent, or not what it must be"),
            ({"kind": "other"}, "its kind is none of the kinds"),
        ):
            data = b"Expecting"
            if change is not None:
                members = good | change
                check = sha256(canonical(members)).hexdigest()
                data = canonical(members | {"check": check}) + b"\n"
            with pytest.raises(RootDamaged, match=f"damaged: {reason}$") as caught:
                decode_root(data, "file")
            assert caught.value.__cause__ is None

    def test_deep_nesting_is_refused(self) -> None:
        with pytest.raises(RootDamaged):
            decode_root(b"[" * 100_000, "file")


class TestExpiry:
    def test_the_longer_one_wins_and_none_is_longest(self) -> None:
        assert new(keep_seconds=10, old=new(keep_seconds=99)).expires == NOW + 99
        assert new(keep_seconds=99, old=new(keep_seconds=10)).expires == NOW + 99
        assert new(keep_seconds=None, old=new(keep_seconds=10)).expires is None
        assert new(keep_seconds=10, old=new()).expires is None

    def test_a_root_that_is_there_keeps_its_age(self) -> None:
        assert new(old=new(), now=NOW + 5, sequence=7) == new()

    def test_one_that_has_expired_begins_anew(self) -> None:
        again = new(keep_seconds=10, old=new(keep_seconds=20), now=NOW + 50, sequence=7)
        assert (again.created, again.sequence, again.expires) == (NOW + 50, 7, NOW + 60)

    def test_one_that_was_forgotten_is_live_again_and_new(self) -> None:
        old = forgotten(new(), now=NOW + 1, grace_seconds=100)
        again = new(keep_seconds=5, old=old, now=NOW + 2, sequence=7)
        assert (again.forgotten, again.expires, again.sequence) == (None, None, 7)


class TestForget:
    def test_the_expiry_becomes_the_earlier_one(self) -> None:
        assert forgotten(new(), now=NOW, grace_seconds=60).expires == NOW + 60
        assert forgotten(new(keep_seconds=5), now=NOW, grace_seconds=60).expires == NOW + 5

    def test_undoing_restores_what_it_was(self) -> None:
        for root in (new(), new(keep_seconds=500)):
            twice = forgotten(forgotten(root, now=NOW, grace_seconds=60), now=NOW + 1, grace_seconds=0)
            assert twice.expires == NOW + 1
            assert restored(twice) == root


class TestChoice:
    def chosen(self, store: Store, **choice: object) -> set[str | None]:
        found = store.forget(RootChoice(**choice), dry_run=True)  # type: ignore[arg-type]
        return {root.source_name or root.name for root in found.roots}

    def test_each_way_to_choose(self, store: Store, clock: Clock) -> None:
        with store.batch() as batch:
            member = batch.stage(b"member").digest
            document = Content(Digest.of(b"document"), 8)
            batch.commit(RootDraft(RootKind.DOCUMENT, (member,), source_name="doc.json", document=document))
        clock.now += 100
        (alone,) = put(store, b"alone", source_name="alone.txt").objects
        first, second = put(store, b"1", b"2", source_name="two.txt").objects
        put(store, b"named", name="keepme")
        assert self.chosen(store, references=(document.digest.hex[:8],)) == {"doc.json"}
        assert self.chosen(store, references=(member.hex,)) == set()
        assert self.chosen(store, references=(str(alone),)) == {"alone.txt"}
        assert self.chosen(store, references=(first.hex,)) == set()
        assert self.chosen(store, references=(first.hex, second.hex)) == {"two.txt"}
        assert self.chosen(store, references=("keepme",)) == {"keepme"}
        assert self.chosen(store, older_than_seconds=50) == {"doc.json"}
        assert self.chosen(store, older_than_seconds=0) == {"doc.json"}
        assert self.chosen(store, source="*.txt") == {"alone.txt", "two.txt"}
        assert self.chosen(store, keep_last=0) == {"doc.json", "alone.txt", "two.txt"}
        assert self.chosen(store, keep_last=1) == set()
        assert self.chosen(store, references=("nothing",)) == set()

    def test_nothing_said_is_a_mistake(self, store: Store) -> None:
        from castore.errors import InvalidOption

        with pytest.raises(InvalidOption):
            store.forget(RootChoice())

    def test_what_gc_would_free_is_told(self, store: Store) -> None:
        put(store, b"shared", b"only here" * 50, source_name="a")
        put(store, b"shared", source_name="b")
        found = store.forget(RootChoice(source="a"))
        assert (len(found.roots), found.objects) == (1, 1)
        assert found.expires == NOW + store.config.grace_seconds
        assert store.forget(RootChoice(source="a")).roots == ()
        assert len(store.remember(RootChoice(source="*")).roots) == 1
        assert store.remember(RootChoice(source="*")).roots == ()
