"""A forget, and undoing one, chooses just the roots that were meant, and says what it did not choose."""

from __future__ import annotations

import re

import pytest

from castore.digest import Digest
from castore.errors import DigestAmbiguous, NameTaken, NotFound
from castore.gc.sweep import sweep
from castore.roots.model import BY, GC, Content, Root, RootDraft, RootKind
from castore.store import Access, Store
from castore.store.keeping import RootChoice

from .conftest import Clock, put


def by_id(*roots: Root, digits: int = 32, **more: object) -> RootChoice:
    return RootChoice(roots=tuple(root.id[:digits] for root in roots), **more)  # type: ignore[arg-type]


def live(store: Store, clock: Clock) -> set[str]:
    return {root.id for root in store.roots() if root.is_live(clock.now)}


def document(store: Store, kind: RootKind = RootKind.DOCUMENT, **details: object) -> Root:
    """A root of the document "document", which names one object."""
    with store.batch() as batch:
        member = batch.stage(b"member").digest
        content = Content(Digest.of(b"document"), 8)
        return batch.commit(RootDraft(kind, (member,), document=content, details=details))


class TestById:
    def test_takes_one_root_and_no_other(self, store: Store, clock: Clock) -> None:
        many, alone = put(store, b"1", b"2", b"3"), put(store, b"1")
        done = store.forget(by_id(many, digits=6))
        assert [root.id for root in done.roots] == [many.id]
        assert done.objects == 2
        assert live(store, clock) == {alone.id}
        assert [root.id for root in store.remember(by_id(many)).roots] == [many.id]
        assert live(store, clock) == {alone.id, many.id}

    def test_one_with_a_name_too_and_beside_references(self, store: Store, clock: Clock) -> None:
        named, alone, other = put(store, b"1", name="poem"), put(store, b"2"), put(store, b"3")
        (digest,) = alone.objects
        done = store.forget(by_id(named, named, references=(digest.hex,)))
        assert {root.id for root in done.roots} == {named.id, alone.id}
        assert live(store, clock) == {other.id}

    def test_policies_narrow_it(self, store: Store, clock: Clock) -> None:
        root = put(store, b"1")
        clock.now += 10
        assert store.forget(by_id(root, older_than_seconds=50)).roots == ()
        assert len(store.forget(by_id(root, older_than_seconds=5)).roots) == 1

    @pytest.mark.parametrize("text", ["", "abcde", "0" * 32, "0" * 33, "zzzzzzzz", "\0", "best"])
    def test_what_no_root_has_changes_nothing(self, store: Store, clock: Clock, text: str) -> None:
        root = put(store, b"1", name="best")
        for call in (store.forget, store.remember):
            with pytest.raises(NotFound):
                call(RootChoice(roots=(root.id, text)))
        assert live(store, clock) == {root.id}

    def test_digits_that_two_share_are_ambiguous(self, store: Store, clock: Clock) -> None:
        found: dict[str, Root] = {}
        roots = (put(store, b"%d" % number) for number in range(40))
        # Six digits are the fewest that are taken; that many are made to be shared.
        twins = next((found[r.id[:1]], r) for r in roots if found.setdefault(r.id[:1], r) is not r)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("castore.store.keeping._ID_PREFIX", re.compile(r"[0-9a-f]+\Z"))
            with pytest.raises(DigestAmbiguous):
                store.forget(by_id(twins[0], digits=1))
        assert len(live(store, clock)) == len(store.roots())

    def test_only_in_scopes_that_are_granted(self, store: Store, clock: Clock) -> None:
        theirs, ours = put(store, b"1", scope="team/b"), put(store, b"1", scope="team/a")
        caller = Store.open(store.folder, clock=clock, access=Access(("team/a",)))
        with pytest.raises(NotFound) as hidden:
            caller.forget(by_id(theirs))
        with pytest.raises(NotFound) as absent:
            caller.forget(RootChoice(roots=("0" * 32,)))
        assert hidden.value.message.replace(theirs.id, "0" * 32) == absent.value.message
        assert len(caller.forget(by_id(ours)).roots) == 1
        both = Store.open(store.folder, clock=clock, access=Access(("team/a", "team/*")))
        with pytest.raises(NotFound):
            both.forget(by_id(theirs, scope="team/a"))
        assert len(both.forget(by_id(theirs)).roots) == 1
        caller.close()
        both.close()

    def test_the_operator_forgets_what_repair_recovered(self, store: Store, clock: Clock) -> None:
        (digest,) = put(store, b"1").objects
        with store.parts.writing() as connection:
            root = Root(
                "ab" * 16, "*", RootKind.RECOVERED, None, None, None, None, 1, 9, None, None, None, (digest,)
            )
            store.parts.put_root(connection, root)
        assert [each.id for each in store.forget(by_id(root)).roots] == [root.id]


