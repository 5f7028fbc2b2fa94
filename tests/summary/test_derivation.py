"""castore.summary.derivation: what is derived is not taken for a source, and the way back is kept."""

from __future__ import annotations

import io
import json
from itertools import pairwise

import pytest

from castore.digest import Digest
from castore.errors import DerivedSource, InvalidOption
from castore.gc.sweep import sweep
from castore.store.keeping import RootChoice
from castore.summary.cache import SummaryCache
from castore.summary.derivation import derivation
from castore.summary.entry import Step
from castore.summary.strategy import NamedMaker
from castore.transcript.collapse.model import Commit, Snapshot, Span, Staged
from castore.transcript.collapse.persistence import LogState
from castore.transcript.collapse.store_log import StoreLog
from castore.transcript.unfolding import unfold_stream
from castore.transcript.view import ViewRequest, make_view
from tests.summary.caches import Caching, Clock, Marked

SOURCE = b"Returns within 7 days, except fresh food."
HAND = NamedMaker("by-hand", 3)
DAY = 86_400


def chain_of(caching: Caching, *texts: bytes) -> None:
    """Each text is a summary of the one before."""
    for source, text in pairwise(texts):
        caching.cache.put(source, text.decode(), HAND, allow_derived=True)


class TestASummaryOfASummary:
    def test_is_refused_and_says_what_it_is_of(self, caching: Caching) -> None:
        caching.cache.put(SOURCE, "seven days", HAND, names=["policy.md"])
        strategy = Marked()
        for source in (b"seven days", Digest.of(b"seven days")):
            with pytest.raises(DerivedSource) as caught:
                caching.cache.get(source, strategy)
        assert caught.value.fields["made_of"] == str(Digest.of(SOURCE))
        assert caught.value.fields["by"] == "by-hand@3"
        assert caught.value.fields["source_name"] == "policy.md"
        assert strategy.runs == 0
        with pytest.raises(DerivedSource):
            caching.cache.put(b"seven days", "7", HAND)
        with pytest.raises(DerivedSource):
            caching.cache.look_up(b"seven days", strategy)

    def test_is_refused_as_a_hit_too(self, caching: Caching) -> None:
        """Whether it was made before decides nothing."""
        caching.cache.put(SOURCE, "seven days", HAND)
        caching.cache.get(b"seven days", Marked(), allow_derived=True)
        with pytest.raises(DerivedSource):
            caching.cache.get(b"seven days", Marked())
        assert caching.cache.get(b"seven days", Marked(), allow_derived=True).is_hit

    @pytest.mark.parametrize("text", [b"seven days\n", b" seven days\r\n", b"seven days"])
    @pytest.mark.parametrize("summary", ["seven days", "seven days\n"])
    def test_white_space_at_its_ends_makes_it_no_source(
        self, caching: Caching, text: bytes, summary: str
    ) -> None:
        caching.cache.put(SOURCE, summary, HAND)
        with pytest.raises(DerivedSource):
            caching.cache.get(text, Marked())
        made = caching.cache.get(text, Marked(), allow_derived=True)
        assert made.entry.chain == (Step("by-hand@3", Digest.of(SOURCE), None),)
        assert Digest.of(summary.encode()) in made.entry.keeps or summary.encode() == text
        digest = caching.put(text).objects[0]
        with pytest.raises(DerivedSource):
            caching.cache.get(digest, Marked("other"))

    def test_what_its_source_says_but_for_white_space_is_not_derived(self, caching: Caching) -> None:
        caching.cache.put(b"seven days\n", "seven days", HAND)
        for text in (b"seven days", b"seven days\n"):
            assert caching.cache.get(text, Marked()).entry.chain == ()

    def test_its_chain_goes_back_to_the_source(self, caching: Caching) -> None:
        chain_of(caching, SOURCE, b"seven days", b"7 d")
        made = caching.cache.get(b"7 d", Marked(), allow_derived=True)
        assert made.entry.chain == (
            Step("by-hand@3", Digest.of(b"seven days"), None),
            Step("by-hand@3", Digest.of(SOURCE), None),
        )
        assert caching.cache.find(made.entry.key) == made.entry

    def test_all_of_it_is_kept(self, caching: Caching, clock: Clock) -> None:
        chain_of(caching, SOURCE, b"seven days", b"7 d")
        made = caching.cache.get(b"7 d", Marked(), allow_derived=True)
        caching.cache.forget(
            [each.entry.key for each in caching.cache.entries() if each.entry.key != made.entry.key],
            at_once=True,
        )
        clock.now += DAY
        sweep(caching.store)
        for data in (SOURCE, b"seven days", b"7 d", made.text.encode()):
            assert caching.store.read(Digest.of(data)) == data
        caching.cache.forget([made.entry.key], at_once=True)
        sweep(caching.store)
        assert list(caching.store.digests()) == []

    def test_a_recorded_chain_is_followed_though_its_roots_are_gone(self, caching: Caching) -> None:
        chain_of(caching, SOURCE, b"seven days", b"7 d")
        last = caching.cache.key(b"seven days", HAND)
        first = caching.cache.key(SOURCE, HAND)
        caching.cache.forget([first])
        found = derivation(caching.store, Digest.of(b"7 d"), "default")
        assert [step.digest for step in found.chain] == [Digest.of(b"seven days"), Digest.of(SOURCE)]
        caching.cache.forget([last])
        assert derivation(caching.store, Digest.of(b"7 d"), "default").chain == ()

    def test_no_chain_goes_round(self, caching: Caching) -> None:
        chain_of(caching, b"one", b"two", b"three", b"one")
        made = caching.cache.get(b"one", Marked(), allow_derived=True)
        assert [step.digest for step in made.entry.chain] == [Digest.of(b"three"), Digest.of(b"two")]
        again = caching.cache.put(b"two", "one", HAND, allow_derived=True, can_replace=True)
        assert len(again.entry.chain) <= 2

    def test_a_text_that_is_its_own_summary_is_a_source(self, caching: Caching) -> None:
        caching.cache.put(SOURCE, SOURCE.decode(), HAND)
        assert not caching.cache.get(SOURCE, Marked()).is_hit
        assert caching.cache.get(SOURCE, HAND_STRATEGY).is_hit

    def test_a_forgotten_one_makes_nothing_derived(self, caching: Caching) -> None:
        made = caching.cache.put(SOURCE, "seven days", HAND)
        caching.cache.forget([made.entry.key])
        assert caching.cache.get(b"seven days", Marked()).entry.chain == ()
        caching.store.remember(RootChoice(roots=(made.entry.root_id,)))
        with pytest.raises(DerivedSource):
            caching.cache.get(b"seven days", Marked())

    def test_what_one_does_not_see_is_not_told(self, caching: Caching) -> None:
        """L6: that another scope has it as a summary is nothing to us."""
        caching.other("*", scope="team/b").put(SOURCE, "seven days", HAND)
        assert caching.other("team/a").get(b"seven days", Marked()).entry.chain == ()

    def test_a_chain_through_another_scope_that_one_sees_is_kept(
        self, caching: Caching, clock: Clock
    ) -> None:
        theirs = caching.other("team/b", "team/a")
        theirs.put(SOURCE, "seven days", HAND)
        ours = SummaryCache(caching.opened[-1], "team/a")
        made = ours.get(Digest.of(b"seven days"), Marked(), allow_derived=True)
        assert [step.digest for step in made.entry.chain] == [Digest.of(SOURCE)]
        assert theirs.forget([theirs.key(SOURCE, HAND)], at_once=True).roots
        sweep(caching.store)
        assert caching.other("team/a").find(made.entry.key) == made.entry
        assert caching.opened[-1].get().read(Digest.of(SOURCE)) == SOURCE


