"""A commit is one transaction: all of it is there, or nothing of it is."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from castore.config import FRAME_BYTES
from castore.digest import Digest
from castore.errors import NameTaken, ObjectDamaged, ObjectMissing
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.objects.database import Look, Staged
from castore.roots.model import Content, RootDraft, RootKind
from castore.store import Store, staging
from castore.store.keeping import RootChoice

from .conftest import everything, file_of, overwrite, put


class TestCommit:
    def test_what_was_committed_is_there_for_everybody(self, store: Store) -> None:
        root = put(store, b"one", b"", b"two" * 1000, name="mine")
        other = Store.open(store.folder)
        assert {other.read(digest) for digest in root.objects} == {b"one", b"", b"two" * 1000}
        assert [each.id for each in other.roots()] == [root.id]
        other.close()

    def test_what_was_not_committed_leaves_nothing(self, store: Store) -> None:
        before = everything(Path(store.folder))
        with store.batch() as batch:
            batch.stage(b"small")
            batch.stage(os.urandom(200_000))
            batch.stage_chunks([b"in", b"pieces"])
        assert everything(Path(store.folder)) == before
        assert os.listdir(store.parts.layout.tmp) == []

    def test_the_same_bytes_staged_twice_are_one_object(self, store: Store) -> None:
        with store.batch() as batch:
            first, second = batch.stage(b"same"), batch.stage_chunks([b"sa", b"me"])
            assert first is second
            batch.commit(RootDraft(RootKind.PUT, (first.digest, second.digest)))
        assert (batch.objects_new, batch.objects_existing) == (1, 0)

    def test_staging_from_many_threads(self, store: Store) -> None:
        pieces = [b"%d," % (number % 50) * 9000 for number in range(200)]
        with store.batch() as batch, ThreadPoolExecutor(8) as pool:
            staged = list(pool.map(batch.stage, pieces))
            batch.commit(RootDraft(RootKind.PUT, tuple(each.digest for each in staged)))
        assert batch.objects_new == 50
        assert [store.read(each.digest) for each in staged] == pieces
        assert os.listdir(store.parts.layout.tmp) == []

    def test_a_root_may_only_name_what_is_there_or_was_supplied(self, store: Store) -> None:
        absent = Digest.of(b"nobody has these bytes")
        before = everything(Path(store.folder))
        with store.batch() as batch, pytest.raises(ObjectMissing):
            batch.commit(RootDraft(RootKind.KEEP, (batch.stage(b"x").digest, absent)))
        assert everything(Path(store.folder)) == before
        assert store.roots() == []

    def test_a_taken_name_publishes_nothing(self, store: Store) -> None:
        put(store, b"first", name="taken")
        before = everything(Path(store.folder))
        with store.batch() as batch, pytest.raises(NameTaken) as failure:
            batch.commit(RootDraft(RootKind.PUT, (batch.stage(b"second").digest,), name="taken"))
        assert failure.value.exit_code == 15
        assert everything(Path(store.folder)) == before
        put(store, b"second", name="taken", scope="another")

    def test_doing_the_same_again_finds_the_same_root(self, store: Store) -> None:
        first = put(store, b"x", b"y")
        before = everything(Path(store.folder))
        assert put(store, b"y", b"x") == first
        assert everything(Path(store.folder)) == before


class TestObjectThatIsThereAlready:
    def test_a_good_one_is_kept(self, store: Store) -> None:
        (digest,) = put(store, b"data" * 100).objects
        inode = file_of(store, digest).stat().st_ino
        with store.batch() as batch:
            staged = batch.stage(b"data" * 100)
            batch.commit(RootDraft(RootKind.PUT, (digest,), source_name="again"))
        assert file_of(store, digest).stat().st_ino == inode
        assert not staged.is_new
        assert (batch.objects_new, batch.objects_existing) == (0, 1)

    @pytest.mark.parametrize("size", [400, FRAME_BYTES + 400])
    def test_a_damaged_one_is_replaced(self, store: Store, size: int) -> None:
        data = os.urandom(size)
        (digest,) = put(store, data).objects
        file = file_of(store, digest)
        for bad in (b"", b"junk", file.read_bytes()[:-1], file.read_bytes() + b"x"):
            overwrite(file, bad)
            with pytest.raises(ObjectDamaged):
                store.read(digest)
            put(store, data)
            assert store.read(digest) == data
            assert list(verify(store)) == []

    def test_a_link_in_its_place_is_not_followed_and_is_replaced(self, store: Store, tmp_path: Path) -> None:
        (digest,) = put(store, b"data").objects
        file = file_of(store, digest)
        elsewhere = tmp_path / "elsewhere"
        elsewhere.write_bytes(file.read_bytes())
        file.unlink()
        file.symlink_to(elsewhere)
        with pytest.raises(ObjectDamaged):
            store.read(digest)
        put(store, b"data")
        assert not file.is_symlink()
        assert elsewhere.exists()

    def test_one_that_a_sweep_took_meanwhile_is_put_again(self, store: Store) -> None:
        (digest,) = put(store, b"data").objects
        with store.batch() as batch:
            staged = batch.stage(b"data")
            assert not staged.is_new
            store.forget(RootChoice(references=(digest.hex,)), at_once=True)
            assert sweep(store).objects == 1
            batch.commit(RootDraft(RootKind.PUT, (digest,)))
        assert store.read(digest) == b"data"

    def test_one_that_was_damaged_meanwhile_is_put_again(self, store: Store) -> None:
        (digest,) = put(store, b"data").objects
        with store.batch() as batch:
            batch.stage(b"data")
            overwrite(file_of(store, digest), b"junk")
            batch.commit(RootDraft(RootKind.PUT, (digest,), source_name="again"))
        assert store.read(digest) == b"data"


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
class TestManyFiles:
    @pytest.mark.parametrize("processes", [1, 2, 3])
    def test_the_order_of_the_paths_and_an_error_for_each_that_is_not_readable(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int
    ) -> None:
        monkeypatch.setattr(staging, "_processes", lambda count: processes)
        paths, contents = [], []
        for number in range(600):
            path = tmp_path / f"f{number}"
            contents.append(b"%d " % (number % 500) * (number % 70))
            path.write_bytes(contents[-1])
            paths.append(str(path))
        big = tmp_path / "big"
        big.write_bytes(os.urandom(FRAME_BYTES + 5))
        paths[300:300] = [str(tmp_path / "absent"), str(tmp_path), str(big)]
        contents[300:300] = [b"", b"", big.read_bytes()]
        with store.batch() as batch:
            results = batch.stage_files(paths)
            staged = [each for each in results if not isinstance(each, OSError)]
            batch.commit(RootDraft(RootKind.PUT, tuple(each.digest for each in staged)))
        for each, content, result in zip(paths, contents, results, strict=True):
            if isinstance(result, OSError):
                assert each in (str(tmp_path / "absent"), str(tmp_path))
                assert result.filename == each
            else:
                assert store.read(result.digest) == content
        assert list(verify(store)) == []
        assert os.listdir(store.parts.layout.tmp) == []

    def test_a_process_that_dies_leaves_its_files_to_the_others(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(staging, "_processes", lambda count: 2)
        parent = os.getpid()
        honest = store.parts.database.stage

        def dies_in_the_child(data: bytes, *, hold: bool, look: Look) -> Staged:
            if os.getpid() != parent and data == b"70":
                os.kill(os.getpid(), signal.SIGKILL)
            return honest(data, hold=hold, look=look)

        monkeypatch.setattr(store.parts.database, "stage", dies_in_the_child)
        for number in range(100):
            (tmp_path / f"f{number}").write_bytes(b"%d" % number)
        with store.batch() as batch:
            results = batch.stage_files([str(tmp_path / f"f{number}") for number in range(100)])
            digests = tuple(each.digest for each in results if isinstance(each, Staged))
            assert len(digests) == 100
            batch.commit(RootDraft(RootKind.PUT, digests))
        assert [store.read(digest) for digest in digests] == [b"%d" % number for number in range(100)]
        assert os.listdir(store.parts.layout.tmp) == []

    def test_no_files(self, store: Store) -> None:
        with store.batch() as batch:
            assert batch.stage_files([]) == []


class TestResolve:
    def test_digests_names_references_and_markers(self, store: Store) -> None:
        (digest,) = put(store, b"data", name="mine").objects
        marker = f"[ctx {digest.short}: tool result, 4 bytes, 1 lines]"
        reference = f'{{"$ctx":{{"kind":"string","digest":"{digest}","size":4}}}}'
        for text in (
            str(digest),
            digest.hex,
            digest.hex[:6],
            "sha256:" + digest.hex[:9],
            digest.hex.upper()[:8],
        ):
            assert store.resolve(text) == digest
        for text in ("mine", marker, reference, f"  {reference}\n"):
            assert store.resolve(text) == digest

    def test_what_is_not_there(self, store: Store) -> None:
        from castore.errors import NameMissing, NotFound

        put(store, b"data")
        for text in ("0" * 64, "0" * 8):
            for ask in (store.resolve, store.find):
                with pytest.raises(ObjectMissing):
                    ask(text)
        for text in ("nobody", "12345", "", "../../etc/passwd", "{", '{"$ctx":[]}', "[ctx x]"):
            with pytest.raises(NameMissing):
                store.resolve(text)
        put(store, b"one", b"two", name="both")
        with pytest.raises(NotFound, match="name 'both' names 2 objects"):
            store.resolve("both")

    def test_a_beginning_that_two_share_lists_both(self, store: Store) -> None:
        from castore.errors import DigestAmbiguous

        (digest,) = put(store, b"data").objects
        twin = digest.hex[:10] + "0" * 54
        file_of(store, Digest(twin)).write_bytes(b"")
        with pytest.raises(DigestAmbiguous) as failure:
            store.resolve(digest.hex[:8])
        assert sorted(failure.value.fields["candidates"] or ()) == sorted([f"sha256:{twin}", str(digest)])  # type: ignore[arg-type]


class TestFind:
    def test_an_object_first_then_what_names_it(self, store: Store) -> None:
        one = put(store, b"one", name="mine")
        both = put(store, b"one", b"two", name="both")
        assert store.find("mine") == store.find(one.objects[0].hex[:8]) == one.objects[0]
        assert store.find("both") == store.find(both.id) == store.find(both.id[:16]) == (both,)

    def test_a_document_is_its_roots_unless_it_was_put_too(self, store: Store) -> None:
        document = Content(Digest.of(b"folded"), 6)
        with store.batch() as batch:
            objects = (batch.stage(b"a").digest,)
            draft = RootDraft(RootKind.DOCUMENT, objects, document=document, name="doc")
            root = batch.commit(draft)
        later = store.tag("release", str(document.digest))
        assert store.find("doc") == (root,)
        assert store.resolve("doc") == objects[0]
        assert store.find(document.digest.hex[:9]) == store.find(str(document.digest)) == (later, root)
        put(store, b"folded")
        assert store.find(document.digest.hex[:9]) == document.digest

    def test_digits_that_begin_two_things_list_both(self, store: Store) -> None:
        from castore.errors import DigestAmbiguous

        root = put(store, b"a", b"b")
        twin = Digest(root.id[:10] + "0" * 54)
        with store.batch() as batch:
            batch.commit(RootDraft(RootKind.DOCUMENT, root.objects, document=Content(twin, 1)))
        with pytest.raises(DigestAmbiguous) as failure:
            store.find(root.id[:10])
        assert failure.value.fields["candidates"] == sorted([root.id, str(twin)])


class TestTag:
    def test_a_tag_keeps_all_objects_of_a_document(self, store: Store) -> None:
        with store.batch() as batch:
            objects = tuple(batch.stage(piece).digest for piece in (b"a", b"b"))
            document = Content(Digest.of(b"folded"), 6)
            batch.commit(RootDraft(RootKind.DOCUMENT, objects, document=document))
        root = store.tag("release", document.digest.hex[:12])
        assert set(root.objects) == set(objects)
        assert root.document == document
        store.forget(RootChoice(references=(document.digest.hex,)), at_once=True)
        assert sweep(store).objects == 0
        assert store.read(objects[0]) == b"a"

    def test_a_name_is_moved_only_if_asked(self, store: Store) -> None:
        one, two = put(store, b"one").objects[0], put(store, b"two").objects[0]
        first = store.tag("mine", one.hex)
        assert store.tag("mine", str(one)) == first
        with pytest.raises(NameTaken):
            store.tag("mine", two.hex)
        assert store.resolve("mine") == one
        store.tag("mine", two.hex, move=True)
        assert store.resolve("mine") == two
        assert len(store.named_roots("mine")) == 1
