"""Two roots of one id come to one: whatever meets whatever, nothing that either keeps is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castore.digest import Digest
from castore.errors import RootsDiverged
from castore.roots.files import check_root, decode_root, encode_root
from castore.roots.joining import has_its_id, joined, says_what
from castore.roots.model import (
    BY,
    GC,
    LAST,
    PURGED,
    REMOTE,
    REPLACED,
    STATE,
    Content,
    Root,
    RootDraft,
    RootKind,
    alone,
    ended,
    forgotten,
    is_over,
    lasting,
    latest,
    merged,
    without,
)

NOW = 1000.0
DIGESTS = [Digest.of(b"%d" % number) for number in range(6)]
DOCUMENT = Content(Digest.of(b"document"), 8)
KEY = "ab" * 32

times = st.floats(0, 2000, allow_nan=False).map(lambda time: float(int(time)))
some = st.sets(st.sampled_from(DIGESTS), max_size=4).map(lambda found: tuple(sorted(found)))


@st.composite
def lived(draw: st.DrawFn, root: Root) -> Root:
    """The root after what may have happened to it in one store."""
    root = replace(root, created=draw(times), sequence=draw(st.integers(1, 9)))
    root = replace(root, expires=draw(st.none() | times))
    for digest in draw(some) if root.place is None else ():
        if digest in root.objects:
            root = without(root, digest)
    if draw(st.booleans()) and root.expires is not None:
        root = lasting(root, [draw(st.none() | times)])
    if draw(st.booleans()):
        root = forgotten(root, now=draw(times), grace_seconds=draw(st.integers(0, 500)))
    if draw(st.booleans()):
        root = replace(root, details={**root.details, REMOTE: draw(st.sampled_from(["a", "b"]))})
    return root


@st.composite
def documents(draw: st.DrawFn) -> Root:
    base = draw(st.none() | st.sampled_from(["0" * 32, "1" * 32]))
    details = draw(st.dictionaries(st.sampled_from(["one", "other", BY]), st.just(GC)))
    draft = RootDraft(RootKind.DOCUMENT, draw(some), document=DOCUMENT, details=details, base=base)
    return draw(lived(merged(draft, "default", None, now=NOW, sequence=1)))


@st.composite
def summaries(draw: st.DrawFn) -> Root:
    draft = RootDraft(RootKind.SUMMARY, draw(some), key=KEY)
    root = draw(lived(merged(draft, "default", None, now=NOW, sequence=1)))
    root = root if root.forgotten is not None else replace(root, expires=None, expires_alone=None)
    return ended(root, now=draw(times)) if draw(st.booleans()) else root


@st.composite
def records(draw: st.DrawFn) -> Root:
    draft = RootDraft(RootKind.COLLAPSE, (DIGESTS[0],), source_name="s", place=1)
    return draw(lived(merged(draft, "default", None, now=NOW, sequence=1)))


@st.composite
def states(draw: st.DrawFn) -> Root:
    count = draw(st.integers(0, 3))
    draft = RootDraft(
        RootKind.COLLAPSE, (DIGESTS[count],), source_name="s", place=STATE, details={LAST: count}
    )
    return draw(lived(merged(draft, "default", None, now=NOW, sequence=1)))


pairs = st.one_of(*(st.tuples(each(), each()) for each in (documents, summaries, records, states)))
mixed = st.tuples(documents(), documents())


def purged(root: Root) -> set[str]:
    return set(root.details.get(PURGED, ()))


class TestLaws:
    @given(pairs)
    def test_it_is_a_root_of_that_id(self, pair: tuple[Root, Root]) -> None:
        there, arriving = pair
        root = joined(there, arriving, now=NOW)
        check_root(root)
        assert root.id == there.id
        assert root.sequence == there.sequence
        assert decode_root(encode_root(root), "f") == replace(root, details=dict(root.details))

    @given(mixed)
    def test_it_names_what_either_names_but_for_what_was_purged(self, pair: tuple[Root, Root]) -> None:
        there, arriving = pair
        root = joined(there, arriving, now=NOW)
        assert purged(root) == purged(there) | purged(arriving)
        named = {str(each) for each in (*there.objects, *arriving.objects)}
        assert {str(each) for each in root.objects} == named - purged(root)
        assert root.created == min(there.created, arriving.created)

    @given(pairs)
    def test_it_is_live_if_either_is_and_expires_no_earlier(self, pair: tuple[Root, Root]) -> None:
        root = joined(*pair, now=NOW)
        live = [each for each in pair if each.is_live(NOW)]
        if any(map(is_over, pair)):
            return
        assert root.is_live(NOW) == bool(live)
        for each in live:
            assert latest([root.expires, each.expires]) == root.expires
            assert latest([alone(root).expires, alone(each).expires]) == alone(root).expires
        if not live and root.key is None:
            assert root.expires == latest(each.expires for each in pair)

    @given(pairs)
    @settings(max_examples=150)
    def test_joining_again_changes_nothing(self, pair: tuple[Root, Root]) -> None:
        there, arriving = pair
        root = joined(there, arriving, now=NOW)
        assert joined(there, there, now=NOW) == there
        assert joined(root, arriving, now=NOW) == root
        assert joined(root, there, now=NOW) == root
        assert joined(root, root, now=NOW) == root

    @given(mixed)
    def test_the_order_changes_nothing_of_what_is_kept(self, pair: tuple[Root, Root]) -> None:
        there, arriving = pair
        one, other = joined(there, arriving, now=NOW), joined(arriving, there, now=NOW)
        assert (one.objects, purged(one), one.created) == (other.objects, purged(other), other.created)
        assert (one.expires, one.expires_alone) == (other.expires, other.expires_alone)
        assert (one.forgotten, one.expires_unforgotten) == (other.forgotten, other.expires_unforgotten)

    @given(documents(), documents(), documents())
    def test_three_come_to_the_same_in_any_grouping(self, one: Root, other: Root, third: Root) -> None:
        left = joined(joined(one, other, now=NOW), third, now=NOW)
        right = joined(one, joined(other, third, now=NOW), now=NOW)
        assert (left.objects, purged(left), left.created) == (right.objects, purged(right), right.created)
        assert (left.is_live(NOW), left.expires) == (right.is_live(NOW), right.expires)

    @given(pairs)
    def test_the_remote_is_that_of_what_is_there(self, pair: tuple[Root, Root]) -> None:
        there, arriving = pair
        assert joined(there, arriving, now=NOW).details.get(REMOTE) == there.details.get(REMOTE)
        assert REMOTE not in joined(None, arriving, now=NOW).details


def root_of(*objects: Digest, **draft: object) -> Root:
    whole = RootDraft(RootKind.DOCUMENT, objects, document=DOCUMENT, **draft)  # type: ignore[arg-type]
    return merged(whole, "default", None, now=NOW, sequence=1)


class TestDocuments:
    def test_the_base_is_that_of_what_is_there_unless_it_has_expired(self) -> None:
        there, arriving = root_of(DIGESTS[0], base="1" * 32), root_of(DIGESTS[1], base="2" * 32)
        assert joined(there, arriving, now=NOW).base == "1" * 32
        assert joined(replace(there, expires=NOW), arriving, now=NOW).base == "2" * 32

    def test_what_somebody_asked_for_by_hand_is_by_hand(self) -> None:
        mine, gcs = root_of(), root_of(details={BY: GC})
        assert BY not in joined(gcs, mine, now=NOW).details
        assert BY not in joined(mine, gcs, now=NOW).details
        assert joined(gcs, gcs, now=NOW).details == {BY: GC}

    def test_one_of_another_scope_is_not_joined(self) -> None:
        there = root_of(DIGESTS[0])
        for other in (
            replace(there, scope="team/b"),
            replace(there, name="n"),
            replace(there, source_name="f"),
            replace(there, document=Content(DIGESTS[0], 8)),
        ):
            with pytest.raises(RootsDiverged):
                joined(there, other, now=NOW)


class TestLogs:
    def record(self, digest: Digest, **details: object) -> Root:
        draft = RootDraft(RootKind.COLLAPSE, (digest,), source_name="s", place=3, details=details)
        return merged(draft, "default", None, now=NOW, sequence=1)

    def test_a_record_is_the_same_or_nothing(self) -> None:
        one = self.record(DIGESTS[0], a=1)
        assert joined(one, replace(one, created=1.0), now=NOW).created == 1.0
        for other in (self.record(DIGESTS[1], a=1), self.record(DIGESTS[0], a=2)):
            with pytest.raises(RootsDiverged):
                joined(one, other, now=NOW)

    def test_a_record_that_was_purged_on_one_side_is_the_same(self) -> None:
        one = self.record(DIGESTS[0])
        assert joined(one, without(one, DIGESTS[0]), now=NOW).objects == ()

    def state(self, digest: Digest, count: object) -> Root:
        details = {LAST: count}
        draft = RootDraft(RootKind.COLLAPSE, (digest,), source_name="s", place=STATE, details=details)
        return merged(draft, "default", None, now=NOW, sequence=1)

    def test_of_two_states_the_one_that_tells_of_more_whole(self) -> None:
        old, new = self.state(DIGESTS[0], 2), self.state(DIGESTS[1], 3)
        for pair in ((old, new), (new, old)):
            assert joined(*pair, now=NOW).objects == new.objects
        for count in (2, "2", None, True):
            with pytest.raises(RootsDiverged):
                joined(self.state(DIGESTS[0], count), self.state(DIGESTS[1], count), now=NOW)


class TestKeys:
    def summary(self, digest: Digest, created: float = NOW) -> Root:
        draft = RootDraft(RootKind.SUMMARY, (digest,), key=KEY)
        return merged(draft, "default", None, now=created, sequence=1)

    def test_what_is_there_wins_if_it_is_live(self) -> None:
        mine, theirs = self.summary(DIGESTS[0]), self.summary(DIGESTS[1])
        assert joined(mine, theirs, now=NOW).objects == mine.objects
        assert joined(forgotten(mine, now=NOW, grace_seconds=9), theirs, now=NOW).objects == theirs.objects

    def test_what_is_over_comes_back_only_as_one_that_was_made_later(self) -> None:
        over = ended(self.summary(DIGESTS[0], created=1), now=500)
        for created, comes_back in ((400, False), (600, True)):
            other = self.summary(DIGESTS[1], created=created)
            for pair in ((over, other), (other, over)):
                root = joined(*pair, now=NOW)
                assert root.is_live(NOW) == comes_back
                assert joined(root, over, now=NOW) == root

    def test_what_keeps_a_replaced_one_does_not_come_back(self) -> None:
        draft = RootDraft(RootKind.SUMMARY, (DIGESTS[0],), details={REPLACED: KEY})
        root = merged(draft, "default", None, now=NOW, sequence=1)
        over = ended(root, now=500)
        assert not joined(over, replace(root, created=999), now=NOW).is_live(NOW)
        assert not joined(replace(root, created=999), over, now=NOW).is_live(NOW)


class TestIds:
    @pytest.mark.parametrize(
        "draft",
        [
            RootDraft(RootKind.PUT, (DIGESTS[0], DIGESTS[1]), name="n"),
            RootDraft(RootKind.DOCUMENT, (DIGESTS[0],), source_name="s", document=DOCUMENT),
            RootDraft(RootKind.COLLAPSE, (DIGESTS[0],), source_name="s", place=2),
            RootDraft(RootKind.SUMMARY, (DIGESTS[0],), key=KEY),
        ],
        ids=lambda draft: draft.kind.value,
    )
    def test_an_id_is_that_of_what_a_root_is(self, draft: RootDraft) -> None:
        root = merged(draft, "team/a", None, now=NOW, sequence=1)
        assert has_its_id(root)
        assert has_its_id(without(root, DIGESTS[0]))
        assert has_its_id(forgotten(root, now=NOW, grace_seconds=1))
        assert not has_its_id(replace(root, scope="team/b"))
        assert not has_its_id(replace(root, id="0" * 32))

    def test_what_only_one_store_says_makes_no_difference(self) -> None:
        root = root_of(DIGESTS[0])
        elsewhere = replace(root, sequence=9, details={REMOTE: "a"})
        assert says_what(root) == says_what(lasting(elsewhere, [None]))
        assert says_what(root) != says_what(root_of(DIGESTS[1]))
