"""A key has one root, whoever makes it: it is replaced whole, and by who has read it alone."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from castore.digest import Digest
from castore.errors import BaseMissing, InvalidOption, KeyTaken, ObjectMissing, RootDamaged, ScopeDenied
from castore.gc.repair import repair
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.objects.finding import FindingName
from castore.roots.files import decode_root, encode_root
from castore.roots.model import REPLACED, Content, Root, RootDraft, RootKind
from castore.store import Access, Store
from castore.store.keeping import RootChoice

from .conftest import NOW, Clock, everything, overwrite, put
from .keyed import (
    GRACE,
    KEY,
    OTHER_KEY,
    SOURCE,
    TEXT,
    current,
    lose_index,
    made,
    reopened,
    replaced_of,
    root_file,
)


class TestKey:
    """What a root with a key is called follows from kind, scope and key, and nothing else of it does."""

    def test_its_id_is_the_one_of_the_page(self, store: Store) -> None:
        root = made(store)
        said = json.loads(root_file(store, root).read_bytes())
        assert said["key"] == KEY
        what = {"key": KEY, "kind": "summary", "scope": "default"}
        text = json.dumps(what, sort_keys=True, separators=(",", ":"))
        assert root.id == said["id"] == sha256(text.encode()).hexdigest()[:32]

    def test_another_key_or_scope_has_another_root(self, store: Store) -> None:
        first = made(store)
        others = [made(store, key=OTHER_KEY), made(store, scope="team/a")]
        assert len({first.id, *(root.id for root in others)}) == 3
        assert current(store) == first
        assert store.keyed_root(RootKind.SUMMARY, KEY, scope="team/a") == others[1]
        assert store.keyed_root(RootKind.VIEW, KEY) is None

    def test_the_live_ones_are_listed_the_latest_first(self, store: Store) -> None:
        put(store, b"no key")
        first, second = made(store, scope="team/a"), made(store, key=OTHER_KEY)
        gone = made(store, key="c3" * 32)
        store.forget(RootChoice(roots=(gone.id,)))
        assert store.keyed_roots(RootKind.SUMMARY) == [second, first]
        assert store.keyed_roots(RootKind.SUMMARY, scope="team/a") == [first]
        assert store.keyed_roots(RootKind.VIEW) == []

    def test_a_root_without_one_is_what_it_was(self, store: Store) -> None:
        root = put(store, b"no key")
        assert b"key" not in encode_root(root)
        assert current(store) is None

    @pytest.mark.parametrize(
        "members",
        [
            {"key": KEY.upper()},
            {"key": KEY[:63]},
            {"key": ""},
            {"kind": RootKind.PUT},
            {"kind": RootKind.VIEW},
            {"name": "mine"},
            {"document": Content(Digest.of(b"x"), 1)},
            {"keep_seconds": 60},
            {"source_name": "session", "place": 1},
        ],
    )
    def test_is_of_a_summary_that_is_kept_for_ever(self, store: Store, members: dict[str, object]) -> None:
        whole: dict[str, object] = {"kind": RootKind.SUMMARY, "key": KEY, **members}
        with store.batch() as batch, pytest.raises(InvalidOption):
            batch.commit(RootDraft(objects=(batch.stage(TEXT).digest,), **whole))  # type: ignore[arg-type]
        assert store.roots() == []

    @pytest.mark.parametrize(
        "members",
        [
            {"key": OTHER_KEY},
            {"key": "xyz"},
            {"key": KEY.upper()},
            {"scope": "team/a"},
            {"kind": RootKind.PUT},
            {"name": "mine"},
            {"document": Content(Digest.of(b"x"), 1)},
            {"place": 1, "source_name": "session"},
        ],
    )
    def test_a_file_that_contradicts_its_key_is_damaged(
        self, store: Store, members: dict[str, object]
    ) -> None:
        root = made(store)
        odd = replace(root, **members)  # type: ignore[arg-type]
        with pytest.raises(RootDamaged):
            decode_root(encode_root(odd), "file")
        overwrite(root_file(store, root), encode_root(odd))
        found = [finding for finding in verify(store) if finding.name is FindingName.DAMAGED]
        assert [finding.place for finding in found] == [str(root_file(store, root))]


class TestOneWrites:
    """Of two who read the same, one writes; the other is told and has changed nothing."""

    def test_who_read_that_there_is_none(self, store: Store) -> None:
        first = made(store)
        before = everything(Path(store.folder))
        with pytest.raises(KeyTaken) as raised:
            made(store, b"another text")
        assert raised.value.exit_code == 15
        assert (raised.value.fields["subject"], raised.value.fields["scope"]) == (KEY, "default")
        assert everything(Path(store.folder)) == before
        assert current(store) == first

    def test_who_read_another_than_there_is(self, store: Store) -> None:
        first = made(store)
        second = made(store, b"another text", replaces=first.sequence)
        for stale in (first.sequence, 0, second.sequence + 1):
            with pytest.raises(KeyTaken):
                made(store, b"a third text", replaces=stale)
        assert current(store) == second

    def test_of_two_open_stores(self, store: Store) -> None:
        first = made(store)
        with_other = reopened(store)
        read = current(with_other)
        assert read is not None
        made(store, b"mine", replaces=first.sequence)
        with pytest.raises(KeyTaken):
            made(with_other, b"theirs", replaces=read.sequence)
        again = current(with_other)
        assert again is not None
        assert again.objects == tuple(sorted(map(Digest.of, (b"mine", SOURCE))))
        made(with_other, b"theirs", replaces=again.sequence)
        with_other.close()

    def test_of_two_drafts_of_one_commit(self, store: Store) -> None:
        with store.batch() as batch:
            draft = RootDraft(RootKind.SUMMARY, (batch.stage(TEXT).digest,), key=KEY)
            with pytest.raises(KeyTaken):
                batch.commit_all([draft, draft])
        assert store.roots() == []

    def test_of_two_processes_every_change_is_there(self, fast_path: Path) -> None:
        """Each adds to what it has read, so that one change written over another would be missing."""
        Store.init(fast_path / "s").close()
        command = [sys.executable, "-c", _ADDER, str(fast_path / "s")]
        adders = [subprocess.Popen([*command, name], stderr=subprocess.PIPE) for name in "xy"]
        assert [adder.communicate(timeout=60)[1] for adder in adders] == [b"", b""]
        store = Store.open(fast_path / "s")
        root = current(store)
        assert root is not None
        assert sorted(root.details["said"]) == sorted(
            f"{name}{number}" for name in "xy" for number in range(8)
        )
        store.close()

    def test_what_is_not_live_is_not_there(self, store: Store, clock: Clock) -> None:
        first = made(store)
        store.forget(RootChoice(roots=(first.id,)))
        assert current(store) is None
        with pytest.raises(KeyTaken):
            made(store, b"new", replaces=first.sequence)
        second = made(store, b"new")
        store.forget(RootChoice(roots=(second.id,)))
        clock.now += GRACE
        third = made(store, b"newer")
        assert current(store) == third
        assert third.objects == tuple(sorted(map(Digest.of, (b"newer", SOURCE))))


_ADDER = f"""
import sys
from castore.errors import KeyTaken
from castore.roots.model import RootDraft, RootKind
from castore.store import Store
store = Store.open(sys.argv[1])
for number in range(8):
    while True:
        root = store.keyed_root(RootKind.SUMMARY, "{KEY}")
        said = [*(root.details["said"] if root else ()), f"{{sys.argv[2]}}{{number}}"]
        with store.batch() as batch:
            text = batch.stage(repr(said).encode()).digest
            members = {{"replaces": root.sequence if root else 0, "details": {{"said": said}}}}
            try:
                batch.commit(RootDraft(RootKind.SUMMARY, (text,), key="{KEY}", **members))
                break
            except KeyTaken:
                pass
