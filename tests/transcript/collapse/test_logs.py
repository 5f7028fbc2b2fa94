"""Each place of a collapse log is held to the laws of them all, and to its own."""

from __future__ import annotations

import copy
import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from castore.config import COUNT_MAX
from castore.digest import Digest
from castore.errors import (
    CastoreError,
    InvalidOption,
    LogDamaged,
    LogMoved,
    NotFound,
    ObjectPurged,
    RootDamaged,
    StoreLocked,
    StoreMissing,
)
from castore.gc.repair import repair
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.roots.files import decode_root, encode_root
from castore.roots.model import STATE, Content, Root, RootDraft, RootKind, log_root_id
from castore.store import Store, StoreHandle
from castore.store.access import Access
from castore.store.keeping import RootChoice
from castore.transcript.collapse.entries import (
    CUSTOM_TYPE,
    EntryLog,
    record_entry,
    snapshot_entry,
    state_from_entries,
)
from castore.transcript.collapse.model import Commit, LogRecord, Reset, Rewind, Snapshot
from castore.transcript.collapse.persistence import CollapseLog, LogState
from castore.transcript.collapse.store_log import StoreLog
from castore.transcript.collapse.transcript_file import TranscriptFile
from tests.transcript.collapse.conformance import SESSION, LogLaws, Place, commit_of, health, staged

NOW = 1_796_050_000.0
DAY = 86_400

HEADERS = {
    "plain": {"type": "user", "uuid": "u", "sessionId": SESSION},
    "pi": {"type": "session", "version": 3, "id": SESSION, "timestamp": "2026-11-30T12:00:00Z", "cwd": "/"},
    "old pi": {"type": "session", "id": SESSION, "timestamp": "2025-11-30T12:00:00Z", "cwd": "/"},
}


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


# --- The places ------------------------------------------------------------------------------------


class InStore(Place):
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock()
        self._open: list[StoreHandle] = []

    def log(self, session: str = SESSION) -> StoreLog:
        return StoreLog(self.handle(), session)

    def handle(self, *grants: str) -> StoreHandle:
        access = Access(grants) if grants else None
        handle = StoreHandle(self.folder, may_create=True, clock=self.clock, access=access)
        self._open.append(handle)
        return handle

    def store(self) -> Store:
        return self.handle().get()

    def close(self) -> None:
        for each in self._open:
            each.close()

    def root(self, number: int) -> Root:
        root = self.store().root(log_root_id(RootKind.COLLAPSE, "default", SESSION, number))
        assert root is not None
        return root

    def file(self, number: int) -> Path:
        id = log_root_id(RootKind.COLLAPSE, "default", SESSION, number)
        return self.folder / "roots" / id[:2] / f"{id}.json"

    def rewrite(self, number: int, **members: Any) -> None:
        """The root file says something else, and its check fits."""
        from dataclasses import replace

        path = self.file(number)
        root = decode_root(path.read_bytes(), str(path))
        path.unlink()
        path.write_bytes(encode_root(replace(root, **members)))


class InMemory(Place):
    def __init__(self) -> None:
        self.entries: list[Any] = [{"type": "user"}, None, 7, "text", ["collapse-commit"]]

    def log(self, session: str = SESSION) -> EntryLog:
        return EntryLog(session, self.entries.extend, lambda: self.entries)


class InFile(Place):
    def __init__(self, path: Path, header: str) -> None:
        self.path = path
        path.write_text(json.dumps(HEADERS[header]) + "\n")

    def log(self, session: str = SESSION) -> EntryLog:
        return TranscriptFile(self.path, timeout_seconds=0.2).log(session)

    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]


@pytest.fixture
def in_store(fast_path: Path) -> Iterator[InStore]:
    place = InStore(fast_path / ".ctxstore")
    yield place
    place.close()


class TestStoreLog(LogLaws):
    @pytest.fixture
    def place(self, in_store: InStore) -> Place:
        return in_store


class TestEntriesInMemory(LogLaws):
    @pytest.fixture
    def place(self) -> Place:
        return InMemory()


class TestEntriesInAFile(LogLaws):
    @pytest.fixture(params=list(HEADERS))
    def place(self, fast_path: Path, request: pytest.FixtureRequest) -> Place:
        return InFile(fast_path / "session.jsonl", request.param)


def filled(place: Place, count: int = 5) -> LogState:
    """A log of so many commits."""
    log = place.log()
    state = log.load()
    for number in range(count):
        commit, texts = commit_of(number)
        state = log.save(state, [commit], health(number), texts)
    return state


# --- In a store ------------------------------------------------------------------------------------


