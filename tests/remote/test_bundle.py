"""Bundles: a plain tar that is a store, made the same each time; taken whole, or not at all."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import pytest

from castore import fold_bytes, unfold_bytes
from castore.digest import Digest
from castore.errors import (
    BaseMissing,
    BundleDamaged,
    CastoreError,
    LimitExceeded,
    NameTaken,
    ObjectDamaged,
    ObjectMissing,
    ObjectPurged,
    ScopeDenied,
)
from castore.gc.verify import verify
from castore.objects.database import encode_object
from castore.remote import bundle_tar
from castore.remote.bundle import create_bundle
from castore.remote.bundle_import import BundleImport, import_bundle
from castore.remote.bundle_tar import FORMAT_LINE, TarWriter, members
from castore.remote.choosing import choose
from castore.roots.files import encode_root
from castore.roots.model import REMOTE, Root, RootDraft, RootKind
from castore.store import Access, Store
from castore.store.keeping import RootChoice
from tests.remote.bundles import (
    FORMAT,
    again,
    bundle_of,
    contents,
    header,
    info,
    listed,
    made_root,
    objects_in,
    renamed,
    summed,
    tarred,
)
from tests.store.conftest import Clock, everything, file_of, overwrite, put

DOCUMENT = b'{"log": "' + b"some words of a log " * 900 + b'", "more": "' + b"x, y and z. " * 400 + b'"}'
LARGE = b"line of a large object\n" * 150_000


class Machine:
    """A store, and what its owner does with bundles."""

    def __init__(self, folder: Path, clock: Clock, access: Access | None = None) -> None:
        self.store = Store.init(folder, clock=clock, access=access)

    def bundled(self, *texts: str, everything: bool = False) -> bytes:
        target = io.BytesIO()
        create_bundle(self.store, target, choose(self.store, texts, everything=everything))
        return target.getvalue()

    def take(self, bundle: bytes, *, move: bool = False) -> BundleImport:
        return import_bundle(self.store, io.BytesIO(bundle), move=move)

    def files(self) -> dict[str, bytes]:
        return everything(Path(self.store.folder))

    def staged(self) -> list[str]:
        return os.listdir(self.store.parts.layout.tmp)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make(fast_path: Path, clock: Clock) -> Iterator[Callable[..., Machine]]:
    made: list[Machine] = []

    def machine(access: Access | None = None) -> Machine:
        made.append(Machine(fast_path / f"s{len(made)}", clock, access))
        return made[-1]

    yield machine
    for each in made:
        each.store.close()


@pytest.fixture
def here(make: Callable[..., Machine]) -> Machine:
    """With a folded document, an object of several frames, and one of no bytes."""
    machine = make()
    fold_bytes(machine.store, DOCUMENT, name="outage", source_name="incident.json")
    put(machine.store, LARGE)
    put(machine.store, b"")
    return machine


@pytest.fixture
def there(make: Callable[..., Machine]) -> Machine:
    return make()


class TestRoundTrip:
    def test_what_was_bundled_is_in_the_other_store_and_unfolds_there(
        self, here: Machine, there: Machine
    ) -> None:
        bundle = here.bundled(everything=True)
        done = there.take(bundle)
        assert (len(done.roots), done.objects, done.objects_new) == (3, 4, 4)
        assert {root.id for root in there.store.roots()} == {root.id for root in here.store.roots()}
        folded = fold_bytes(here.store, DOCUMENT, name="outage", source_name="incident.json")
        assert unfold_bytes(there.store, folded) == DOCUMENT
        assert there.store.read(Digest.of(LARGE)) == LARGE
        assert not list(verify(there.store))
        assert there.staged() == []
        assert there.bundled(everything=True) != b""

    def test_objects_are_the_same_files(self, here: Machine, there: Machine) -> None:
        there.take(here.bundled(everything=True))
        objects = {name: data for name, data in here.files().items() if name.startswith("objects")}
        assert {name: data for name, data in there.files().items() if name.startswith("objects")} == objects

    def test_importing_again_changes_nothing(self, here: Machine, there: Machine) -> None:
        bundle = here.bundled(everything=True)
        there.take(bundle)
        before = there.files()
        done = there.take(bundle)
        assert done.objects_new == 0
        assert there.files() == before

    def test_only_what_was_named_is_in_it(self, here: Machine, there: Machine) -> None:
        done = there.take(here.bundled("outage"))
        assert [each.root.name for each in done.roots] == ["outage"]
        assert done.objects == 2
        assert there.store.stat(Digest.of(LARGE)) is None

    def test_what_a_root_is_based_on_comes_along(self, here: Machine, there: Machine) -> None:
        base, above = based(here.store)
        done = there.take(here.bundled(above.id))
        assert [each.root.id for each in done.roots] == [base.id, above.id]
        assert [root.id for root in there.store.based_chain(there.store.roots()[0])] == [above.id, base.id]

    def test_the_same_content_gives_the_same_bytes(self, here: Machine, make: Callable[..., Machine]) -> None:
        other = make()
        put(other.store, b"first, so that all that follows has another number there")
        fold_bytes(other.store, DOCUMENT, name="outage", source_name="incident.json")
        assert here.bundled("outage") == here.bundled("outage")
        assert here.bundled("outage") == other.bundled("outage")

    def test_through_a_pipe(self, here: Machine, there: Machine) -> None:
        bundle = here.bundled(everything=True)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(bundle)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as source:
            done = import_bundle(there.store, source)
        os.waitpid(child, 0)
        assert len(done.roots) == 3
        assert there.staged() == []

    def test_from_where_a_file_stands(self, here: Machine, there: Machine, tmp_path: Path) -> None:
        path = tmp_path / "x.tar"
        path.write_bytes(b"before" + here.bundled("outage"))
        with path.open("rb") as source:
            source.read(6)
            assert len(import_bundle(there.store, source).roots) == 1


class TestForm:
    """docs/sharing-reference.md, section A bundle: what another reader may rely on."""

    def test_is_a_tar_of_plain_files_and_each_object_decodes_with_zstd(
        self, here: Machine, tmp_path: Path
    ) -> None:
        if shutil.which("tar") is None or shutil.which("zstd") is None:
            pytest.skip("tar and zstd are not installed")
        (tmp_path / "x.tar").write_bytes(here.bundled(everything=True))
        subprocess.run(["tar", "-xf", "x.tar"], cwd=tmp_path, check=True)
        found = sorted((tmp_path / "objects").glob("*/*"))
        assert len(found) == 4
        for path in found:
            decoded = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
            assert sha256(decoded).hexdigest() == path.name

    def test_unpacked_it_is_a_store(self, here: Machine, tmp_path: Path) -> None:
        folder = tmp_path / "unpacked"
        with tarfile.open(fileobj=io.BytesIO(here.bundled(everything=True))) as tar:
            tar.extractall(folder, filter="data")
        store = Store.open(folder)
        assert store.read(Digest.of(LARGE)) == LARGE
        assert not list(verify(store))
        store.close()

    def test_members_are_in_order_with_fixed_times_owners_and_modes(self, here: Machine) -> None:
        found = listed(here.bundled(everything=True))
        names = [each.name for each in found]
        roots = [name for name in names if name.startswith("roots/")]
        objects = [name for name in names if name.startswith("objects/")]
        assert names == ["format", *sorted(roots), *sorted(objects)]
        facts = {(each.mode, each.uid, each.gid, each.uname, each.gname, each.mtime) for each in found}
        assert facts == {(0o400, 0, 0, "", "", 0)}

    def test_a_roots_file_is_that_of_the_store_but_for_its_number(self, here: Machine) -> None:
        """Which counts the roots of all who write there."""
        found = contents(here.bundled(everything=True))
        for number, root in enumerate(reversed(here.store.roots()), start=1):
            assert found[f"roots/{root.id[:2]}/{root.id}.json"] == encode_root(replace(root, sequence=number))

    def test_a_size_of_8_gib_is_written_as_other_tars_do(self) -> None:
        class Holes(io.RawIOBase):
            """Forgets the bytes of the one large member."""

            def __init__(self) -> None:
                self.head = b""

            def write(self, data: object) -> int:
                assert isinstance(data, bytes)
                self.head = self.head or data
                return len(data)

        target = Holes()
        piece, pieces = bytes(1 << 25), (9 << 30) >> 25
        writer = TarWriter(target)  # type: ignore[arg-type]
        name = f"objects/ab/{'ab' * 32}"
        writer.add(name, 9 << 30, (piece for _ in range(pieces)))
        info = tarfile.TarInfo.frombuf(target.head, "ascii", "strict")
        assert (info.name, info.size) == (name, 9 << 30)

        class Stream:
            """`format`, and then the large member, whose bytes are said to be there."""

            def __init__(self) -> None:
                small = io.BytesIO()
                TarWriter(small).add("format", len(FORMAT_LINE), [FORMAT_LINE])
                self.left = small.getvalue() + target.head + bytes(1024)

            def take(self, length: int) -> bytes:
                taken, self.left = self.left[:length], self.left[length:]
                return taken

            def skip(self, length: int) -> bool:
                if length < len(self.left):
                    self.take(length)
                return True

        assert [each.size for each in members(Stream())] == [len(FORMAT_LINE), 9 << 30]


class TestPromised:
    """What lies at a remote is fetched, to be in a bundle; a bundle promises nothing."""

    def promised(self, here: Machine, there: Machine) -> Root:
        """The document, there, with its objects at `origin`."""
        (root,) = choose(here.store, ["outage"])
        with there.store.importing() as importing:
            importing.commit([root], lazily="origin")
        return there.store.roots()[0]

    def test_is_fetched_to_be_bundled(self, here: Machine, there: Machine) -> None:
        root = self.promised(here, there)
        assert root.details[REMOTE] == "origin"
        with pytest.raises(ObjectMissing):
            there.bundled("outage")
        asked: list[Digest] = []

        def fetch(store: Store, remote: str, digests: Sequence[Digest]) -> None:
            asked.extend(digests)
            with store.importing() as importing:
                for digest in digests:
                    importing.bring(here.store.parts.database, digest)
                importing.commit_objects()

        there.store.fetcher = fetch
        assert there.bundled("outage") == here.bundled("outage")
        assert sorted(asked) == sorted(root.objects)

    def test_is_fetched_where_a_bundle_does_not_have_it(self, here: Machine, there: Machine) -> None:
        root = self.promised(here, there)
        key = f"objects/{root.objects[0].hex[:2]}/{root.objects[0].hex}"
        left = again(here.bundled("outage"), **{key: None})
        with pytest.raises(ObjectMissing, match=root.objects[0].short):
            there.take(left)

        def fetch(store: Store, remote: str, digests: Sequence[Digest]) -> None:
            assert list(digests) == [root.objects[0]]
            with store.importing() as importing:
                importing.bring(here.store.parts.database, digests[0])
                importing.commit_objects()

        there.store.fetcher = fetch
        there.take(left)
        assert not list(verify(there.store))

    def test_comes_in_a_bundle_as_well(self, here: Machine, there: Machine) -> None:
        self.promised(here, there)
        assert there.take(here.bundled("outage")).objects_new == 2
        assert there.store.promised(there.store.roots()[0].objects) == {}


class TestCreateRefuses:
    def test_a_damaged_object(self, here: Machine) -> None:
        path = file_of(here.store, Digest.of(LARGE))
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        overwrite(path, bytes(data))
        target = io.BytesIO()
        with pytest.raises(ObjectDamaged):
            create_bundle(here.store, target, choose(here.store, [], everything=True))
        with pytest.raises(BundleDamaged, match="cut off"):
            here.take(target.getvalue())

    def test_what_is_missing_before_anything_is_written(self, here: Machine) -> None:
        file_of(here.store, Digest.of(LARGE)).unlink()
        target = io.BytesIO()
        with pytest.raises(ObjectMissing):
            create_bundle(here.store, target, choose(here.store, [], everything=True))
        assert target.getvalue() == b""


def based(store: Store) -> tuple[Root, Root]:
    base = put(store, b"base")
    with store.batch() as batch:
        staged = batch.stage(b"above")
        above = batch.commit(RootDraft(RootKind.PUT, (staged.digest,), source_name="x", base=base.id))
    return base, above


# --- What is no bundle -----------------------------------------------------------------------------

OTHER = Digest.of(b"other")
OTHER_KEY = f"objects/{OTHER.hex[:2]}/{OTHER.hex}"
LONG = "objects/" + "a" * 200

NOT_PLAIN: dict[str, tuple[tuple[tarfile.TarInfo, bytes] | bytes, str]] = {
    "out of it": (info("../../etc/passwd", b"x"), "no such name"),
    "absolute": (info("/etc/passwd", b"x"), "no such name"),
    "dots inside": (info(f"objects/../objects/{OTHER.hex[:2]}/{OTHER.hex}", b"x"), "no such name"),
    "dot before": (info(f"./{OTHER_KEY}", b"x"), "no such name"),
    "other shard": (info(f"objects/00/{OTHER.hex}", b"x"), "no such name"),
    "upper case": (info(OTHER_KEY.upper().replace("OBJECTS", "objects"), b"x"), "no such name"),
    "config": (info("config.toml", b"x"), "no such name"),
    "a symbolic link": (info(OTHER_KEY, type=tarfile.SYMTYPE, linkname="/etc/passwd"), "a symbolic link"),
    "a link": (info(OTHER_KEY, type=tarfile.LNKTYPE, linkname="format"), "a link"),
    "a device": (info(OTHER_KEY, type=tarfile.CHRTYPE, devmajor=1, devminor=5), "a device"),
    "a pipe": (info(OTHER_KEY, type=tarfile.FIFOTYPE), "a pipe"),
    "a folder": (info("objects", type=tarfile.DIRTYPE), "a folder"),
    "holes": (summed(header(info(OTHER_KEY)[0])[:156] + b"S" + header(info(OTHER_KEY)[0])[157:]), "holes"),
    "an unknown type": (summed(header(info(OTHER_KEY)[0])[:156] + b"Q" + bytes(355)), "no regular file"),
    "pax": (info(LONG, b"x")[0].tobuf(tarfile.PAX_FORMAT, "utf-8", "strict"), "an extended header"),
    "gnu long name": (info(LONG, b"x")[0].tobuf(tarfile.GNU_FORMAT, "utf-8", "strict"), "a longer name"),
    "hidden behind a zero byte": (
        summed(
            header(info(OTHER_KEY, b"x")[0])[:90] + b"../../etc/" + header(info(OTHER_KEY, b"x")[0])[100:]
        ),
        "not written as",
    ),
    "prefix": (
        summed(
            header(info(OTHER_KEY, b"x")[0])[:345] + b"../..".ljust(155, b"\0") + bytes(12),
        ),
        "no such name",
    ),
    "a regular file that links": (
        summed(
            header(info(OTHER_KEY, b"x")[0])[:157]
            + b"/etc/passwd".ljust(100, b"\0")
            + header(info(OTHER_KEY, b"x")[0])[257:]
        ),
        "links to another",
    ),
    "of no bytes": (info(OTHER_KEY), "can't have 0 bytes"),
    "huge": (header(info(OTHER_KEY, size=(8 << 30) - 1)[0]), "cut off in it"),
    "beyond any": (
        summed(
            header(info(OTHER_KEY)[0])[:124]
            + b"\x80"
            + (1 << 80).to_bytes(11, "big")
            + header(info(OTHER_KEY)[0])[136:]
        ),
        "can't have",
    ),
    "below nothing": (
        summed(header(info(OTHER_KEY)[0])[:124] + b"\xff" * 12 + header(info(OTHER_KEY)[0])[136:]),
        "can't have -",
    ),
    "another sum": (
        header(info(OTHER_KEY, b"x")[0])[:140] + b"7" + header(info(OTHER_KEY, b"x")[0])[141:],
        "no header",
    ),
    "junk": (b"\xa5" * 512, "no header"),
}


class TestHostileTar:
    """Whatever a tar may hold: a clear error that names the member, and nothing has changed."""

    @pytest.mark.parametrize("way", NOT_PLAIN)
    def test_what_is_no_plain_member_is_refused(self, here: Machine, there: Machine, way: str) -> None:
        planted, words = NOT_PLAIN[way]
        before = there.files()
        with pytest.raises(BundleDamaged, match=words):
            there.take(tarred(FORMAT, planted))
        with pytest.raises(BundleDamaged, match=words):
            there.take(again(here.bundled("outage"), planted))
        assert there.files() == before
        assert there.staged() == []

    def test_the_error_names_the_member(self, there: Machine) -> None:
        with pytest.raises(BundleDamaged) as caught:
            there.take(tarred(FORMAT, info("../x", b"x")))
        assert caught.value.fields["member"] == "../x"
        assert caught.value.exit_code == 13

    def test_twice_or_out_of_order(self, here: Machine, there: Machine) -> None:
        found = contents(here.bundled("outage"))
        pairs = [info(name, data) for name, data in found.items()]
        with pytest.raises(BundleDamaged, match="it is there twice"):
            there.take(tarred(*pairs, pairs[-1]))
        with pytest.raises(BundleDamaged, match="out of order"):
            there.take(tarred(pairs[0], *reversed(pairs[1:])))
        with pytest.raises(BundleDamaged, match="it is there twice"):
            there.take(tarred(FORMAT, FORMAT))

    def test_cut_off_anywhere(self, here: Machine, there: Machine, tmp_path: Path) -> None:
        bundle = here.bundled(everything=True)
        end = len(bundle.rstrip(b"\0")) // 512 * 512 + 512
        ends = {*range(0, 4096, 256), *range(0, end + 1024, 3511), end, end + 1, end + 512, end + 1023}
        before = there.files()
        path = tmp_path / "x.tar"
        for length in sorted(ends):
            with pytest.raises(BundleDamaged):
                there.take(bundle[:length])
            path.write_bytes(bundle[:length])
            with path.open("rb") as source, pytest.raises(BundleDamaged):
                import_bundle(there.store, source)
        assert there.files() == before
        there.take(bundle[: end + 1024])

    @pytest.mark.parametrize("in_a_file", [True, False])
    def test_where_it_is_cut_off_is_named(
        self, here: Machine, there: Machine, tmp_path: Path, in_a_file: bool
    ) -> None:
        bundle = here.bundled(everything=True)
        for member in listed(bundle):
            whole = -(-member.size // 512) * 512
            for left in {0, 1, member.size - 1, whole - 1} & set(range(whole)):
                part = bundle[: member.offset_data + left]
                path = tmp_path / "x.tar"
                path.write_bytes(part)
                source: BinaryIO = path.open("rb") if in_a_file else io.BytesIO(part)
                with source, pytest.raises(BundleDamaged, match="cut off in it") as caught:
                    import_bundle(there.store, source)
                assert caught.value.fields["member"] == member.name

    def test_bytes_behind_the_end_or_a_member(self, here: Machine, there: Machine) -> None:
        bundle = here.bundled("outage")
        for more in (b"x", bytes(10_240), FORMAT_LINE):
            with pytest.raises(BundleDamaged, match="behind the end"):
                there.take(bundle + more)
        first = header(FORMAT[0]) + FORMAT_LINE.ljust(512, b"x")
        with pytest.raises(BundleDamaged, match="no member's"):
            there.take(first + bytes(1024))

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"", "it is empty"),
            (b"{}\n", "no bundle"),
            (bytes(10_240), "it is no tar"),
            (b"\x1f\x8b" + bytes(600), "it is compressed"),
            (b"\x28\xb5\x2f\xfd" + bytes(600), "it is compressed"),
            (tarred(info("a", b"x")), "no such name"),
            (tarred(info(OTHER_KEY, b"x")), "its first member is"),
            (tarred(info("format", b"castore 2\n")), "its format 'castore 2' is unknown"),
        ],
    )
    def test_what_is_no_bundle_at_all(self, there: Machine, data: bytes, words: str) -> None:
        with pytest.raises(BundleDamaged, match=words):
            there.take(data)

    def test_an_endless_pipe_is_not_copied(self, there: Machine) -> None:
        with open("/dev/zero", "rb") as source, pytest.raises(BundleDamaged):
            import_bundle(there.store, source)

        class Endless(io.RawIOBase):
            """A bundle, and then zeros for ever."""

            def __init__(self) -> None:
                self.head = io.BytesIO(tarred(FORMAT))

            def read(self, size: int = -1) -> bytes:
                return self.head.read(size) or bytes(size)

        with pytest.raises(BundleDamaged, match="behind the end"):
            import_bundle(there.store, Endless())  # type: ignore[arg-type]

    def test_a_bundle_of_nothing_is_one(self, there: Machine) -> None:
        assert there.take(tarred(FORMAT)) == ([], 0, 0)


class TestHostileContent:
    """A tar of the right form, and something else in it than what was bundled."""

    def refused(
        self, machine: Machine, bundle: bytes, kind: type[CastoreError], words: str | None = None
    ) -> CastoreError:
        before = machine.files()
        with pytest.raises(kind, match=words) as caught:
            machine.take(bundle)
        assert machine.files() == before
        assert machine.staged() == []
        return caught.value

    def test_other_bytes_under_a_digest(self, here: Machine, there: Machine) -> None:
        bundle = here.bundled(everything=True)
        key = f"objects/{Digest.of(LARGE).hex[:2]}/{Digest.of(LARGE).hex}"
        other = encode_object(b"other", 3).file
        error = self.refused(there, again(bundle, **{key: other}), BundleDamaged, "have digest")
        assert error.fields["member"] == key

    def test_frames_that_are_cut_off_or_changed(self, here: Machine, there: Machine) -> None:
        bundle = here.bundled(everything=True)
        for name, data in objects_in(bundle).items():
            self.refused(there, again(bundle, **{name: data[:-1] or b"x"}), BundleDamaged)
            self.refused(there, again(bundle, **{name: data + b"x"}), BundleDamaged)
            middle = len(data) // 2
            flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
            self.refused(there, again(bundle, **{name: flipped}), BundleDamaged)

    def test_damage_is_told_though_the_object_is_here(self, here: Machine) -> None:
        bundle = here.bundled("outage")
        for name, data in objects_in(bundle).items():
            self.refused(here, again(bundle, **{name: data[:-1]}), BundleDamaged)

    def test_a_frame_that_would_grow(self, there: Machine) -> None:
        digest = Digest.of(bytes(1 << 26))
        # 13 bytes that declare 64 MiB.
        bomb = bytes.fromhex("28b52ffda4") + (1 << 26).to_bytes(4, "little") + bytes.fromhex("03000000")
        root = made_root((digest,))
        self.refused(there, bundle_of([root], {digest: bomb}), BundleDamaged, "declares")

    def test_an_object_that_no_root_names(self, here: Machine, there: Machine) -> None:
        bundle = here.bundled("outage")
        file = encode_object(b"other", 3).file
        found = {**contents(bundle), OTHER_KEY: file}
        ordered = sorted(found.items(), key=lambda each: (each[0] != "format", each[0] < "p", each[0]))
        error = self.refused(
            there, tarred(*(info(name, data) for name, data in ordered)), BundleDamaged, "no root"
        )
        assert error.fields["member"] == OTHER_KEY

    def test_a_root_whose_objects_are_neither_here_nor_in_it(self, here: Machine, there: Machine) -> None:
        bundle = here.bundled("outage")
        name = next(iter(objects_in(bundle)))
        left = again(bundle, **{name: None})
        error = self.refused(there, left, ObjectMissing)
        assert "make it again" in str(error.hint)
        assert here.take(left).objects_new == 0, "where it is, it need not be in the bundle"

    def test_no_root_gives_sight_of_what_others_have(self, make: Callable[..., Machine]) -> None:
        machine = make()
        put(machine.store, b"theirs", scope="them")
        theirs = Digest.of(b"theirs")
        mine = Store.open(
            machine.store.folder, clock=machine.store.parts.clock, access=Access(grants=("default", "us"))
        )
        there = Machine.__new__(Machine)
        there.store = mine
        seen = self.refused(there, bundle_of([made_root((theirs,), scope="us")], {}), ObjectMissing)
        absent = self.refused(there, bundle_of([made_root((OTHER,), scope="us")], {}), ObjectMissing)
        assert (seen.message.replace(theirs.short, OTHER.short), seen.hint) == (absent.message, absent.hint)
        mine.close()

    def test_a_root_of_a_scope_that_was_not_granted(
        self, here: Machine, make: Callable[..., Machine]
    ) -> None:
        put(here.store, b"theirs", scope="them")
        there = make(Access(grants=("default", "us")))
        self.refused(there, here.bundled(everything=True), ScopeDenied)

    def test_a_root_that_was_changed(self, here: Machine, there: Machine) -> None:
        bundle = here.bundled("outage")
        name, data = next((n, d) for n, d in contents(bundle).items() if n.startswith("roots/"))
        self.refused(
            there, again(bundle, **{name: data.replace(b"outage", b"outbid")}), BundleDamaged, "check"
        )
        self.refused(there, again(bundle, **{name: b"{}\n"}), BundleDamaged)
        self.refused(there, again(bundle, **{name: data.rstrip()}), BundleDamaged, "canonical")
        other = f"roots/00/00{name[11:]}"
        self.refused(there, renamed(bundle, name, other), BundleDamaged, "its id")

    def test_a_root_whose_id_is_not_its_own(self, there: Machine) -> None:
        root = replace(made_root((OTHER,)), id="ab" * 16)
        bundle = bundle_of([root], {OTHER: encode_object(b"other", 3).file})
        self.refused(there, bundle, BundleDamaged, "its id")

    def test_more_roots_than_one_transaction_takes(
        self, here: Machine, there: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bundle = here.bundled(everything=True)
        monkeypatch.setattr(bundle_tar, "BUNDLE_ROOTS_BYTES_MAX", 900)
        self.refused(there, bundle, LimitExceeded, "over 900 bytes")
        with pytest.raises(LimitExceeded):
            here.bundled(everything=True)

    def test_roots_that_are_based_on_each_other(self, there: Machine) -> None:
        first = made_root((OTHER,), source_name="a")
        second = made_root((OTHER,), source_name="b")
        pair = [replace(first, base=second.id), replace(second, base=first.id)]
        bundle = bundle_of(pair, {OTHER: encode_object(b"other", 3).file})
        self.refused(there, bundle, BaseMissing)

    def test_a_base_that_is_neither_here_nor_in_it(self, here: Machine, there: Machine) -> None:
        base, above = based(here.store)
        bundle = here.bundled(above.id)
        key = f"objects/{base.objects[0].hex[:2]}/{base.objects[0].hex}"
        left = again(bundle, **{f"roots/{base.id[:2]}/{base.id}.json": None, key: None})
        self.refused(there, left, BaseMissing)

    def test_where_something_else_has_it_is_not_taken_on_its_word(
        self, here: Machine, there: Machine
    ) -> None:
        root = made_root((OTHER,), details={REMOTE: "origin"})
        self.refused(there, bundle_of([root], {}), ObjectMissing)
        (done,) = there.take(bundle_of([root], {OTHER: encode_object(b"other", 3).file})).roots
        assert REMOTE not in done.root.details


class TestWhatIsHereAlready:
    """All or nothing holds for conflicts, too."""

    def test_an_object_that_is_damaged_here_is_whole_again(self, here: Machine, there: Machine) -> None:
        bundle = here.bundled(everything=True)
        there.take(bundle)
        for digest in (Digest.of(LARGE), Digest.of(b"")):
            overwrite(file_of(there.store, digest), b"rot")
        there.take(bundle)
        assert not list(verify(there.store))

    def test_a_name_that_another_root_has(self, here: Machine, there: Machine) -> None:
        there.store.tag("outage", str(put(there.store, b"else").objects[0]))
        bundle = here.bundled(everything=True)
        before = there.files()
        with pytest.raises(NameTaken, match="outage"):
            there.take(bundle)
        assert there.files() == before
        there.take(bundle, move=True)
        (named,) = there.store.named_roots("outage")
        assert named.document is not None

    def test_what_was_purged_here(self, here: Machine, there: Machine) -> None:
        there.take(here.bundled("outage"))
        gone = there.store.roots()[0].objects[0]
        there.store.purge(gone, "a password got in")
        done = there.take(here.bundled("outage"))
        assert there.store.stat(gone) is None, "the root that named it does so no more, and stays so"
        assert gone not in done.roots[0].root.objects
        before = there.files()
        here.store.keep([here.store.keep_draft(str(gone))])
        with pytest.raises(ObjectPurged, match="a password got in"):
            there.take(here.bundled(everything=True))
        assert there.files() == before

    def test_what_was_forgotten_here_stays_so(self, here: Machine, there: Machine) -> None:
        bundle = here.bundled("outage")
        there.take(bundle)
        there.store.forget(RootChoice(references=("outage",)))
        (done,) = there.take(bundle).roots
        assert done.outcome.value == "forgotten"
        assert there.store.roots()[0].forgotten is not None
