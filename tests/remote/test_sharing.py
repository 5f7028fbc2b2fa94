"""From one store to another through a bucket: what was pushed is pulled, exact, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from castore import api
from castore.digest import Digest
from castore.errors import (
    DocumentInvalid,
    NameMoved,
    NotFound,
    RemoteDamaged,
    RemoteMissing,
    RemoteUnavailable,
    RootsDiverged,
    ScopeDenied,
)
from castore.fold.check import opened
from castore.objects.finding import FindingName
from castore.remote import batching
from castore.remote.bucket import Bucket
from castore.remote.choosing import choose
from castore.remote.connecting import connect
from castore.remote.fetch import Fetcher, fetch
from castore.remote.forgetting import forget
from castore.remote.keys import object_key, root_key
from castore.remote.pull import PullReport, pull
from castore.remote.push import PushReport, push
from castore.remote.sweeps import Sweeping
from castore.remote.verifying import verify_at_remote
from castore.roots.files import decode_root, encode_root
from castore.roots.model import LAST, STATE, Root, RootDraft, RootKind
from castore.settings import RemoteSettings
from castore.store import Access, Store
from castore.store.importing import Outcome
from castore.store.keeping import RootChoice

DOCUMENT = json.dumps({"rows": [{"id": number, "text": f"row {number} " * 9} for number in range(400)]})
OTHER = json.dumps({"log": [f"line {number} of another document" for number in range(900)]})


@pytest.fixture
def bucket(tmp_path: Path) -> Bucket:
    return connect("origin", RemoteSettings(url=f"file://{tmp_path}/bucket"))


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Store]:
    store = Store.init(tmp_path / "here")
    yield store
    store.close()


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Store]:
    store = Store.init(tmp_path / "there")
    yield store
    store.close()


@pytest.fixture
def path(tmp_path: Path, here: Store) -> Path:
    """A document, folded into the store `here`."""
    return folded(here, tmp_path / "folded.json")


def folded(store: Store, path: Path, text: str = DOCUMENT, **options: Any) -> Path:
    path.write_bytes(api.fold_bytes(store, text.encode(), **options))
    return path


def unfolded(store: Store, path: Path) -> str:
    return api.unfold_bytes(store, path.read_bytes()).decode()


def pushed(store: Store, bucket: Bucket, *texts: object, **options: Any) -> PushReport:
    return push(store, bucket, choose(store, [str(text) for text in texts]), **options)


def pulled(store: Store, bucket: Bucket, *texts: object, **options: Any) -> PullReport:
    return pull(store, bucket, [str(text) for text in texts], **options)


def objects_of(store: Store) -> set[Digest]:
    return set(store.parts.source.digests())


class TestExact:
    def test_a_document_comes_back_in_another_store(
        self, bucket: Bucket, here: Store, there: Store, path: Path
    ) -> None:
        report = pushed(here, bucket, path)
        assert report.objects_sent == len(objects_of(here)) > 0
        assert not report.refused
        pulled(there, bucket, path)
        assert unfolded(there, path) == DOCUMENT
        assert {root.id for root in there.roots()} == {root.id for root in here.roots()}

    def test_files_are_copied_and_not_compressed_again(
        self, bucket: Bucket, here: Store, there: Store, path: Path
    ) -> None:
        pushed(here, bucket, path)
        pulled(there, bucket, path)
        for digest in objects_of(here):
            found = bucket.get(object_key(digest))
            assert found is not None
            assert found[0] == here.parts.source.get(digest) == there.parts.source.get(digest)

    def test_a_root_says_there_what_it_says_here(self, bucket: Bucket, here: Store, path: Path) -> None:
        pushed(here, bucket, path)
        root = here.roots()[0]
        found = bucket.get(root_key(root.id))
        assert found is not None
        assert found[0] == Path(here.parts.layout.root_file(root.id)).read_bytes()

    def test_a_view_comes_with_what_takes_it_back(
        self, bucket: Bucket, here: Store, there: Store, tmp_path: Path
    ) -> None:
        from tests.transcript.growing import session as growing_session

        session = growing_session(40)
        view = tmp_path / "view.json"
        view.write_bytes(api.view_bytes(here, session))
        pushed(here, bucket, view)
        pulled(there, bucket, view)
        assert api.unfold_bytes(there, view.read_bytes()) == session

    def test_all_of_a_store(self, bucket: Bucket, here: Store, there: Store, tmp_path: Path) -> None:
        paths = [
            folded(here, tmp_path / f"{number}.json", DOCUMENT.replace("row", f"row {number}"))
            for number in range(5)
        ]
        push(here, bucket, choose(here, [], everything=True))
        pull(there, bucket, everything=True)
        assert [unfolded(there, path) for path in paths] == [unfolded(here, path) for path in paths]


class TestAgain:
    def test_a_second_push_sends_nothing(self, bucket: Bucket, here: Store, path: Path) -> None:
        pushed(here, bucket, path)
        again = pushed(here, bucket, path)
        assert (again.objects_sent, [each.is_changed for each in again.pushed]) == (0, [False])

    def test_a_second_pull_brings_nothing(
        self, bucket: Bucket, here: Store, there: Store, path: Path
    ) -> None:
        pushed(here, bucket, path)
        pulled(there, bucket, path)
        again = pulled(there, bucket, path)
        assert (again.objects, [each.outcome for each in again.imported]) == (0, [Outcome.SAME])

    def test_what_is_there_of_another_document_is_not_sent(
        self, bucket: Bucket, here: Store, path: Path, tmp_path: Path
    ) -> None:
        pushed(here, bucket, path)
        both = folded(here, tmp_path / "both.json", f"[{DOCUMENT},{OTHER}]")
        report = pushed(here, bucket, both)
        assert (report.objects_sent, report.objects_there) == (1, 1)


class TestBatches:
    def test_what_is_based_on_what_was_refused_is_refused_in_a_later_one(
        self, bucket: Bucket, here: Store, there: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        digest = api.put(here, b"what is kept " * 90)
        here.tag("latest", digest.hex)
        [base] = here.named_roots("latest")
        here.keep([RootDraft(RootKind.KEEP, (digest,), base=base.id)])
        there.tag("latest", api.put(there, b"another " * 90).hex)
        push(here, bucket, choose(here, [], everything=True))
        monkeypatch.setattr(batching, "BATCH_ROOTS_MAX", 1)
        outcomes = [each.outcome for each in pull(there, bucket, everything=True).imported]
        assert outcomes.count(Outcome.NAME_TAKEN) == 2


class TestWaiting:
    def test_it_is_told_once_and_ends_with_the_gc(self, bucket: Bucket, here: Store, path: Path) -> None:
        roots = choose(here, [str(path)])
        told = []

        def ended() -> None:
            told.append("waits")
            bucket.delete([sweep.key])

        with Sweeping(bucket, [object_key(roots[0].objects[0])]) as sweep:
            push(here, bucket, roots, on_wait=ended)
        assert told == ["waits"]
        assert bucket.head(root_key(roots[0].id)) is not None


class TestNames:
    def test_a_name_moves_from_where_it_was_last_seen(
        self, bucket: Bucket, here: Store, there: Store, path: Path, tmp_path: Path
    ) -> None:
        here.tag("latest", first_object(here))
        pushed(here, bucket, "latest")
        pulled(there, bucket, "latest")
        there.tag("latest", api.put(there, b"newer " * 400).hex, move=True)
        assert not pushed(there, bucket, "latest").refused
        pulled(here, bucket, "latest")
        assert here.resolve("latest") == there.resolve("latest")

    def test_who_did_not_see_the_last_move_is_told(
        self, bucket: Bucket, here: Store, there: Store, path: Path
    ) -> None:
        for store in (here, there):
            digest = api.put(store, f"of {store.folder} ".encode() * 400)
            store.tag("latest", digest.hex)
        pushed(here, bucket, "latest")
        [refused] = pushed(there, bucket, "latest").refused
        assert isinstance(refused.error, NameMoved)
        assert refused.error.exit_code == 15

    def test_by_force_it_moves_and_what_had_it_is_forgotten(
        self, bucket: Bucket, here: Store, there: Store
    ) -> None:
        for store in (here, there):
            store.tag("latest", api.put(store, f"of {store.folder} ".encode() * 400).hex)
        pushed(here, bucket, "latest")
        assert not pushed(there, bucket, "latest", move=True).refused
        [old] = here.named_roots("latest")
        found = bucket.get(root_key(old.id))
        assert found is not None
        assert b'"forgotten"' in found[0]

    def test_what_has_a_name_here_keeps_it_from_a_pull(
        self, bucket: Bucket, here: Store, there: Store
    ) -> None:
        for store in (here, there):
            store.tag("latest", api.put(store, f"of {store.folder} ".encode() * 400).hex)
        before = there.resolve("latest")
        pushed(here, bucket, "latest")
        [imported] = pulled(there, bucket, "latest").imported
        assert imported.outcome is Outcome.NAME_TAKEN
        assert there.resolve("latest") == before
        pulled(there, bucket, "latest", move=True)
        assert there.resolve("latest") == here.resolve("latest")


def log_of(store: Store, *records: str) -> list[Root]:
    """The log of a session has these records from now on, after those that it has."""
    have = store.log(RootKind.COLLAPSE, "session").records
    drafts = [
        RootDraft(
            RootKind.COLLAPSE, (api.put(store, each.encode() * 90),), source_name="session", place=place
        )
        for place, each in enumerate(records, start=len(have) + 1)
    ]
    return store.keep(drafts)


def state_of(store: Store, says: str, last: int) -> Root:
    """The state of the log, in place of the one that is there."""
    there = store.log(RootKind.COLLAPSE, "session").state
    draft = RootDraft(
        RootKind.COLLAPSE,
        (),
        source_name="session",
        place=STATE,
        details={"says": says, LAST: last},
        replaces=0 if there is None else there.sequence,
    )
    [root] = store.keep([draft])
    return root


def says(store: Store) -> object:
    state = store.log(RootKind.COLLAPSE, "session").state
    return None if state is None else state.details["says"]


def there_of(bucket: Bucket) -> list[int]:
    """The places of the log's records and state that are in the bucket."""
    found = [decode_root(bucket.get(entry.key)[0], "") for entry in bucket.entries("roots/")]  # type: ignore[index]
    return sorted(root.place for root in found if root.place is not None)


