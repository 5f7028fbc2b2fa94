"""No root names what its writer could not see, and whose bytes it did not supply: 12, and nothing is made.

And who supplies bytes that others hold does the work, and is told the words, of who supplies new ones.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from castore import api
from castore.config import OPERATOR
from castore.errors import NameMoved, NameTaken, NotFound, ObjectMissing, ObjectPurged
from castore.gc.sweep import sweep
from castore.roots.model import Content, RootDraft, RootKind
from castore.store import Access, Store, StoreHandle
from castore.store.batch import Meaning, NameMove
from castore.store.keeping import RootChoice
from castore.summary.cache import SummaryCache
from tests.access.conftest import Twins
from tests.access.world import (
    DIGESTS,
    OBJECTS,
    OTHER_DOCUMENT,
    OWN_DOCUMENT,
    clock,
    ctx,
    opened,
    operator,
    reference,
    unchanged,
)
from tests.store.faults import scripted

NOT_OURS = ["other", "other damaged", "other lost", "other purged", "own purged", "own expired", "none"]


@pytest.mark.parametrize("what", NOT_OURS)
class TestForging:
    @pytest.mark.parametrize(
        "line",
        [
            ["tag", "new", "{ref}"],
            ["tag", "--move", "mine", "{ref}"],
            ["keep", "{ref}"],
            ["keep", "{doc}"],
            ["keep", "mine", "{doc}"],
            ["keep", "mine", "{ref}"],
        ],
    )
    def test_by_a_command(self, twins: Twins, what: str, line: list[str]) -> None:
        words = {"{ref}": str(DIGESTS[what]), "{doc}": str(twins.documents / f"{what}.json")}
        with unchanged(twins.shared):
            assert ctx(twins.shared, *(words.get(each, each) for each in line)).code == 12

    @pytest.mark.parametrize("kind", list(RootKind))
    def test_by_a_root_of_any_kind(self, twins: Twins, what: str, kind: RootKind) -> None:
        store = opened(twins.shared)
        draft = RootDraft(kind, (DIGESTS["own"], DIGESTS[what]), document=Content(DIGESTS["both"], 9))
        with unchanged(twins.shared), pytest.raises(NotFound), store.batch() as batch:
            batch.commit(draft)
        store.close()

    def test_beside_bytes_that_the_call_supplies(self, twins: Twins, what: str) -> None:
        store = opened(twins.shared)
        with unchanged(twins.shared), store.batch() as batch:
            own = batch.stage(b"supplied").digest
            drafts = [RootDraft(RootKind.PUT, (own,)), RootDraft(RootKind.PUT, (own, DIGESTS[what]))]
            with pytest.raises(NotFound):
                batch.commit_all(drafts)
        store.close()

    def test_by_folding_what_looks_like_our_reference(self, twins: Twins, what: str) -> None:
        """It is data: folding and unfolding gives it back, and shows no object."""
        source = reference(OBJECTS[what])
        store = opened(twins.shared)
        document = api.fold_bytes(store, source + OWN_DOCUMENT)
        assert api.unfold_bytes(store, document) == source + OWN_DOCUMENT
        with pytest.raises(NotFound):
            store.read(DIGESTS[what])
        with pytest.raises(NotFound):
            api.unfold_bytes(store, source)
        store.close()


class TestRace:
    @pytest.mark.parametrize("is_collected", [True, False])
    def test_what_is_forgotten_between_looking_and_committing(self, twins: Twins, is_collected: bool) -> None:
        mine, again, owner = opened(twins.shared), opened(twins.shared), operator(twins.shared)
        draft = mine.keep_draft(str(DIGESTS["both"]))
        with mine.batch() as batch:
            again.forget(RootChoice(references=(str(DIGESTS["both"]),)), at_once=True)
            # Its summary keeps it too.
            summaries = SummaryCache(StoreHandle.of(again))
            summaries.forget([each.entry.key for each in summaries.entries(name="both")], at_once=True)
            if is_collected:
                sweep(owner)
            with unchanged(twins.shared), pytest.raises(ObjectMissing):
                batch.commit(draft)
        # The others have it still.
        assert opened(twins.shared, "team/b").read(DIGESTS["both"]) == OBJECTS["both"]
        for store in (mine, again, owner):
            store.close()

    def test_what_is_purged_between_staging_and_committing(self, twins: Twins) -> None:
        mine, owner = opened(twins.shared), operator(twins.shared)
        with mine.batch() as batch:
            staged = batch.stage(OBJECTS["both"])
            owner.purge(DIGESTS["both"], "a secret")
            with unchanged(twins.shared), pytest.raises(ObjectPurged):
                batch.commit(RootDraft(RootKind.PUT, (staged.digest,)))
        mine.close()
        owner.close()


class TestNames:
    def test_two_roots_of_one_call_have_two_names(self, twins: Twins) -> None:
        store = opened(twins.shared)
        drafts = [RootDraft(RootKind.KEEP, (DIGESTS[what],), name="one") for what in ("own", "both")]
        with unchanged(twins.shared), pytest.raises(NameTaken):
            store.keep(drafts)
        store.close()

    def test_a_name_moves_only_from_what_is_expected(self, twins: Twins) -> None:
        store = opened(twins.shared)
        draft = RootDraft(RootKind.TAG, (DIGESTS["both"],), name="mine")
        with unchanged(twins.shared), pytest.raises(NameMoved), store.batch() as batch:
            batch.commit(draft, move=NameMove(Meaning(None, (DIGESTS["other"],))))
        store.close()

    def test_undoing_gives_a_name_to_the_latest_that_had_it(self, twins: Twins) -> None:
        store = opened(twins.shared)
        for what in ("both", "own", "both"):
            store.tag("moving", str(DIGESTS[what]), move=True)
        store.forget(RootChoice(references=("moving",)))
        store.remember(RootChoice(references=("moving",)))
        live = [root for root in store.roots() if root.name == "moving" and root.is_live(clock())]
        assert len(live) == 1
        store.close()


class TestSameWork:
    """A put of bytes that only others hold is a first put: the same calls, the same words."""

    @pytest.mark.parametrize("what", ["other", "other damaged", "other lost", "other purged"])
    def test_put(self, twins: Twins, what: str) -> None:
        assert _put(twins.shared, OBJECTS[what]) == _put(twins.alone, OBJECTS[what])

    def test_fold(self, twins: Twins) -> None:
        told = []
        for folder in (twins.shared, twins.alone):
            store = opened(folder)
            with scripted({}) as log:
                document = api.fold_bytes(store, OTHER_DOCUMENT)
            store.close()
            told.append((document, [name for name, _ in log]))
        assert told[0] == told[1]

    def test_a_command(self, twins: Twins) -> None:
        line = ["put", "--json", str(twins.documents / "other.bin")]
        told = [ctx(folder, *line) for folder in (twins.shared, twins.alone)]
        assert told[0] == told[1]
        assert json.loads(told[0].out)["is_new"] is True

    def test_the_bytes_of_the_others_are_as_they_were(self, twins: Twins) -> None:
        _put(twins.shared, OBJECTS["other"])
        theirs = opened(twins.shared, "team/b")
        assert theirs.read(DIGESTS["other"]) == OBJECTS["other"]
        theirs.close()


def _put(folder: Path, data: bytes) -> Any:
    store = opened(folder)
    with scripted({}) as log:
        digest = api.put(store, data)
    store.close()
    assert "fsync" in {name for name, _ in log}
    return digest, [name for name, _ in log]


class TestOperatorsScope:
    def test_a_recovered_root_is_seen_by_the_operator_alone(self, twins: Twins) -> None:
        owner = operator(twins.shared)
        with owner.batch() as batch:
            staged = batch.stage(b"what nobody names")
            draft = RootDraft(RootKind.RECOVERED, (staged.digest,))
            with pytest.raises(Exception, match="scope"):
                batch.commit(RootDraft(RootKind.RECOVERED, (staged.digest,), scope="team/*"))
            batch.commit(draft)
        owner.close()
        for grants in (("team/*",), ("**",), ("*/*", "t*"), ("default",)):
            store = Store.open(twins.shared, clock=clock, access=Access(grants))
            assert OPERATOR not in [root.scope for root in store.roots()]
            assert not store.granted.covers(OPERATOR)
            store.close()
