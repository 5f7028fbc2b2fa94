"""castore.summary.eviction: what goes, in which order, and that nothing goes which need not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.digest import Digest
from castore.errors import InvalidConfig
from castore.gc.sweep import sweep
from castore.roots.model import Content
from castore.settings import SummaryPolicy, change_setting, config_values, parse_config
from castore.store.keeping import RootChoice
from castore.summary.cache import SummaryCache
from castore.summary.entry import BY_GET, Entry
from castore.summary.eviction import Standing, evicted
from castore.summary.key import SummaryKey
from castore.summary.strategy import NamedMaker
from tests.summary.caches import NOW, Caching, Clock, Marked

HOUR = 3600


def entry(number: int, *, size: int = 100, age: float = 0) -> Entry:
    source = Content(Digest.of(b"%d" % number), 10)
    return Entry(
        key=SummaryKey(source.digest, "default", "marked", 1),
        source=source,
        summary=Content(Digest.of(b"summary %d" % number), size),
        made_by=BY_GET,
        made=NOW - age,
        sequence=number,
    )


def standing(number: int, *, idle: float = 0, is_superseded: bool = False, size: int = 100) -> Standing:
    return Standing(entry(number, age=idle, size=size), NOW - idle, is_superseded)


def gone(standings: list[Standing], policy: SummaryPolicy, just_made: Entry | None = None) -> list[int]:
    key = None if just_made is None else just_made.key.hex
    return [each.entry.sequence for each in evicted(standings, policy, now=NOW, just_made=key)]


class TestWhatGoes:
    def test_nothing_without_a_policy(self) -> None:
        assert gone([standing(each, idle=10**9) for each in range(50)], SummaryPolicy()) == []

    def test_the_least_recently_used_go_first(self) -> None:
        ours = [standing(1, idle=5), standing(2, idle=9), standing(3, idle=1), standing(4, idle=7)]
        assert gone(ours, SummaryPolicy(entries_max=2)) == [2, 4]

    def test_the_superseded_go_before_them(self) -> None:
        ours = [standing(1, idle=9), standing(2, idle=1, is_superseded=True), standing(3, idle=5)]
        assert gone(ours, SummaryPolicy(entries_max=2)) == [2]
        assert gone(ours, SummaryPolicy(entries_max=1)) == [2, 1]

    def test_what_is_past_its_age_goes_first_of_all(self) -> None:
        ours = [
            Standing(entry(1, age=HOUR), NOW),
            Standing(entry(2, age=HOUR - 1), NOW - HOUR, True),
            Standing(entry(3), NOW),
        ]
        assert gone(ours, SummaryPolicy(age_seconds_max=HOUR)) == [1]
        found = evicted(ours, SummaryPolicy(entries_max=1, age_seconds_max=HOUR), now=NOW)
        assert [(each.entry.sequence, each.policy) for each in found] == [(1, "age-max"), (2, "entries-max")]

    def test_bytes_are_those_of_the_texts(self) -> None:
        ours = [standing(1, idle=3, size=500), standing(2, idle=2, size=400), standing(3, idle=1, size=300)]
        assert gone(ours, SummaryPolicy(bytes_max=1200)) == []
        assert gone(ours, SummaryPolicy(bytes_max=1199)) == [1]
        assert gone(ours, SummaryPolicy(bytes_max=699)) == [1, 2]

    def test_the_one_just_made_never_goes(self) -> None:
        ours = [standing(1, idle=9, size=5000), standing(2), standing(3)]
        assert gone(ours, SummaryPolicy(entries_max=1), ours[0].entry) == [2, 3]
        assert gone(ours, SummaryPolicy(bytes_max=10), ours[0].entry) == [2, 3]
        assert (
            gone(ours[:1], SummaryPolicy(bytes_max=1, entries_max=1, age_seconds_max=1), ours[0].entry) == []
        )

    @given(
        st.lists(st.tuples(st.integers(0, 20), st.booleans(), st.integers(0, 300)), min_size=1, max_size=12),
        st.builds(
            SummaryPolicy,
            st.none() | st.integers(1, 12),
            st.none() | st.integers(1, 2000),
            st.none() | st.integers(1, 20),
        ),
        st.booleans(),
    )
    def test_no_more_than_have_to(
        self, said: list[tuple[int, bool, int]], policy: SummaryPolicy, has_just_made: bool
    ) -> None:
        ours = [
            standing(at, idle=idle, is_superseded=is_superseded, size=size)
            for at, (idle, is_superseded, size) in enumerate(said, 1)
        ]
        mine = ours[-1].entry if has_just_made else None
        order = gone(ours, policy, mine)
        by_number = {each.entry.sequence: each for each in ours}
        assert len(set(order)) == len(order)
        assert mine is None or mine.sequence not in order
        rest = [number for number in by_number if number not in order]

        def fits(numbers: list[int]) -> bool:
            sizes = [by_number[each].entry.summary.size for each in numbers]
            return (policy.entries_max is None or len(sizes) <= policy.entries_max) and (
                policy.bytes_max is None or sum(sizes) <= policy.bytes_max
            )

        def is_old(number: int) -> bool:
            age = NOW - by_number[number].entry.made
            return policy.age_seconds_max is not None and age >= policy.age_seconds_max

        assert fits(rest) or rest in ([], [mine.sequence] if mine else [])
        assert all(mine is not None and number == mine.sequence for number in rest if is_old(number))
        if order and not is_old(order[-1]):
            assert not fits([*rest, order[-1]])
        young = [by_number[each] for each in order if not is_old(each)]
        ranks = [(not each.is_superseded, each.last_used, each.entry.sequence) for each in young]
        assert ranks == sorted(ranks)


class TestInAStore:
    """Done where something is made or put, for its strategy in its scope; evicted is forgotten."""

    def test_a_make_evicts(self, caching: Caching, clock: Clock) -> None:
        caching.set("summary.marked.entries-max", "2")
        for each in (b"one", b"two"):
            caching.cache.get(each, Marked())
            clock.now += 1
        caching.cache.get(b"one", Marked())
        clock.now += 1
        made = caching.cache.get(b"three", Marked())
        assert [each.entry.source.digest for each in made.evicted] == [Digest.of(b"two")]
        assert set(caching.listed()) == {"one", "three"}

    def test_so_does_a_put_and_no_hit(self, caching: Caching, clock: Clock) -> None:
        for each in (b"one", b"two"):
            caching.cache.get(each, Marked())
            clock.now += 1
        caching.set("summary.marked.entries-max", "1")
        assert caching.cache.get(b"one", Marked()).evicted == ()
        made = caching.cache.put(b"three", "said", NamedMaker("marked"))
        assert len(made.evicted) == 2
        assert set(caching.listed()) == {"three"}

    def test_all_versions_of_the_strategy_and_nothing_else(self, caching: Caching) -> None:
        caching.set("summary.marked.entries-max", "1")
        caching.other("*", scope="team/a").get(b"one", Marked())
        caching.cache.get(b"one", Marked("other"))
        caching.cache.get(b"one", Marked(version=2))
        made = caching.cache.get(b"one", Marked(version=3))
        assert [each.entry.key.version for each in made.evicted] == [2]
        assert len(SummaryCache(caching.handle).entries()) == 3

    def test_superseded_go_first(self, caching: Caching, clock: Clock) -> None:
        caching.set("summary.marked.entries-max", "2")
        caching.cache.get(b"other", Marked())
        clock.now += 1
        caching.cache.get(b"old", Marked(), names=["n"])
        clock.now += 1
        caching.cache.get(b"old", Marked())
        made = caching.cache.get(b"new", Marked(), names=["n"])
        assert [each.entry.source.digest for each in made.evicted] == [Digest.of(b"old")]

    def test_evict_does_all_strategies_and_a_dry_run_none(self, caching: Caching, clock: Clock) -> None:
        for name in ("marked", "other", "third"):
            caching.cache.get(b"one", Marked(name))
            caching.cache.get(b"two", Marked(name))
        caching.set("summary.marked.entries-max", "1")
        caching.set("summary.other.age-max", "1h")
        clock.now += HOUR
        before = caching.files()
        planned = caching.cache.evict(dry_run=True)
        assert caching.files() == before
        assert caching.cache.evict() == planned
        assert sorted((each.entry.key.strategy, each.policy) for each in planned) == [
            ("marked", "entries-max"),
            ("other", "age-max"),
            ("other", "age-max"),
        ]
        assert caching.cache.evict() == []
        assert len(caching.cache.entries()) == 3

    def test_evicted_is_kept_for_the_grace(self, caching: Caching, clock: Clock) -> None:
        caching.set("summary.marked.entries-max", "1")
        one = caching.cache.put(b"one", "the only copy", NamedMaker("marked"))
        caching.cache.get(b"two", Marked())
        assert caching.cache.find(one.entry.key) is None
        sweep(caching.store)
        caching.store.remember(RootChoice(roots=(one.entry.root_id,)))
        assert caching.cache.get(b"one", Marked()).text == "the only copy"
        caching.cache.evict()
        clock.now += 15 * 86_400
        sweep(caching.store)
        assert len(list(caching.store.digests())) == 2

    def test_uses_that_one_is_not_told_of_decide_nothing(self, caching: Caching, clock: Clock) -> None:
        """What the operator reads in a scope is not told there, nor by what goes."""
        ours = caching.other("team/a")
        for each in (b"one", b"two"):
            ours.get(each, Marked())
            clock.now += 1
        caching.set("summary.marked.entries-max", "2")
        assert SummaryCache(caching.handle, "team/a").get(b"one", Marked()).is_hit
        caching.store.close()
        ours = caching.other("team/a")
        made = ours.get(b"three", Marked())
        assert [each.entry.source.digest for each in made.evicted] == [Digest.of(b"one")]


class TestSettings:
    def test_are_tables_by_the_name_of_the_strategy(self) -> None:
        text = '[summary.extract]\nentries-max = 100\nbytes-max = "10MB"\n[summary.my-own]\nage-max = "30d"\n'
        found = parse_config(text)
        assert found.summary == {
            "extract": SummaryPolicy(100, 10_000_000, None),
            "my-own": SummaryPolicy(age_seconds_max=30 * 86_400),
        }
        assert {key: value for key, value in config_values(found).items() if key.startswith("summary")} == {
            "summary.extract.entries-max": 100,
            "summary.extract.bytes-max": "10MB",
            "summary.my-own.age-max": "30d",
        }

    def test_are_set_and_taken_off(self) -> None:
        text = "# mine\n[fold]\nbytes-over = 5\n"
        for key, value in (("entries-max", "7"), ("bytes-max", "12kB"), ("age-max", "1h")):
            text = change_setting(text, f"summary.extract.{key}", value)
        assert parse_config(text).summary == {"extract": SummaryPolicy(7, 12_000, HOUR)}
        assert text.startswith("# mine\n[fold]\nbytes-over = 5\n")
        for key in ("entries-max", "bytes-max", "age-max"):
            text = change_setting(text, f"summary.extract.{key}", "none")
        assert parse_config(text).summary == {"extract": SummaryPolicy()}
        assert config_values(parse_config(text)) == config_values(parse_config("[fold]\nbytes-over = 5\n"))
        assert config_values(parse_config(""), "summary.extract.age-max")["summary.extract.age-max"] == "none"

    @pytest.mark.parametrize(
        "text",
        [
            "summary = 1",
            "[summary]\nextract = 1",
            "[summary.extract]\nentries = 1",
            "[summary.extract]\nentries-max = 0",
            "[summary.extract]\nentries-max = true",
            '[summary.extract]\nentries-max = "many"',
            "[summary.extract]\nbytes-max = 10",
            "[summary.extract]\nage-max = 10",
            "[summary.Extract]\nentries-max = 1",
            "[summary.extract.more]\nentries-max = 1",
        ],
    )
    def test_anything_else_names_the_key(self, text: str) -> None:
        with pytest.raises(InvalidConfig) as caught:
            parse_config(text)
        assert str(caught.value.fields["key"]).startswith("summary")

    @pytest.mark.parametrize(
        "key",
        ["summary", "summary.extract", "summary.extract.more", "summary.Extract.age-max", "summary..age-max"],
    )
    def test_unknown_keys(self, key: str) -> None:
        with pytest.raises(InvalidConfig):
            change_setting("", key, "1")


def test_an_entry_that_is_made_anew_has_its_age_from_then(caching: Caching, clock: Clock) -> None:
    caching.set("summary.marked.age-max", "1h")
    first = caching.cache.get(b"one", Marked())
    clock.now += HOUR
    again = caching.cache.get(b"one", Marked())
    assert again.entry == replace(first.entry, made=first.entry.made + HOUR, sequence=again.entry.sequence)
    clock.now += HOUR - 1
    assert caching.cache.get(b"one", Marked()).is_hit
