"""What is named to be pushed, or put in a bundle: its live roots, with all that they are based on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from castore import fold_bytes
from castore.errors import DocumentInvalid, InvalidOption, NameMissing, NotFound, ObjectMissing
from castore.remote.choosing import choose
from castore.roots.model import STATE, Root, RootDraft, RootKind
from castore.store import Access, Store
from castore.store.keeping import RootChoice
from tests.store.conftest import Clock, put


@pytest.fixture
def store(fast_path: Path) -> Iterator[Store]:
    made = Store.init(fast_path / "s", clock=Clock())
    yield made
    made.close()


@pytest.fixture
def document(store: Store, tmp_path: Path) -> Path:
    path = tmp_path / "folded.json"
    path.write_bytes(fold_bytes(store, json.dumps({"log": "some words of a log " * 900}).encode()))
    return path


def ids(roots: list[Root]) -> list[str]:
    return [root.id for root in roots]


def forget(store: Store, *roots: Root) -> None:
    store.forget(RootChoice(roots=tuple(root.id for root in roots)), at_once=True)


class TestWhatIsNamed:
    def test_a_document_is_its_live_roots_and_those_with_a_name_only_where_it_has_no_others(
        self,
        store: Store,
        document: Path,
    ) -> None:
        """A name of the document that was not named is nobody's to move."""
        folded = store.roots()[0]
        digest = str(folded.document.digest) if folded.document else ""
        tagged = store.tag("outage", digest)
        assert ids(choose(store, ["outage"])) == [tagged.id]
        assert ids(choose(store, [str(document)])) == ids(choose(store, [digest])) == [folded.id]
        forget(store, folded)
        assert ids(choose(store, [str(document)])) == ids(choose(store, [digest])) == [tagged.id]

    def test_a_file_that_no_live_root_has_is_kept_first(
        self,
        store: Store,
        document: Path,
    ) -> None:
        folded = store.roots()[0]
        edited = document.with_name("edited.json")
        edited.write_bytes(document.read_bytes() + b"\n")
        (chosen,) = choose(store, [str(edited)])
        assert chosen.kind is RootKind.KEEP
        assert tuple(chosen.objects) == tuple(folded.objects)
        assert ids(choose(store, [str(edited)])) == [chosen.id], "the root that was made is chosen then"

    def test_an_object_is_the_root_that_names_it_alone_and_is_kept_where_none_does(
        self,
        store: Store,
    ) -> None:
        first = put(store, b"first")
        both = put(store, b"first", b"second")
        assert ids(choose(store, [str(first.objects[0])])) == [first.id]
        second = next(each for each in both.objects if each != first.objects[0])
        (kept,) = choose(store, [second.hex[:12]])
        assert kept.kind is RootKind.KEEP
        assert tuple(kept.objects) == (second,)

    def test_what_is_part_of_a_log_is_not_that(self, store: Store) -> None:
        record = put_in_log(store, 1, b"a summary")
        (kept,) = choose(store, [str(record.objects[0])])
        assert kept.kind is RootKind.KEEP

    def test_a_name_a_root_and_a_documents_digest(self, store: Store, document: Path) -> None:
        folded = store.roots()[0]
        root = put(store, b"first")
        tagged = store.tag("first", str(root.objects[0]))
        assert ids(choose(store, ["first"])) == [tagged.id]
        assert ids(choose(store, [root.id])) == [root.id]
        assert folded.document is not None
        assert ids(choose(store, [folded.document.digest.hex])) == [folded.id]
        assert ids(choose(store, ["first", root.id, "first"])) == [tagged.id, root.id], "each once"

    def test_what_is_forgotten_is_not_chosen(self, store: Store) -> None:
        root = put(store, b"first")
        store.forget(RootChoice(roots=(root.id,)))
        with pytest.raises(NotFound, match="forgotten"):
            choose(store, [root.id])
        assert choose(store, [], everything=True) == []


class TestWhatComesWithIt:
    def test_what_it_is_based_on_comes_before_it(self, store: Store) -> None:
        base = put(store, b"base")
        with store.batch() as batch:
            staged = batch.stage(b"above")
            above = batch.commit(RootDraft(RootKind.PUT, (staged.digest,), source_name="x", base=base.id))
        assert ids(choose(store, [above.id])) == [base.id, above.id]
        assert ids(choose(store, [], everything=True)) == [base.id, above.id]

    def test_a_root_of_a_log_comes_with_the_whole_log(self, store: Store) -> None:
        places = (1, 2, STATE)
        roots = {place: put_in_log(store, place, b"%d" % place if place else b"state") for place in places}
        assert ids(choose(store, [roots[2].id])) == ids([roots[1], roots[2], roots[STATE]])

    def test_everything_is_what_the_caller_sees(self, store: Store) -> None:
        mine, theirs = put(store, b"mine"), put(store, b"theirs", scope="them")
        assert ids(choose(store, [], everything=True)) == [mine.id, theirs.id]
        seen = Store.open(store.folder, clock=store.parts.clock, access=Access(grants=("them",)))
        assert ids(choose(seen, [], everything=True)) == [theirs.id]
        with pytest.raises(ObjectMissing):
            choose(seen, [str(mine.objects[0])])
        seen.close()


class TestMeaningNothing:
    def test_then_no_root_is_made(self, store: Store, document: Path) -> None:
        edited = document.with_name("edited.json")
        edited.write_bytes(document.read_bytes() + b"\n")
        before = ids(store.roots())
        with pytest.raises(NameMissing, match="no file, object or name 'nothing'"):
            choose(store, [str(edited), "nothing"])
        assert ids(store.roots()) == before

    def test_a_file_that_is_no_document_is_refused(self, store: Store, tmp_path: Path) -> None:
        plain = tmp_path / "plain.json"
        plain.write_text("{}")
        with pytest.raises(DocumentInvalid, match="nothing to keep"):
            choose(store, [str(plain)])

    def test_what_may_be_either_is_refused(
        self,
        store: Store,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        store.tag("first", str(put(store, b"first").objects[0]))
        (tmp_path / "first").write_text("{}")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InvalidOption, match="the store knows it too"):
            choose(store, ["first"])


def put_in_log(store: Store, place: int, data: bytes) -> Root:
    with store.batch() as batch:
        staged = batch.stage(data)
        return batch.commit(RootDraft(RootKind.COLLAPSE, (staged.digest,), source_name="s", place=place))
