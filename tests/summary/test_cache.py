"""castore.summary.cache: what is served was stored for just this, and it is never without its source."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from castore.digest import Digest
from castore.errors import (
    CastoreError,
    InvalidOption,
    KeyTaken,
    LimitExceeded,
    NotFound,
    ObjectDamaged,
    ObjectMissing,
    ObjectPurged,
    ScopeDenied,
    StoreMissing,
    SummarizerFailed,
)
from castore.gc.sweep import sweep
from castore.roots.model import RootDraft, RootKind
from castore.store import Access, Store, StoreHandle
from castore.store.keeping import RootChoice
from castore.summary.cache import Made, SummaryCache
from castore.summary.entry import BY_GET, BY_PUT, DETAIL, entry_of
from castore.summary.stats import summary_stats
from castore.summary.strategy import NamedMaker
from tests.summary.caches import NOW, Caching, Clock, Marked

SOURCE = b"Returns within 7 days, except fresh food."


def policy(version: str = "v1", days: int = 7) -> bytes:
    said = {"version": version, "deadline_days": days, "condition": "已发货订单", "exception": "生鲜商品"}
    return json.dumps(said, ensure_ascii=False).encode()


class Days:
    """The source example's summary: what the policy says, in one sentence."""

    def __init__(self, name: str = "sentence", version: int = 1) -> None:
        self.name, self.version, self.options = name, version, {"language": "zh"}
        self.runs = 0

    def summarize(self, source: bytes) -> str:
        self.runs += 1
        said = json.loads(source)
        return f"{said['condition']}在签收{said['deadline_days']}天内可退货，{said['exception']}除外。"


class TestTheSourceExample:
    """The content is in the key: a version that somebody writes beside it decides nothing."""

    def test_reading_twice_hits(self, caching: Caching) -> None:
        strategy = Days()
        made = caching.cache.get(policy(), strategy)
        again = caching.cache.get(policy(), strategy)
        assert (made.is_hit, again.is_hit, strategy.runs) == (False, True, 1)
        assert made.text == again.text == "已发货订单在签收7天内可退货，生鲜商品除外。"
        assert made.entry == again.entry

    @pytest.mark.parametrize("version", ["v2", "v1"])
    def test_fourteen_days_give_fourteen(self, caching: Caching, version: str) -> None:
        strategy = Days()
        caching.cache.get(policy(), strategy)
        made = caching.cache.get(policy(version, 14), strategy)
        assert not made.is_hit
        assert "14天" in made.text
        assert "7天" in caching.cache.get(policy(), strategy).text
        assert strategy.runs == 2

    def test_another_scope_misses(self, caching: Caching) -> None:
        strategy = Days()
        caching.cache.get(policy(), strategy)
        assert not caching.other("*", scope="team/a").get(policy(), strategy).is_hit
        assert strategy.runs == 2

    @pytest.mark.parametrize("other", [Days(name="other"), Days(version=2)])
    def test_another_strategy_misses(self, caching: Caching, other: Days) -> None:
        caching.cache.get(policy(), Days())
        assert not caching.cache.get(policy(), other).is_hit

    def test_another_option_misses(self, caching: Caching) -> None:
        caching.cache.get(SOURCE, Marked(options={"model": "small"}))
        assert not caching.cache.get(SOURCE, Marked(options={"model": "large"})).is_hit
        assert caching.cache.get(SOURCE, Marked(options={"model": "small"})).is_hit