class TestRoots:
    def test_reading_makes_no_store(self, in_store: InStore) -> None:
        assert in_store.log().load() == in_store.log().restart() == LogState()
        with pytest.raises(StoreMissing):
            in_store.log().summary(Digest.of(b""))
        assert not in_store.folder.exists()

    def test_no_store_is_made_where_none_may_be(self, in_store: InStore) -> None:
        log = StoreLog(StoreHandle(in_store.folder, may_create=False), SESSION)
        with pytest.raises(StoreMissing):
            log.save(LogState(), [], Snapshot(), {})
        assert not in_store.folder.exists()

    def test_an_id_follows_from_the_place_alone(self, in_store: InStore) -> None:
        filled(in_store, 2)
        ids = {root.id for root in in_store.store().roots()}
        assert ids == {log_root_id(RootKind.COLLAPSE, "default", SESSION, place) for place in range(3)}

    def test_a_record_names_its_summary_and_the_state_what_is_staged(self, in_store: InStore) -> None:
        (first, texts), (waiting, text) = commit_of(1), staged(2)
        state = in_store.log().save(
            LogState(), [first, Rewind((), 1)], Snapshot((waiting,)), {**texts, waiting.summary: text}
        )
        assert list(in_store.root(1).objects) == [first.staged.summary]
        assert list(in_store.root(2).objects) == []
        assert list(in_store.root(STATE).objects) == [waiting.summary]
        in_store.log().save(state, [], Snapshot(), {})
        assert list(in_store.root(STATE).objects) == []

    def test_what_nothing_names_any_more_is_collected_and_the_rest_stays(self, in_store: InStore) -> None:
        (first, texts), (waiting, text) = commit_of(1), staged(2)
        state = in_store.log().save(
            LogState(), [first], Snapshot((waiting,)), {**texts, waiting.summary: text}
        )
        in_store.log().save(state, [], Snapshot(), {})
        in_store.clock.now += 1000 * DAY
        assert sweep(in_store.store()).objects == 1
        assert in_store.log().summary(first.staged.summary) == texts[first.staged.summary]
        with pytest.raises(NotFound):
            in_store.log().summary(waiting.summary)

    def test_a_log_takes_under_1_kb_a_commit(self, in_store: InStore) -> None:
        session = f"/home/somebody/.claude/projects/-home-somebody-work/{uuid.UUID(int=7)}.jsonl"
        state = LogState()
        for number in range(200):
            made, text = staged(number)
            log = in_store.log(session)
            state = log.save(
                state,
                [Commit(made, commit_of(1)[0].placeholder, NOW + 0.123)],
                Snapshot(),
                {made.summary: text},
            )
        sizes = [path.stat().st_size for path in in_store.folder.glob("roots/*/*.json")]
        assert len(sizes) == 201
        assert sum(sizes) / 200 < 1000

    def test_an_old_writer_is_told_whatever_it_brings(self, in_store: InStore) -> None:
        """Not the next number: one that is there, one that leaves a gap; and a state in place of another."""
        filled(in_store, 3)
        store = in_store.store()

        def draft(place: int, replaces: int = 0) -> RootDraft:
            return RootDraft(
                RootKind.COLLAPSE, (), source_name=SESSION, place=place, replaces=replaces, details={"x": 1}
            )

        before = _files(in_store.folder)
        for drafts in (
            [draft(3)],
            [draft(5)],
            [draft(4), draft(4)],
            [draft(4), draft(6)],
            [draft(5), draft(4)],
            [draft(STATE)],
            [draft(4), draft(STATE, 1)],
        ):
            with store.batch() as batch:
                batch.stage(b"bytes that stay unseen")
                with pytest.raises(LogMoved):
                    batch.commit_all(drafts)
        assert _files(in_store.folder) == before

    @pytest.mark.parametrize(
        "members",
        [
            {"source_name": None},
            {"name": "a-name"},
            {"document": Content(Digest.of(b""), 0)},
            {"source": Content(Digest.of(b""), 0)},
            {"base": "0" * 32},
            {"keep_seconds": 60},
            {"place": -1},
            {"place": COUNT_MAX + 1},
        ],
        ids=repr,
    )
    def test_what_is_of_a_log_is_nothing_else(self, in_store: InStore, members: dict[str, Any]) -> None:
        filled(in_store, 1)
        draft = {"source_name": SESSION, "place": 2, **members}
        with in_store.store().batch() as batch, pytest.raises((InvalidOption, LogMoved)):
            batch.commit(RootDraft(RootKind.COLLAPSE, (), **draft))
        assert in_store.log().load().next_number == 2

    def test_roots_without_a_place_are_what_they_were(self, in_store: InStore) -> None:
        store = in_store.handle().get_or_create()
        with store.batch() as batch:
            root = batch.commit(
                RootDraft(RootKind.COLLAPSE, (batch.stage(b"x").digest,), source_name=SESSION)
            )
        assert b"place" not in encode_root(root)
        assert in_store.log().load() == LogState()
        filled(in_store, 1)
        assert root.id in {each.id for each in in_store.store().roots()}

    def test_the_index_and_the_files_say_the_same(self, in_store: InStore) -> None:
        state = filled(in_store)
        for path in in_store.folder.glob("index.sqlite*"):
            path.unlink()
        assert in_store.log().load() == state
        filled(in_store, 1)
        assert len(in_store.log().load().records) == 6
        assert not list(verify(in_store.store()))

    def test_a_purged_summary_is_named_no_more_and_the_log_goes_on(self, in_store: InStore) -> None:
        (first, texts), (waiting, text) = commit_of(1), staged(2)
        log = in_store.log()
        state = log.save(LogState(), [first], Snapshot((waiting,)), {**texts, waiting.summary: text})
        for digest in (first.staged.summary, waiting.summary):
            in_store.store().purge(digest, "a secret")
        state = in_store.log().load()
        assert (state.records, state.snapshot.staged) == ((first,), (waiting,))
        with pytest.raises(ObjectPurged):
            in_store.log().summary(waiting.summary)
        log = in_store.log()
        state = log.save(state, [Commit(waiting, "x", 1)], Snapshot((waiting,)), {})
        assert in_store.log().load() == state
        with pytest.raises(ObjectPurged):
            log.save(state, [], Snapshot((waiting,)), {waiting.summary: text})
        assert in_store.log().load() == state
        assert not list(verify(in_store.store()))

    def test_a_summary_that_is_nowhere_can_not_be_named(self, in_store: InStore) -> None:
        commit, _ = commit_of(1)
        with pytest.raises(NotFound):
            in_store.log().save(LogState(), [commit], Snapshot(), {})
        assert in_store.log().load() == LogState()

    def test_a_log_of_500_records_is_read_at_once(self, in_store: InStore) -> None:
        """In few statements: the count of them does not grow with what roots name."""
        records = [Rewind((f"{number:016x}",), number) for number in range(500)]
        state = in_store.log().save(LogState(), records, Snapshot(), {})
        handle = in_store.handle()
        connection = handle.get().parts.reading()
        assert connection is not None
        seen: list[str] = []
        connection.set_trace_callback(seen.append)
        assert StoreLog(handle, SESSION).load() == state
        connection.set_trace_callback(None)
        assert len(seen) < 20


