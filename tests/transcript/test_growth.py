"""A session that grows, with a view after every turn, in one store.

Laws: all its views together take less than three times what the last one takes alone; each of them gives its
session back; a later view decides what an earlier one decided, with the same objects; and any of them may be
forgotten without the others. The long version has 500 turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from castore.api import collect, init_store, unfold_bytes
from castore.roots.model import Root
from castore.store import Store, StoreHandle
from castore.store.keeping import RootChoice
from castore.transcript.decision import ViewOptions
from castore.transcript.recorded import splices_of
from castore.transcript.view import View, ViewRequest, make_view
from tests.transcript.growing import session

FEW, MANY = 48, 500


class Grown:
    """A store with the views of a session after each of its turns."""

    def __init__(self, folder: Path, tool: str, turns: int, step: int) -> None:
        self.folder = folder / "grown"
        self.tool = tool
        self.turns = turns
        self.request = ViewRequest(options=ViewOptions(step=step))
        self.store = init_store(self.folder)
        self.views = [self.view(self.store, turn) for turn in range(1, turns + 1)]

    def session(self, turns: int) -> bytes:
        return session(turns, self.tool)

    def view(self, store: Store, turns: int) -> View:
        return make_view(self.session(turns), StoreHandle.of(store), self.request)

    @property
    def recorded(self) -> list[tuple[int, View]]:
        """The views from which something left, each with its number of turns."""
        return [(turns, view) for turns, view in enumerate(self.views, 1) if view.root is not None]


def stored_bytes(folder: Path) -> int:
    """Bytes of the objects and the roots: all that a store is made of."""
    files = [path for name in ("objects", "roots") for path in (folder / name).rglob("*")]
    return sum(path.stat().st_size for path in files if path.is_file())


CASES = [
    pytest.param(
        (tool, turns, step), marks=[pytest.mark.long] if turns == MANY else [], id=f"{tool}, {turns}, {step}"
    )
    for turns in (FEW, MANY)
    for tool, step in (("pi", 8), ("pi", 1), ("claude-code", 8))
]


@pytest.fixture(params=CASES, scope="module")
def grown(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grown]:
    made = Grown(tmp_path_factory.mktemp("growth"), *request.param)
    yield made
    made.store.close()


class TestStorage:
    def test_all_views_take_less_than_three_times_the_last_alone(self, grown: Grown, tmp_path: Path) -> None:
        alone = init_store(tmp_path / "alone")
        grown.view(alone, grown.turns)
        alone.close()
        assert stored_bytes(grown.folder) < 3 * stored_bytes(tmp_path / "alone")

    def test_a_view_that_adds_nothing_takes_less_than_a_kilobyte(self, grown: Grown) -> None:
        details = [view.root.details["view"] for _, view in grown.recorded if view.root is not None]
        roots = [path for path in (grown.folder / "roots").rglob("*") if path.is_file()]
        small = sum(path.stat().st_size < 1000 for path in roots)
        assert small >= sum(not each["splices"] for each in details) > 0

    def test_the_last_view_does_not_read_all_roots(
        self, grown: Grown, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[str] = []
        root = Store.root

        def counted(store: Store, root_id: str) -> Root | None:
            asked.append(root_id)
            return root(store, root_id)

        monkeypatch.setattr(Store, "root", counted)
        grown.view(grown.store, grown.turns + 1)
        assert len(asked) <= 4


class TestEveryView:
    def test_unfolds_to_its_session(self, grown: Grown) -> None:
        for turns, view in grown.recorded[:: max(1, len(grown.recorded) // FEW)]:
            assert unfold_bytes(grown.store, view.to_bytes()) == grown.session(turns)

    def test_keeps_what_earlier_ones_decided(self, grown: Grown) -> None:
        assert len(grown.recorded) > grown.turns // 2
        before: list[object] = []
        for _, view in grown.recorded:
            assert view.root is not None
            splices: list[object] = list(splices_of(grown.store, view.root))
            assert splices[: len(before)] == before
            before = splices

    def test_made_again_is_the_same_root(self, grown: Grown) -> None:
        turns, view = grown.recorded[len(grown.recorded) // 2]
        assert view.root is not None
        again = grown.view(grown.store, turns)
        assert again.root is not None
        assert again.root.id == view.root.id
        assert again.to_bytes() == view.to_bytes()


class TestForgetting:
    """The last of the file's tests: what is forgotten is gone for those before."""

    def test_any_view_may_go_and_the_rest_unfolds(self, grown: Grown) -> None:
        first, *between, last = grown.recorded
        for gone in ([first], between):
            ids = tuple(view.root.id for _, view in gone if view.root is not None)
            grown.store.forget(RootChoice(roots=ids), at_once=True)
            collect(grown.store)
            turns, view = last
            assert unfold_bytes(grown.store, view.to_bytes()) == grown.session(turns)