"""


class TestReplacedWhole:
    """The new root says all that it says; what it dropped is kept for the grace, with its source."""

    def test_nothing_of_the_old_one_stays(self, store: Store, clock: Clock) -> None:
        first = made(store, details={"one": 1, "two": 2}, source_name="policy.md")
        clock.now += 60
        second = made(store, b"new", replaces=first.sequence, details={"two": 3})
        assert (second.id, second.details, second.source_name) == (first.id, {"two": 3}, None)
        assert second.objects == tuple(sorted(map(Digest.of, (b"new", SOURCE))))
        assert (second.created, second.expires) == (NOW + 60, None)
        assert second.sequence > first.sequence

    def test_what_is_dropped_is_kept_for_the_grace(self, store: Store, clock: Clock) -> None:
        first = made(store, source_name="policy.md")
        made(store, b"new", b"a new source", replaces=first.sequence)
        (kept,) = replaced_of(store)
        assert (kept.objects, kept.source, kept.source_name) == (first.objects, first.source, "policy.md")
        assert kept.details == {REPLACED: KEY}
        assert (kept.forgotten, kept.expires) == (NOW, NOW + GRACE)
        assert sweep(store).objects == 0
        assert store.read(Digest.of(TEXT)) == TEXT
        clock.now += GRACE
        assert sweep(store).objects == 2
        assert list(verify(store)) == []

    def test_nothing_is_kept_where_nothing_is_dropped(self, store: Store) -> None:
        first = made(store)
        second = made(store, replaces=first.sequence, details={"names": ["policy.md"]})
        put(store, TEXT)
        made(store, b"new", replaces=second.sequence)
        assert replaced_of(store) == []

    def test_a_base_that_is_let_go_lasts_as_long_as_it_would_alone(self, store: Store, clock: Clock) -> None:
        old, new = (put(store, piece, keep_seconds=60) for piece in (b"one view", b"another"))
        first = made(store, with_source=False, base=old.id)
        assert _expiry(store, old) is None
        made(store, with_source=False, replaces=first.sequence, base=new.id)
        assert (_expiry(store, old), _expiry(store, new)) == (NOW + GRACE, None)
        clock.now += GRACE
        sweep(store)
        assert store.root(old.id) is None
        assert store.root(new.id) is not None
        assert list(verify(store)) == []

    @pytest.mark.parametrize("gone", ["0" * 32, "of another scope"])
    def test_a_new_base_must_be_there(self, store: Store, gone: str) -> None:
        first = made(store, with_source=False, base=put(store, b"one view").id)
        base = put(store, b"another", scope="team/a").id if gone == "of another scope" else gone
        with pytest.raises(BaseMissing):
            made(store, with_source=False, replaces=first.sequence, base=base)
        assert current(store) == first

    def test_nothing_is_based_on_it(self, store: Store) -> None:
        root = made(store)
        with pytest.raises(InvalidOption):
            made(store, key=OTHER_KEY, base=root.id)


def _expiry(store: Store, root: Root) -> float | None:
    found = store.root(root.id)
    assert found is not None
    return found.expires


class TestFilesAreTheTruth:
    """What has a key is told by its file: without an index, and by one that is made anew."""

    def test_a_rebuilt_index_says_the_same(self, store: Store) -> None:
        first = made(store, details={"summary": {"strategy": "extract"}})
        made(store, key=OTHER_KEY, scope="team/a")
        listed = store.keyed_roots(RootKind.SUMMARY)
        lose_index(store)
        without = reopened(store)
        assert current(without) == first
        assert without.keyed_roots(RootKind.SUMMARY) == listed
        put(without, b"a write makes the index")
        assert current(without) == first
        assert without.keyed_roots(RootKind.SUMMARY) == listed
        with pytest.raises(KeyTaken):
            made(without, b"another")
        made(without, b"another", replaces=first.sequence)
        without.close()

    def test_what_another_writer_left_without_rows_counts(self, store: Store) -> None:
        root = made(store)
        newer = replace(root, sequence=root.sequence + 5, details={"by": "a writer that was killed"})
        store.parts.root_files.publish(newer)
        with pytest.raises(KeyTaken):
            made(store, b"another", replaces=root.sequence)
        assert current(store) == newer
        assert made(store, b"another", replaces=newer.sequence).sequence > newer.sequence

    @pytest.mark.parametrize("is_damaged", [False, True])
    def test_repair_restores_it_from_its_rows(self, store: Store, is_damaged: bool) -> None:
        root = made(store)
        file = root_file(store, root)
        if is_damaged:
            overwrite(file, b"rot")
        else:
            file.unlink()
        assert [finding.name for finding in verify(store)] != []
        assert f"restored root {root.id}" in [str(act) for act in repair(store).acts]
        assert current(store) == root
        assert list(verify(store)) == []


class TestForget:
    """It is chosen by its id or by policies, never by what it names."""

    def test_no_digest_chooses_it(self, store: Store) -> None:
        root = made(store)
        digests = (Digest.of(TEXT).hex, Digest.of(SOURCE).hex)
        for given in (digests[:1], digests[1:], digests):
            assert store.forget(RootChoice(references=given)).roots == ()
        assert current(store) == root
        assert [each.id for each in store.forget(RootChoice(references=digests)).still_kept] == [root.id]

    def test_its_id_does_and_it_comes_back(self, store: Store) -> None:
        root = made(store)
        done = store.forget(RootChoice(roots=(root.id,)))
        assert ([each.id for each in done.roots], done.objects) == ([root.id], 2)
        assert current(store) is None
        store.remember(RootChoice(roots=(root.id,)))
        assert current(store) == root

    def test_policies_do(self, store: Store, clock: Clock) -> None:
        old = made(store, source_name="policy.md")
        clock.now += 100
        new = made(store, key=OTHER_KEY, source_name="other.md")
        by_age = RootChoice(older_than_seconds=50)
        assert [root.id for root in store.forget(by_age, dry_run=True).roots] == [old.id]
        by_source = RootChoice(source="oth*")
        assert [root.id for root in store.forget(by_source, dry_run=True).roots] == [new.id]

    def test_it_takes_no_place_of_what_else_the_source_has(self, store: Store) -> None:
        document = put(store, b"folded once", source_name="policy.md")
        first = made(store, source_name="policy.md")
        second = made(store, key=OTHER_KEY, source_name="policy.md")
        done = store.forget(RootChoice(source="policy.md", keep_last=1))
        assert [root.id for root in done.roots] == [first.id]
        assert current(store, OTHER_KEY) == second
        assert store.root(document.id) == document


class TestScopes:
    """Nobody learns of a root with a key, nor writes one, in a scope that it was not granted."""

    def test_another_scope_has_none(self, store: Store) -> None:
        made(store, scope="team/a")
        other = Store.open(store.folder, clock=store.parts.clock, access=Access(("team/b",)))
        assert current(other) is None
        assert other.keyed_roots(RootKind.SUMMARY) == []
        for ask in (
            lambda: other.keyed_root(RootKind.SUMMARY, KEY, scope="team/a"),
            lambda: other.keyed_roots(RootKind.SUMMARY, scope="team/a"),
            lambda: made(other, scope="team/a"),
        ):
            with pytest.raises(ScopeDenied):
                ask()
        assert made(other).scope == "team/b", "what others have is in nobody's way"
        other.close()

    def test_who_selects_one_scope_sees_that_alone(self, store: Store) -> None:
        mine, theirs = made(store, scope="team/a"), made(store, scope="team/b")
        access = Access(("team/*",), "team/a")
        one = Store.open(store.folder, clock=store.parts.clock, access=access)
        assert one.keyed_roots(RootKind.SUMMARY) == [mine]
        both = Store.open(store.folder, clock=store.parts.clock, access=Access(("team/*",)))
        assert both.keyed_roots(RootKind.SUMMARY) == [theirs, mine]
        one.close()
        both.close()

    def test_it_names_only_what_its_writer_sees(self, store: Store) -> None:
        digest = put(store, b"a secret of others", scope="team/a").objects[0]
        other = Store.open(store.folder, clock=store.parts.clock, access=Access(("team/b",)))
        with other.batch() as batch, pytest.raises(ObjectMissing):
            batch.commit(RootDraft(RootKind.SUMMARY, (digest,), key=KEY))
        other.close()
