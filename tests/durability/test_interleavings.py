"""L5: no order of the steps of one put and one sweep loses an object. Every order is tried."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from castore import api
from castore.gc import sweep as sweep_module
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.objects.finding import FindingName
from castore.roots.model import RootDraft, RootKind
from castore.store import Store
from castore.store.batch import Batch
from castore.store.keeping import RootChoice
from castore.store.publishing import Holding
from tests.durability.interleave import every_order, stepped

DATA = b"an object that is about to go " * 4
DIGEST = api.Digest.of(DATA)


def nothing(store: Store) -> None:
    """The object is not there. Something else is, so that there are roots."""
    api.put(store, b"something else")


def unnamed(store: Store) -> None:
    """What a writer left that crashed before its root."""
    nothing(store)
    with store.batch() as batch:
        staged = batch.stage(DATA)
        batch._parts.source.publish([(staged.digest, staged.frames)])


def expired(store: Store) -> None:
    """The only root that names it is another one, and has expired."""
    nothing(store)
    with store.batch() as batch:
        batch.stage(DATA)
        batch.commit(RootDraft(RootKind.TAG, (DIGEST,), name="old", keep_seconds=0))


def forgotten(store: Store) -> None:
    """Its root is the very one that the put makes, and has expired."""
    nothing(store)
    api.put(store, DATA)
    store.forget(RootChoice(references=(str(DIGEST),)), at_once=True)


def damaged(store: Store) -> None:
    """It is there, about to go, and is not what its name says."""
    expired(store)
    path = Path(store.parts.layout.object_file(DIGEST.hex))
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-1])


BEFORE = [
    *(pytest.param(each, id=each.__name__) for each in (nothing, unnamed)),
    *(pytest.param(each, id=each.__name__, marks=pytest.mark.long) for each in (expired, forgotten, damaged)),
]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    stepped(monkeypatch)
    # All shards in one transaction: more of them are the same again.
    monkeypatch.setattr(sweep_module, "_GROUP_SHARDS", 256)
    return monkeypatch


def orders(
    folder: Path, before: Callable[[Store], None], *, until_lost: bool = False
) -> tuple[int, list[Any]]:
    """How many were tried, and those that lost the object or its root. until_lost: one is enough."""
    lost: list[Any] = []
    total, names = 0, count()
    store_folder = folder

    def start() -> dict[str, Callable[[], None]]:
        nonlocal store_folder
        shutil.rmtree(store_folder, ignore_errors=True)
        store_folder = folder / f"store-{next(names)}"
        store = Store.init(store_folder)
        before(store)
        store.close()
        return {"put": lambda: put(store_folder), "sweep": lambda: collect(store_folder)}

    folder.mkdir(exist_ok=True)
    for run in every_order(start):
        total += 1
        assert run.errors == {}, run.steps
        store = Store.open(store_folder)
        is_there = store.stat(DIGEST) is not None
        roots = [root for root in store.roots() if root.kind is RootKind.PUT and DIGEST in root.objects]
        if not is_there or store.read(DIGEST) != DATA or len(roots) != 1 or not roots[0].is_live(time.time()):
            lost.append(run.steps)
        store.close()
        if lost and until_lost:
            break
    return total, lost


def put(folder: Path) -> None:
    store = Store.open(folder)
    assert api.put(store, DATA) == DIGEST
    store.close()


def collect(folder: Path) -> None:
    store = Store.open(folder)
    sweep(store, forgotten_now=True)
    store.close()


class TestEveryOrder:
    @pytest.mark.parametrize("before", BEFORE)
    def test_of_one_put_and_one_sweep_keeps_the_object(
        self, fast_path: Path, steps: pytest.MonkeyPatch, before: Callable[[Store], None]
    ) -> None:
        total, lost = orders(fast_path / "stores", before)
        assert lost == []
        assert total > 20


# --- Other pairs of actors -------------------------------------------------------------------------


OTHER = b"another object " * 9
SWITCHES_MAX = [1, pytest.param(2, marks=pytest.mark.long)]
"""All orders of two writers are hundreds of thousands; what goes wrong goes wrong with few switches."""

Actors = dict[str, Callable[[Path], None]]


class Pair:
    """Two actors on a store made anew for each order of their steps; `check` looks at what came of it."""

    def __init__(self, folder: Path, before: Callable[[Store], None], actors: Actors) -> None:
        self._folder = folder
        self._before = before
        self._actors = actors
        self._store_folder = folder
        self._numbers = count()
        folder.mkdir()

    def check_every_order(self, check: Callable[[Store], bool], switches_max: int) -> int:
        total = 0
        for run in every_order(self._start, switches_max=switches_max):
            total += 1
            assert run.errors == {}, run.steps
            store = Store.open(self._store_folder)
            assert check(store), run.steps
            # Whatever came of it is whole: nothing that a root names is missing.
            found = [each for each in verify(store) if each.name is not FindingName.UNNAMED]
            assert found == [], run.steps
            store.close()
        return total

    def _start(self) -> dict[str, Callable[[], None]]:
        shutil.rmtree(self._store_folder, ignore_errors=True)
        self._store_folder = self._folder / f"store-{next(self._numbers)}"
        store = Store.init(self._store_folder)
        self._before(store)
        store.close()
        place = self._store_folder
        return {name: lambda act=act: act(place) for name, act in self._actors.items()}


def in_store(act: Callable[[Store], object]) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        store = Store.open(folder)
        act(store)
        store.close()

    return run


def keeps_data(store: Store) -> bool:
    return store.read(DIGEST) == DATA and any(
        root.is_live(time.time()) for root in store.roots_naming(DIGEST)
    )


@pytest.mark.parametrize("switches", SWITCHES_MAX)
class TestEveryOrderOfOtherPairs:
    def test_a_put_and_a_name_that_moves_away_from_the_same_object(
        self, fast_path: Path, steps: pytest.MonkeyPatch, switches: int
    ) -> None:
        """The name is what kept the object; once moved, only the put does. Then it is collected at once."""

        def before(store: Store) -> None:
            other = api.put(store, OTHER)
            api.put(store, DATA)
            store.tag("name", str(DIGEST))
            store.forget(RootChoice(references=(str(DIGEST),)), at_once=True)
            sweep(store)
            assert other != DIGEST

        def move(store: Store) -> None:
            store.tag("name", str(api.Digest.of(OTHER)), move=True)

        def check(store: Store) -> bool:
            meant = [root for root in store.named_roots("name") if api.Digest.of(OTHER) in root.objects]
            sweep(store, forgotten_now=True)
            return keeps_data(store) and len(meant) == 1 and store.read(api.Digest.of(OTHER)) == OTHER

        actors: Actors = {"put": put, "move": in_store(move)}
        assert Pair(fast_path / "stores", before, actors).check_every_order(check, switches) > 5

    def test_two_names_that_are_given_to_two_objects(
        self, fast_path: Path, steps: pytest.MonkeyPatch, switches: int
    ) -> None:
        """The same name, moved by both: it means one of the two, and the object is there."""

        def before(store: Store) -> None:
            api.put(store, OTHER)
            api.put(store, DATA)
            store.tag("name", str(DIGEST))

        def move_to(digest: api.Digest) -> Callable[[Path], None]:
            return in_store(lambda store: store.tag("name", str(digest), move=True))

        def check(store: Store) -> bool:
            meant = {digest for root in store.named_roots("name") for digest in root.objects}
            return meant in ({DIGEST}, {api.Digest.of(OTHER)}) and store.read(meant.pop()) in (DATA, OTHER)

        actors: Actors = {"one": move_to(DIGEST), "other": move_to(api.Digest.of(OTHER))}
        assert Pair(fast_path / "stores", before, actors).check_every_order(check, switches) > 5

    def test_a_put_and_a_forget_of_the_same_root(
        self, fast_path: Path, steps: pytest.MonkeyPatch, switches: int
    ) -> None:
        """Put last: it lives. Forgotten last: it is forgotten, whole, and a sweep may take it."""

        def forget(store: Store) -> None:
            store.forget(RootChoice(references=(str(DIGEST),)))

        def check(store: Store) -> bool:
            roots = [root for root in store.roots() if DIGEST in root.objects]
            return len(roots) == 1 and store.read(DIGEST) == DATA

        actors: Actors = {"put": put, "forget": in_store(forget)}
        pair = Pair(fast_path / "stores", lambda store: api.put(store, DATA) and None, actors)
        assert pair.check_every_order(check, switches) > 5

    @pytest.mark.parametrize("other", [collect, put])
    def test_a_rebuild_of_the_index_and_another_writer(
        self, fast_path: Path, steps: pytest.MonkeyPatch, switches: int, other: Callable[[Path], None]
    ) -> None:
        """The index is gone; both find that out, and one of them makes it."""

        def before(store: Store) -> None:
            expired(store)
            api.put(store, DATA)
            store.close()
            for path in Path(store.folder).glob("index.sqlite*"):
                path.unlink()

        def write(store: Store) -> None:
            api.put(store, b"one more")

        actors: Actors = {"write": in_store(write), "other": other}
        assert Pair(fast_path / "stores", before, actors).check_every_order(keeps_data, switches) > 5


def add_rows(holding: Holding, connection: Any, mine: list[Any]) -> None:
    """What publishing does beside giving bytes their names."""
    from castore.index import objects

    objects.add(
        connection,
        [
            objects.ObjectRow(each.digest.raw, each.size, each.frames.stored_bytes, each.file_sha256)
            for each in mine
        ],
    )


class TestTheOrdersFindWhatIsWrong:
    """With the put done wrong in either of the two ways that suggest themselves, some orders lose it."""

    def test_a_put_that_trusts_what_it_saw_before_the_transaction(
        self, fast_path: Path, steps: pytest.MonkeyPatch
    ) -> None:
        publish = Holding.publish

        def trusting(self: Holding, connection: Any, mine: list[Any]) -> None:
            publish(self, connection, [staged for staged in mine if staged.found is None])
            add_rows(self, connection, [staged for staged in mine if staged.found is not None])

        steps.setattr(Holding, "publish", trusting)
        _, lost = orders(fast_path / "stores", expired, until_lost=True)
        assert lost

    def test_a_put_that_publishes_before_the_transaction(
        self, fast_path: Path, steps: pytest.MonkeyPatch
    ) -> None:
        commit = Batch.commit

        def early(self: Batch, draft: RootDraft, **options: Any) -> Any:
            for staged in self._holding.all():
                if staged.found is None:
                    self._parts.source.publish([(staged.digest, staged.frames)])
            return commit(self, draft, **options)

        steps.setattr(Batch, "commit", early)
        steps.setattr(Holding, "publish", add_rows)
        _, lost = orders(fast_path / "stores", nothing, until_lost=True)
        assert lost
