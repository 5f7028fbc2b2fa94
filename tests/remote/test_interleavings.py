"""The real push and the real gc beside each other, in every order of their requests, killed at each.

After every step the law of docs/sharing-reference.md is checked: each root has its objects and its base, each
name's record its root. The mutants at the end show that the search finds a loss where the steps are not in
order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from itertools import count
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from castore.digest import Digest
from castore.errors import RemoteError
from castore.objects.database import ObjectDatabase
from castore.objects.memory import MemorySource
from castore.remote import gc, intents, names, push, sweeps
from castore.remote.bucket import Bucket
from castore.remote.intents import Held, hold
from castore.remote.keys import (
    FORMAT,
    INTENTS,
    NAMES,
    ROOTS,
    SWEEPS,
    marks_key,
    name_key,
    object_key,
    root_key,
)
from castore.remote.records import (
    INTENT_SECONDS,
    SWEEP_SECONDS,
    Intent,
    Marks,
    NameRecord,
    decode_name,
    decode_sweep,
    encode,
)
from castore.remote.roots import RemoteRoots
from castore.remote.sweeps import Sweeping
from castore.roots.files import decode_root, encode_root
from castore.roots.model import Root, RootDraft, RootKind, forgotten, merged
from castore.store.access import Granted
from tests.remote.stepping import Contents, Explored, Machine, Request, Results, Thing, explore

NOW = 2_000_000_000.0
OLD = NOW - 10 * 86_400
GRACE = 86_400
SHARD = "00"


@cache
def texts() -> dict[str, bytes]:
    """By letter: bytes whose digest is in one shard, so that a gc has but that one to look through."""
    return {letter: next(_in_shard(letter)) for letter in "uvwxyz"}


def _in_shard(letter: str) -> Iterator[bytes]:
    for number in count():
        text = f"{letter} {number}".encode()
        if sha256(text).hexdigest().startswith(SHARD):
            yield text


def digest(letter: str) -> Digest:
    return Digest(sha256(texts()[letter]).hexdigest())


def root(letters: str, *, title: str = "a", name: str | None = None, **changes: Any) -> Root:
    draft = RootDraft(RootKind.TAG, (), name=name, source_name=title)
    made = merged(draft, "default", None, now=OLD, sequence=1)
    return replace(made, objects=tuple(sorted(map(digest, letters))), **changes)


def expired(one: Root) -> Root:
    return replace(one, expires=NOW - 5 * 86_400)


def there(
    *roots: Root, unnamed: str = "", ripe: bool = True, named: Sequence[tuple[str, Root]] = ()
) -> dict[str, Thing]:
    """A bucket with these roots and all that they name; and objects that no root names, marked long ago."""
    contents = {FORMAT: Thing(b"castore 1\n", OLD)}
    for each in roots:
        contents[root_key(each.id)] = Thing(encode_root(each), OLD)
        contents |= {object_key(one): Thing(b"an object's file", OLD) for one in each.objects}
    contents |= {object_key(digest(letter)): Thing(b"an object's file", OLD) for letter in unnamed}
    if unnamed and ripe:
        since = {digest(letter).hex: int(OLD) + 60 for letter in unnamed}
        contents[marks_key(SHARD)] = Thing(encode(Marks(since)), OLD)
    for name, holder in named:
        contents[name_key("default", name)] = Thing(encode(NameRecord("default", name, holder.id)), OLD)
    return contents


# --- Machines --------------------------------------------------------------------------------------


class Notes:
    """What a store last saw of names: nothing."""

    def __init__(self, store: object, remote: str) -> None:
        self.changed: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        return self.changed.get(key)

    def note(self, key: str, seen: Any) -> None:
        self.changed[key] = seen

    def save(self) -> None:
        return


@cache
def database() -> ObjectDatabase:
    made = ObjectDatabase(MemorySource(), level=lambda: 3)
    for text in texts().values():
        staged = made.stage(text)
        made.source.publish([(staged.digest, staged.frames)])
    return made


def store() -> Any:
    """As much of a Store as a push needs; every object is in it."""
    parts = SimpleNamespace(
        database=database(),
        clock=lambda: NOW,
        config=SimpleNamespace(grace_seconds=GRACE),
        layout=SimpleNamespace(tmp="/nonexistent"),
    )
    return SimpleNamespace(granted=Granted(("*",), "default"), parts=parts, want=lambda digests: None)


def pusher(*roots: Root, title: str = "p", holding: Callable[..., Any] = hold, **options: Any) -> Machine:
    """The push of these roots, as a machine."""

    def run(bucket: Bucket, clock: Callable[[], float], sleep: Callable[[float], None]) -> str:
        numbers = count()
        held = partial(holding, clock=clock, sleep=sleep, new_id=lambda: f"{title}{next(numbers)}")
        with (
            patch.object(push, "hold", held),
            patch.object(names, "hold", held),
            patch.object(push, "Tracking", Notes),
        ):
            report = push.push(store(), bucket, roots, **options)
        return f"pushed {len(report.pushed)}"

    return run


def collector(*, title: str = "g", grace: int = GRACE, sweeping: Callable[..., Any] = Sweeping) -> Machine:
    """The gc, as a machine."""

    def run(bucket: Bucket, clock: Callable[[], float], sleep: Callable[[float], None]) -> str:
        numbers = count()
        swept = partial(sweeping, new_id=lambda: f"{title}{next(numbers)}")
        with patch.object(gc, "Sweeping", swept), patch.object(gc, "SHARDS", (SHARD,)):
            try:
                report = gc.collect(bucket, tmp="/nonexistent", grace_seconds=grace, clock=clock, sleep=sleep)
            except RemoteError as error:
                return type(error).__name__
        return f"deleted {report.deleted_objects} of {report.ready}, {report.roots_removed} roots"

    return run


# --- Laws ------------------------------------------------------------------------------------------


def law(contents: Contents) -> str | None:
    """What it does not hold for; None: it holds."""
    for key, thing in contents.items():
        if key.startswith(ROOTS):
            found = decode_root(thing.data, key)
            lacking = [each.abbreviated for each in found.objects if object_key(each) not in contents]
            if lacking:
                return f"root {found.id[:8]} lacks {lacking}"
            if found.base is not None and root_key(found.base) not in contents:
                return f"root {found.id[:8]} lacks its base"
        elif key.startswith(NAMES):
            record = decode_name(thing.data, "stepped", key)
            if root_key(record.root) not in contents:
                return f"name {record.name} lacks its root"
    return None


def ended(*roots: Root) -> Callable[[Contents, Results], str | None]:
    """At the end these roots are there and live; records are left by killed ones alone."""

    def problem(contents: Contents, results: Results) -> str | None:
        for each in roots if "killed" not in results else ():
            thing = contents.get(root_key(each.id))
            if thing is None or not decode_root(thing.data, "").is_live(NOW):
                return f"root {each.id[:8]} was pushed, and is not there"
        left = [key for key in contents if key.startswith((INTENTS, SWEEPS))]
        return f"{left} is left" if left and "killed" not in results else None

    return problem


def in_time(request: Request) -> bool:
    """The one thing that is taken for granted: what a machine is about to send, having looked at its clock,
    is done before its sweep, or its intent, is over its time."""
    return is_delete(request) or request.operation in ("create", "replace")


def is_delete(request: Request) -> bool:
    return request.operation == "delete" and not all(
        key.startswith((INTENTS, SWEEPS)) for key in request.keys
    )


def search(machines: dict[str, Machine], contents: Contents, *roots: Root, **options: Any) -> Explored:
    """roots: that the machines push. At any step, once, so much time may pass that sweeps are over; one
    machine may be killed."""
    given: dict[str, Any] = {
        "now": NOW,
        "jumps": (SWEEP_SECONDS + 1,),
        "in_time": in_time,
        "kills": 1,
        "at_end": ended(*roots),
        **options,
    }
    return explore(machines, contents, law, **given)


def holds(explored: Explored, *results: str) -> None:
    """There is no loss, and among what the machines came to is each of `results`: that was tried."""
    assert explored.loss is None, explored.loss
    found = {", ".join(each) for each in explored.results}
    assert found.issuperset(results), found


MARKED: dict[str, Any] = {"begun": {"gc": "sweeps/g1.json", "other gc": "sweeps/h1.json"}, "jumps": ()}
"""A gc has found what it may delete when the others begin: what it finds then is asked again in any case."""

WAYS = [
    pytest.param(MARKED, id="marked"),
    pytest.param({"jumps": ()}, id="whole", marks=pytest.mark.long),
]

BOUNDED: dict[str, Any] = {"kills": 0, "jumps": (), "private": ("format", "marks/", "sweeps/g0", "sweeps/h0")}
"""None is killed; the record that tells a gc the time, and lists nothing, is no step."""

KEPT = root("z", title="kept")
PUSHED = root("xy", name="n")


class TestOnePushAndOneGc:
    """Either may be killed at any step, and time may pass at any."""

    def test_an_object_that_is_there_unnamed_and_one_that_is_not(self) -> None:
        found = search({"push": pusher(PUSHED), "gc": collector()}, there(KEPT, unnamed="x"), PUSHED)
        holds(
            found,
            "pushed 1, deleted 1 of 1, 0 roots",  # and sent again
            "pushed 1, deleted 0 of 1, 0 roots",  # as it was held
            "pushed 1, deleted 0 of 0, 0 roots",  # as it was named before
            "pushed 1, killed",
            "killed, deleted 1 of 1, 0 roots",
        )

    @pytest.mark.parametrize("way", WAYS)
    def test_a_listing_is_no_snapshot(self, way: dict[str, Any]) -> None:
        """A request for each entry that is listed."""
        machines = {"push": pusher(PUSHED), "gc": collector()}
        found = search(machines, there(KEPT, unnamed="x"), PUSHED, page_entries=1, **way)
        holds(found, "pushed 1, deleted 1 of 1, 0 roots", "pushed 1, deleted 0 of 1, 0 roots")

    @pytest.mark.parametrize("way", WAYS)
    def test_an_intent_in_several_records(self, way: dict[str, Any]) -> None:
        machines = {"push": pusher(PUSHED), "gc": collector()}
        with patch.object(intents, "INTENT_KEYS_MAX", 2):
            found = search(machines, there(KEPT, unnamed="x"), PUSHED, **way)
        holds(found, "pushed 1, deleted 1 of 1, 0 roots", "pushed 1, deleted 0 of 1, 0 roots")

    @pytest.mark.parametrize("way", WAYS)
    def test_an_expired_root_and_its_name_are_pushed_again(self, way: dict[str, Any]) -> None:
        contents = there(KEPT, expired(PUSHED), named=[("n", PUSHED)])
        found = search({"push": pusher(PUSHED), "gc": collector(grace=0)}, contents, PUSHED, **way)
        holds(
            found,
            "pushed 1, deleted 2 of 2, 1 roots",
            "pushed 1, deleted 0 of 2, 1 roots",
            "pushed 1, deleted 0 of 0, 0 roots",
        )

    @pytest.mark.parametrize("way", WAYS)
    def test_what_only_an_expired_root_names_is_joined(self, way: dict[str, Any]) -> None:
        """It is not in the push's intent: the root that is there keeps it."""
        contents = there(KEPT, expired(root("wx", name="n")), named=[("n", PUSHED)])
        found = search({"push": pusher(PUSHED), "gc": collector(grace=0)}, contents, PUSHED, **way)
        holds(found, "pushed 1, deleted 2 of 2, 1 roots", "pushed 1, deleted 0 of 0, 0 roots")

    @pytest.mark.parametrize("way", WAYS)
    def test_a_name_of_an_expired_root_is_moved(self, way: dict[str, Any]) -> None:
        holder = root("w", title="holder", name="n", expires=OLD)
        contents = there(KEPT, holder, named=[("n", holder)])
        found = search({"push": pusher(PUSHED), "gc": collector()}, contents, PUSHED, **way)
        holds(found, "pushed 1, deleted 0 of 0, 1 roots", "pushed 1, deleted 0 of 0, 0 roots")

    def test_a_name_without_its_root(self) -> None:
        contents = there(KEPT, named=[("n", root("w", title="gone"))])
        machines = {"push": pusher(PUSHED), "gc": collector()}
        found = explore(machines, contents, lacks_no_more, now=NOW, at_end=ended(PUSHED))
        holds(found, "pushed 1, deleted 0 of 0, 0 roots")

    @pytest.mark.parametrize("way", WAYS)
    def test_an_expired_base_is_pushed_again_with_what_is_based_on_it(self, way: dict[str, Any]) -> None:
        base = root("w", title="base")
        based, other = (root(each, title=each, base=base.id) for each in "xv")
        machines = {"push": pusher(base, based), "gc": collector()}
        found = search(machines, there(expired(base), expired(other)), base, based, **way)
        holds(found, "pushed 2, deleted 0 of 0, 2 roots", "pushed 2, deleted 0 of 0, 1 roots")

    @pytest.mark.parametrize("way", WAYS)
    def test_a_base_in_an_earlier_batch(self, way: dict[str, Any]) -> None:
        base = root("w", title="base")
        based = root("x", title="based", base=base.id)
        with patch.object(push, "batches", lambda roots: ([each] for each in roots)):
            machines = {"push": pusher(base, based), "gc": collector()}
            found = search(machines, there(expired(base)), base, based, **way)
        holds(found, "pushed 2, deleted 0 of 0, 1 roots", "pushed 2, deleted 0 of 0, 0 roots")

    def test_what_is_based_on_a_root_that_is_refused_is_refused(self) -> None:
        base, holder = root("w", title="base", name="n"), root("v", title="holder", name="n")
        based = root("x", title="based", base=base.id)
        machines = {"push": pusher(base, based, root("u", title="u")), "gc": collector()}
        holds(
            search(machines, there(holder, named=[("n", holder)]), **MARKED),
            "pushed 1, deleted 0 of 0, 0 roots",
        )

    def test_a_root_is_forgotten_while_it_goes(self) -> None:
        """Even without an intent: what is there is changed, or nothing."""

        def forgetter(bucket: Bucket, clock: object, sleep: object) -> str:
            changed = RemoteRoots(bucket).change(
                PUSHED.id, lambda there: forgotten(there, now=NOW, grace_seconds=0)
            )
            return "forgotten" if changed else "gone"

        contents = there(KEPT, expired(PUSHED), named=[("n", PUSHED)])
        found = search({"forget": forgetter, "gc": collector(grace=0)}, contents)
        holds(found, "forgotten, deleted 2 of 2, 1 roots", "gone, deleted 2 of 2, 1 roots")


