"""gc of a bucket by itself, and its parts: what goes and what stays, times, damage, what killed ones left."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from castore.digest import Digest
from castore.errors import InvalidConfig, RemoteBusy, RemoteDamaged, RemoteMissing, RemoteUnavailable
from castore.remote import sweeps
from castore.remote.bucket import Bucket
from castore.remote.catalogue import going_roots
from castore.remote.connecting import connect, in_memory
from castore.remote.gc import GcReport, collect
from castore.remote.intents import Held, IntentOver, hold
from castore.remote.keys import intent_key, marks_key, name_key, object_key, root_key, sweep_key
from castore.remote.marks import judge
from castore.remote.records import (
    INTENT_SECONDS,
    SWEEP_DELETES_SECONDS,
    SWEEP_SECONDS,
    Intent,
    Marks,
    NameRecord,
    Sweep,
    decode_intent,
    encode,
)
from castore.remote.service import Entry
from castore.remote.spool import DigestSpool
from castore.remote.sweeps import Sweeping
from castore.roots.files import encode_root
from castore.roots.model import Root, RootDraft, RootKind, forgotten, merged
from castore.settings import RemoteSettings, parse_config

DAY = 86_400


class Clock:
    """Time that passes when somebody sleeps, or a test says so."""

    def __init__(self) -> None:
        self.now = 2_000_000_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Timed:
    """A Service in memory whose server's clock is a test's. lost: keys of records that are not listed."""

    is_far = False
    deletes_max = 1000

    def __init__(self, clock: Clock) -> None:
        self._service = in_memory().service
        self._clock = clock
        self.modified: dict[str, float] = {}
        self.failing: set[str] = set()
        self.are_lists_stale = False

    def _told(self, entry: Entry | None) -> Any:
        return None if entry is None else entry._replace(modified=self.modified[entry.key])

    def _fail(self, operation: str) -> None:
        if operation in self.failing:
            raise RemoteUnavailable("memory", f"{operation} failed")

    def get(self, key: str, start: int, length: int | None, bytes_max: int | None) -> Any:
        found = self._service.get(key, start, length, bytes_max)
        return None if found is None else (found[0], self._told(found[1]))

    def head(self, key: str) -> Any:
        return self._told(self._service.head(key))

    def put(self, key: str, data: Any) -> None:
        self._service.put(key, data)
        self.modified[key] = self._clock.now

    def create(self, key: str, data: bytes) -> bool:
        is_new = self._service.create(key, data)
        if is_new:
            self.modified[key] = self._clock.now
        return is_new

    def replace(self, key: str, data: bytes, entry: Entry) -> bool:
        is_done = self._service.replace(key, data, entry)
        if is_done:
            self.modified[key] = self._clock.now
        return is_done

    def delete(self, keys: Any) -> None:
        if not all(key.startswith("intents/") for key in keys):
            self._fail("delete")
        self._service.delete(keys)

    def pages(self, prefix: str) -> Iterator[Any]:
        for page in self._service.pages(prefix):
            yield [self._told(each) for each in page if not self.are_lists_stale]

    def settle(self) -> None:
        return


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def bucket(clock: Clock) -> Bucket:
    made = Bucket("memory", RemoteSettings(url="memory:///", workers=1), Timed(clock))
    made.put("format", b"castore 1\n")
    return made


def digests(*numbers: int) -> list[Digest]:
    return [Digest(sha256(str(number).encode()).hexdigest()) for number in numbers]


def root(clock: Clock, *numbers: int, title: str = "a", name: str | None = None, **changes: Any) -> Root:
    draft = RootDraft(RootKind.TAG, (), name=name, source_name=title)
    made = merged(draft, "default", None, now=clock.now - 100, sequence=1)
    return replace(made, objects=tuple(sorted(digests(*numbers))), **changes)


def lay(bucket: Bucket, *roots: Root, unnamed: tuple[int, ...] = ()) -> None:
    """The roots, their names, and all that they name are in the bucket; and these objects."""
    for digest in [*digests(*unnamed), *(each for one in roots for each in one.objects)]:
        bucket.put(object_key(digest), b"a file")
    for each in roots:
        bucket.put(root_key(each.id), encode_root(each))
        if each.name is not None:
            bucket.put(name_key(each.scope, each.name), encode(NameRecord(each.scope, each.name, each.id)))


def collected(bucket: Bucket, clock: Clock, **options: Any) -> GcReport:
    return collect(bucket, tmp="/nonexistent", clock=clock, sleep=clock.sleep, **options)


def keys(bucket: Bucket, prefix: str = "") -> set[str]:
    return {entry.key for entry in bucket.entries(prefix)}


def objects_there(bucket: Bucket, *numbers: int) -> list[bool]:
    return [bucket.head(object_key(digest)) is not None for digest in digests(*numbers)]


class TestGrace:
    def test_what_is_unnamed_goes_once_it_was_for_the_grace(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, root(clock, 1), unnamed=(2,))
        first = collected(bucket, clock, grace_seconds=DAY)
        assert (first.marked, first.ready, first.deleted_objects) == (1, 0, 0)
        assert first.later == clock.now + DAY
        clock.now += DAY - 1
        assert collected(bucket, clock, grace_seconds=DAY).deleted_objects == 0
        clock.now += 2
        last = collected(bucket, clock, grace_seconds=DAY)
        assert (last.deleted_objects, last.deleted_bytes) == (1, 6)
        assert objects_there(bucket, 1, 2) == [True, False]

    def test_a_mark_goes_where_the_object_is_named_again(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, unnamed=(1,))
        collected(bucket, clock)
        lay(bucket, root(clock, 1))
        clock.now += 2 * DAY
        collected(bucket, clock)
        assert not keys(bucket, "marks/")
        bucket.delete([root_key(root(clock, 1).id)])
        assert collected(bucket, clock).marked == 1

    def test_a_mark_of_an_earlier_object_under_the_key_does_not_count(
        self, bucket: Bucket, clock: Clock
    ) -> None:
        lay(bucket, unnamed=(1,))
        collected(bucket, clock)
        clock.now += 2 * DAY
        lay(bucket, unnamed=(1,))
        found = collected(bucket, clock)
        assert (found.marked, found.ready) == (1, 0)

    def test_waiting_it_out_in_one_run(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, root(clock, 1), unnamed=(2, 3))
        found = collected(bucket, clock, wait=True, grace_seconds=DAY)
        assert found.deleted_objects == 2
        assert sum(clock.slept) >= DAY

    def test_damaged_marks_begin_anew(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, unnamed=(1,))
        collected(bucket, clock)
        shard = digests(1)[0].hex[:2]
        bucket.put(marks_key(shard), b"no marks")
        clock.now += 2 * DAY
        found = collected(bucket, clock)
        assert (found.marks_damaged, found.marked, found.deleted_objects) == (1, 1, 0)
        clock.now += 2 * DAY
        assert collected(bucket, clock).deleted_objects == 1

    def test_marks_of_the_future_and_of_other_objects_are_none(self) -> None:
        one, other = digests(1, 2)
        entries = [Entry(object_key(one), 6, "v", 50.0)]
        marks = {one.hex: 10**10, other.hex: 1}
        found, since = judge(entries, lambda raw: False, marks, now=100.0, grace_seconds=10)
        assert (found.waiting, since) == (1, {one.hex: 100})


class TestRoots:
    def test_an_expired_root_goes_with_its_name_and_then_its_objects(
        self, bucket: Bucket, clock: Clock
    ) -> None:
        lay(bucket, root(clock, 1, 2, name="n", expires=clock.now - 1), root(clock, 2, 3, title="b"))
        found = collected(bucket, clock, grace_seconds=0)
        assert (found.roots_removed, found.names_removed, found.deleted_objects) == (1, 1, 1)
        assert objects_there(bucket, 1, 2, 3) == [False, True, True]
        assert not keys(bucket, "names/")

    def test_a_forgotten_root_stays_until_it_expires(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, forgotten(root(clock, 1, name="n"), now=clock.now, grace_seconds=DAY))
        assert collected(bucket, clock, grace_seconds=0).roots_removed == 0
        clock.now += DAY
        assert collected(bucket, clock, grace_seconds=0).roots_removed == 1

    def test_a_live_root_keeps_all_that_it_is_based_on(self, bucket: Bucket, clock: Clock) -> None:
        first = root(clock, 1, title="1", expires=clock.now - 5)
        second = root(clock, 2, title="2", expires=clock.now - 5, base=first.id)
        third = root(clock, 3, title="3", base=second.id)
        lay(bucket, first, second, third)
        found = collected(bucket, clock, grace_seconds=0)
        assert (found.roots_removed, found.deleted_objects, found.marked) == (0, 0, 0)

    def test_a_chain_that_has_expired_goes_whole(self, bucket: Bucket, clock: Clock) -> None:
        chain = [root(clock, 1, title="1", expires=clock.now - 5)]
        for number in range(2, 6):
            base = chain[-1].id
            chain.append(root(clock, number, title=str(number), expires=clock.now - 5, base=base))
        lay(bucket, *chain)
        assert collected(bucket, clock, grace_seconds=0).roots_removed == 5
        assert not keys(bucket, "objects/")

    def test_a_circle_of_bases_ends(self, bucket: Bucket, clock: Clock) -> None:
        one, other = (root(clock, 1, title=title, expires=clock.now - 5) for title in "ab")
        lay(bucket, replace(one, base=other.id), replace(other, base=one.id))
        assert collected(bucket, clock).roots_removed == 2
        assert going_roots({"a"}, {"a": "b", "b": "a"}) == set()

    def test_a_name_whose_root_is_not_there_goes(self, bucket: Bucket, clock: Clock) -> None:
        gone = root(clock, 1, name="n")
        lay(bucket, gone, root(clock, 2, title="b"))
        bucket.delete([root_key(gone.id)])
        assert collected(bucket, clock).names_removed == 1
        assert not keys(bucket, "names/")

    def test_a_push_that_is_under_way_holds_an_expired_root_its_name_and_its_base(
        self, bucket: Bucket, clock: Clock
    ) -> None:
        base = root(clock, 1, title="base", expires=clock.now - 5)
        based = root(clock, 2, name="n", expires=clock.now - 5, base=base.id)
        lay(bucket, base, based)
        with hold(bucket, [root_key(based.id)], clock=clock, sleep=clock.sleep):
            found = collected(bucket, clock, grace_seconds=0)
            assert (found.roots_removed, found.names_removed, found.kept_back) == (0, 0, 3)
            assert found.deleted_objects == 0
        with hold(bucket, [name_key("default", "n")], clock=clock, sleep=clock.sleep):
            assert collected(bucket, clock, grace_seconds=0).roots_removed == 0
        assert collected(bucket, clock, grace_seconds=0).roots_removed == 2


class TestNothingIsDeleted:
    """Where what is kept is not known."""

    @pytest.mark.parametrize("key", ["root", "name", "intent"])
    def test_a_damaged_record(self, bucket: Bucket, clock: Clock, key: str) -> None:
        lay(bucket, root(clock, 1, name="n"), root(clock, 2, title="b", expires=clock.now - 5), unnamed=(3,))
        damaged = {
            "root": root_key(root(clock, 1, name="n").id),
            "name": name_key("default", "n"),
            "intent": intent_key("0" * 32),
        }[key]
        bucket.put(damaged, b"{}")
        before = keys(bucket)
        with pytest.raises(RemoteDamaged) as caught:
            collected(bucket, clock, grace_seconds=0)
        assert caught.value.fields["key"] == damaged
        assert keys(bucket) == before

    def test_a_name_under_the_key_of_another(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, root(clock, 1))
        bucket.put(name_key("default", "n"), encode(NameRecord("default", "m", root(clock, 1).id)))
        with pytest.raises(RemoteDamaged):
            collected(bucket, clock)

    def test_no_castore_in_the_bucket(self, clock: Clock) -> None:
        with pytest.raises(RemoteMissing):
            collected(Bucket("memory", RemoteSettings(url="memory:///"), Timed(clock)), clock)

    def test_a_server_that_does_not_list_what_was_written(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, root(clock, 1))
        bucket.service.are_lists_stale = True  # type: ignore[attr-defined]
        with pytest.raises(RemoteUnavailable, match="does not list"):
            collected(bucket, clock, grace_seconds=0)
        assert objects_there(bucket, 1) == [True]

    def test_a_dry_run(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, root(clock, 1, name="n", expires=clock.now - 5), unnamed=(2,))
        bucket.put(intent_key("0" * 32), encode(Intent((object_key(digests(2)[0]),))))
        clock.now += INTENT_SECONDS + 1
        before = keys(bucket)
        found = collected(bucket, clock, dry_run=True, grace_seconds=0)
        assert (found.roots_removed, found.names_removed, found.ready, found.deleted_objects) == (1, 1, 2, 0)
        assert keys(bucket) == before
        done = collected(bucket, clock, grace_seconds=0)
        assert (done.roots_removed, done.names_removed, done.deleted_objects) == (1, 1, 2)

    def test_keys_of_no_object_are_left_and_counted(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, unnamed=(1,))
        shard = digests(1)[0].hex[:2]
        strays = {f"objects/{shard}/README", f"objects/{shard}/{digests(2)[0].hex[:10]}", "roots/notes"}
        for key in strays:
            bucket.put(key, b"")
        found = collected(bucket, clock, grace_seconds=0)
        assert (found.strays, found.deleted_objects) == (2, 1)
        assert keys(bucket) >= strays


class TestInAFolder:
    """What is there, and can't be read, is never taken for what is not there."""

    @pytest.mark.parametrize("kind", ["link", "pipe", "folder", "linked folder"])
    def test_a_root_or_a_name_that_is_no_file_is_refused(self, fast_path: Path, kind: str) -> None:
        clock = Clock()
        clock.now = time.time()
        there = connect("folder", RemoteSettings(f"file://{fast_path}/bucket"))
        one = root(clock, 1, name="a")
        lay(there, one, unnamed=(2,))
        there.put("format", b"castore 1\n")
        for key in (root_key(one.id), name_key(one.scope, "a")):
            file, aside = fast_path / "bucket" / key, fast_path / "aside"
            if kind == "linked folder":
                file = file.parent
            file.rename(aside)
            if "link" in kind:
                file.symlink_to(aside)
            else:
                os.mkfifo(file) if kind == "pipe" else file.mkdir()
            with pytest.raises(RemoteDamaged):
                collected(there, clock, grace_seconds=0)
            assert objects_there(there, 1, 2) == [True, True]
            file.rmdir() if kind == "folder" else file.unlink()
            aside.rename(file)
        collected(there, clock, grace_seconds=0)

    def test_nothing_goes_that_castore_did_not_write(self, fast_path: Path) -> None:
        clock = Clock()
        clock.now = time.time()
        there = connect("folder", RemoteSettings(f"file://{fast_path}/bucket"))
        lay(there, unnamed=(1,))
        there.put("format", b"castore 1\n")
        mine = [
            fast_path / "bucket" / each
            for each in (
                "intents/thesis.txt",
                "sweeps/deep/a.json",
                "objects/ab/note",
                "tmp/x",
                "roots/r.json",
            )
        ]
        for each in mine:
            each.parent.mkdir(parents=True, exist_ok=True)
            each.write_bytes(b"mine")
            os.utime(each, (1, 1))
        assert collected(there, clock, grace_seconds=0).deleted_objects == 1
        assert [each.read_bytes() for each in mine] == [b"mine"] * len(mine)