class TestAHit:
    def test_survives_the_process_and_the_index(self, caching: Caching, clock: Clock) -> None:
        made = caching.cache.get(SOURCE, Marked())
        caching.close()
        os.remove(caching.folder / "index.sqlite")
        again = Caching(caching.folder, clock)
        strategy = Marked()
        found = again.cache.get(SOURCE, strategy)
        assert (found.is_hit, found.text, strategy.runs) == (True, made.text, 0)
        again.close()

    def test_may_name_its_source_by_bytes_or_by_digest(self, caching: Caching) -> None:
        made = caching.cache.get(SOURCE, Marked())
        assert caching.cache.get(Digest.of(SOURCE), Marked()).is_hit
        assert made.entry.source.size == len(SOURCE)
        caching.put(b"put before")
        assert not caching.cache.get(Digest.of(b"put before"), Marked()).is_hit
        assert caching.cache.get(b"put before", Marked()).is_hit

    def test_writes_nothing_but_a_note(self, caching: Caching) -> None:
        caching.cache.get(SOURCE, Marked(), names=["policy.md"])
        before = caching.files()
        for _ in range(3):
            assert caching.cache.get(SOURCE, Marked(), names=["policy.md"]).is_hit
        assert caching.cache.look_up(SOURCE, Marked()) is not None
        caching.store.close()
        assert caching.files() == before
        assert caching.listed()[SOURCE.decode()].hits == 4

    def test_works_on_a_store_that_can_not_be_written(self, caching: Caching, clock: Clock) -> None:
        caching.cache.get(SOURCE, Marked())
        caching.close()
        with read_only(caching.folder):
            other = Caching(caching.folder, clock)
            found = other.cache.get(SOURCE, Marked())
            strategy = Marked()
            assert found.is_hit
            if os.geteuid() != 0:
                with pytest.raises(CastoreError):
                    other.cache.get(b"another source", strategy)
                assert strategy.runs == 0
            other.close()

    def test_is_counted_with_its_time(self, caching: Caching, clock: Clock) -> None:
        caching.cache.get(SOURCE, Marked())
        (listed,) = caching.cache.entries()
        assert (listed.hits, listed.last_used) == (0, NOW)
        clock.now = NOW + 100.5
        caching.cache.get(SOURCE, Marked())
        (listed,) = caching.cache.entries()
        assert (listed.hits, listed.last_used) == (1, NOW + 100.5)
        assert caching.store.stats().read_bytes == 0, "the use is noted, and no read of the object beside it"

    def test_look_up_makes_nothing(self, caching: Caching) -> None:
        maker = NamedMaker("by-hand")
        caching.cache.get(SOURCE, Marked())
        assert caching.cache.look_up(SOURCE, maker) is None
        caching.cache.put(SOURCE, "seven days", maker)
        found = caching.cache.look_up(SOURCE, maker)
        assert found is not None
        assert (found.text, found.is_hit) == ("seven days", True)