class HandStrategy(Marked):
    def __init__(self) -> None:
        super().__init__("by-hand", 3)


HAND_STRATEGY = HandStrategy()


class TestAView:
    def test_is_refused_and_kept_with_what_takes_it_back(self, caching: Caching, clock: Clock) -> None:
        session = session_of(12)
        view = make_view(session, caching.handle, ViewRequest(), source_name="session.jsonl").to_bytes()
        assert view != session
        with pytest.raises(DerivedSource) as caught:
            caching.cache.get(view, Marked())
        assert caught.value.fields["by"] == "view"
        assert caught.value.fields["source_name"] == "session.jsonl"
        made = caching.cache.get(view, Marked(), allow_derived=True)
        assert made.entry.chain == (Step("view", Digest.of(session), "session.jsonl"),)
        root = caching.store.root(made.entry.root_id)
        (view_root,) = caching.store.document_roots(Digest.of(view))
        assert root is not None
        assert root.base == view_root.id
        caching.store.forget(RootChoice(roots=(view_root.id,)), at_once=True)
        sweep(caching.store)
        assert unfolded(caching, caching.store.read(Digest.of(view))) == session
        further = caching.cache.put(made.text.encode(), "short", HAND, allow_derived=True)
        assert [step.by for step in further.entry.chain] == ["marked@1", "view"]
        assert further.entry.base == view_root.id

    def test_of_another_scope_can_not_be_kept(self, caching: Caching) -> None:
        session = session_of(12)
        view = make_view(session, caching.handle, ViewRequest(), source_name="session.jsonl").to_bytes()
        caching.store.close()
        both = caching.other("team/a", "default")
        with pytest.raises(InvalidOption) as caught:
            both.get(view, Marked(), allow_derived=True)
        assert "default" in str(caught.value.hint)
        assert both.entries() == []

    def test_a_session_that_was_viewed_is_a_source(self, caching: Caching) -> None:
        session = session_of(12)
        make_view(session, caching.handle, ViewRequest(), source_name="session.jsonl")
        assert caching.cache.get(session, Marked()).entry.chain == ()