class TestThreeMachines:
    @pytest.mark.parametrize("way", WAYS)
    def test_two_gcs_and_a_push(self, way: dict[str, Any]) -> None:
        machines = {"push": pusher(PUSHED), "gc": collector(), "other gc": collector(title="h")}
        found = search(machines, there(unnamed="x"), PUSHED, **way | BOUNDED)
        holds(found, "pushed 1, deleted 1 of 1, 0 roots, deleted 1 of 1, 0 roots")

    @pytest.mark.parametrize("way", WAYS)
    def test_two_pushes_and_a_gc(self, way: dict[str, Any]) -> None:
        other = root("xz", title="other")
        machines = {"push": pusher(PUSHED), "other push": pusher(other, title="q"), "gc": collector()}
        found = search(machines, there(unnamed="x"), PUSHED, other, **way | BOUNDED)
        holds(found, "pushed 1, pushed 1, deleted 1 of 1, 0 roots")


class TestSleptThroughItsIntent:
    """A push whose intent was over its time while it slept, between its look at the clock and its request."""

    @pytest.mark.long
    def test_it_sends_anew_what_was_deleted(self) -> None:
        holds(slept(pusher(PUSHED)), "pushed 1, deleted 1 of 1, 0 roots")

    def test_whatever_its_own_clock_says(self) -> None:
        holds(slept(pusher(PUSHED, holding=HasNoClock)), "pushed 1, deleted 1 of 1, 0 roots")