class TestTold:
    def test_which_references_chose_nothing(self, store: Store) -> None:
        (digest,) = put(store, b"1").objects
        put(store, b"2", name="poem")
        done = store.forget(RootChoice(references=(digest.hex[:8], "poem", "prose", "0" * 64)))
        assert len(done.roots) == 2
        assert done.unmatched == ("prose", "0" * 64)

    def test_what_was_forgotten_already(self, store: Store) -> None:
        (digest,) = put(store, b"1").objects
        choice = RootChoice(references=(digest.hex,))
        assert (len(store.remember(choice).roots), store.remember(choice).left) == (0, 1)
        assert (len(store.forget(choice).roots), store.forget(choice).left) == (1, 1)

    def test_what_keeps_it_still(self, store: Store) -> None:
        (digest,) = put(store, b"1").objects
        tag = store.tag("best", digest.hex)
        done = store.forget(RootChoice(references=(digest.hex,)))
        assert ([root.id for root in done.still_kept], done.objects) == ([tag.id], 0)
        assert store.forget(RootChoice(references=("best",))).still_kept == ()


class TestKeptByHand:
    """What somebody asked to keep outlives a forget of what else names the document."""

    def test_outlives_a_forget_of_the_document(self, store: Store, clock: Clock) -> None:
        folded, kept = document(store), document(store, RootKind.KEEP)
        done = store.forget(RootChoice(references=(Digest.of(b"document").hex,)), at_once=True)
        assert [root.id for root in done.roots] == [folded.id]
        assert [root.id for root in done.still_kept] == [kept.id]
        sweep(store)
        assert store.read(Digest.of(b"member")) == b"member"
        assert [root.id for root in store.forget(by_id(kept)).roots] == [kept.id]

    def test_policies_choose_it_and_undoing_by_the_document_finds_it(
        self, store: Store, clock: Clock
    ) -> None:
        kept = document(store, RootKind.KEEP)
        assert len(store.forget(RootChoice(keep_last=0)).roots) == 1
        assert live(store, clock) == set()
        assert len(store.remember(RootChoice(references=(Digest.of(b"document").hex,))).roots) == 1
        assert live(store, clock) == {kept.id}

    def test_what_gc_kept_is_not_by_hand_until_somebody_asks(self, store: Store, clock: Clock) -> None:
        by_gc = document(store, RootKind.KEEP, **{BY: GC})
        choice = RootChoice(references=(Digest.of(b"document").hex,))
        assert len(store.forget(choice, dry_run=True).roots) == 1
        by_hand = document(store, RootKind.KEEP)
        assert by_hand.id == by_gc.id
        assert BY not in by_hand.details
        assert store.forget(choice).roots == ()
        assert live(store, clock) == {by_hand.id}


class TestUndoOfAMovedName:
    """A root comes back with its name or not at all, and there is a way to have it all the same."""

    def moved(self, store: Store) -> tuple[Root, Root]:
        first = put(store, b"1", b"2", name="best")
        (digest,) = put(store, b"3").objects
        return first, store.tag("best", digest.hex, move=True)

    @pytest.mark.parametrize("by", ["id", "name"])
    def test_is_refused_while_the_name_is_in_use(self, store: Store, clock: Clock, by: str) -> None:
        first, _ = self.moved(store)
        before = live(store, clock)
        choice = by_id(first) if by == "id" else RootChoice(references=("best",))
        with pytest.raises(NameTaken) as taken:
            store.remember(choice)
        assert live(store, clock) == before
        assert f"'ctx tag --move best {first.id[:16]}'" in (taken.value.hint or "")
        assert f"'ctx keep {first.id[:16]}'" in (taken.value.hint or "")

    def test_the_hints_lead_back_to_it(self, store: Store, clock: Clock) -> None:
        first, second = self.moved(store)
        kept = store.keep([store.keep_draft(first.id[:16])])
        assert [set(root.objects) for root in kept] == [set(first.objects)]
        again = store.tag("best", first.id[:16], move=True)
        assert set(again.objects) == set(first.objects)
        assert [root.id for root in store.named_roots("best")] == [again.id]
        store.tag("best", second.id, move=True)
        assert [root.id for root in store.named_roots("best")] == [second.id]

    def test_it_comes_back_once_the_name_is_free(self, store: Store, clock: Clock) -> None:
        first, second = self.moved(store)
        store.forget(RootChoice(references=("best",)))
        with pytest.raises(NameTaken):
            store.remember(by_id(first, second))
        assert [root.id for root in store.remember(by_id(first)).roots] == [first.id]
        assert [root.id for root in store.named_roots("best")] == [first.id]
