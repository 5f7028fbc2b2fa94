"""L4: whatever happens to an object's file: a read gives the exact bytes or an error, verify reports it."""

from __future__ import annotations

import os
import resource
import struct
import subprocess
from pathlib import Path

import pytest

from castore import api
from castore.config import FRAME_BYTES
from castore.digest import Digest
from castore.errors import ObjectDamaged, ObjectMissing
from castore.gc.verify import verify
from castore.objects.finding import FindingName
from castore.store import Store
from tests.durability.shell import Shell, document

SHAPES = {
    "empty": b"",
    "one byte": b"x",
    "stored raw": bytes(range(64)),
    "one frame": b"a line of a log, and another one\n" * 30,
    "exactly a frame": bytes(FRAME_BYTES),
    "several frames": bytes(FRAME_BYTES) + b"the end",
}


class Object:
    """One object in a store of its own, and its file."""

    def __init__(self, folder: Path, data: bytes) -> None:
        self.store = Store.init(folder)
        self.data = data
        self.digest = api.put(self.store, data)
        self.path = self.store.parts.layout.object_file(self.digest.hex)
        self.file = Path(self.path).read_bytes()

    def becomes(self, file: bytes) -> None:
        os.chmod(self.path, 0o600)
        Path(self.path).write_bytes(file)

    def is_read_right(self) -> bool:
        """Through both ways of reading. False: refused, with the object's name."""
        found = set()
        for read in (self.store.read, lambda digest: b"".join(self.store.chunks(digest))):
            try:
                found.add(read(self.digest) == self.data)
            except ObjectDamaged as error:
                found.add(error.fields["digest"])
        assert found in ({True}, {str(self.digest)})
        return found == {True}

    def heals(self) -> None:
        """The same bytes put again replace what is there."""
        assert api.put(self.store, self.data) == self.digest
        assert Path(self.path).read_bytes() == self.file
        assert self.is_read_right()
        assert not self.is_reported()

    def is_reported(self) -> bool:
        found = list(verify(self.store))
        assert all(each.name is FindingName.DAMAGED and each.digest == self.digest for each in found), found
        return bool(found)


@pytest.fixture(params=SHAPES)
def one(request: pytest.FixtureRequest, fast_path: Path) -> Object:
    """Of each shape in turn."""
    return Object(fast_path / "store", SHAPES[request.param])


STEPS = [3, pytest.param(1, marks=pytest.mark.long)]
"""Every third bit: two or three of each byte, and each place in a byte just as often."""