def lacks_no_more(contents: Contents) -> str | None:
    """As the law, but for the name that lacked its root from the start."""
    problem = law(contents)
    return None if problem == "name n lacks its root" else problem


def slept(machine: Machine) -> Explored:
    """The push and a gc; an hour passes before any request but a delete. The law must hold at the end."""

    def at_end(contents: Contents, results: Results) -> str | None:
        return law(contents) or ended(PUSHED)(contents, results)

    return explore(
        {"push": machine, "gc": collector()},
        there(KEPT, unnamed="x"),
        lambda contents: None,
        now=NOW,
        jumps=(INTENT_SECONDS + 1,),
        in_time=is_delete,
        at_end=at_end,
        begun=MARKED["begun"],
    )


# --- Mutants: each has one thing out of order ------------------------------------------------------


class LooksFirst(Held):
    """Heeds sweeps only before it writes roots, after it has looked what is there."""

    def __enter__(self) -> Held:
        self._begun = self._clock()
        self._write()
        return self

    def require_time(self) -> None:
        sweeps.heed(
            self._bucket,
            self._wanted,
            lambda: self._bucket.head(self._records[0]),
            clock=self._clock,
            sleep=self._sleep,
        )


class NeverHeeds(LooksFirst):
    def require_time(self) -> None:
        return


