"""Folded documents that lie in files: kept whole or not at all, and never lost to a gc told of them."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore import FoldPolicy, Store, fold_bytes, unfold_bytes
from castore.api import Collected, StoreHandle, collect, fold_stream, keep
from castore.digest import Digest
from castore.errors import (
    CastoreError,
    DocumentInvalid,
    InvalidOption,
    NameTaken,
    ObjectMissing,
    ObjectPurged,
    ScopeDenied,
    UnfoldMismatch,
)
from castore.fold import documents
from castore.fold.documents import references_in
from castore.roots.model import RootKind
from castore.store import Access
from castore.store.keeping import RootChoice

NOW = 1_700_000_000.0


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


def source(seed: int, values: int = 3) -> bytes:
    rows = {f"log{each}": f"{seed}.{each} " + "some words of a log " * 90 for each in range(values)}
    return json.dumps(rows).encode()


def digests_of(folded: bytes) -> list[Digest]:
    return [Digest.parse(each["$ctx"]["digest"]) for each in json.loads(folded).values()]


class Setting:
    """A store, and a folder of documents beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock()
        self.store = Store.init(folder / "s", clock=self.clock)
        self.opened = [self.store]

    def as_caller(self, *grants: str) -> Store:
        self.opened.append(Store.open(self.store.folder, clock=self.clock, access=Access(grants)))
        return self.opened[-1]

    def folded(
        self, name: str, seed: int, *, scope: str | None = None, keep_seconds: int | None = None
    ) -> Path:
        path = self.folder / name
        folded = fold_bytes(
            self.store, source(seed), scope=scope, source_name=name, keep_seconds=keep_seconds
        )
        path.write_bytes(folded)
        return path

    def forget_all(self, *scopes: str) -> None:
        """What was forgotten is gone with the next gc."""
        for scope in scopes or ("default",):
            self.store.forget(RootChoice(source="*", scope=scope), at_once=True)

    def collect(self, *paths: Path, **options: Any) -> Collected:
        return collect(self.store, documents=paths, **options)


@pytest.fixture
def setting(tmp_path: Path) -> Iterator[Setting]:
    made = Setting(tmp_path)
    yield made
    for store in made.opened:
        store.close()


class TestReferencesIn:
    @given(st.lists(st.integers(0, 12), max_size=40), st.sampled_from([b"\n", b" ", b""]))
    def test_gives_distinct_digests_in_order_and_the_digest_of_the_document(
        self, numbers: list[int], between: bytes
    ) -> None:
        digests = [Digest.of(b"%d" % number) for number in numbers]
        lines = [
            json.dumps(
                {"a": {"$ctx": {"kind": "string", "digest": str(each), "size": 9}}, "$$ctx": 1}
            ).encode()
            for each in digests
        ]
        document = between.join(lines)
        content, found = references_in(io.BytesIO(document))
        assert found == tuple(dict.fromkeys(digests))
        assert (content.digest, content.size) == (Digest.of(document), len(document))

    def test_asks_once_of_each_and_leaves_out_what_is_not_accepted(self) -> None:
        one, two = Digest.of(b"1"), Digest.of(b"2")
        line = '{"$ctx":{"kind":"string","digest":"%s","size":1}}'
        document = "".join(line % str(each) for each in (one, two, one, two)).encode()
        asked: list[Digest] = []

        def accept(digest: Digest) -> bool:
            asked.append(digest)
            return digest == two

        assert references_in(io.BytesIO(document), accept)[1] == (two,)
        assert asked == [one, two]

    def test_the_users_own_members_are_no_references(self) -> None:
        document = b'{"$$ctx": {"digest": 1}, "x": "$ctx", "y": "{\\"$ctx\\": 5}"}'
        assert references_in(io.BytesIO(document))[1] == ()