class TestScopes:
    def test_each_scope_has_a_log_of_its_own(self, in_store: InStore) -> None:
        ours, theirs = (StoreLog(in_store.handle(scope), SESSION) for scope in ("team/a", "team/b"))
        done = theirs.save(LogState(), [Reset("theirs", 1), Reset("again", 2)], health(1), {})
        assert ours.load() == LogState()
        assert ours.save(LogState(), [Reset("ours", 1)], health(2), {}).next_number == 2
        assert theirs.load() == done
        with pytest.raises(CastoreError) as raised:
            StoreLog(in_store.handle("team/a"), SESSION, "team/b").load()
        assert raised.value.exit_code == 14

    def test_the_operator_may_ask_for_each(self, in_store: InStore) -> None:
        for number, scope in enumerate(("team/a", "team/b"), 1):
            records = [Reset(scope, 1)] * number
            StoreLog(in_store.handle("*"), SESSION, scope).save(LogState(), records, Snapshot(), {})
        assert len(StoreLog(in_store.handle("*"), SESSION, "team/b").load().records) == 2
        assert StoreLog(in_store.handle("*"), SESSION).load() == LogState()


class TestForget:
    @pytest.mark.parametrize(
        "choice",
        [
            RootChoice(source=SESSION),
            RootChoice(source=SESSION[:8] + "*"),
            RootChoice(older_than_seconds=DAY),
            RootChoice(keep_last=0),
            RootChoice(roots=(log_root_id(RootKind.COLLAPSE, "default", SESSION, 2),)),
            RootChoice(roots=(log_root_id(RootKind.COLLAPSE, "default", SESSION, STATE),), source=SESSION),
        ],
        ids=repr,
    )
    def test_takes_a_log_whole_and_gives_it_back_whole(self, in_store: InStore, choice: RootChoice) -> None:
        state = filled(in_store)
        in_store.clock.now += 2 * DAY
        done = in_store.store().forget(choice)
        assert len(done.roots) == 6
        assert in_store.log().load() == LogState(first_number=6)
        assert len(in_store.store().remember(choice).roots) == 6
        assert in_store.log().load() == state

    @pytest.mark.parametrize(
        "choice",
        [
            RootChoice(older_than_seconds=DAY),
            RootChoice(keep_last=1),
            RootChoice(source="another"),
            RootChoice(references=(commit_of(3)[0].staged.summary.hex,)),
            RootChoice(references=(SESSION,)),
        ],
        ids=repr,
    )
    def test_takes_nothing_out_of_a_log(self, in_store: InStore, choice: RootChoice) -> None:
        """Its last record is young, and stands for all of it."""
        state = filled(in_store, 4)
        in_store.clock.now += 2 * DAY
        commit, texts = commit_of(9)
        state = in_store.log().save(state, [commit], health(9), texts)
        assert in_store.store().forget(choice).roots == ()
        assert in_store.log().load() == state

    def test_a_log_takes_the_place_of_nothing_else(self, in_store: InStore) -> None:
        """--keep-last 1 leaves the last of what was put under the session's name, and the log."""
        store = in_store.handle().get_or_create()
        with store.batch() as batch:
            put = RootDraft(RootKind.PUT, (batch.stage(b"of the session").digest,), source_name=SESSION)
            batch.commit(put)
        filled(in_store)
        assert in_store.store().forget(RootChoice(keep_last=1)).roots == ()

    def test_a_log_begun_anew_goes_on_behind_what_was_forgotten(self, in_store: InStore) -> None:
        filled(in_store)
        choice = RootChoice(source=SESSION)
        in_store.store().forget(choice)
        in_store.clock.now += 10
        commit, texts = commit_of(7)
        state = in_store.log().save(in_store.log().load(), [commit], health(7), texts)
        assert state.first_number == 6
        assert [type(each) for each in state.records] == [Reset, Commit]
        assert in_store.log().load() == state
        with pytest.raises(LogMoved, match="begun anew"):
            in_store.store().remember(choice)
        assert in_store.log().load() == state
        in_store.clock.now += 100 * DAY
        assert sweep(in_store.store()).roots == 5
        assert in_store.log().load() == state
        assert not list(verify(in_store.store()))

    def test_two_lives_that_come_back_together_are_the_second(self, in_store: InStore) -> None:
        filled(in_store)
        choice = RootChoice(source=SESSION)
        in_store.store().forget(choice)
        in_store.clock.now += 10
        commit, texts = commit_of(7)
        second = in_store.log().save(in_store.log().load(), [commit], health(7), texts)
        in_store.store().forget(choice)
        in_store.store().remember(choice)
        records = in_store.log().load().records
        assert records[-2:] == second.records
        assert len(records) == 7

    def test_a_log_that_is_gone_begins_at_one(self, in_store: InStore) -> None:
        filled(in_store)
        in_store.store().forget(RootChoice(source=SESSION), at_once=True)
        assert in_store.log().load() == LogState()
        filled(in_store, 2)
        assert in_store.log().load().first_number == 1
        assert len(in_store.log().load().records) == 2
        sweep(in_store.store())
        assert len(in_store.log().load().records) == 2

    def test_a_forget_that_was_killed_leaves_the_end_of_a_log(self, in_store: InStore) -> None:
        """And so does an undo: whatever the beginning is, a log is read."""
        state = filled(in_store)
        choice = RootChoice(source=SESSION)
        written: list[int | None] = []
        store = in_store.store()
        publish = store.parts.root_files.publish

        def noted(root: Root) -> Any:
            written.append(root.place)
            return publish(root)

        store.parts.root_files.publish = noted  # type: ignore[method-assign]
        store.forget(choice)
        assert written == [1, 2, 3, 4, 5, STATE]
        written.clear()
        store.remember(choice)
        assert written == [STATE, 5, 4, 3, 2, 1]
        assert in_store.log().load() == state