class TestWhatIsServed:
    """Only what is whole: root, summary and source."""

    def test_a_damaged_summary_is_made_anew(self, caching: Caching) -> None:
        made = caching.cache.get(SOURCE, Marked())
        damage(caching.object_file(made.entry.summary.digest))
        with pytest.raises(ObjectDamaged):
            caching.cache.look_up(SOURCE, Marked())
        again = caching.cache.get(SOURCE, Marked())
        assert (again.is_hit, again.text) == (False, made.text)
        assert caching.cache.get(SOURCE, Marked()).is_hit

    def test_a_lost_summary_is_made_anew(self, caching: Caching) -> None:
        made = caching.cache.get(SOURCE, Marked())
        remove(caching.object_file(made.entry.summary.digest))
        assert caching.cache.find(made.entry.key) is None
        assert not caching.cache.get(Digest.of(SOURCE), Marked()).is_hit
        assert caching.cache.get(SOURCE, Marked()).is_hit

    def test_a_lost_source_is_told_though_the_summary_is_there(self, caching: Caching) -> None:
        made = caching.cache.get(SOURCE, Marked())
        remove(caching.object_file(made.entry.source.digest))
        strategy = Marked()
        with pytest.raises(ObjectMissing):
            caching.cache.get(Digest.of(SOURCE), strategy)
        assert caching.cache.find(made.entry.key) is None
        assert strategy.runs == 0

    def test_a_lost_source_comes_back_with_its_bytes(self, caching: Caching) -> None:
        made = caching.cache.get(SOURCE, Marked())
        remove(caching.object_file(made.entry.source.digest))
        assert not caching.cache.get(SOURCE, Marked()).is_hit
        assert caching.store.read(Digest.of(SOURCE)) == SOURCE

    def test_a_damaged_source_is_told(self, caching: Caching) -> None:
        caching.put(SOURCE)
        damage(caching.object_file(Digest.of(SOURCE)))
        with pytest.raises(ObjectDamaged):
            caching.cache.get(Digest.of(SOURCE), Marked())
        assert caching.cache.entries() == []

    def test_a_source_that_is_not_there_is_missing(self, caching: Caching) -> None:
        caching.put(b"so that there is a store")
        with pytest.raises(ObjectMissing):
            caching.cache.get(Digest.of(SOURCE), Marked())

    @pytest.mark.parametrize("which", ["source", "summary"])
    def test_after_a_purge_of_either_nothing_is(self, caching: Caching, which: str) -> None:
        made = caching.cache.get(SOURCE, Marked())
        digest = made.entry.source.digest if which == "source" else made.entry.summary.digest
        caching.store.purge(digest, "a secret")
        assert caching.cache.entries() == []
        assert caching.cache.find(made.entry.key) is None
        strategy = Marked()
        with pytest.raises(ObjectPurged):
            caching.cache.get(SOURCE, strategy)
        assert strategy.runs == (which == "summary")
        with pytest.raises(NotFound):
            caching.store.remember(RootChoice(roots=(made.entry.root_id,)))
        assert caching.cache.find(made.entry.key) is None

    def test_after_its_age_it_is_made_anew(self, caching: Caching, clock: Clock) -> None:
        caching.set("summary.marked.age-max", "1h")
        made = caching.cache.get(SOURCE, Marked(), names=["policy.md"])
        clock.now += 3599
        assert caching.cache.get(SOURCE, Marked()).is_hit
        clock.now += 1
        assert caching.listed()[SOURCE.decode()].is_old
        again = caching.cache.get(SOURCE, Marked())
        assert not again.is_hit
        assert again.entry.made == made.entry.made + 3600
        assert set(again.entry.names) == {"policy.md"}

    @pytest.mark.parametrize(
        "change",
        [
            lambda said: said.pop("text"),
            lambda said: said.pop("strategy"),
            lambda said: said.pop("made"),
            lambda said: said.pop("names"),
            lambda said: said.update(text="sha256:" + "0" * 64),
            lambda said: said.update(text={"digest": "sha256:" + "0" * 64, "size": 1}),
            lambda said: said["text"].update(size=-1),
            lambda said: said.update(version=2),
            lambda said: said.update(version="1"),
            lambda said: said.update(version=True),
            lambda said: said.update(options={"more": 1}),
            lambda said: said.update(options=[]),
            lambda said: said.update(names={"policy.md": 0}),
            lambda said: said.update(names=["policy.md"]),
            lambda said: said.update(made_by="somebody"),
            lambda said: said.update(made=-1),
            lambda said: said.update(made=True),
            lambda said: said.update(chain=[{"by": 1}]),
            lambda said: said.update(chain="chain"),
            lambda said: said.update(chain=[{"by": "view", "digest": "sha256:0"}]),
        ],
    )
    def test_a_root_that_says_what_can_not_be_is_none(
        self, caching: Caching, change: Callable[[dict[str, Any]], object]
    ) -> None:
        made = caching.cache.get(SOURCE, Marked())
        root = caching.store.root(made.entry.root_id)
        assert root is not None
        said = json.loads(json.dumps(root.details[DETAIL]))
        assert entry_of(root) == made.entry
        change(said)
        draft = made.entry.draft(replaces=root.sequence)
        with caching.store.batch() as batch:
            changed = batch.commit(replace(draft, details={DETAIL: said}))
        assert entry_of(changed) is None
        assert caching.cache.find(made.entry.key) is None
        assert caching.cache.entries() == []
        assert not caching.cache.get(SOURCE, Marked()).is_hit
        assert caching.cache.get(SOURCE, Marked()).is_hit

    def test_a_root_of_another_key_is_none(self, caching: Caching) -> None:
        """A planted root can't have what was summarised in some other way served."""
        made = caching.cache.get(SOURCE, Marked())
        wanted = caching.cache.key(SOURCE, Marked("other"))
        draft = replace(made.entry.draft(replaces=0), key=wanted.hex)
        with caching.store.batch() as batch:
            batch.commit(draft)
        assert caching.cache.find(wanted) is None

    @pytest.mark.parametrize("text", ["", " \n", "\x1b[2J", 7])
    def test_a_strategy_that_says_nothing_fails(self, caching: Caching, text: Any) -> None:
        strategy = Marked()
        strategy.summarize = lambda source: text  # type: ignore[method-assign]
        with pytest.raises(SummarizerFailed):
            caching.cache.get(SOURCE, strategy)
        assert caching.cache.entries() == []
        assert caching.store.roots() == []
        assert os.listdir(caching.folder / "tmp") == []