class TestKeepFile:
    def test_everything_that_the_file_names_outlives_the_root_that_fold_made(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1)
        (root,) = keep(setting.store, files=[file])
        assert (root.kind, root.scope, root.expires) == (RootKind.KEEP, "default", None)
        assert root.details == {"file": str(file)}
        assert sorted(root.objects) == sorted(digests_of(file.read_bytes()))
        assert root.document is not None
        assert root.document.digest == Digest.of(file.read_bytes())
        setting.store.forget(RootChoice(references=(Digest.of(file.read_bytes()).hex,)), at_once=True)
        (again,) = keep(setting.store, files=[file])
        assert again.id == root.id
        assert setting.collect().report.objects == 0
        assert unfold_bytes(setting.store, file.read_bytes()) == source(1)

    def test_again_is_the_same_root(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1)
        first = keep(setting.store, files=[file, file])
        assert keep(setting.store, files=[file]) == first[:1] == first[1:]
        assert len(setting.store.roots()) == 2

    def test_what_was_folded_is_still_checked_when_it_unfolds(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1)
        (root,) = keep(setting.store, files=[file])
        assert root.source is not None
        assert root.source.digest == Digest.of(source(1))

    def test_a_root_that_does_not_know_the_source_hides_none_that_does(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1)
        store = setting.store
        (root,) = store.roots()
        with store.parts.writing() as connection:
            from dataclasses import replace

            assert root.source is not None
            wrong = replace(root.source, digest=Digest.of(b"other"))
            store.parts.put_root(connection, replace(root, source=wrong))
        store.tag("latest", Digest.of(file.read_bytes()).hex)
        with pytest.raises(UnfoldMismatch):
            unfold_bytes(store, file.read_bytes())

    def test_name_scope_and_expiry_are_the_roots(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1)
        (root,) = keep(setting.store, files=[file], name="mine", scope="team/a", keep_seconds=60)
        assert (root.name, root.scope, root.expires) == ("mine", "team/a", NOW + 60)
        with pytest.raises(NameTaken):
            keep(setting.store, files=[setting.folded("b.json", 2)], name="mine", scope="team/a")

    def test_files_and_references_together(self, setting: Setting) -> None:
        one, two = setting.folded("a.json", 1), setting.folded("b.json", 2)
        object_ = digests_of(two.read_bytes())[0]
        roots = keep(setting.store, object_.abbreviated, files=[one])
        assert [root.document is None for root in roots] == [True, False]
        assert roots[0].objects == (object_,)

    def test_a_name_is_for_one(self, setting: Setting) -> None:
        one, two = setting.folded("a.json", 1), setting.folded("b.json", 2)
        with pytest.raises(InvalidOption):
            keep(setting.store, files=[one, two], name="both")
        assert keep(setting.store) == []


class TestAllOrNothing:
    def test_a_missing_object_is_named_with_its_place(self, setting: Setting) -> None:
        good, bad = setting.folded("a.json", 1), setting.folded("b.json", 2)
        before = setting.store.roots()
        digest = digests_of(bad.read_bytes())[1]
        os.unlink(setting.store.parts.layout.object_file(digest.hex))
        with pytest.raises(ObjectMissing) as caught:
            keep(setting.store, files=[good, bad])
        offset = bad.read_bytes().index(b'{"$ctx"', 200)
        assert caught.value.place == f"{bad}: $.log1 (byte {offset})"
        assert caught.value.fields["digest"] == str(digest)
        assert setting.store.roots() == before

    @pytest.mark.parametrize("content", [b"", b"[1, 2]", b'{"$$ctx": 1}'])
    def test_a_file_without_references_is_no_folded_document(self, setting: Setting, content: bytes) -> None:
        file = setting.folder / "plain.json"
        file.write_bytes(content)
        with pytest.raises(DocumentInvalid) as caught:
            keep(setting.store, files=[setting.folded("a.json", 1), file])
        assert caught.value.place == str(file)
        assert len(setting.store.roots()) == 1

    @pytest.mark.parametrize("content", [b"\x89PNG", b'{"$ctx": {"kind": "blob"}}', b'{"a": 1'])
    def test_what_is_no_document_is_told_with_its_place(self, setting: Setting, content: bytes) -> None:
        file = setting.folder / "odd.json"
        file.write_bytes(content)
        with pytest.raises(DocumentInvalid) as caught:
            keep(setting.store, files=[file])
        assert str(caught.value.place).startswith(f"{file}: ")

    def test_what_can_not_be_read_is_an_error_that_names_it(self, setting: Setting) -> None:
        pipe = setting.folder / "pipe"
        os.mkfifo(pipe)
        for path in (setting.folder / "none.json", setting.folder, pipe, "nul\0byte"):
            with pytest.raises(CastoreError) as caught:
                keep(setting.store, files=[path])
            assert os.path.normpath(str(path)) in caught.value.message

    def test_a_damaged_object_is_kept_for_repair(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1)
        path = Path(setting.store.parts.layout.object_file(digests_of(file.read_bytes())[0].hex))
        path.chmod(0o600)
        path.write_bytes(b"junk")
        assert len(keep(setting.store, files=[file])[0].objects) == 3