class TestDamageInAStore:
    @pytest.mark.parametrize("number", [2, 4, 5])
    def test_a_record_that_is_missing_is_told(self, in_store: InStore, number: int) -> None:
        filled(in_store)
        in_store.file(number).unlink()
        with pytest.raises(LogDamaged):
            in_store.log().load()

    def test_repair_brings_it_back(self, in_store: InStore) -> None:
        state = filled(in_store)
        in_store.file(3).unlink()
        found = list(verify(in_store.store()))
        assert "missing" in {str(each.name) for each in found}
        repair(in_store.store())
        assert in_store.log().load() == state
        assert not list(verify(in_store.store()))

    @pytest.mark.parametrize(
        "said", [None, 7, {}, {"type": "commit"}, {"type": "x"}, [], {"type": []}], ids=repr
    )
    def test_a_record_that_says_what_can_not_be_is_told(self, in_store: InStore, said: Any) -> None:
        filled(in_store)
        in_store.rewrite(3, details={"collapse": said})
        with pytest.raises(LogDamaged, match="record 3"):
            in_store.log().load()
        state = in_store.log().restart()
        assert state.next_number == 6
        done = in_store.log().save(state, [Reset("it was damaged", NOW)], Snapshot(), {})
        assert in_store.log().load().records[-1] == done.records[-1]
        assert in_store.log().load().next_number == 7

    @pytest.mark.parametrize(
        "details",
        [{}, {"collapse": {}, "records": 5}, {"collapse": Snapshot().to_json(), "records": -1}],
        ids=repr,
    )
    def test_a_snapshot_that_says_what_can_not_be_is_told(self, in_store: InStore, details: Any) -> None:
        filled(in_store)
        in_store.rewrite(STATE, details=details)
        with pytest.raises(LogDamaged, match="snapshot"):
            in_store.log().load()
        in_store.log().save(in_store.log().restart(), [Reset("damaged", NOW)], Snapshot(), {})
        assert in_store.log().load().snapshot == Snapshot()

    def test_the_beginning_may_be_gone(self, in_store: InStore) -> None:
        state = filled(in_store)
        in_store.file(1).unlink()
        in_store.file(2).unlink()
        assert in_store.log().load() == LogState(state.records[2:], state.snapshot, 3, state.version)

    @pytest.mark.parametrize(
        "members",
        [
            {"place": 9},
            {"place": None},
            {"source_name": "another"},
            {"source_name": None},
            {"scope": "another"},
            {"name": "a-name"},
            {"kind": RootKind.SUMMARY},
            {"document": Content(Digest.of(b""), 0)},
            {"base": "0" * 32},
            {"place": COUNT_MAX + 1},
            {"place": -1},
        ],
        ids=repr,
    )
    def test_a_root_that_can_not_be_of_a_log_is_damaged(
        self, in_store: InStore, members: dict[str, Any]
    ) -> None:
        state = filled(in_store)
        in_store.rewrite(3, **members)
        if members == {"place": None}:
            return  # That is a root as others are; its id is its file's name.
        with pytest.raises(RootDamaged):
            decode_root(in_store.file(3).read_bytes(), "x")
        for at in in_store.folder.glob("index.sqlite*"):
            os.utime(at.parent / "roots" / in_store.file(3).parent.name)
        with pytest.raises((RootDamaged, LogDamaged)):
            in_store.log().load()
        assert "damaged" in {str(each.name) for each in verify(in_store.store())}
        repair(in_store.store())
        assert in_store.log().load() == state


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*.json")}