class TestACollapse:
    def test_summaries_of_turns_are_refused(self, caching: Caching, clock: Clock) -> None:
        text = "The user asked for the orders, and got them."
        staged = Staged(Span("first", "last"), Digest.of(text.encode()), "by-hand@1", clock.now)
        caching.handle.get_or_create()
        log = StoreLog(caching.handle, "session.jsonl")
        log.save(LogState(), [Commit(staged, "turns", clock.now)], Snapshot(), {staged.summary: text})
        with pytest.raises(DerivedSource) as caught:
            caching.cache.get(text.encode(), Marked())
        assert (caught.value.fields["by"], caught.value.fields["made_of"]) == ("collapse", None)
        assert "session.jsonl" in caught.value.message
        made = caching.cache.get(text.encode(), Marked(), allow_derived=True)
        assert made.entry.chain == (Step("collapse", None, "session.jsonl"),)
        assert caching.cache.find(made.entry.key) == made.entry


# --- Helpers ---------------------------------------------------------------------------------------


def session_of(turns: int) -> bytes:
    messages: list[dict[str, object]] = []
    for at in range(turns):
        messages.append({"role": "user", "content": f"list the orders of day {at}"})
        call = {"id": f"call_{at}", "type": "function", "function": {"name": "orders", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        rows = "\n".join(f"order {at}-{row}: paid" for row in range(200))
        messages.append({"role": "tool", "tool_call_id": f"call_{at}", "content": rows})
        messages.append({"role": "assistant", "content": "there they are"})
    return json.dumps({"model": "m", "messages": messages}).encode()


def unfolded(caching: Caching, view: bytes) -> bytes:
    target = io.BytesIO()
    unfold_stream(io.BytesIO(view), target, caching.handle)
    return target.getvalue()