class EndsEarly(Held):
    """Deletes its intent before it writes roots."""

    def require_time(self) -> None:
        self._bucket.delete(self._records)

    def __exit__(self, *error: object) -> None:
        return


class HasNoClock(Held):
    """Looks only whether its intent is there still, at the end."""

    def require_time(self) -> None:
        return


class HasAllTime(HasNoClock):
    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._bucket.delete(self._records)


class SweepsLate(Sweeping):
    """Writes its record once it has read all again."""

    def __enter__(self) -> Sweeping:
        self._begun = self._clock()
        self.modified = NOW
        if not self.is_probe:
            return self
        return super().__enter__()

    @property
    def is_probe(self) -> bool:
        return decode_sweep(self._record, "", "").keys == ()

    def delete(self, keys: Sequence[str]) -> int:
        self._bucket.put(self.key, self._record)
        return super().delete(keys)


class SweepsForEver(Sweeping):
    def delete(self, keys: Sequence[str]) -> int:
        self._begun = self._clock()
        return super().delete(keys)


def reads_roots_first(run: gc._Run, keys: Sequence[str], now: float, later: Any) -> list[str]:
    run._there.read_roots(lambda root: later.add(root.objects), now=run._now)
    held = {key for intent in intents.standing_intents(run._bucket, now=now) for key in intent.keys}
    named = {digest.hex() for digest in later}
    return sorted(key for key in keys if key not in held and key.rpartition("/")[2] not in named)