# --- Among a harness's entries ---------------------------------------------------------------------


class TestEntries:
    @pytest.fixture
    def place(self) -> InMemory:
        return InMemory()

    def test_a_log_takes_under_1_kb_a_commit(self, place: InMemory) -> None:
        state, log = LogState(), place.log()
        before = len(place.entries)
        for number in range(200):
            made, text = staged(number)
            state = log.save(state, [Commit(made, commit_of(1)[0].placeholder, NOW + 0.123)], Snapshot(), {})
            assert text
        records = [each for each in place.entries[before:] if each["type"] == "collapse-commit"]
        latest = place.entries[-1]
        assert len(json.dumps([*records, latest])) / 200 < 1000

    def test_records_and_the_latest_snapshot_are_all_that_is_needed(self, place: InMemory) -> None:
        state = filled(place)
        (waiting, text) = staged(50)
        state = place.log().save(state, [], Snapshot((waiting,)), {waiting.summary: text})
        state = place.log().save(state, [Rewind((), 1)], Snapshot((waiting,), is_armed=False), {})
        of_type = {True: [], False: []}  # type: dict[bool, list[Any]]
        for entry in place.entries[5:]:
            of_type[entry["type"] == "collapse-snapshot"].append(entry)
        given, texts = state_from_entries(SESSION, of_type[False], of_type[True][-1])
        assert given == state
        assert texts.keys() >= {each.staged.summary for each in state.records if isinstance(each, Commit)}
        assert texts[waiting.summary] == text
        assert state_from_entries(SESSION, [], None) == (LogState(), {})

    def test_what_a_harness_adds_and_how_it_spells_it_is_no_damage(self, place: InMemory) -> None:
        state = filled(place, 2)
        spelt = json.loads(json.dumps(place.entries))
        for entry in spelt[5:]:
            entry.update(uuid="x", timestamp="2026", parentUuid=None)
            for name, value in list(entry.items()):
                if isinstance(value, float) and value.is_integer():
                    entry[name] = int(value)
        place.entries[:] = [
            dict(reversed(each.items())) if isinstance(each, dict) else each for each in spelt
        ]
        assert place.log().load() == state
        place.entries[:] = [
            {"type": "custom", "customType": CUSTOM_TYPE, "data": each, "id": str(at)}
            for at, each in enumerate(place.entries)
        ]
        assert place.log().load() == state

    def test_what_stands_twice_counts_once(self, place: InMemory) -> None:
        state = filled(place, 3)
        place.entries += copy.deepcopy(place.entries)
        assert place.log().load() == state

    def test_two_of_one_number_are_told(self, place: InMemory) -> None:
        filled(place, 3)
        place.entries.append(record_entry(SESSION, 2, Reset("another", 1)))
        with pytest.raises(LogDamaged, match="twice"):
            place.log().load()
        place.log().save(place.log().restart(), [Reset("told", 2)], Snapshot(), {})
        assert place.log().load().records == (Reset("told", 2),)

    def test_every_edit_of_an_entry_is_told(self, place: InMemory) -> None:
        (waiting, text) = staged(50)
        state = filled(place, 2)
        place.log().save(state, [Rewind(("00",), 1)], Snapshot((waiting,)), {waiting.summary: text})
        for at, entry in enumerate(place.entries):
            if at < 5 or (entry["type"] == "collapse-snapshot" and at + 1 < len(place.entries)):
                continue
            for name in entry.keys() - {"summary_id", "session"}:
                for value in (None, 1, "x", [], {}, True):
                    edited = [*place.entries[:at], {**entry, name: value}, *place.entries[at + 1 :]]
                    if value == entry[name]:
                        continue
                    if name == "type":
                        continue  # Then it is no entry of ours, and what lacks it is told, if anything does.
                    with pytest.raises(LogDamaged):
                        EntryLog(SESSION, edited.extend, lambda: edited).load()  # noqa: B023
                left = {key: each for key, each in entry.items() if key != name}
                if name != "type":
                    cut = [*place.entries[:at], left, *place.entries[at + 1 :]]
                    with pytest.raises(LogDamaged):
                        EntryLog(SESSION, cut.extend, lambda: cut).load()  # noqa: B023

    @pytest.mark.parametrize("at", [5, 7, 9])
    def test_a_record_that_is_gone_is_told(self, place: InMemory, at: int) -> None:
        filled(place, 3)
        assert place.entries[at]["type"] == "collapse-commit"
        del place.entries[at]
        if at == 5:
            assert place.log().load().first_number == 2
            return
        with pytest.raises(LogDamaged):
            place.log().load()

    @pytest.mark.parametrize(
        "value",
        [
            10**400,
            -1,
            1e308,
            float("nan"),
            True,
            {"a": [[[]]]},
            ["x"],
            "\ud800",
            "x" * 10_000,
            COUNT_MAX + 1,
        ],
        ids=lambda value: repr(value)[:20],
    )
    def test_hostile_values_are_damage_and_nothing_worse(self, place: InMemory, value: Any) -> None:
        filled(place, 1)
        commit, snapshot = copy.deepcopy(place.entries[5:7])
        hostile: list[Any] = [{**commit, name: value} for name in commit if name != "session"]
        hostile += [{**snapshot, name: value} for name in snapshot if name != "session"]
        hostile += [{**snapshot, "staged": [value]}, {**snapshot, "staged": [{**commit, "text": value}]}]
        for entry in hostile:
            entries = [*place.entries, entry]
            log = EntryLog(SESSION, entries.extend, lambda: entries)  # noqa: B023
            try:
                log.load()
            except LogDamaged:
                log.save(log.restart(), [Reset("anew", 1)], Snapshot(), {})
                assert log.load().records[-1] == Reset("anew", 1)

    @pytest.mark.parametrize("session", [None, 7, [], {}, "another", SESSION + " "], ids=repr)
    def test_entries_of_others_are_passed_over(self, place: InMemory, session: Any) -> None:
        state = filled(place, 2)
        place.entries += [{**each, "session": session} for each in place.entries[5:]]
        assert place.log().load() == state


