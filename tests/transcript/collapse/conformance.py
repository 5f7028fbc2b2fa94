"""The laws of any place where a collapse log is kept (castore.transcript.collapse.persistence).

A test class of `test_logs.py` takes `LogLaws` and gives it a `place`.
"""

from __future__ import annotations

import itertools
import uuid
from abc import abstractmethod

import pytest

from castore.digest import Digest
from castore.errors import InvalidOption, LogMoved, ObjectMissing
from castore.transcript.collapse.model import (
    Boundary,
    Commit,
    Health,
    LogRecord,
    Reset,
    Rewind,
    Snapshot,
    Span,
    Staged,
)
from castore.transcript.collapse.persistence import CollapseLog, LogState

__all__ = ["PLACEHOLDER", "SESSION", "LogLaws", "Place", "commit_of", "health", "staged"]

SESSION = str(uuid.UUID(int=0x3F9A_0000_1111_2222))

PLACEHOLDER = (
    "[ctx 3f9ac01b77de5a10: turns 103 to 140 collapsed, 38 turns, 1,204 messages, 4,821,300 bytes; "
    "ctx cat 3f9ac01b77de5a10 lists them]"
)


def staged(number: int) -> tuple[Staged, str]:
    """A span with its summary: ids as long as the longest that harnesses give."""
    text = f"The summary of span {number}. " + "It was long. " * 20
    first, last = (str(uuid.UUID(int=(number << 64) + each)) for each in (1, 2))
    span = Span(first, last, f"{number:016x}")
    made = Staged(span, Digest.of(text.encode()), "command/1 summarize", 1_796_040_000.25)
    return made, text


def commit_of(number: int) -> tuple[Commit, dict[Digest, str]]:
    made, text = staged(number)
    return Commit(made, PLACEHOLDER, 1_796_040_123.5), {made.summary: text}


def health(number: int) -> Snapshot:
    return Snapshot(is_armed=number % 2 == 0, last_spawn_tokens=number, health=Health(spawns=number))


class Place:
    """One place. `log` opens it anew, as another process does."""

    @abstractmethod
    def log(self, session: str = SESSION) -> CollapseLog: ...


