"""A collapse log as entries: what they say, and what damage is told."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from castore.config import COUNT_MAX
from castore.errors import (
    LogDamaged,
)
from castore.transcript.collapse.entries import (
    CUSTOM_TYPE,
    EntryLog,
    record_entry,
    state_from_entries,
)
from castore.transcript.collapse.model import Commit, Reset, Rewind, Snapshot
from castore.transcript.collapse.persistence import LogState
from tests.transcript.collapse.conformance import SESSION, commit_of, staged
from tests.transcript.collapse.places import NOW, InMemory, filled


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
        state = place.log().save(filled(place, 2), [Rewind((), 5.0)], Snapshot(is_armed=False), {})
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
                values: list[Any] = [None, 1, "x", [], {}, True]
                for value in values:
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