class TestPut:
    def test_is_verbatim_and_found_by_get(self, caching: Caching) -> None:
        text = "  seven days,\r\n\tbut no fish \n"
        made = caching.cache.put(SOURCE, text, NamedMaker("marked"))
        assert (made.is_hit, made.entry.made_by) == (False, BY_PUT)
        assert made.entry.summary.digest == Digest.of(text.encode())
        found = caching.cache.get(SOURCE, Marked())
        assert (found.is_hit, found.text, found.entry) == (True, text, made.entry)
        assert caching.cache.get(SOURCE, Marked("other")).entry.made_by == BY_GET

    def test_again_changes_nothing(self, caching: Caching) -> None:
        made = caching.cache.put(SOURCE, "seven days", NamedMaker("by-hand"))
        before = caching.files()
        again = caching.cache.put(SOURCE, "seven days", NamedMaker("by-hand"))
        assert again == Made(made.entry, "seven days", is_hit=True)
        assert caching.files() == before
        assert caching.cache.entries()[0].hits == 0

    def test_another_text_is_refused_unless_it_may_replace(self, caching: Caching) -> None:
        made = caching.cache.put(SOURCE, "seven days", NamedMaker("by-hand"), names=["policy.md"])
        with pytest.raises(KeyTaken):
            caching.cache.put(SOURCE, "fourteen days", NamedMaker("by-hand"))
        assert caching.cache.text(made.entry) == "seven days"
        changed = caching.cache.put(SOURCE, "14 days", NamedMaker("by-hand"), can_replace=True)
        assert not changed.is_hit
        assert changed.entry.root_id == made.entry.root_id
        assert set(changed.entry.names) == {"policy.md"}
        assert caching.cache.look_up(SOURCE, NamedMaker("by-hand")) == replace(changed, is_hit=True)

    def test_what_was_replaced_is_kept_for_the_grace(self, caching: Caching, clock: Clock) -> None:
        caching.cache.put(SOURCE, "seven days", NamedMaker("by-hand"))
        caching.cache.put(SOURCE, "14 days", NamedMaker("by-hand"), can_replace=True)
        sweep(caching.store)
        assert caching.store.read(Digest.of(b"seven days")) == b"seven days"
        clock.now += 15 * 86_400
        sweep(caching.store)
        assert caching.store.stat(Digest.of(b"seven days")) is None
        assert caching.cache.get(SOURCE, Marked("by-hand")).text == "14 days"

    @pytest.mark.parametrize("text", ["", " \n\t", "\ud800"])
    def test_what_says_nothing(self, caching: Caching, text: str) -> None:
        with pytest.raises(InvalidOption):
            caching.cache.put(SOURCE, text, NamedMaker("by-hand"))
        assert not caching.handle.exists

    def test_what_is_too_long(self, caching: Caching) -> None:
        with pytest.raises(LimitExceeded):
            caching.cache.put(SOURCE, "x" * (256 * 1024 + 1), NamedMaker("by-hand"))

    def test_of_a_source_by_its_digest(self, caching: Caching) -> None:
        caching.put(SOURCE)
        caching.cache.put(Digest.of(SOURCE), "seven days", NamedMaker("by-hand"))
        assert caching.cache.get(SOURCE, Marked("by-hand")).text == "seven days"
        with pytest.raises(ObjectMissing):
            caching.cache.put(Digest.of(b"not there"), "x", NamedMaker("by-hand"))