class TestOneShard:
    def test_only_its_objects_go_and_no_root(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, root(clock, 1, expires=clock.now - 5), unnamed=(2, 3))
        shard = digests(2)[0].hex[:2]
        found = collected(bucket, clock, grace_seconds=0, shard=shard)
        assert (found.deleted_objects, found.roots_removed) == (1, 0)
        assert objects_there(bucket, 1, 2, 3) == [True, False, True]


class TestTimes:
    """Each holds by its own clock, or the server's, and no request outlives a sweep."""

    def test_the_longest_request_is_over_before_a_sweep_is(self) -> None:
        timeout = retry = 300
        for key in ("timeout", "retry"):
            text = f'[remote.origin]\nurl = "s3://bucket"\n{key} = "%ds"\n'
            parse_config(text % 300)
            with pytest.raises(InvalidConfig):
                parse_config(text % 301)
        # As castore.remote.cloud tries: the last call begins before `retry` is over, and in it the client
        # library tries for as long itself; its last try takes `timeout`.
        longest = retry + retry + timeout
        assert SWEEP_DELETES_SECONDS + longest < SWEEP_SECONDS < INTENT_SECONDS / 2

    def test_an_intent_over_its_time_is_deleted_and_keeps_nothing(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, unnamed=(1,))
        bucket.put(intent_key("0" * 32), encode(Intent((object_key(digests(1)[0]),))))
        clock.now += INTENT_SECONDS - 1
        found = collected(bucket, clock, grace_seconds=0)
        assert (found.marked + found.ready, found.deleted_objects) == (0, 0)
        clock.now += 2
        assert collected(bucket, clock, grace_seconds=0).deleted_objects == 1
        assert not keys(bucket, "intents/")

    def test_a_damaged_intent_is_deleted_once_it_is_over_its_time(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, unnamed=(1,))
        bucket.put(intent_key("0" * 32), b"?")
        clock.now += INTENT_SECONDS + 1
        assert collected(bucket, clock, grace_seconds=0).deleted_objects == 1

    @pytest.mark.parametrize("data", [encode(Intent(("a",))), b"?"], ids=["whole", "damaged"])
    def test_what_is_dated_in_the_future_is_over_in_its_time_too(
        self, bucket: Bucket, clock: Clock, data: bytes
    ) -> None:
        """A server's clock was wrong, or somebody tampers: the first gc dates it anew."""
        lay(bucket, unnamed=(1,))
        clock.now += 10 * DAY
        bucket.put(intent_key("0" * 32), data)
        bucket.put(sweep_key("0" * 32), data)
        clock.now -= 10 * DAY
        try:
            collected(bucket, clock, grace_seconds=0)
        except RemoteDamaged:
            assert data == b"?"
        clock.now += INTENT_SECONDS + 1
        assert collected(bucket, clock, grace_seconds=0).sweeps_over == 1
        assert not keys(bucket, "intents/")
        assert not keys(bucket, "sweeps/")

    @pytest.mark.parametrize("key", [intent_key("0" * 32), sweep_key("0" * 32)])
    def test_what_ends_while_it_is_dated_anew_does_not_come_back(
        self, bucket: Bucket, clock: Clock, monkeypatch: pytest.MonkeyPatch, key: str
    ) -> None:
        """A push that finds its intent takes that as heeded all the time: no gc may put it back."""
        clock.now += 10 * DAY
        bucket.put(key, encode(Intent(("a",))))
        clock.now -= 10 * DAY
        get = bucket.get

        def got_and_gone(asked: str, bytes_max: int) -> tuple[bytes, Entry] | None:
            found = get(asked, bytes_max)
            if asked == key:
                bucket.delete([key])
            return found

        monkeypatch.setattr(bucket, "get", got_and_gone)
        collected(bucket, clock, grace_seconds=0)
        assert not keys(bucket, key.partition("/")[0] + "/")

    def test_a_dry_run_dates_nothing_anew(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, unnamed=(1,))
        clock.now += 10 * DAY
        bucket.put(sweep_key("0" * 32), encode(Sweep(("a",))))
        clock.now -= 10 * DAY
        before = bucket.head(sweep_key("0" * 32))
        collected(bucket, clock, dry_run=True)
        assert bucket.head(sweep_key("0" * 32)) == before

    def test_a_sweep_over_its_time_is_deleted(self, bucket: Bucket, clock: Clock) -> None:
        bucket.put(sweep_key("0" * 32), encode(Sweep(("objects/x",))))
        clock.now += SWEEP_SECONDS - 1
        assert collected(bucket, clock).sweeps_over == 0
        clock.now += 2
        assert collected(bucket, clock).sweeps_over == 1
        assert not keys(bucket, "sweeps/")

    def test_no_delete_is_sent_after_the_time_of_its_sweep(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, unnamed=(1,))
        key = object_key(digests(1)[0])
        with Sweeping(bucket, [key], clock=clock) as sweep:
            clock.now += SWEEP_DELETES_SECONDS + 1
            assert sweep.delete([key]) == 0
        assert objects_there(bucket, 1) == [True]
        assert not keys(bucket, "sweeps/")

    def test_a_delete_in_doubt_leaves_its_sweep(self, bucket: Bucket, clock: Clock) -> None:
        lay(bucket, unnamed=(1,))
        key = object_key(digests(1)[0])
        bucket.service.failing.add("delete")  # type: ignore[attr-defined]
        with pytest.raises(RemoteUnavailable), Sweeping(bucket, [key], clock=clock) as sweep:
            sweep.delete([key])
        bucket.service.failing.clear()  # type: ignore[attr-defined]
        assert len(keys(bucket, "sweeps/")) == 1

    def test_a_slow_delete_leaves_its_sweep(
        self, bucket: Bucket, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It may have been tried twice, and the first try be done after the second."""
        lay(bucket, unnamed=(1,))
        key = object_key(digests(1)[0])
        delete = bucket.service.delete

        def slow(given: Any) -> None:
            clock.now += 30
            delete(given)

        with Sweeping(bucket, [key], clock=clock) as sweep:
            monkeypatch.setattr(bucket.service, "delete", slow)
            assert sweep.delete([key]) == 1
        assert len(keys(bucket, "sweeps/")) == 1


class TestHolding:
    def held(self, bucket: Bucket, clock: Clock, *wanted: str) -> Held:
        return hold(bucket, wanted, clock=clock, sleep=clock.sleep)

    def test_its_keys_are_there_to_be_read_and_gone_after(
        self, bucket: Bucket, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("castore.remote.intents.INTENT_KEYS_MAX", 2)
        with self.held(bucket, clock, *"abcde"):
            records = [bucket.get(key) for key in sorted(keys(bucket, "intents/"))]
            intents = [decode_intent(found[0], "", "") for found in records if found is not None]
            assert sorted(key for intent in intents for key in intent.keys) == list("abcde")
            assert len(intents) == 3
        assert not keys(bucket, "intents/")

    def test_a_sweep_of_other_keys_is_not_waited_for(self, bucket: Bucket, clock: Clock) -> None:
        bucket.put(sweep_key("0" * 32), encode(Sweep(("b", "c"))))
        with self.held(bucket, clock, "a"):
            assert clock.slept == []

    def test_a_sweep_is_waited_for_until_it_is_gone(self, bucket: Bucket, clock: Clock) -> None:
        bucket.put(sweep_key("0" * 32), encode(Sweep(("a", "b"))))
        sleep = clock.sleep

        def wake(seconds: float) -> None:
            sleep(seconds)
            if len(clock.slept) == 3:
                bucket.delete([sweep_key("0" * 32)])

        with hold(bucket, ["a"], clock=clock, sleep=wake):
            assert len(clock.slept) == 3

    @pytest.mark.parametrize("age", [0, 100, SWEEP_SECONDS - 1])
    def test_one_that_a_killed_gc_left_is_waited_for_until_it_is_over(
        self, bucket: Bucket, clock: Clock, age: int
    ) -> None:
        bucket.put(sweep_key("0" * 32), encode(Sweep(("a",))))
        clock.now += age
        with self.held(bucket, clock, "a"):
            assert SWEEP_SECONDS - age <= sum(clock.slept) <= SWEEP_SECONDS - age + 10

    def test_one_that_is_over_by_the_servers_clock_is_not_waited_for(
        self, bucket: Bucket, clock: Clock
    ) -> None:
        bucket.put(sweep_key("0" * 32), encode(Sweep(("a",))))
        clock.now += SWEEP_SECONDS + 1
        with self.held(bucket, clock, "a"):
            assert clock.slept == []

    def test_one_that_is_damaged_is_taken_to_list_everything(self, bucket: Bucket, clock: Clock) -> None:
        bucket.put(sweep_key("0" * 32), b"?")
        with self.held(bucket, clock, "a"):
            assert sum(clock.slept) >= SWEEP_SECONDS

    @pytest.mark.parametrize("data", [encode(Sweep(("a",))), b"?"], ids=["whole", "damaged"])
    def test_one_that_is_dated_in_the_future_holds_no_longer(
        self, bucket: Bucket, clock: Clock, data: bytes
    ) -> None:
        clock.now += 10 * DAY
        bucket.put(sweep_key("0" * 32), data)
        clock.now -= 10 * DAY
        with self.held(bucket, clock, "a"):
            assert SWEEP_SECONDS <= sum(clock.slept) <= SWEEP_SECONDS + 10

    @pytest.mark.parametrize("key", ["sweeps/x", "sweeps/A.json", f"sweeps/{'0' * 32}.json/x"])
    def test_what_is_no_sweep_is_not_waited_for(self, bucket: Bucket, clock: Clock, key: str) -> None:
        bucket.put(key, b"?")
        with self.held(bucket, clock, "a"):
            assert clock.slept == []

    def test_sweeps_without_end_are_refused(
        self, bucket: Bucket, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sweeps, "SWEEPS_MAX", 3)
        for number in range(4):
            bucket.put(sweep_key(str(number)), b"?")
        with pytest.raises(RemoteBusy), self.held(bucket, clock, "a"):
            pass
        assert not keys(bucket, "intents/")

    def test_half_of_its_time(self, bucket: Bucket, clock: Clock) -> None:
        with self.held(bucket, clock, "a") as held:
            clock.now += INTENT_SECONDS / 2
            held.require_time()
            clock.now += 1
            with pytest.raises(IntentOver):
                held.require_time()

    def test_an_intent_that_a_gc_deleted_meanwhile_is_told(self, bucket: Bucket, clock: Clock) -> None:
        held = self.held(bucket, clock, "a")
        held.__enter__()
        clock.now += INTENT_SECONDS + 1
        collected(bucket, clock)
        with pytest.raises(IntentOver):
            held.__exit__(None, None, None)
        assert not keys(bucket, "intents/")

    @pytest.mark.parametrize(
        ("error", "is_left"),
        [
            (RemoteUnavailable("memory", "it broke off"), True),
            (KeyboardInterrupt(), True),
            (IntentOver(), False),
            (RemoteDamaged("memory", "key", "why"), False),
        ],
    )
    def test_it_is_left_where_a_write_may_still_be_done(
        self, bucket: Bucket, clock: Clock, error: BaseException, is_left: bool
    ) -> None:
        with pytest.raises(type(error)), self.held(bucket, clock, "a"):
            raise error
        assert bool(keys(bucket, "intents/")) == is_left


class TestDigestsOnDisk:
    def test_what_was_added_is_found_in_large_shards_too(
        self, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("castore.remote.spool._CHUNK_BYTES", 320)
        monkeypatch.setattr("castore.remote.spool._LOADED_MAX", 40)
        added = digests(*range(30_000))
        # Some that differ late.
        added += [Digest(f"7f{'0' * 20}{each.hex[22:]}") for each in added[:2_000]]
        others = digests(*range(30_000, 31_000))
        with DigestSpool(str(tmp_path)) as spool:
            spool.add(added)
            spool.add(added[:100])
            assert {*spool} == {bytes.fromhex(each.hex) for each in added}
            for shard in ("00", "7f", "ff"):
                asked = sorted(each for each in added + others if each.hex.startswith(shard))
                with spool.shard(shard) as holds:
                    found = [each for each in asked if holds(bytes.fromhex(each.hex))]
                assert found == [each for each in asked if each not in others]
        assert not list(tmp_path.iterdir())


class TestOverAServer:
    """Times and versions are those of its listings there."""

    @pytest.mark.parametrize("kind", ["seaweed", "folder"])
    def test_roots_names_and_objects_go(
        self, request: pytest.FixtureRequest, tmp_path: Path, kind: str
    ) -> None:
        if kind == "folder":
            bucket = connect("origin", RemoteSettings(url=f"file://{tmp_path}/bucket"))
        else:
            bucket = request.getfixturevalue("seaweed").bucket()
        bucket.require_conditions()
        clock = Clock()
        clock.now = time.time()
        gone = root(clock, 2, 3, title="b", name="n", expires=clock.now - 50)
        lay(bucket, root(clock, 1, 2, name="m"), gone, unnamed=(4,))
        with hold(bucket, [object_key(digests(4)[0])]):
            held = collect(bucket, tmp=str(tmp_path), grace_seconds=0)
            assert (held.roots_removed, held.names_removed, held.deleted_objects) == (1, 1, 1)
        waiting = collect(bucket, tmp=str(tmp_path))
        assert (waiting.marked, waiting.ready) == (1, 0)
        assert collect(bucket, tmp=str(tmp_path), grace_seconds=0).deleted_objects == 1
        assert objects_there(bucket, 1, 2, 3, 4) == [True, True, False, False]
        assert not keys(bucket, "sweeps/") | keys(bucket, "intents/")
        assert len(keys(bucket, "names/")) == 1


class TestManyObjects:
    def test_sweeps_are_bounded_and_shards_are_looked_through_at_once(
        self, monkeypatch: pytest.MonkeyPatch, clock: Clock
    ) -> None:
        monkeypatch.setattr("castore.remote.gc._SWEEP_KEYS", 64)
        bucket = in_memory(workers=4)
        bucket.put("format", b"castore 1\n")
        lay(bucket, root(clock, *range(100)), unnamed=tuple(range(100, 400)))
        found = collect(bucket, tmp="/nonexistent", grace_seconds=0)
        assert (found.objects, found.deleted_objects, found.kept_back) == (400, 300, 0)
        assert all(objects_there(bucket, *range(100)))
        assert not keys(bucket, "sweeps/")

    def test_marks_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("castore.remote.marks.MARKS_MAX", 3)
        entries = [Entry(object_key(digest), 1, "v", 1.0) for digest in sorted(digests(*range(9)))]
        found, since = judge(entries, lambda raw: False, Marks({}).since, now=9.0, grace_seconds=0)
        assert (len(since), len(found.ready)) == (3, 3)
