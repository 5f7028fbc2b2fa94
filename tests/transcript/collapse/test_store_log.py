"""A collapse log in a store: what its roots are, whose they are, and what damage is told."""

from __future__ import annotations

import json
import os
import uuid
from hashlib import sha256
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
    StoreMissing,
)
from castore.gc.repair import repair
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.roots.files import decode_root, encode_root
from castore.roots.model import STATE, Content, RootDraft, RootKind, log_root_id
from castore.store import StoreHandle
from castore.transcript.collapse.model import Commit, Reset, Rewind, Snapshot
from castore.transcript.collapse.persistence import LogState
from castore.transcript.collapse.store_log import StoreLog
from tests.transcript.collapse.conformance import SESSION, commit_of, health, staged
from tests.transcript.collapse.places import DAY, NOW, InStore, filled


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

    def test_files_are_as_the_page_has_them(self, in_store: InStore) -> None:
        """Ids by docs/format.md, from the standard library alone."""
        filled(in_store, 1)
        for place in (STATE, 1):
            said = json.loads(in_store.file(place).read_bytes())
            what = {"kind": "collapse", "place": place, "scope": "default", "source_name": SESSION}
            assert said["id"] == _sha256(json.dumps(what, sort_keys=True, separators=(",", ":")))[:32]
            assert said["place"] == place
        commit = said["details"]["collapse"]
        members = ("first_archived_id", "last_archived_id", "content", "summary", "strategy")
        named = [commit[name] for name in members]
        assert commit["collapse_id"] == _sha256(json.dumps(named))[:16]
        assert said["objects"] == [commit["summary"]]

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

    def test_a_log_that_lost_its_beginning_is_damaged(self, in_store: InStore) -> None:
        """As by a forget that was killed: the rest would be another view."""
        filled(in_store)
        in_store.file(1).unlink()
        with pytest.raises(LogDamaged, match="record 1 is missing"):
            in_store.log().load()
        in_store.file(2).unlink()
        with pytest.raises(LogDamaged, match="record 2 is missing"):
            in_store.log().load()

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


def _sha256(text: str) -> str:
    return sha256(text.encode("ascii")).hexdigest()


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*.json")}