class TestKeeping:
    """The entry keeps its source; forgetting frees both, and neither before."""

    def test_gc_keeps_both_and_then_neither(self, caching: Caching, clock: Clock) -> None:
        made = caching.cache.get(SOURCE, Marked())
        both = [made.entry.source.digest, made.entry.summary.digest]
        clock.now += 400 * 86_400
        sweep(caching.store)
        assert [caching.store.read(each) for each in both] == [SOURCE, made.text.encode()]
        caching.cache.forget([made.entry.key], at_once=True)
        assert caching.cache.entries() == []
        sweep(caching.store)
        assert [caching.store.stat(each) for each in both] == [None, None]

    def test_forgotten_is_not_served_and_comes_back(self, caching: Caching) -> None:
        made = caching.cache.get(SOURCE, Marked())
        caching.cache.forget([made.entry.key])
        assert caching.cache.find(made.entry.key) is None
        caching.store.remember(RootChoice(roots=(made.entry.root_id,)))
        assert caching.cache.get(SOURCE, Marked()).is_hit

    def test_made_again_after_it_was_forgotten(self, caching: Caching) -> None:
        made = caching.cache.get(SOURCE, Marked())
        caching.cache.forget([made.entry.key])
        again = caching.cache.get(SOURCE, Marked())
        assert not again.is_hit
        assert caching.cache.get(SOURCE, Marked()).is_hit

    def test_forgetting_nothing_is_a_mistake(self, caching: Caching) -> None:
        caching.put(b"so that there is a store")
        with pytest.raises(InvalidOption):
            caching.cache.forget([])
        with pytest.raises(CastoreError):
            caching.cache.forget([caching.cache.key(SOURCE, Marked())])

    def test_ctx_forget_of_the_source_leaves_it(self, caching: Caching) -> None:
        """A summary is forgotten as a summary, not by what it is of."""
        root = caching.put(SOURCE)
        caching.cache.get(SOURCE, Marked())
        caching.store.forget(RootChoice(references=(SOURCE_HEX,)), at_once=True)
        assert caching.cache.get(SOURCE, Marked()).is_hit
        assert root.id not in {
            each.id for each in caching.store.roots_naming(Digest.of(SOURCE)) if each.is_live(NOW)
        }


SOURCE_HEX = Digest.of(SOURCE).hex


class TestScopes:
    def test_a_hit_of_a_scope_that_was_not_granted_is_denied(self, caching: Caching) -> None:
        made = caching.other("*", scope="team/a").get(SOURCE, Marked())
        theirs = caching.other("team/b")
        with pytest.raises(ScopeDenied):
            theirs.find(made.entry.key)
        with pytest.raises(ScopeDenied):
            SummaryCache(caching.opened[-1], "team/a").get(SOURCE, Marked())
        strategy = Marked()
        assert not theirs.get(SOURCE, strategy).is_hit
        assert strategy.runs == 1
        assert [each.entry.scope for each in theirs.entries()] == ["team/b"]

    def test_a_source_of_another_scope_is_missing(self, caching: Caching) -> None:
        caching.other("*", scope="team/a").get(SOURCE, Marked())
        strategy = Marked()
        with pytest.raises(ObjectMissing):
            caching.other("team/b").get(Digest.of(SOURCE), strategy)
        assert strategy.runs == 0

    def test_uses_are_told_to_whom_the_reader_is(self, caching: Caching) -> None:
        ours = caching.other("team/a")
        ours.get(SOURCE, Marked())
        ours.get(SOURCE, Marked())
        assert [each.hits for each in ours.entries()] == [1]
        caching.opened[-1].close()
        assert [each.hits for each in caching.other("team/*").entries()] == [1]

    def test_a_forget_stays_in_its_scope(self, caching: Caching) -> None:
        made = caching.other("*", scope="team/a").get(SOURCE, Marked())
        with pytest.raises(CastoreError):
            caching.other("team/b").forget([made.entry.key])

    def test_entries_of_all_that_are_seen_or_of_one(self, caching: Caching) -> None:
        for scope in ("team/a", "team/b"):
            caching.other("*", scope=scope).get(SOURCE, Marked())
        everyone = SummaryCache(caching.handle)
        assert {each.entry.scope for each in everyone.entries()} == {"team/a", "team/b"}
        one = SummaryCache(caching.handle, "team/a")
        assert {each.entry.scope for each in one.entries()} == {"team/a"}