class TestEveryBit:
    @pytest.mark.parametrize("step", STEPS)
    def test_flipped_is_read_right_or_refused_and_always_reported(self, one: Object, step: int) -> None:
        unreported, right = [], 0
        for bit in range(0, 8 * len(one.file), step):
            file = bytearray(one.file)
            file[bit // 8] ^= 1 << bit % 8
            one.becomes(bytes(file))
            right += one.is_read_right()
            if not one.is_reported():
                unreported.append(bit)
        assert unreported == []
        # Few bits of a file mean nothing, as those of the seek table's unused places.
        assert right < 8 * 8
        one.becomes(one.file)
        assert one.is_read_right()
        assert not one.is_reported()


class TestLength:
    def test_cut_off_anywhere_is_refused_and_reported(self, one: Object) -> None:
        for length in range(len(one.file)):
            one.becomes(one.file[:length])
            assert not one.is_read_right(), length
            assert one.is_reported(), length

    @pytest.mark.parametrize("extra", [b"\0", b"x" * 17, None], ids=["a zero", "rubbish", "itself"])
    def test_longer_is_refused_and_reported(self, one: Object, extra: bytes | None) -> None:
        one.becomes(one.file + (one.file if extra is None else extra))
        assert not one.is_read_right()
        assert one.is_reported()


class TestReplaced:
    def test_by_another_valid_object(self, fast_path: Path) -> None:
        """Each of the two has a file that decodes, and to the wrong bytes."""
        one = Object(fast_path / "store", b"one of them")
        other = api.put(one.store, b"the other one")
        path = Path(one.store.parts.layout.object_file(other.hex))
        theirs = path.read_bytes()
        path.chmod(0o600)
        path.write_bytes(one.file)
        one.becomes(theirs)
        for digest in (one.digest, other):
            with pytest.raises(ObjectDamaged) as raised:
                one.store.read(digest)
            assert raised.value.fields["digest"] == str(digest)
        found = {(each.name, each.digest) for each in verify(one.store)}
        assert found == {(FindingName.DAMAGED, one.digest), (FindingName.DAMAGED, other)}

    @pytest.mark.parametrize("one", ["one frame"], indirect=True)
    def test_by_nothing(self, one: Object) -> None:
        os.unlink(one.path)
        for read in (one.store.read, lambda digest: list(one.store.chunks(digest))):
            with pytest.raises(ObjectMissing):
                read(one.digest)
        assert one.store.stat(one.digest) is None
        assert [(each.name, each.digest) for each in verify(one.store)] == [(FindingName.MISSING, one.digest)]
        one.heals()

    @pytest.mark.parametrize("kind", ["link", "pipe", "folder", "dangling link"])
    def test_by_what_is_no_file(self, one: Object, kind: str) -> None:
        """No link is followed, nobody waits for a pipe."""
        copy = Path(one.store.folder).with_name("copy")
        copy.write_bytes(one.file)
        os.unlink(one.path)
        if kind == "pipe":
            os.mkfifo(one.path)
        elif kind == "folder":
            os.mkdir(one.path)
        else:
            os.symlink(copy if kind == "link" else copy.with_name("absent"), one.path)
        assert not one.is_read_right()
        assert any(each.name is not FindingName.UNNAMED for each in verify(one.store))


def crafted() -> dict[str, bytes]:
    """Files that ask for far more than they hold."""
    magic = b"\x28\xb5\x2f\xfd"
    fifty_gb = struct.pack("<Q", 50 << 30)
    block = struct.pack("<I", (128 << 10) << 3 | 1 << 1)[:3] + b"x"
    last = struct.pack("<I", (128 << 10) << 3 | 1 << 1 | 1)[:3] + b"x"
    many = block * 50_000 + last
    entries = struct.pack("<II", 20, FRAME_BYTES) * 1000
    footer = struct.pack("<IBI", 0xFFFFFFFF, 0, 0x8F92EAB1)
    table = struct.pack("<II", 0x184D2A5E, len(entries) + len(footer)) + entries + footer
    return {
        "declares 50 GB, one segment": magic + b"\xe0" + fifty_gb,
        "declares 50 GB, and a window": magic + b"\xc0\x50" + fifty_gb + many,
        "declares nothing, and holds 6 GB": magic + b"\x00\x50" + many,
        "declares little, and holds 6 GB": magic + b"\x20\x05" + many,
        "declares a window of 2 GB": magic + b"\x80\xa8" + struct.pack("<I", 100) + last,
        "has a table of 4 billion frames": magic
        + b"\xa0"
        + struct.pack("<I", FRAME_BYTES)
        + block * 8
        + table,
        "is 50 MB of skippable frame": struct.pack("<II", 0x184D2A50, 50 << 20) + bytes(50 << 20),
    }


class TestCrafted:
    @pytest.mark.parametrize("name", crafted())
    def test_is_refused_before_it_is_decoded(self, ctx: Shell, name: str) -> None:
        """In 1 GB of address space, and at once."""
        one = Object(ctx.store, b"whatever it was before")
        one.becomes(crafted()[name])
        for arguments, code in ((("cat", str(one.digest)), 13), (("verify",), 3), (("put", "-"), 0)):
            done = subprocess.run(
                ctx.command(*arguments),
                input=one.data,
                env=ctx.environment,
                cwd=ctx.folder,
                capture_output=True,
                timeout=20,
                check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
            )
            assert done.returncode == code, done.stderr
            if code == 13:
                assert done.stdout == b""
                assert one.digest.short in done.stderr.decode()
            if code == 3:
                assert done.stdout.decode().startswith(f"damaged {one.digest} ")
        assert one.is_read_right()


class TestHealing:
    def test_a_put_replaces_a_damaged_object(self, one: Object) -> None:
        for file in (b"", one.file[:-1], one.file + b"x", b"rubbish" * 20):
            one.becomes(file)
            one.heals()

    def test_a_fold_replaces_the_damaged_objects_of_its_document(self, ctx: Shell) -> None:
        source = document("healed", 3)
        folded = ctx("fold", stdin=source)
        store = Store.open(ctx.store)
        objects = list(store.digests())
        assert len(objects) == 3
        for digest in objects:
            path = Path(store.parts.layout.object_file(digest.hex))
            path.chmod(0o600)
            path.write_bytes(path.read_bytes()[:-1])
        refused = ctx("unfold", stdin=folded.out)
        assert (refused.code, refused.out) == (13, b"")
        assert ctx("verify").code == 3
        again = ctx("fold", stdin=source)
        assert (again.code, again.out) == (0, folded.out)
        assert ctx("unfold", stdin=folded.out).out == source
        assert ctx("verify").code == 0

    def test_nothing_is_printed_where_one_of_many_is_bad(self, ctx: Shell) -> None:
        """The last object of a document that is too large to be held back in memory."""
        source = b"".join(document(number, 1, 200_000) + b"\n" for number in range(90))
        folded = ctx("fold", stdin=source).out
        store = Store.open(ctx.store)
        last = folded.rsplit(b"sha256:", 1)[1][:64].decode()
        os.unlink(store.parts.layout.object_file(Digest(last).hex))
        done = ctx("unfold", stdin=folded)
        assert (done.code, done.out) == (12, b"")
        assert last[:16] in done.err