class LogLaws:
    def test_an_empty_log_is_empty(self, place: Place) -> None:
        assert place.log().load() == LogState()

    def test_a_session_has_a_name(self, place: Place) -> None:
        with pytest.raises(InvalidOption):
            place.log("")

    def test_what_was_saved_is_loaded(self, place: Place) -> None:
        log = place.log()
        state, kept = log.load(), LogState()
        for number in range(1, 5):
            commit, texts = commit_of(number)
            waiting, text = staged(number + 100)
            snapshot = Snapshot((waiting,), False, number, Health(number, 1, 0, 2, "it said: \u00e9\u2028\\"))
            texts[waiting.summary] = text
            records: list[LogRecord] = [commit]
            if number == 3:
                records += [Rewind((commit.collapse_id,), 5), Boundary("#12-3f9ac01b", 6.0)]
            kept = LogState((*kept.records, *records), snapshot)
            state = log.save(state, records, snapshot, texts)
            loaded = place.log().load()
            assert (loaded.records, loaded.snapshot, loaded.first_number) == (kept.records, snapshot, 1)
            assert loaded == state
            for digest, text in texts.items():
                assert place.log().summary(digest) == log.summary(digest) == text

    def test_the_last_snapshot_wins(self, place: Place) -> None:
        state = place.log().load()
        for number in range(5):
            before = state.version
            state = place.log().save(state, [], health(number), {})
            assert state.version != before
        assert place.log().load() == LogState((), health(4), 1, state.version)

    def test_records_are_kept_in_order(self, place: Place) -> None:
        state = place.log().load()
        records = [Reset(f"reason {number}", number) for number in range(25)]
        for some in itertools.batched(records, 7) if hasattr(itertools, "batched") else [records]:
            state = place.log().save(state, some, Snapshot(), {})
        assert place.log().load().records == tuple(records)

    def test_sessions_are_apart(self, place: Place) -> None:
        first, second = place.log("one"), place.log("another")
        state = first.save(first.load(), [Reset("of one", 1)], health(1), {})
        assert second.load() == LogState()
        second.save(second.load(), [Reset("of another", 1), Reset("again", 2)], health(2), {})
        assert place.log("one").load() == state

    @pytest.mark.parametrize("second", ["records", "snapshot", "both"])
    @pytest.mark.parametrize("first", ["records", "snapshot", "both"])
    @pytest.mark.parametrize("begun", [False, True])
    def test_the_slower_of_two_is_told_and_changes_nothing(
        self, place: Place, begun: bool, first: str, second: str
    ) -> None:
        if begun:
            place.log().save(place.log().load(), [Reset("before", 0)], health(9), {})
        fast, slow = place.log(), place.log()
        seen, same = fast.load(), slow.load()
        assert seen == same
        done = fast.save(seen, *_acts(first, 1), {})
        with pytest.raises(LogMoved) as raised:
            slow.save(same, *_acts(second, 2), {})
        assert raised.value.exit_code == 15
        assert place.log().load() == slow.load() == done
        slow.save(slow.load(), *_acts(second, 2), {})
        assert len(place.log().load().records) == len(done.records) + (second != "snapshot")

    def test_a_summary_is_given_once(self, place: Place) -> None:
        """What is staged is committed without its text, by another process."""
        made, text = staged(1)
        state = place.log().save(place.log().load(), [], Snapshot((made,)), {made.summary: text})
        state = place.log().save(state, [Commit(made, "hidden", 2)], Snapshot(), {})
        state = place.log().save(state, [], health(1), {})
        assert place.log().summary(made.summary) == text

    def test_a_text_is_that_of_its_digest(self, place: Place) -> None:
        made, _ = staged(1)
        for text in ("another text", "\ud800"):
            with pytest.raises(InvalidOption):
                place.log().save(LogState(), [], Snapshot((made,)), {made.summary: text})
        assert place.log().load() == LogState()

    def test_a_summary_that_nobody_gave(self, place: Place) -> None:
        place.log().save(LogState(), [], Snapshot(), {})
        with pytest.raises(ObjectMissing):
            place.log().summary(Digest.of(b"nobody gave this"))

    def test_summaries_of_all_kinds(self, place: Place) -> None:
        """An empty one, one with every odd character, and one that is large."""
        for text in ("", '\x00\r\n\u2028\x7f\U0001f600 "quoted" {"$ctx":1}', "long " * 100_000):
            made = Staged(Span("a", text[:3] or "b", "0" * 16), Digest.of(text.encode()), "given/1", 1)
            state = place.log().save(
                place.log().load(), [Commit(made, "x", 1)], Snapshot(), {made.summary: text}
            )
            assert place.log().load() == state
            assert place.log().summary(made.summary) == text

    @pytest.mark.parametrize("session", ["\u00e9t\u00e9 / session", "a" * 300, "null", "-1", "x\ny"])
    def test_a_session_may_have_any_name(self, place: Place, session: str) -> None:
        state = place.log(session).save(place.log(session).load(), [Reset("r", 1)], health(1), {})
        assert place.log(session).load() == state
        assert place.log(session + "x").load() == LogState()

    def test_a_restart_stands_behind_all_that_is_there(self, place: Place) -> None:
        assert place.log().restart() == LogState()
        state = place.log().save(LogState(), [Rewind((), 1), Rewind((), 2)], health(1), {})
        again = place.log().restart()
        assert again == LogState(first_number=3, version=state.version)
        anew = place.log().save(again, [Reset("anew", 3)], Snapshot(), {})
        loaded = place.log().load()
        assert loaded.records[-1] == Reset("anew", 3)
        assert loaded.next_number == anew.next_number == 4
        assert loaded.snapshot == Snapshot()

    def test_a_log_that_is_begun_anew_begins_with_a_reset(self, place: Place) -> None:
        """Should what was there before come back, it counts for nothing."""
        place.log().save(LogState(), [Rewind((), 1), Rewind((), 2)], health(1), {})
        state = place.log().save(place.log().restart(), [Rewind((), 3)], health(2), {})
        assert [type(each) for each in state.records] == [Reset, Rewind]
        assert place.log().load().records == (Rewind((), 1), Rewind((), 2), *state.records)


def _acts(what: str, number: int) -> tuple[list[LogRecord], Snapshot]:
    records: list[LogRecord] = [] if what == "snapshot" else [Reset(f"by {number}", number)]
    return records, Snapshot() if what == "records" else health(number)
