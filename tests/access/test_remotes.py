"""Scopes hold at a remote: what others have there is not there for a caller that was not granted it.

As in the matrix there are two of each: a bucket that the others pushed to as well, and its twin, to which
they never did. What a caller of our scope is told of the one is, word for word, what it is told of the other.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from castore import api
from castore.errors import ScopeDenied
from castore.remote.choosing import choose
from castore.remote.push import push
from castore.roots.model import Root, RootKind
from castore.store import Store
from tests.access.conftest import Twins
from tests.access.world import DIGESTS, OBJECTS, OTHER, OWN, Told, clock, ctx, opened, operator

THERE = ("own", "both", "other", "none")
"""Of an object of ours, of both, of the others, of nobody."""


def whole_roots(store: Store) -> list[Root]:
    """What can be pushed: all but what names an object that is damaged or lost."""
    bad = {DIGESTS["other damaged"], DIGESTS["other lost"]}
    return [root for root in choose(store, (), everything=True) if bad.isdisjoint(root.objects)]


class Team:
    """Each twin has pushed all that it has to a bucket of its own. fresh: stores that know the buckets, and
    have nothing else."""

    def __init__(self, twins: Twins, folder: Path) -> None:
        self.pushed = {"shared": twins.shared, "alone": twins.alone}
        self.fresh = {name: folder / f"fresh-{name}" / ".ctxstore" for name in self.pushed}
        self.documents = twins.documents
        for name, source in self.pushed.items():
            bucket = (folder / f"bucket-{name}").as_uri()
            Store.init(self.fresh[name], clock=clock).close()
            for each in (source, self.fresh[name]):
                store = operator(each)
                api.add_remote(store, "team", bucket)
                if each == source:
                    push(store, api.connect(store), whole_roots(store))
                store.close()

    def told(self, stores: dict[str, Path], *arguments: str) -> Told:
        """What is told of both, which is the same; to people and to programs."""
        for extra in ([], ["--json"]):
            told = ctx(stores["shared"], *arguments, *extra)
            assert told == ctx(stores["alone"], *arguments, *extra), arguments
        assert "team/b" not in told.out + told.err
        return told

    def is_same(self, stores: dict[str, Path]) -> bool:
        """What a caller of our scope finds in both stores."""
        found = []
        for folder in stores.values():
            store = opened(folder)
            found.append(([root.id for root in store.roots()], list(store.digests())))
            store.close()
        return found[0] == found[1]


@pytest.fixture
def team(twins: Twins, fast_path: Path) -> Team:
    return Team(twins, fast_path)


class TestPulls:
    def test_of_all_bring_what_is_granted(self, team: Team) -> None:
        told = team.told(team.fresh, "pull", "--all")
        assert told.code == 0
        assert team.is_same(team.fresh)
        store = opened(team.fresh["shared"], "*")
        assert {root.scope for root in store.roots()} == {OWN}
        assert store.stat(DIGESTS["own"]) is not None
        assert store.stat(DIGESTS["other"]) is None
        store.close()

    def test_by_name_or_digest_find_nothing_of_others(self, team: Team) -> None:
        for what in THERE:
            for text in (str(DIGESTS[what]), DIGESTS[what].hex[:8], str(team.documents / f"{what}.json")):
                told = team.told(team.fresh, "pull", text)
                assert (told.code == 0) is (what in ("own", "both")), (what, text)
        for name in ("theirs", "short", "folded"):
            assert team.told(team.fresh, "pull", name).code == 12
        assert team.told(team.fresh, "pull", "same", "mine").code == 0
        assert team.is_same(team.fresh)

    def test_of_roots_of_others_by_their_ids_find_nothing(self, team: Team) -> None:
        theirs = opened(team.pushed["shared"], OTHER)
        ids = [root.id for root in theirs.roots()]
        theirs.close()
        assert ids
        for each in ids:
            assert team.told(team.fresh, "pull", each).code == 12
            assert team.told(team.fresh, "remote", "forget", "team", each).code == 12

    def test_on_demand_never_ask_for_what_no_granted_root_names(self, team: Team) -> None:
        assert team.told(team.fresh, "pull", "--lazily", "--all").code == 0
        for what in THERE:
            told = team.told(team.fresh, "cat", str(DIGESTS[what]))
            assert (told.code == 0) is (what in ("own", "both")), what


class TestPushes:
    @pytest.mark.parametrize("what", THERE)
    def test_tell_nothing_of_what_others_pushed(self, team: Team, what: str) -> None:
        """The bytes may be there already, as others have them: that is not told."""
        assert team.told(team.fresh, "put", str(team.documents / f"{what}.bin")).code == 0
        for arguments in (["--dry-run"], []):
            told = [
                ctx(each, "push", *arguments, str(DIGESTS[what]), "--json") for each in team.fresh.values()
            ]
            assert told[0] == told[1], arguments

    def test_of_all_tell_nothing_of_what_others_pushed(self, team: Team) -> None:
        store = opened(team.fresh["shared"]), opened(team.fresh["alone"])
        for each in store:
            api.put(each, OBJECTS["other"], name="ours")
            each.close()
        told = [ctx(each, "push", "--all", "--json") for each in team.fresh.values()]
        assert told[0] == told[1]
        assert '"objects_sent":1' in told[0].err

    def test_in_a_scope_that_is_not_granted_there_are_14(self, team: Team) -> None:
        store = operator(team.fresh["shared"])
        store.change_setting("remote.team.granted", OWN)
        api.put(store, b"of the others\n", scope=OTHER)
        root = store.roots(1)[0]
        assert (root.kind, root.scope) == (RootKind.PUT, OTHER)
        with pytest.raises(ScopeDenied):
            api.push(store, root.id)
        assert api.push(store, everything=True).pushed == []
        store.close()


class TestVerify:
    @pytest.mark.parametrize("what", THERE)
    def test_says_that_what_others_have_is_missing(self, team: Team, what: str) -> None:
        path = str(team.documents / f"{what}.json")
        for more in ([], ["--full"]):
            told = team.told(team.fresh, "verify", "--remote", "team", path, *more)
            assert told.code == (0 if what in ("own", "both") else 3)