class TestScopes:
    def test_a_file_is_no_way_to_see_what_another_scope_has(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1, scope="team/a")
        for caller, error in (
            (setting.as_caller("team/b"), ObjectMissing),
            (setting.as_caller("team/a"), None),
        ):
            if error is None:
                assert keep(caller, files=[file])[0].scope == "team/a"
                continue
            with pytest.raises(error) as caught:
                keep(caller, files=[file])
            absent = file.with_name("absent.json")
            absent.write_bytes(
                file.read_bytes().replace(
                    str(digests_of(file.read_bytes())[0]).encode(), b"sha256:" + b"0" * 64
                )
            )
            with pytest.raises(error) as other:
                keep(caller, files=[absent])
            assert caught.value.hint == other.value.hint
            assert str(caught.value.place).replace("a.json", "absent.json") == other.value.place

    def test_what_was_purged_is_told_to_those_who_could_see_it(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1)
        setting.store.purge(digests_of(file.read_bytes())[0], "a secret")
        with pytest.raises(ObjectPurged):
            keep(setting.store, files=[file])
        with pytest.raises(ObjectMissing):
            keep(setting.as_caller("team/b"), files=[file])

    def test_collecting_is_the_operators(self, setting: Setting) -> None:
        with pytest.raises(ScopeDenied):
            collect(setting.as_caller("default"))

    def test_a_gc_shows_a_document_to_no_other_scope(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1, scope="team/a")
        setting.forget_all("team/a")
        (root,) = setting.collect(file).kept
        assert root.scope == "team/a"
        assert list(setting.as_caller("default").digests()) == []
        assert unfold_bytes(setting.as_caller("team/a"), file.read_bytes()) == source(1)


