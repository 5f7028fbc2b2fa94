"""A collapse log in a transcript file: whole lines, one writer at a time, and Pi's own form."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from castore.errors import CastoreError, SessionInvalid, StoreLocked
from castore.transcript.collapse.model import LogRecord, Reset, Rewind, Snapshot
from castore.transcript.collapse.persistence import LogState
from castore.transcript.collapse.transcript_file import TranscriptFile
from castore.transcript.formats import ReadOptions, read_session, read_transcript
from castore.transcript.records import read_records
from tests.transcript.collapse.conformance import SESSION, commit_of, health, staged
from tests.transcript.collapse.places import NOW, InFile, filled
from tests.transcript.collapse.talks import TALKS


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

    @pytest.mark.parametrize("tool", ["pi", "claude-code", "codex"])
    def test_a_session_is_read_wherever_its_last_line_was_cut(self, fast_path: Path, tool: str) -> None:
        """Before an entry of ours is appended to it, and after."""
        talk = TALKS[tool]()
        for call in (True, True, False):
            talk.turn(prompt=True, call=call)
        *lines, last = talk.source().splitlines(keepends=True)
        before = len(read_session(b"".join(lines)).messages)
        path = fast_path / "session.jsonl"
        for cut in (cut for cut in range(1, len(last) - 2) if last[cut - 1] in b'",:{}[]' or cut % 9 == 0):
            path.write_bytes(b"".join(lines) + last[:cut])
            assert len(read_session(path.read_bytes()).messages) == before
            TranscriptFile(path).log(SESSION).save(LogState(), [Reset("r", 1)], Snapshot(), {})
            assert len(read_session(path.read_bytes()).messages) == before, last[:cut]
            assert len(TranscriptFile(path).log(SESSION).load().records) == 1

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

    def test_a_lock_is_of_the_file_that_has_the_path(
        self, place: InFile, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A harness puts another file in its place after it was opened: its lock holds nobody up."""
        import fcntl

        lock = fcntl.flock
        opened: list[int] = []

        def replaced(descriptor: int, how: int) -> None:
            if not opened:
                data = place.path.read_bytes()
                place.path.rename(place.path.with_suffix(".old"))
                place.path.write_bytes(data)
            opened.append(descriptor)
            lock(descriptor, how)

        state = filled(place, 1)
        monkeypatch.setattr(fcntl, "flock", replaced)
        with TranscriptFile(place.path).alone(), pytest.raises(StoreLocked):
            place.log().save(state, [Reset("r", 1)], Snapshot(), {})
        assert len(opened) > 2
        assert place.log().load() == state

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


class TestRealSessions:
    def test_a_session_is_what_it_was_with_a_log_in_it(self, cases: Path, fast_path: Path) -> None:
        """Messages, their places and ids, oddities: nothing of it is changed by the entries behind them."""
        copy, read = fast_path / "session.jsonl", 0
        for folder in ("pi", "claude-code", "agents"):
            for path in sorted((cases / folder).rglob("*.jsonl")):
                before = _told(path) if path.stat().st_size < 300_000 else None
                if before is None:
                    continue
                shutil.copyfile(path, copy)
                commit, texts = commit_of(1)
                state = TranscriptFile(copy).log(SESSION).save(LogState(), [commit], Snapshot(), texts)
                assert TranscriptFile(copy).log(SESSION).load() == state
                assert _told(copy) == before, path.name
                read += 1
        assert read > 30


def _told(path: Path) -> Any:
    try:
        found = read_transcript(read_records(path.read_bytes()), ReadOptions())
    except SessionInvalid:
        return None
    messages = [(each.role, each.position, each.end, each.id) for each in found.messages]
    return found.format, messages, len(found.oddities)
