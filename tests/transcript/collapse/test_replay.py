"""Replay: whatever happened to a session and its log, in whatever order, the view follows from the two.

Random histories of staging, committing, going on, rewinding, compacting, beginning anew, crashing in the
middle of a write and restoring in another process are held to a small model.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from castore.digest import Digest
from castore.document.strings import decode_literal
from castore.errors import LogMoved, SpanConflict
from castore.store import Store, StoreHandle
from castore.transcript.budget import Budget
from castore.transcript.collapse.coordinator import CollapseCoordinator
from castore.transcript.collapse.model import LogRecord, Snapshot, parse_record
from castore.transcript.collapse.persistence import CollapseLog, LogState
from castore.transcript.collapse.spans import Messages
from castore.transcript.collapse.store_log import StoreLog
from castore.transcript.formats import ReadOptions, find_format, read_transcript
from castore.transcript.model import PartKind, Transcript
from castore.transcript.records import read_records
from castore.transcript.validate import check
from tests.transcript.collapse.replay_model import Model
from tests.transcript.collapse.talks import TALKS, Talk

KEEP_TURNS = 2
STEPS = 40


class Killed(Exception):
    pass


class KilledLog:
    """A log whose process dies in a save, when `records` of those to be appended are there."""

    def __init__(self, log: CollapseLog, records: int) -> None:
        self.log = log
        self.records = records
        self.session = log.session

    def load(self) -> LogState:
        return self.log.load()

    def save(
        self,
        state: LogState,
        records: Sequence[LogRecord],
        snapshot: Snapshot,
        summaries: Mapping[Digest, str],
    ) -> LogState:
        if self.records:
            self.log.save(state, records[: self.records], state.snapshot, summaries)
        raise Killed

    def summary(self, digest: Digest) -> str:
        return self.log.summary(digest)


class MemoryLog:
    """A log in this process, that coordinators share as if they were processes."""

    session = "the session"

    def __init__(self) -> None:
        self.records: tuple[LogRecord, ...] = ()
        self.snapshot = Snapshot()
        self.version = 0
        self.texts: dict[Digest, str] = {}

    def load(self) -> LogState:
        return LogState(self.records, self.snapshot, 1, self.version)

    def save(
        self,
        state: LogState,
        records: Sequence[LogRecord],
        snapshot: Snapshot,
        summaries: Mapping[Digest, str],
    ) -> LogState:
        if (state.records, state.version) != (self.records, self.version):
            raise LogMoved("the log is not at this state any more")
        self.records += tuple(parse_record(record.to_json()) for record in records)
        self.snapshot = Snapshot.parse(snapshot.to_json())
        self.version += 1
        self.texts |= summaries
        return self.load()

    def summary(self, digest: Digest) -> str:
        return self.texts[digest]


class History:
    """A session, its log, the coordinator that drives it, and the model of all that."""

    def __init__(self, talk: Talk, log: Callable[[], CollapseLog], seed: int) -> None:
        self.chance = random.Random(seed)
        self.talk = talk
        self.log = log
        self.model = Model(talk, KEEP_TURNS)
        self.made = 0
        self.talk.turn(prompt=True, call=False)
        self.coordinator = self.restored()

    # --- What happens ---

    def step(self) -> None:
        acts = (self.go_on,) * 6 + (self.stage,) * 4 + (self.commit,) * 3 + (self.overflow,)
        acts += (self.rewind, self.compact, self.restore, self.crash)
        self.chance.choice(acts)()
        if self.chance.random() < 0.03:
            self.reset()

    def go_on(self) -> None:
        is_open = self.talk.said[-1].role == "result"
        self.talk.turn(prompt=not is_open, call=self.chance.random() < 0.6)

    def rewind(self) -> None:
        lengths = [each for each in range(len(self.talk.said)) if self.talk.may_rewind_to(each)]
        if lengths:
            self.talk.rewind(self.chance.choice(lengths))
            self.go_on()

    def compact(self) -> None:
        if self.talk.said[-1].role != "result" and self.chance.random() < 0.5:
            self.talk.compact()

    def stage(self) -> None:
        coordinator, model = self.coordinator, self.model
        coordinator.observe(self.transcript())
        model.observe()
        turns = len(model.turns())
        first = self.chance.randrange(turns)
        last = min(turns - 1, first + self.chance.choice((0, 0, 1, 2, 3, 6)))
        self.made += 1
        summary = f"the gist of it, number {self.made}"
        span = Messages(coordinator.transcript).span(first, last)
        if model.may_stage(first, last):
            coordinator.stage(span, summary)
            model.stage(first, last, summary)
        else:
            with pytest.raises(SpanConflict):
                coordinator.stage(span, summary)

    def commit(self) -> None:
        """The oldest, until the view fits: a budget that so many meet."""
        self.coordinator.observe(self.transcript())
        self.model.observe()
        ready = len(self.model.ready())
        if not ready:
            return
        sizes = [self.size_with(count) for count in range(ready + 1)]
        budget = Budget(self.chance.choice(sizes))
        count = next(count for count, size in enumerate(sizes) if size <= budget.limit)
        applied = self.coordinator.apply_if_needed(self.transcript(), budget)
        assert applied.is_enough
        assert len(applied.committed) == count
        self.model.commit(count)

    def overflow(self) -> None:
        self.model.observe()
        ready = len(self.model.ready())
        applied = self.coordinator.recover_from_overflow(self.transcript(), Budget(1))
        assert len(applied.committed) == ready
        assert not applied.is_enough
        self.model.commit(ready)

    def reset(self) -> None:
        self.coordinator.reset("the test begins anew")
        self.model.reset()

    def restore(self) -> None:
        self.coordinator = self.restored()

    def crash(self) -> None:
        """Everything staged is committed, and the process dies in the middle."""
        self.coordinator.observe(self.transcript())
        self.model.observe()
        ready = len(self.model.ready())
        if not ready:
            return
        count = self.chance.randint(0, ready)
        self.coordinator.log = KilledLog(self.coordinator.log, count)
        with pytest.raises(Killed):
            self.coordinator.commit(self.transcript())
        self.model.commit(count)
        self.restore()

    # --- What holds ---

    def check(self) -> None:
        transcript = self.transcript()
        before = self.coordinator.project(transcript)
        assert said(before) == self.model.view()
        texts = [self.coordinator.log.summary(each.summary) for each in self.coordinator.staged]
        assert texts == [each.summary for each in self.model.staged]
        view = b"".join(self.coordinator.render(transcript).pieces())
        again = b"".join(self.restored().render(transcript).pieces())
        assert again == view, "another process makes the same view"
        read = read_transcript(read_records(view), ReadOptions(), format=self.talk.tool)
        assert said(read) == self.model.view(), "read again, the view says what the model gets"
        broken = check(read.api, find_format(self.talk.tool).api_messages(read))
        assert not broken, f"the view breaks rules of its API: {broken[:2]}"

    # --- Helpers ---

    def size_with(self, count: int) -> int:
        """Bytes of the view once so many more are committed."""
        staged = self.coordinator.standing.ready[:count]
        rendered = self.coordinator._planned(self.coordinator.transcript, staged)
        return rendered.size

    def transcript(self) -> Transcript:
        return read_transcript(read_records(self.talk.source()), ReadOptions(), format=self.talk.tool)

    def restored(self) -> CollapseCoordinator:
        coordinator = CollapseCoordinator(self.log(), keep_turns=KEEP_TURNS, clock=lambda: 1_700_000_000.0)
        coordinator.restore(self.talk.source())
        return coordinator


def said(transcript: Transcript) -> list[str]:
    """What each message says, but for the system's; of one that stands for others the summary alone."""
    found: list[tuple[int, str]] = []
    for message in transcript.messages:
        parts = [transcript.parts[index] for index in message.parts]
        texts = [
            decode_literal(transcript.literal(part))
            for part in parts
            if part.kind in (PartKind.PROSE, PartKind.RESULT)
        ]
        if message.role != "system":
            found.append((message.position, "".join(texts)))
    found += [(each.pieces[0].start, each.text) for each in transcript.collapsed]
    return [text.partition("]\n")[2] if text.startswith("[ctx ") else text for _, text in sorted(found)]


@pytest.mark.parametrize("tool", TALKS)
@pytest.mark.parametrize("seed", range(8))
def test_a_view_follows_from_session_and_log(tool: str, seed: int) -> None:
    log = MemoryLog()
    hold(History(TALKS[tool](), lambda: log, seed), 40)


def test_and_so_it_does_from_a_store(tmp_path: Path) -> None:
    store = Store.init(tmp_path / "store")
    hold(History(TALKS["pi"](), lambda: StoreLog(StoreHandle.of(store), "the session"), 1000), 15)
    store.close()


@pytest.mark.long
@pytest.mark.parametrize("tool", TALKS)
def test_over_many_histories(tool: str) -> None:
    for seed in range(1000, 1250):
        log = MemoryLog()
        hold(History(TALKS[tool](), lambda: log, seed), 60)  # noqa: B023


def hold(history: History, steps: int) -> None:
    for _ in range(steps):
        history.step()
        history.check()