class TestNames:
    """An entry is superseded once all its names have another content."""

    def test_another_content_supersedes(self, caching: Caching) -> None:
        caching.cache.get(b"old", Marked(), names=["policy.md"])
        caching.cache.get(b"new", Marked(), names=["policy.md"])
        caching.cache.get(b"unnamed", Marked())
        assert {text: each.is_superseded for text, each in caching.listed().items()} == {
            "old": True,
            "new": False,
            "unnamed": False,
        }
        assert set(caching.listed("policy.md")) == {"old", "new"}

    def test_every_strategy_of_one_content_is_current(self, caching: Caching) -> None:
        caching.cache.get(b"old", Marked(), names=["policy.md"])
        for name in ("marked", "other"):
            caching.cache.get(b"new", Marked(name), names=["policy.md"])
        assert [each.is_superseded for each in caching.cache.entries()] == [False, False, True]

    def test_the_old_content_comes_back(self, caching: Caching, clock: Clock) -> None:
        """By what is said of the name, not by a use alone, nor by the clock."""
        caching.cache.get(b"old", Marked(), names=["policy.md"])
        caching.cache.get(b"new", Marked(), names=["policy.md"])
        clock.now -= 1000
        caching.cache.get(b"old", Marked())
        assert caching.listed()["old"].is_superseded
        assert caching.cache.get(b"old", Marked(), names=["policy.md"]).is_hit
        assert not caching.listed()["old"].is_superseded
        assert caching.listed()["new"].is_superseded

    def test_of_several_names_all_have_to_move(self, caching: Caching) -> None:
        caching.cache.get(b"old", Marked(), names=["a.md", "b.md"])
        caching.cache.get(b"new", Marked(), names=["a.md"])
        assert not caching.listed()["old"].is_superseded
        caching.cache.get(b"newer", Marked(), names=["b.md"])
        assert caching.listed()["old"].is_superseded

    def test_a_name_is_added_to_what_is_there(self, caching: Caching, clock: Clock) -> None:
        made = caching.cache.get(b"old", Marked())
        clock.now += 50
        tied = caching.cache.get(b"old", Marked(), names=["a.md"])
        assert (tied.is_hit, tied.entry.made, set(tied.entry.names)) == (True, made.entry.made, {"a.md"})
        assert set(caching.cache.get(b"old", Marked(), names=["b.md"]).entry.names) == {"a.md", "b.md"}
        root = caching.store.root(made.entry.root_id)
        assert root is not None
        assert root.source_name in ("a.md", "b.md")
        assert len(caching.store.roots()) == 1

    def test_the_newest_forgotten_the_one_before_is_current(self, caching: Caching) -> None:
        caching.cache.get(b"old", Marked(), names=["policy.md"])
        new = caching.cache.get(b"new", Marked(), names=["policy.md"])
        caching.cache.forget([new.entry.key])
        assert not caching.listed()["old"].is_superseded
        caching.store.remember(RootChoice(roots=(new.entry.root_id,)))
        assert caching.listed()["old"].is_superseded

    def test_names_of_other_scopes_are_others(self, caching: Caching) -> None:
        caching.cache.get(b"old", Marked(), names=["policy.md"])
        caching.other("*", scope="team/a").get(b"new", Marked(), names=["policy.md"])
        assert not any(each.is_superseded for each in SummaryCache(caching.handle).entries())

    @pytest.mark.parametrize("name", ["", " ", "a\x00b", "\ud800"])
    def test_what_can_be_no_name(self, caching: Caching, name: str) -> None:
        with pytest.raises(InvalidOption):
            caching.cache.get(SOURCE, Marked(), names=[name])
        assert caching.cache.entries() == []

    def test_too_many(self, caching: Caching) -> None:
        names = [f"{each}.md" for each in range(257)]
        strategy = Marked()
        with pytest.raises(LimitExceeded):
            caching.cache.get(SOURCE, strategy, names=names)
        assert caching.cache.entries() == []
        assert len(caching.cache.get(SOURCE, strategy, names=names[:256]).entry.names) == 256


class TestNewStores:
    def test_one_is_made_for_bytes(self, caching: Caching) -> None:
        assert not caching.handle.exists
        caching.cache.get(SOURCE, Marked())
        assert caching.handle.exists

    def test_none_is_made_for_anything_else(self, fast_path: Path) -> None:
        cache = SummaryCache(StoreHandle(fast_path / "s", may_create=True))
        maker = NamedMaker("by-hand")
        for ask in (
            lambda: cache.get(Digest.of(SOURCE), Marked()),
            lambda: cache.put(Digest.of(SOURCE), "x", maker),
            lambda: cache.look_up(SOURCE, maker),
            cache.entries,
            cache.evict,
        ):
            with pytest.raises(StoreMissing):
                ask()
        assert not (fast_path / "s").exists()