class TestTranscriptFile:
    @pytest.fixture
    def place(self, fast_path: Path) -> InFile:
        return InFile(fast_path / "session.jsonl", "plain")

    def test_no_file_is_an_empty_log_and_is_not_made(self, fast_path: Path) -> None:
        path = fast_path / "none.jsonl"
        log = TranscriptFile(path).log(SESSION)
        assert log.load() == LogState()
        with pytest.raises(CastoreError, match="No such file"):
            log.save(LogState(), [], Snapshot(), {})
        assert not path.exists()

    def test_a_pipe_is_refused(self, fast_path: Path) -> None:
        os.mkfifo(fast_path / "pipe")
        log = TranscriptFile(fast_path / "pipe").log(SESSION)
        with pytest.raises(CastoreError, match="regular"):
            log.load()
        with pytest.raises(CastoreError, match="regular"):
            log.save(LogState(), [], Snapshot(), {})

    def test_lines_are_whole_wherever_a_killed_writer_stopped(self, place: InFile) -> None:
        """At every byte of what is appended: a beginning of the records is there, and the next save whole."""
        first = filled(place, 1)
        before = place.path.read_bytes()
        commit, texts = commit_of(8)
        (waiting, text) = staged(9)
        records: list[LogRecord] = [commit, Rewind((), 4)]
        second = place.log().save(first, records, Snapshot((waiting,)), {**texts, waiting.summary: text})
        whole = place.path.read_bytes()
        counts = set()
        for cut in range(len(before), len(whole) + 1, 7):
            place.path.write_bytes(whole[:cut])
            state = place.log().load()
            assert state.records == second.records[: len(state.records)]
            assert len(state.records) >= 1
            assert state.snapshot in (first.snapshot, second.snapshot)
            counts.add(len(state.records))
            done = place.log().save(state, [Reset("next", 5)], health(3), {})
            assert place.log().load() == done
            assert place.path.read_bytes().startswith(whole[:cut])
        assert counts == {1, 2, 3}

    def test_what_a_harness_appends_between_is_left_alone(self, place: InFile) -> None:
        log = place.log()
        state = log.load()
        for number in range(4):
            with place.path.open("ab") as file:
                file.write(b'{"type":"user","text":"collapse-commit %d"}\n' % number)
            state = log.save(state, [Reset("r", number)], health(number), {})
        assert place.log().load() == log.load() == state
        assert [line["type"] for line in place.lines()].count("user") == 5

    def test_a_file_that_was_rewritten_is_read_anew(self, place: InFile) -> None:
        """Cut off, replaced, or written over in place: what is remembered of it is not told."""
        log = place.log()
        filled(place, 3)
        three = place.path.read_bytes()
        state = log.load()
        lines = three.splitlines(keepends=True)
        place.path.write_bytes(b"".join(lines[:3]))
        assert len(log.load().records) == 1
        place.path.write_bytes(lines[0].replace(b'"u"', b'"v"') + b"".join(lines[1:]))
        assert log.load().records == state.records
        place.path.rename(place.path.with_suffix(".old"))
        place.path.write_bytes(b"".join(lines[:5]))
        assert len(log.load().records) == 2

    def test_a_line_without_its_line_feed_counts_when_it_is_whole(self, place: InFile) -> None:
        state = filled(place, 2)
        place.path.write_bytes(place.path.read_bytes()[:-1])
        log = place.log()
        assert log.load() == log.load() == state
        done = log.save(state, [Reset("r", 1)], Snapshot(), {})
        assert place.log().load() == log.load() == done

    def test_lines_that_no_json_reader_takes_are_passed_over(self, place: InFile) -> None:
        state = filled(place, 1)
        with place.path.open("ab") as file:
            file.write(b'{"type":"collapse-commit","number":' + b"9" * 5000 + b"}\n")
            file.write(b'{"collapse-":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n")
            file.write(b'"collapse-\xff"\n\n\r\n')
        assert place.log().load() == state

    def test_one_writer_at_a_time(self, place: InFile) -> None:
        state = filled(place, 1)
        held = TranscriptFile(place.path)
        with held.alone(), pytest.raises(StoreLocked) as raised:
            place.log().save(state, [Reset("r", 1)], Snapshot(), {})
        assert raised.value.exit_code == 11
        assert place.log().load() == state
        place.log().save(state, [Reset("r", 1)], Snapshot(), {})

    def test_a_lock_is_of_the_file_that_has_the_path(self, place: InFile) -> None:
        """Who waited while another file took the path does not write with the lock of the old one."""
        state = filled(place, 1)
        held = TranscriptFile(place.path)
        with held.alone():
            data = place.path.read_bytes()
            place.path.rename(place.path.with_suffix(".old"))
            place.path.write_bytes(data)
            done = place.log().save(state, [Reset("r", 1)], Snapshot(), {})
        assert place.log().load() == done

    def test_in_a_session_of_pi_each_entry_is_in_its_chain(self, fast_path: Path) -> None:
        place = InFile(fast_path / "pi.jsonl", "pi")
        log = place.log()
        state = log.save(log.load(), [Reset("r", 1)], health(1), {})
        with place.path.open("a") as file:
            file.write(json.dumps({"type": "message", "id": "abcd0123", "parentId": "x" * 70_000}) + "\n")
        log.save(state, [Reset("r", 2)], health(2), {})
        header, *lines = place.lines()
        assert header["type"] == "session"
        parents = [None, lines[0]["id"], "x" * 70_000, "abcd0123", lines[3]["id"]]
        assert [line["parentId"] for line in lines] == parents
        ids = [line["id"] for line in lines]
        assert len(set(ids)) == len(ids)
        assert {line["type"] for line in lines} == {"custom", "message"}

    def test_behind_a_leaf_entry_what_it_points_to_is_the_parent(self, fast_path: Path) -> None:
        place = InFile(fast_path / "pi.jsonl", "pi")
        with place.path.open("a") as file:
            file.write(
                '{"type":"message","id":"aa","parentId":null}\n{"type":"message","id":"bb","parentId":"aa"}\n'
            )
            file.write('{"type":"leaf","id":"cc","parentId":"bb","targetId":"aa"}\n')
        place.log().save(LogState(), [], Snapshot(), {})
        assert place.lines()[-1]["parentId"] == "aa"

    def test_in_an_old_session_of_pi_nothing_has_an_id(self, fast_path: Path) -> None:
        place = InFile(fast_path / "pi.jsonl", "old pi")
        place.log().save(LogState(), [], Snapshot(), {})
        assert place.lines()[-1].keys() == {"type", "customType", "data", "timestamp"}

    def test_an_entry_is_dated_by_the_clock(self, fast_path: Path) -> None:
        place = InFile(fast_path / "pi.jsonl", "pi")
        log = TranscriptFile(place.path, clock=lambda: NOW).log(SESSION)
        log.save(LogState(), [], Snapshot(), {})
        assert place.lines()[-1]["timestamp"] == "2026-11-30T14:46:40.000Z"


# --- Several processes -----------------------------------------------------------------------------

_WORKER = """
import sys
from castore.errors import LogMoved, StoreLocked
from castore.store import StoreHandle
from castore.transcript.collapse.model import Commit, Reset, Rewind, Snapshot
from castore.transcript.collapse.store_log import StoreLog
from castore.transcript.collapse.transcript_file import TranscriptFile
from tests.transcript.collapse.conformance import SESSION, commit_of, health, staged

place, path, name, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
if place == "store":
    log = StoreLog(StoreHandle(path, may_create=True), SESSION)
else:
    log = TranscriptFile(path).log(SESSION)
done = 0
sys.stdout.write("ready\\n")
sys.stdout.flush()
sys.stdin.readline()
while done < count:
    commit, texts = commit_of(hash((name, done)) % 10**9)
    waiting, text = staged(done)
    state = log.load()
    try:
        log.save(
            state,
            [commit, Rewind((name, str(done)), 1), Reset(name, done)],
            Snapshot((waiting,), last_spawn_tokens=done),
            {**texts, waiting.summary: text},
        )
    except (LogMoved, StoreLocked) as error:
        assert error.exit_code in (11, 15)
        continue
    done += 1
    sys.stdout.write(f"{done}\\n")
    sys.stdout.flush()
"""


def _started(place: str, path: Path, name: str, count: int) -> subprocess.Popen[str]:
    worker = subprocess.Popen(
        [sys.executable, "-c", _WORKER, place, str(path), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"
    return worker


def _go(worker: subprocess.Popen[str]) -> None:
    assert worker.stdin is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()


def _check(log: CollapseLog, claims: dict[str, int]) -> LogState:
    """Each save stands there whole, in a row, and all that were claimed do; but for the last, which a kill
    may have cut short behind any of its records."""
    state = log.load()
    saves = [state.records[at : at + 3] for at in range(0, len(state.records), 3)]
    for save in saves:
        assert [type(each) for each in save] == [Commit, Rewind, Reset][: len(save)]
        assert len(save) == 3 or save is saves[-1]
    done = [(save[2].reason, int(save[2].created_at)) for save in saves if len(save) == 3]  # type: ignore[union-attr]
    for save in saves:
        if len(save) == 3 and save[2].reason != "end":  # type: ignore[union-attr]
            assert save[1].collapse_ids == (save[2].reason, str(int(save[2].created_at)))  # type: ignore[union-attr]
        assert log.summary(save[0].staged.summary).startswith("The summary")  # type: ignore[union-attr]
    for name, count in claims.items():
        assert [number for each, number in done if each == name][:count] == list(range(count))
    for waiting in state.snapshot.staged:
        assert log.summary(waiting.summary)
    return state


@pytest.mark.parametrize("place", ["store", "file"])
class TestProcesses:
    def _path(self, folder: Path, place: str) -> Path:
        path = folder / ("session.jsonl" if place == "file" else ".ctxstore")
        if place == "file":
            path.write_text("{}\n")
        return path

    def _log(self, place: str, path: Path) -> CollapseLog:
        if place == "store":
            return StoreLog(StoreHandle(path, may_create=False), SESSION)
        return TranscriptFile(path).log(SESSION)

    def test_two_that_append_at_once_never_mix(self, fast_path: Path, place: str) -> None:
        path = self._path(fast_path, place)
        workers = {name: _started(place, path, name, 12) for name in ("one", "two")}
        for worker in workers.values():
            _go(worker)
        for worker in workers.values():
            worker.communicate(timeout=120)
            assert worker.returncode == 0
        state = _check(self._log(place, path), {"one": 12, "two": 12})
        assert len(state.records) == 2 * 12 * 3

    def test_killed_at_any_moment(self, fast_path: Path, place: str) -> None:
        """What was claimed is there; of the save that was cut short, a beginning."""
        path = self._path(fast_path, place)
        chosen = random.Random(5)
        claims: dict[str, int] = {}
        for name in "abcd":
            # What an earlier kill cut short is ended first, so that saves stand three by three.
            log = self._log(place, path)
            left = len(log.load().records) % 3 if path.exists() and claims else 0
            if left:
                rest: list[LogRecord] = [Rewind(("end", "0"), 1), Reset("end", 0)][left - 1 :]
                log.save(log.load(), rest, Snapshot(), {})
            worker = _started(place, path, name, 10_000)
            assert worker.stdout is not None
            _go(worker)
            assert worker.stdout.readline() == "1\n"
            time.sleep(chosen.random() / 10)
            worker.send_signal(signal.SIGKILL)
            told = worker.stdout.read().splitlines()
            worker.wait()
            assert worker.stdin is not None
            worker.stdin.close()
            worker.stdout.close()
            claims[name] = int(told[-1]) if told and told[-1].isdigit() else 1
            _check(self._log(place, path), claims)


class TestCost:
    def test_a_snapshot_is_of_its_version(self) -> None:
        """What an entry says of itself fits what it was made of."""
        entry = snapshot_entry(SESSION, 3, health(2), {}, 7)
        assert (entry["version"], entry["records"], entry["session"]) == (3, 7, SESSION)
