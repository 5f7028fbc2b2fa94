"""When a root was last used by its key, and how often: as well as it can be noted, apart from the reads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.digest import Digest
from castore.store import Access, Store, reads
from castore.store.reads import OTHERS, Use, noted, uses

from .conftest import NOW, Clock
from .keyed import KEY, OTHER_KEY, TEXT, made

HEAD = "2023-11-14T22:13:20.000000Z default"
_DAY = "2023-11-14"
KEYS = [f"{number:064x}" for number in range(5)]


def lines(store: Store) -> list[str]:
    path = Path(store.parts.layout.reads)
    return path.read_text("ascii").splitlines() if path.exists() else []


def opened(store: Store, *grants: str) -> Store:
    return Store.open(store.folder, clock=store.parts.clock, access=Access(grants or None))


def everybody(reader: str) -> bool:
    return True


class TestNoted:
    def test_one_line_for_each_key_with_the_latest_time(self, store: Store, clock: Clock) -> None:
        store.reads.note_use(KEY, 5)
        clock.now += 1.25
        store.reads.note_use(KEY, 7)
        store.reads.note_use(OTHER_KEY, 1)
        store.close()
        time = "2023-11-14T22:13:21.250000Z"
        assert lines(store) == [f"{time} default {KEY} 2 12", f"{time} default {OTHER_KEY} 1 1"]

    def test_what_is_held_is_told(self, store: Store, clock: Clock) -> None:
        store.reads.note_use(KEY, 5)
        assert store.uses([KEY, OTHER_KEY]) == {KEY: Use(1, NOW, 5)}
        clock.now += 0.000321
        store.reads.note_use(KEY, 5)
        use = store.uses([KEY])[KEY]
        assert (use.times, use.bytes) == (2, 10)
        assert use.last == pytest.approx(clock.now, abs=1e-6)

    def test_several_processes_add_up(self, store: Store, clock: Clock) -> None:
        for number in range(3):
            clock.now = NOW + number
            other = opened(store)
            other.reads.note_use(KEY, 5)
            other.close()
        assert store.uses([KEY]) == {KEY: Use(3, NOW + 2, 15)}

    def test_a_store_that_stays_open_writes_after_a_minute(self, store: Store, clock: Clock) -> None:
        store.reads.note_use(KEY, 5)
        clock.now += 61
        store.reads.note_use(KEY, 5)
        assert len(lines(store)) == 1

    def test_many_are_held_up_to_a_limit(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reads, "READS_HELD_MAX", 3)
        for key in KEYS:
            store.reads.note_use(key, 1)
        assert len(lines(store)) == 3
        assert len(store.uses(KEYS)) == 5

    def test_a_file_that_is_none_loses_the_note_and_nothing_else(self, store: Store) -> None:
        os.mkfifo(store.parts.layout.reads)
        store.reads.note_use(KEY, 5)
        assert store.uses([KEY]) == {}


class TestApartFromReads:
    """A use is told as one alone: what it read of objects is noted by itself."""

    def test_a_use_is_no_read(self, store: Store) -> None:
        root = made(store)
        store.reads.note_use(KEY, 1000)
        store.reads.note_use(root.objects[0].hex, 1000)
        assert store.stats().read_bytes == 0
        assert [store.life(digest).last_read for digest in root.objects] == [None, None]

    def test_a_read_is_no_use(self, store: Store) -> None:
        made(store)
        store.read(Digest.of(TEXT))
        store.reads.note_use(KEY, len(TEXT))
        assert store.stats().read_bytes == len(TEXT)
        assert store.uses([Digest.of(TEXT).hex, KEY]) == {KEY: Use(1, NOW, len(TEXT))}


class TestTold:
    def test_to_those_whose_grants_cover_the_reader(self, store: Store) -> None:
        for scope in ("team/a", "team/b"):
            made(store, scope=scope)
            user = opened(store, scope)
            user.reads.note_use(KEY, 5)
            user.close()
        told = {
            grant: opened(store, grant).uses([KEY]).get(KEY, Use(0, 0, 0)).times
            for grant in ("team/a", "team/*", "team/c", "*")
        }
        assert told == {"team/a": 1, "team/*": 2, "team/c": 0, "*": 2}


class TestLines:
    @pytest.mark.parametrize(
        "line",
        [
            f"2023-11-14T22:13:20Z default {KEY} 1 5",
            f"2023-11-14T22:13:20.000Z default {KEY} 1 5",
            f"2023-11-14 22:13:20.000000Z default {KEY} 1 5",
            f"2023-11-14T22:13:20.000000 default {KEY} 1 5",
            f"2023-13-14T22:13:20.000000Z default {KEY} 1 5",
            f"2023-11-14T24:61:20.000000Z default {KEY} 1 5",
            f"2023-11-14 default {KEY} 1 5",
            f"{HEAD} {KEY[:63]} 1 5",
            f"{HEAD} {KEY} 1",
            f"{HEAD} {KEY} -1 5",
        ],
    )
    def test_another_form_is_skipped(self, store: Store, line: str) -> None:
        good = f"{HEAD} {OTHER_KEY} 1 5\n"
        Path(store.parts.layout.reads).write_text(f"{good}{line}\n{good}{HEAD} {KEY} 1 5", "ascii")
        assert store.uses([KEY, OTHER_KEY]) == {OTHER_KEY: Use(2, NOW, 10)}

    @given(
        st.lists(
            st.tuples(
                st.booleans(),
                st.sampled_from(KEYS),
                st.integers(0, 10**9),
                st.integers(1, 10**15 - 1),
            ),
            max_size=20,
        ),
        st.integers(0, 600),
    )
    def test_a_shorter_file_has_the_same_sums(
        self, notes: list[tuple[bool, str, int, int]], length_max: int
    ) -> None:
        data = b"".join(
            reads._line(
                "default", key, reads.Read(reads._time_text(time) if is_use else "2023-11-14", 1, size)
            )
            for is_use, key, time, size in notes
        )
        short = reads._compacted(data, length_max)
        for wanted in (False, True):
            before = [each for each in reads._lines(data) if reads._is_use(each[0]) == wanted]
            after = [each for each in reads._lines(short) if reads._is_use(each[0]) == wanted]
            assert sum(each[3] for each in after) == sum(each[3] for each in before)
            for key in {each[2] for each in after} - {OTHERS}:
                of_key = [each for each in before if each[2] == key]
                (line,) = [each for each in after if each[2] == key]
                assert line[0] == max(each[0] for each in of_key)
                assert line[4] == min(sum(each[4] for each in of_key), 10**15 - 1)

    def test_the_file_is_made_shorter_and_keeps_the_latest(
        self, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reads, "READS_BYTES_MAX", 1000)
        for number, key in enumerate(KEYS * 4):
            clock.now = NOW + number
            store.reads.note_use(key, 1)
            store.reads.flush()
        assert Path(store.parts.layout.reads).stat().st_size <= 1000
        found = store.uses(KEYS)
        assert found[KEYS[-1]].last == NOW + 19
        left = uses(store.parts.layout, everybody, frozenset([OTHERS])).get(OTHERS, Use(0, 0, 0)).times
        assert sum(use.times for use in found.values()) + left == 20
        assert noted(store.parts.layout, everybody) == {}