class TestCollectingBesideDocuments:
    def test_what_a_file_names_outlives_every_root(self, setting: Setting) -> None:
        kept, lost = setting.folded("a.json", 1), setting.folded("b.json", 2)
        setting.forget_all()
        assert setting.collect(kept, dry_run=True).report.objects == 3
        assert len(setting.store.roots()) == 2
        done = setting.collect(kept)
        assert (done.report.objects, len(done.kept)) == (3, 1)
        assert done.kept[0].details == {"by": "gc", "file": str(kept)}
        assert unfold_bytes(setting.store, kept.read_bytes()) == source(1)
        with pytest.raises(ObjectMissing):
            unfold_bytes(setting.store, lost.read_bytes())

    def test_a_document_with_a_live_root_needs_no_other(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1, keep_seconds=100)
        assert setting.collect(file).kept == ()
        setting.clock.now += 200
        assert len(setting.collect(file).kept) == 1

    def test_again_makes_no_new_root(self, setting: Setting) -> None:
        files = [setting.folded(f"{number}.json", number) for number in range(5)]
        setting.forget_all()
        assert len(setting.collect(*files, *files).kept) == 5
        before = setting.store.roots()
        setting.clock.now += 1_000_000
        done = setting.collect(*files)
        assert (done.kept, done.forgotten, done.report.objects) == ((), (), 0)
        assert setting.store.roots() == before

    def test_of_a_file_that_changed_the_older_root_is_forgotten_and_no_other(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1)
        setting.forget_all()
        (old,) = setting.collect(file).kept
        (by_hand,) = keep(setting.store, files=[file], name="mine")
        setting.folded("a.json", 3)
        done = setting.collect(file)
        assert done.kept == ()
        assert [root.id for root in done.forgotten] == [old.id]
        assert done.forgotten[0].expires == NOW + setting.store.config.grace_seconds
        (found,) = setting.store.named_roots("mine")
        assert (found.id, found.forgotten) == (by_hand.id, None)
        assert setting.collect(file).forgotten == ()

    def test_cut_off_between_the_two_the_next_one_forgets(
        self, setting: Setting, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = setting.folded("a.json", 1)
        setting.forget_all()
        (old,) = setting.collect(file).kept
        setting.folded("a.json", 2)
        setting.store.forget(RootChoice(references=(Digest.of(file.read_bytes()).hex,)), at_once=True)

        def killed(store: Store, older: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(documents, "_forget", killed)
            with pytest.raises(KeyboardInterrupt):
                setting.collect(file)
        # Both are kept: neither the older document nor the new one can be lost to a gc now.
        assert collect(setting.store).report.objects == 0
        done = setting.collect(file)
        assert (done.kept, [root.id for root in done.forgotten]) == ((), [old.id])

    def test_a_file_that_is_no_folded_document_any_more_lets_go_of_what_it_named(
        self, setting: Setting
    ) -> None:
        file = setting.folded("a.json", 1)
        setting.forget_all()
        setting.collect(file)
        file.write_bytes(source(1))
        assert len(setting.collect(file).forgotten) == 1
        setting.clock.now += setting.store.config.grace_seconds
        assert setting.collect(file).report.objects == 3

    def test_a_file_that_is_gone_keeps_its_root(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1)
        setting.forget_all()
        setting.collect(file)
        file.unlink()
        setting.clock.now += 10_000_000
        assert setting.collect().report.objects == 0

    @pytest.mark.parametrize("content", [b'{"$ctx": 1}', b'a page that says {"$ctx": {}}', b'{"a": "$ctx"'])
    def test_a_file_that_may_be_one_and_can_not_be_read_stops_it(
        self, setting: Setting, content: bytes
    ) -> None:
        file, odd = setting.folded("a.json", 1), setting.folder / "odd.md"
        odd.write_bytes(content)
        setting.forget_all()
        before = setting.store.roots()
        for dry_run in (True, False):
            with pytest.raises(DocumentInvalid) as caught:
                setting.collect(file, odd, dry_run=dry_run)
            assert str(caught.value.place).startswith(f"{odd}: ")
        with pytest.raises(CastoreError):
            setting.collect(setting.folder / "none.json")
        assert setting.store.roots() == before
        assert len(list(setting.store.digests())) == 3

    def test_a_file_that_names_what_is_missing_stops_it(self, setting: Setting) -> None:
        file = setting.folded("a.json", 1)
        os.unlink(setting.store.parts.layout.object_file(digests_of(file.read_bytes())[0].hex))
        setting.forget_all()
        with pytest.raises(ObjectMissing):
            setting.collect(file)
        assert len(list(setting.store.digests())) == 2

    def test_other_files_need_no_root_and_are_not_parsed(self, setting: Setting) -> None:
        for number, content in enumerate(
            (b"", b"\xff\x00 no JSON", b'{"a": [1', b'{"$$ctx": 1}', b'["$ctx"]')
        ):
            (setting.folder / f"{number}.txt").write_bytes(content)
        folded = setting.folded("a.json", 1)
        assert setting.collect(folded, *setting.folder.glob("*.txt")).kept == ()

    def test_only_other_files_are_a_mistake_and_nothing_is_removed(self, setting: Setting) -> None:
        setting.folded("a.json", 1)
        setting.forget_all()
        setting.clock.now += setting.store.config.grace_seconds
        (setting.folder / "in.json").write_bytes(source(1))
        with pytest.raises(DocumentInvalid, match="none of the 1 documents names an object"):
            setting.collect(setting.folder / "in.json")
        assert len(list(setting.store.digests())) == 3

    @pytest.mark.parametrize("is_put_again", [False, True])
    def test_what_was_purged_is_left_out_and_the_rest_kept(
        self, setting: Setting, is_put_again: bool
    ) -> None:
        file = setting.folded("a.json", 1)
        purged, *rest = digests_of(file.read_bytes())
        data = setting.store.read(purged)
        setting.store.purge(purged, "a secret")
        if is_put_again:
            from castore.api import put

            assert put(setting.store, data, scope="elsewhere") == purged
        setting.forget_all()
        done = setting.collect(file)
        assert [sorted(root.objects) for root in done.kept] == [sorted(rest)]
        assert setting.collect(file).kept == ()


class TestManyReferences:
    def test_a_document_of_many(self, setting: Setting) -> None:
        rows = [{"n": number, "text": f"{number} " * 40} for number in range(2000)]
        document = "\n".join(map(json.dumps, rows)).encode()
        file = setting.folder / "many.jsonl"
        file.write_bytes(fold_bytes(setting.store, document, FoldPolicy(bytes_over=60, grow=True)))
        setting.forget_all()
        (root,) = setting.collect(file).kept
        assert len(root.objects) == 2000
        assert unfold_bytes(setting.store, file.read_bytes()) == document


class TestFoldToAFile:
    def test_the_root_remembers_where_the_document_lies(self, setting: Setting) -> None:
        handle = StoreHandle.of(setting.store)
        place = str(setting.folder / "out.json")
        report = fold_stream(io.BytesIO(source(1)), io.BytesIO(), handle, FoldPolicy(), file=place)
        assert report.root is not None
        assert report.root.details == {"file": place}
        # Folding it again, to nowhere that lasts, takes nothing of that away.
        again = fold_stream(io.BytesIO(source(1)), io.BytesIO(), handle, FoldPolicy())
        assert again.root == report.root

    def test_of_no_lasting_place_nothing_is_said(self, setting: Setting) -> None:
        report = fold_stream(io.BytesIO(source(1)), io.BytesIO(), StoreHandle.of(setting.store), FoldPolicy())
        assert report.root is not None
        assert report.root.details == {}