def deletes_roots_first(run: gc._Run, sweep: Sweeping, found: list[str], roots: Sequence[str]) -> set[str]:
    keys = [*map(root_key, sorted(roots)), *found]
    for key in keys:
        sweep.delete([key])
    for root_id in roots:
        run._there.drop_root(root_id)
    return set(keys)


def lets_intents_stand(bucket: Bucket, *, now: float, dry_run: bool = False) -> Iterator[Intent]:
    """Those over their time are passed over, and not deleted."""
    return intents.standing_intents(bucket, now=now, dry_run=True)


def objects_alone(roots: Sequence[Root]) -> set[str]:
    return {object_key(each) for one in roots for each in one.objects}


class TestMutants:
    """The search finds a loss in each: it can fail."""

    @pytest.mark.parametrize("held", [LooksFirst, NeverHeeds, EndsEarly])
    def test_a_push_out_of_order(self, held: type[Held]) -> None:
        found = search({"push": pusher(PUSHED, holding=held), "gc": collector()}, there(KEPT, unnamed="x"))
        assert found.loss is not None
        assert "lacks" in found.loss

    def test_a_gc_that_reads_roots_before_intents(self) -> None:
        with patch.object(gc._Run, "_unnamed", reads_roots_first):
            found = search({"push": pusher(PUSHED), "gc": collector()}, there(KEPT, unnamed="x"))
        assert found.loss is not None
        assert "lacks" in found.loss

    def test_a_sweep_that_is_written_after_all_was_read_again(self) -> None:
        machines = {"push": pusher(PUSHED), "gc": collector(sweeping=SweepsLate)}
        found = search(machines, there(KEPT, unnamed="x"))
        assert found.loss is not None
        assert "lacks" in found.loss

    def test_a_gc_that_does_not_look_at_its_clock(self) -> None:
        machines = {"push": pusher(PUSHED), "gc": collector(sweeping=SweepsForEver)}
        found = search(machines, there(KEPT, unnamed="x"), in_time=lambda request: False)
        assert found.loss is not None
        assert "lacks" in found.loss

    def test_a_gc_that_deletes_a_root_before_its_name(self) -> None:
        with patch.object(gc._Run, "_delete_roots", deletes_roots_first):
            found = search({"gc": collector()}, there(KEPT, expired(PUSHED), named=[("n", PUSHED)]))
        assert found.loss is not None
        assert "name n lacks its root" in found.loss

    def test_a_push_that_intends_only_objects(self) -> None:
        with patch.object(push, "_keys", objects_alone):
            machines = {"push": pusher(PUSHED), "gc": collector(grace=0)}
            found = search(machines, there(KEPT, expired(PUSHED), named=[("n", PUSHED)]), PUSHED)
        assert found.loss is not None

    def test_a_push_that_does_not_look_whether_its_intent_was_heeded(self) -> None:
        found = slept(pusher(PUSHED, holding=HasAllTime))
        assert found.loss is not None
        assert "lacks" in found.loss

    def test_a_gc_that_passes_over_an_intent_and_leaves_it(self) -> None:
        with patch.object(gc, "standing_intents", lets_intents_stand):
            found = slept(pusher(PUSHED, holding=HasNoClock))
        assert found.loss is not None
        assert "lacks" in found.loss