class TestLogs:
    def all(self, store: Store) -> list[Root]:
        return choose(store, [], everything=True)

    def test_two_logs_of_one_session_are_not_mixed(self, bucket: Bucket, here: Store, there: Store) -> None:
        log_of(here, "a 1", "a 2")
        log_of(there, "b 1", "b 2", "b 3")
        state_of(there, "of b", 3)
        push(here, bucket, self.all(here))
        report = push(there, bucket, self.all(there))
        assert [type(each.error) for each in report.refused] == [RootsDiverged] * 4
        assert there_of(bucket) == [1, 2]
        assert report.objects_sent == len([each for each in report.pushed if each.root.place is None])

    def test_nor_by_a_pull_whose_batches_end_within_a_log(
        self, bucket: Bucket, here: Store, there: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log_of(here, "a 1", "a 2", "a 3", "a 4")
        push(here, bucket, self.all(here))
        pull(there, bucket, [self.all(here)[0].id])
        log_of(there, "b 1", "b 2")
        before = there.log(RootKind.COLLAPSE, "session").records
        monkeypatch.setattr(batching, "BATCH_ROOTS_MAX", 1)
        pull(there, bucket, everything=True)
        assert there.log(RootKind.COLLAPSE, "session").records == before

    def test_one_that_went_on_from_what_is_there_goes_on(
        self, bucket: Bucket, here: Store, there: Store
    ) -> None:
        log_of(here, "1", "2")
        push(here, bucket, self.all(here))
        pull(there, bucket, everything=True)
        log_of(there, "3")
        log_of(here, "another 3", "another 4")
        assert not push(there, bucket, self.all(there)).refused
        assert len(push(here, bucket, self.all(here)).refused) == 2
        assert there_of(bucket) == [1, 2, 3]

    def test_a_killed_push_leaves_no_hole(
        self, bucket: Bucket, here: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log_of(here, *"123456")
        state_of(here, "all", 6)
        create = bucket.create

        def cut(key: str, data: bytes) -> bool:
            if key.startswith("roots/") and decode_root(data, key).place == 4:
                raise RemoteUnavailable("origin", "cut")
            return create(key, data)

        monkeypatch.setattr(bucket, "create", cut)
        with pytest.raises(RemoteUnavailable):
            push(here, bucket, self.all(here))
        assert there_of(bucket) == [1, 2, 3]

    def test_a_state_follows_the_one_that_it_was_made_from(
        self, bucket: Bucket, here: Store, there: Store
    ) -> None:
        log_of(here, "1")
        for words, one, other in (("first", here, there), ("second", here, there), ("third", there, here)):
            state_of(one, words, 1)
            assert not push(one, bucket, self.all(one)).refused
            pull(other, bucket, everything=True)
            assert says(other) == words

    def test_what_is_older_undoes_nothing(self, bucket: Bucket, here: Store, there: Store) -> None:
        log_of(here, "1")
        state_of(here, "first", 1)
        push(here, bucket, self.all(here))
        pull(there, bucket, everything=True)
        state_of(here, "second", 1)
        pull(here, bucket, everything=True)
        assert says(here) == "second"
        push(here, bucket, self.all(here))
        assert not push(there, bucket, self.all(there)).refused
        pull(there, bucket, everything=True)
        assert says(there) == "second"

    def test_two_that_were_changed_apart_are_told(self, bucket: Bucket, here: Store, there: Store) -> None:
        log_of(here, "1")
        state_of(here, "first", 1)
        push(here, bucket, self.all(here))
        pull(there, bucket, everything=True)
        state_of(here, "of here", 1)
        state_of(there, "of there", 1)
        push(here, bucket, self.all(here))
        [refused] = push(there, bucket, self.all(there)).refused
        assert isinstance(refused.error, RootsDiverged)
        outcomes = {each.outcome for each in pull(there, bucket, everything=True).imported}
        assert Outcome.DIVERGED in outcomes
        assert says(there) == "of there"
        pull(there, bucket, [refused.root.id], move=True)
        assert says(there) == "of here"

    @pytest.mark.parametrize("records", [1, 2, 3])
    @pytest.mark.parametrize("kept", ["the one here", "the one there"])
    def test_forgetting_one_of_two_lets_the_other_in(
        self, bucket: Bucket, here: Store, there: Store, kept: str, records: int
    ) -> None:
        """As the hint of RootsDiverged says, whichever of them is longer."""
        log_of(there, "a 1", "a 2")
        state_of(there, "of there", 2)
        push(there, bucket, self.all(there))
        log_of(here, *(f"b {number}" for number in range(records)))
        state_of(here, "of here", records)
        root_id = push(here, bucket, self.all(here)).refused[0].root.id
        if kept == "the one here":
            forget(here, bucket, [root_id], at_once=True)
            report = push(here, bucket, choose(here, [root_id]), restore=True)
            assert (report.refused, len(report.pushed)) == ([], records + 1)
            there.forget(RootChoice(roots=(root_id,)), at_once=True)
        else:
            here.forget(RootChoice(roots=(root_id,)), at_once=True)
        for store in (here, there):
            done = pull(store, bucket, everything=True)
            assert {each.outcome for each in done.imported} <= {Outcome.NEW, Outcome.SAME, Outcome.FORGOTTEN}
            assert says(store) == f"of {kept.split()[-1]}"
        said = [store.log(RootKind.COLLAPSE, "session").records for store in (here, there)]
        assert [root.objects for root in said[0]] == [root.objects for root in said[1]]
        assert len(said[0]) == (records if kept == "the one here" else 2)

    def test_the_file_of_a_session_is_its_log(
        self, bucket: Bucket, here: Store, there: Store, tmp_path: Path
    ) -> None:
        """Of one that was collapsed here; and there, to who has the file."""
        from castore.transcript.collapse.session import session_key
        from castore.transcript.formats import ReadOptions, read_transcript
        from castore.transcript.records import read_records
        from tests.transcript.growing import session as growing_session

        file = tmp_path / "session.jsonl"
        file.write_bytes(growing_session(20))
        with pytest.raises(DocumentInvalid):
            choose(here, [str(file)])
        name = session_key(read_transcript(read_records(file.read_bytes()), ReadOptions()))
        kept = [api.put(here, f"record {number} ".encode() * 90) for number in range(2)]
        drafts = [
            RootDraft(RootKind.COLLAPSE, (digest,), source_name=name, place=place)
            for place, digest in enumerate(kept, start=1)
        ]
        state = RootDraft(RootKind.COLLAPSE, (), source_name=name, place=STATE, details={LAST: 2}, replaces=0)
        log = here.keep([*drafts, state])
        assert [each.root.id for each in pushed(here, bucket, file).pushed] == [root.id for root in log]
        assert {each.root.id for each in pulled(there, bucket, file).imported} == {root.id for root in log}
        forget(here, bucket, [str(file)])
        with pytest.raises(NotFound, match="forgotten at 'origin'"):
            pulled(there, bucket, file)


class TestDamageThere:
    @pytest.mark.parametrize("how", ["cut", "swapped", "gone"])
    def test_it_is_told_and_nothing_of_its_root_comes(
        self, bucket: Bucket, here: Store, there: Store, path: Path, how: str
    ) -> None:
        pushed(here, bucket, path)
        damage(bucket, next(iter(objects_of(here))), how)
        report = pulled(there, bucket, path)
        [lost] = report.lost
        assert isinstance(lost.error, RemoteDamaged)
        assert (there.roots(), objects_of(there)) == ([], set())
        names = {finding.name for finding in verify_at_remote(here, bucket, opened([str(path)]), whole=True)}
        assert names == {FindingName.MISSING if how == "gone" else FindingName.DAMAGED}

    @pytest.mark.parametrize("how", ["cut", "swapped"])
    def test_pushing_anew_mends_it(
        self, bucket: Bucket, here: Store, there: Store, path: Path, how: str
    ) -> None:
        pushed(here, bucket, path)
        damage(bucket, next(iter(objects_of(here))), how)
        pushed(here, bucket, path, anew=True)
        pulled(there, bucket, path)
        assert unfolded(there, path) == DOCUMENT

    def test_a_root_that_is_not_what_was_written(
        self, bucket: Bucket, here: Store, there: Store, path: Path
    ) -> None:
        pushed(here, bucket, path)
        key = root_key(here.roots()[0].id)
        found = bucket.get(key)
        assert found is not None
        bucket.put(key, found[0].replace(b'"default"', b'"another"'))
        with pytest.raises(RemoteDamaged):
            pulled(there, bucket, path)

    @pytest.mark.parametrize("how", ["not JSON", "of another scope", "on a base that is gone"])
    def test_a_damaged_root_keeps_no_other_from_coming(
        self, bucket: Bucket, here: Store, there: Store, path: Path, tmp_path: Path, how: str
    ) -> None:
        both = folded(here, tmp_path / "both.json", OTHER)
        push(here, bucket, choose(here, [], everything=True))
        [root] = here.document_roots(Digest.of(both.read_bytes()))
        changed = {
            "not JSON": b"{",
            "of another scope": encode_root(replace(root, scope="team/b")),
            "on a base that is gone": encode_root(replace(root, base="0" * 32)),
        }
        bucket.put(root_key(root.id), changed[how])
        report = pull(there, bucket, everything=True)
        assert [type(error) for error in report.damaged] == [RemoteDamaged]
        assert unfolded(there, path) == DOCUMENT
        assert len(there.roots()) == 1
        with pytest.raises(RemoteDamaged):
            pulled(there, bucket, both)

    def test_damage_here_is_not_sent(self, bucket: Bucket, here: Store, path: Path) -> None:
        from castore.errors import ObjectDamaged

        digest = next(iter(objects_of(here)))
        file = Path(here.parts.layout.object_file(digest.hex))
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.chmod(0o600)
        file.write_bytes(data)
        report = pushed(here, bucket, path)
        assert (report.pushed, [type(each.error) for each in report.refused]) == ([], [ObjectDamaged])
        assert bucket.head(object_key(digest)) is None
        assert list(bucket.entries("roots/")) == []

    def test_what_is_based_on_what_is_damaged_here_is_refused_too(self, bucket: Bucket, here: Store) -> None:
        lost = api.put(here, b"what will be lost " * 90)
        base = here.keep([RootDraft(RootKind.KEEP, (lost,))])[0]
        kept = api.put(here, b"what stays " * 90)
        here.keep([RootDraft(RootKind.TAG, (kept,), name="based", base=base.id)])
        Path(here.parts.layout.object_file(lost.hex)).unlink()
        report = push(here, bucket, choose(here, [], everything=True))
        assert {each.root.name for each in report.refused} >= {"based"}
        assert [each.root.objects for each in report.pushed] == [(kept,)]


class TestScopes:
    def test_only_roots_of_granted_scopes_are_found(
        self, bucket: Bucket, here: Store, tmp_path: Path
    ) -> None:
        path = folded(here, tmp_path / "secret.json", scope="team/a")
        push(here, bucket, choose(here, [str(path)]))
        other = Store.init(tmp_path / "other", access=Access(("team/b",)))
        digest = next(iter(objects_of(here)))
        for text in (str(path), digest.hex, here.roots()[0].id):
            with pytest.raises(NotFound):
                pulled(other, bucket, text)
        assert pull(other, bucket, everything=True).imported == []
        assert [finding.name for finding in verify_at_remote(other, bucket, opened([str(path)]))] == [
            FindingName.MISSING
        ]
        other.close()

    def test_how_many_roots_others_have_is_not_carried_out(
        self, bucket: Bucket, here: Store, tmp_path: Path
    ) -> None:
        folded(here, tmp_path / "other.json", OTHER, scope="team/b")
        ours = Store.open(here.folder, access=Access(("team/a",)))
        pushed(ours, bucket, folded(ours, tmp_path / "a.json"))
        [entry] = bucket.entries("roots/")
        found = bucket.get(entry.key)
        assert found is not None
        assert json.loads(found[0])["created"]["sequence"] == 0
        ours.close()

    def test_a_remote_grants_less_than_the_store(self, here: Store, tmp_path: Path) -> None:
        settings = RemoteSettings(url=f"file://{tmp_path}/bucket", granted=("team/b",))
        path = folded(here, tmp_path / "a.json", scope="team/a")
        with pytest.raises(ScopeDenied):
            pushed(here, connect("origin", settings), path)


class TestOnDemand:
    def test_objects_come_when_they_are_read(
        self, bucket: Bucket, here: Store, there: Store, path: Path
    ) -> None:
        from castore.remote.remotes import add

        pushed(here, bucket, path)
        add(there, "origin", bucket.settings)
        pulled(there, bucket, path, lazily=True)
        assert objects_of(there) == set()
        there.fetcher = Fetcher()
        assert unfolded(there, path) == DOCUMENT
        assert objects_of(there) == objects_of(here)

    def test_fetch_brings_all_at_once(self, bucket: Bucket, here: Store, there: Store, path: Path) -> None:
        from castore.remote.remotes import add

        pushed(here, bucket, path)
        add(there, "origin", bucket.settings)
        pulled(there, bucket, path, lazily=True)
        there.fetcher = Fetcher()
        assert fetch(there, [str(path)]).objects == len(objects_of(here))
        there.fetcher = None
        assert unfolded(there, path) == DOCUMENT


class TestForgotten:
    def test_it_is_not_pushed_again_with_everything_but_by_name(
        self, bucket: Bucket, here: Store, path: Path
    ) -> None:
        pushed(here, bucket, path)
        [root] = forget(here, bucket, [str(path)])
        assert root.forgotten is not None
        everything = choose(here, [], everything=True)
        assert [each.id for each in push(here, bucket, everything).left] == [root.id]
        assert push(here, bucket, everything, restore=True).left == []
        assert forget(here, bucket, [str(path)], dry_run=True)

    def test_again_is_no_mistake_and_at_once_only_shortens(
        self, bucket: Bucket, here: Store, path: Path
    ) -> None:
        pushed(here, bucket, path)
        first = forget(here, bucket, [str(path)])
        assert forget(here, bucket, [str(path)]) == first
        [over] = forget(here, bucket, [str(path), first[0].id], at_once=True)
        assert over.expires is not None
        assert over.is_expired(here.parts.clock())
        assert forget(here, bucket, [str(path)]) == [over]

    def test_what_is_live_is_meant_before_what_is_forgotten(
        self, bucket: Bucket, here: Store, path: Path, tmp_path: Path
    ) -> None:
        both = folded(here, tmp_path / "both.json", f"[{DOCUMENT},{OTHER}]")
        pushed(here, bucket, path, both)
        digest = str(here.document_roots(Digest.of(path.read_bytes()))[0].objects[0])
        [small] = forget(here, bucket, [digest])
        [large] = forget(here, bucket, [digest])
        assert len(small.objects) < len(large.objects)

    def test_nothing_there(self, bucket: Bucket, here: Store, path: Path) -> None:
        with pytest.raises(RemoteMissing):
            forget(here, bucket, [str(path)])


def first_object(store: Store) -> str:
    return min(objects_of(store)).hex


def damage(bucket: Bucket, digest: Digest, how: str) -> None:
    key = object_key(digest)
    found = bucket.get(key)
    assert found is not None
    if how == "gone":
        bucket.delete([key])
    elif how == "cut":
        bucket.put(key, found[0][:-5])
    else:
        from castore.objects.database import encode_object

        bucket.put(key, encode_object(b"other bytes " * 90, 3).file)