class TestStats:
    def test_counts_what_is_seen(self, caching: Caching) -> None:
        caching.put(b"x")
        assert summary_stats(caching.store).entries == 0
        caching.cache.get(b"old", Marked(), names=["n"])
        caching.cache.get(b"new", Marked(), names=["n"])
        caching.cache.get(b"new", Marked(), names=["n"])
        caching.other("*", scope="team/a").get(b"theirs", Marked())
        found = summary_stats(caching.store)
        sizes = sum(each.entry.summary.size for each in caching.cache.entries())
        assert (found.entries, found.superseded, found.hits, found.bytes) == (3, 1, 1, sizes)
        theirs = Store.open(caching.folder, access=Access(("team/a",)), clock=caching.clock)
        assert summary_stats(theirs).entries == 1
        theirs.close()


class TestRootsOfOthers:
    def test_a_summary_root_without_a_key_is_no_entry(self, caching: Caching) -> None:
        """What a log dropped is kept by such a root."""
        with (
            caching.store.batch()
            if caching.handle.exists
            else caching.handle.get_or_create().batch() as batch
        ):
            digest = batch.stage(b"dropped").digest
            root = batch.commit(RootDraft(RootKind.SUMMARY, (digest,), source_name="session"))
        assert entry_of(root) is None
        assert caching.cache.entries() == []


class TestWrongTypes:
    @pytest.mark.parametrize(
        ("source", "maker", "more"),
        [
            ("a str", Marked(), {}),
            (None, Marked(), {}),
            (SOURCE, "extract@1", {}),
            (SOURCE, Marked, {}),
            (SOURCE, NamedMaker("mine"), {}),
            (SOURCE, Marked(options=["a"]), {}),  # type: ignore[arg-type]
            (SOURCE, Marked(), {"names": "returns"}),
            (SOURCE, Marked(), {"names": [7]}),
        ],
    )
    def test_are_refused_by_get(
        self, caching: Caching, source: Any, maker: Any, more: dict[str, Any]
    ) -> None:
        with pytest.raises(InvalidOption):
            caching.cache.get(source, maker, **more)
        assert not caching.handle.exists or caching.cache.entries() == []

    @pytest.mark.parametrize(
        ("source", "text", "maker"),
        [
            ("a str", "text", NamedMaker("mine")),
            (SOURCE, b"text", NamedMaker("mine")),
            (SOURCE, "text", "mine"),
        ],
    )
    def test_are_refused_by_put_and_look_up(
        self, caching: Caching, source: Any, text: Any, maker: Any
    ) -> None:
        with pytest.raises(InvalidOption):
            caching.cache.put(source, text, maker)
        if text == "text":
            assert caching.store
            with pytest.raises(InvalidOption):
                caching.cache.look_up(source, maker)


class TestRemembering:
    def test_what_was_forgotten_is_served_again(self, caching: Caching) -> None:
        made = caching.cache.get(SOURCE, Marked())
        assert caching.cache.forgotten() == []
        caching.cache.forget([made.entry.key])
        (found,) = caching.cache.forgotten()
        assert found.entry.key == made.entry.key
        assert [root.id for root in caching.cache.remember([found.entry.key]).roots] == [made.entry.root_id]
        assert caching.cache.forgotten() == []
        assert caching.cache.get(SOURCE, Marked()).is_hit

    def test_what_another_scope_forgot_is_nobody_elses(self, caching: Caching) -> None:
        theirs = caching.other("team/a")
        made = theirs.get(SOURCE, Marked())
        theirs.forget([made.entry.key])
        assert caching.other("team/b").forgotten() == []
        with pytest.raises(NotFound):
            caching.other("team/b").remember([made.entry.key])
        assert len(theirs.forgotten()) == 1

    def test_what_went_with_its_source_stays_gone(self, caching: Caching) -> None:
        made = caching.cache.get(SOURCE, Marked())
        caching.store.purge(made.entry.source.digest, reason="a secret")
        assert caching.cache.forgotten() == []


# --- Helpers ---------------------------------------------------------------------------------------


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.chmod(0o600)
    path.write_bytes(bytes(data))


def remove(path: Path) -> None:
    path.unlink()


class read_only:  # noqa: N801 - used as a statement
    """Nothing in the folder can be written, for all but root."""

    def __init__(self, folder: Path) -> None:
        self.folders = [folder, *(each for each in folder.rglob("*") if each.is_dir())]

    def __enter__(self) -> None:
        for each in self.folders:
            each.chmod(0o500)

    def __exit__(self, *error: object) -> None:
        for each in self.folders:
            each.chmod(0o700)
