"""What goes wrong between here and the bucket: it is told (16), bounded in time, and nothing is lost.

After each fault the store has no damage, and a later push ends what was begun.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from castore.remote.bucket import Bucket
from castore.remote.failures import read_failure
from castore.remote.keys import OBJECTS, ROOTS, name_key
from castore.settings import RemoteSettings
from tests.cli.conftest import Done
from tests.remote.laws import hold_bucket
from tests.remote.machine import Machine, document
from tests.remote.proxy import Proxy
from tests.remote.servers import Place

DOCUMENT = document(1, objects=16)
SECONDS_MAX = 30
"""Far more than what is allowed below (a second for a request, one for tries), for a machine that is busy."""

NO_MORE = "3" * 100_000
"""In a script: nothing is answered from there on."""


@pytest.fixture
def proxy(seaweed: Place) -> Iterator[Proxy]:
    with Proxy.before(seaweed.server.endpoint) as proxy:
        yield proxy


@pytest.fixture
def behind(proxy: Proxy, seaweed: Place) -> RemoteSettings:
    """The bucket, as it is seen through the proxy."""
    return replace(seaweed.settings, endpoint=proxy.endpoint, timeout_seconds=1, retry_seconds=1, workers=4)


@pytest.fixture
def machine(fast_path: Path, behind: RemoteSettings) -> Machine:
    return Machine(fast_path / "one", behind)


@pytest.fixture
def patient(fast_path: Path, behind: RemoteSettings) -> Machine:
    """One that tries again for so long that it gets through."""
    return Machine(fast_path / "one", replace(behind, timeout_seconds=5, retry_seconds=20, workers=8))


@pytest.fixture
def direct(seaweed: Place) -> Bucket:
    """The bucket, past the proxy."""
    return seaweed.bucket()


def told(done: Done, *words: str) -> None:
    """It failed with 16, in few words of ours."""
    assert done.code == 16, done
    assert done.err.startswith("error: "), done.err
    assert "Traceback" not in done.err
    assert len(done.err) < 600, done.err
    for each in words:
        assert each in done.err


def ended_by_a_push(machine: Machine, direct: Bucket, path: str = "folded.json") -> None:
    """The store is clean; what was begun is ended by a push, and comes back whole elsewhere."""
    machine.hold()
    machine.done("push", "origin", path)
    with machine.store() as store:
        assert hold_bucket(direct, store) == len(store.roots())
    machine.hold()
    other = Machine(machine.folder.parent / "other", direct.settings)
    (other.folder / path).write_bytes((machine.folder / path).read_bytes())
    other.done("pull", "origin", path)
    assert other.done("unfold", path).out == DOCUMENT
    other.hold()


class TestStopped:
    def test_a_server_that_is_not_there(self, machine: Machine, proxy: Proxy, direct: Bucket) -> None:
        path = machine.fold(DOCUMENT)
        proxy.stop()
        before, begun = machine.truth(), time.monotonic()
        for command in ("push", "pull"):
            told(machine(command, "origin", path), "can't be reached")
        assert time.monotonic() - begun < SECONDS_MAX
        assert machine.truth() == before
        proxy.resume()
        ended_by_a_push(machine, direct)

    def test_one_that_stops_during_a_push(self, machine: Machine, proxy: Proxy, direct: Bucket) -> None:
        path = machine.fold(DOCUMENT)
        proxy.script("." * 20 + NO_MORE)
        told(machine("push", "origin", path))
        with machine.store() as store:
            hold_bucket(direct, store)
        assert list(direct.entries(ROOTS)) == [], "objects are there before what names them"
        proxy.script(".")
        ended_by_a_push(machine, direct)

    def test_one_that_stops_during_a_pull(self, machine: Machine, proxy: Proxy, direct: Bucket) -> None:
        path = machine.fold(DOCUMENT)
        machine.done("push", "origin", path)
        other = Machine(machine.folder.parent / "two", machine.settings)
        (other.folder / path).write_bytes((machine.folder / path).read_bytes())
        proxy.script("." * 8 + NO_MORE)
        told(other("pull", "origin", path))
        assert other.truth() == {}
        other.hold()
        proxy.script(".")
        other.done("pull", "origin", path)
        assert other.done("unfold", path).out == DOCUMENT


class TestSlow:
    def test_one_that_does_not_answer_in_time(self, machine: Machine, proxy: Proxy, direct: Bucket) -> None:
        path = machine.fold(DOCUMENT)
        proxy.delay_seconds = 5
        proxy.script("d")
        begun = time.monotonic()
        told(machine("push", "origin", path), "in time")
        assert time.monotonic() - begun < SECONDS_MAX
        proxy.script(".")
        ended_by_a_push(machine, direct)

    def test_some_answers_come_late(self, patient: Machine, proxy: Proxy, direct: Bucket) -> None:
        path = patient.fold(DOCUMENT)
        proxy.delay_seconds = 0.3
        proxy.script("...d")
        patient.done("push", "origin", path)
        assert proxy.hurt["d"] > 5
        proxy.script(".")
        ended_by_a_push(patient, direct)


class TestHurtInTheMiddle:
    @pytest.mark.parametrize(
        "letter", ["5", "a", *(pytest.param(each, marks=pytest.mark.long) for each in "l3qc")]
    )
    def test_it_succeeds_by_trying_again(
        self, patient: Machine, proxy: Proxy, direct: Bucket, letter: str
    ) -> None:
        path = patient.fold(DOCUMENT)
        patient.done("tag", "newest", _document(patient, path))
        proxy.script("...." + letter)
        patient.done("push", "origin", path, "newest")
        assert proxy.hurt[letter] > 5
        with patient.store() as store:
            assert hold_bucket(direct, store) == 2
        other = Machine(patient.folder.parent / "two", patient.settings)
        other.done("pull", "origin", "--all")
        assert proxy.hurt[letter] > 8
        assert other.done("unfold", str(patient.folder / path)).out == DOCUMENT
        for each in (patient, other):
            each.hold()

    @pytest.mark.parametrize(
        ("letter", "status"), [("5", "500"), pytest.param("3", "503", marks=pytest.mark.long)]
    )
    def test_nothing_but_errors(
        self, machine: Machine, proxy: Proxy, direct: Bucket, letter: str, status: str
    ) -> None:
        path = machine.fold(DOCUMENT)
        proxy.script(letter)
        told(machine("push", "origin", path), status)
        assert list(direct.entries("")) == []
        proxy.script(".")
        ended_by_a_push(machine, direct)

    @pytest.mark.parametrize("part", ["names/", "roots/", "format", "intents/"])
    def test_a_write_that_was_done_and_not_answered(
        self, patient: Machine, proxy: Proxy, direct: Bucket, part: str
    ) -> None:
        """What the second try finds in its way is of our own doing, and nobody else's."""
        for text in ("first", "second"):
            digest = patient.done("put", stdin=text.encode()).out.decode().strip()
            patient.done("tag", "newest", digest, "--move")
            proxy.script("l" + "." * 10_000, methods="PUT", part=part)
            patient.done("push", "origin", "newest")
            assert proxy.hurt["l"] == 1
        with patient.store() as store:
            assert hold_bucket(direct, store) == 2
        other = Machine(patient.folder.parent / "two", direct.settings)
        other.done("pull", "origin", "newest")
        assert other.done("cat", "newest").out == b"second"

    def test_at_some_requests(self, machine: Machine, proxy: Proxy, direct: Bucket) -> None:
        self.lose_each(machine, proxy, direct, 7)

    @pytest.mark.long
    def test_at_every_request(self, machine: Machine, proxy: Proxy, direct: Bucket) -> None:
        self.lose_each(machine, proxy, direct, 1)

    def lose_each(self, machine: Machine, proxy: Proxy, direct: Bucket, step: int) -> None:
        """The answer to one request is lost, though it was done, and nothing is answered after it."""
        path = machine.fold(document(2, objects=2))
        for at in range(1, 24, step):
            proxy.script("." * at + "l" + NO_MORE)
            done = machine("push", "origin", path)
            assert done.code in (0, 16), done
            with machine.store() as store:
                hold_bucket(direct, store)
            machine.hold()
        proxy.script(".")
        machine.done("push", "origin", path)
        with machine.store() as store:
            assert hold_bucket(direct, store) == 1


def _document(machine: Machine, path: str) -> str:
    from hashlib import sha256

    return sha256((machine.folder / path).read_bytes()).hexdigest()


class TestCredentials:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"AWS_SECRET_ACCESS_KEY": "not-the-secret-0123456789"},
            {"AWS_ACCESS_KEY_ID": "AKIDNOTTHERE", "AWS_SECRET_ACCESS_KEY": "not-the-secret-0123456789"},
        ],
        ids=["secret", "both"],
    )
    def test_wrong_ones_are_refused_and_never_shown(
        self, machine: Machine, direct: Bucket, wrong: dict[str, str]
    ) -> None:
        path = machine.fold(DOCUMENT)
        for arguments in (
            ["push", "origin", path],
            ["pull", "origin", "--all"],
            ["verify", path, "--remote", "origin"],
            ["remote", "gc", "origin"],
            ["remote", "check", "origin"],
        ):
            for done in (machine(*arguments, **wrong), machine(*arguments, "--json", **wrong)):
                if arguments[:2] != ["remote", "check"]:
                    assert done.code == 16, done
                    assert "refuses the credentials" in done.err
                assert "not-the-secret" not in done.err + done.out.decode()
                assert "Signature=" not in done.err + done.out.decode()
        ended_by_a_push(machine, direct)

    def test_none_at_all(self, machine: Machine, direct: Bucket) -> None:
        path = machine.fold(DOCUMENT)
        begun = time.monotonic()
        none = {"AWS_SECRET_ACCESS_KEY": "", "AWS_ACCESS_KEY_ID": ""}
        for key in none:
            del machine.shell.environment[key]
        told(machine("push", "origin", path), "credentials")
        assert time.monotonic() - begun < SECONDS_MAX


def _first_object(bucket: Bucket) -> tuple[str, bytes]:
    key = next(iter(bucket.entries(OBJECTS))).key
    found = bucket.get(key)
    assert found is not None
    return key, found[0]


class TestCertificates:
    def test_one_that_nobody_here_trusts(self) -> None:
        """It is told at once, and as what it is: trying again would not help."""
        text = (
            "HTTP error: error sending request\n\nDebug source:\n{ error: InvalidCertificate(UnknownIssuer) }"
        )
        failure = read_failure("GenericError", text, operation="get")
        assert not failure.is_passing
        error = failure.error("origin", "get", "format")
        assert error.exit_code == 16
        assert "certificate" in error.message
        assert "SSL_CERT_FILE" in (error.hint or "")


class TestDamagedThere:
    @pytest.fixture
    def other(self, machine: Machine) -> Machine:
        """Another machine, when the document has been pushed."""
        path = machine.fold(DOCUMENT)
        machine.done("push", "origin", path)
        other = Machine(machine.folder.parent / "two", machine.settings)
        (other.folder / path).write_bytes((machine.folder / path).read_bytes())
        return other

    @pytest.mark.parametrize("damage", ["truncated", "swapped", "emptied", "changed", "deleted"])
    def test_an_object(self, machine: Machine, other: Machine, direct: Bucket, damage: str) -> None:
        (key, data), (_, another) = _first_object(direct), _last_object(direct)
        if damage == "deleted":
            direct.delete([key])
        else:
            middle = len(data) // 2
            direct.put(
                key,
                {
                    "truncated": data[:-20],
                    "swapped": another,
                    "emptied": b"",
                    "changed": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
                }[damage],
            )
        told(other("pull", "origin", "folded.json"), key[:20])
        assert other.truth() == {}
        for options in [[], ["--full"]] if damage in ("emptied", "deleted") else [["--full"]]:
            found = other("verify", "folded.json", "--remote", "origin", *options)
            assert found.code == 3, found
            assert key.rpartition("/")[2][:12] in found.out.decode()
        if damage == "deleted":
            machine.done("push", "origin", "folded.json")
        else:
            machine.done("push", "origin", "folded.json", "--anew")
        assert direct.get(key) is not None
        assert other("verify", "folded.json", "--remote", "origin", "--full").code == 0
        ended_by_a_push(machine, direct)

    @pytest.mark.parametrize("damage", ["truncated", "changed"])
    def test_a_root(self, machine: Machine, other: Machine, direct: Bucket, damage: str) -> None:
        key = next(iter(direct.entries(ROOTS))).key
        found = direct.get(key)
        assert found is not None
        data = found[0]
        direct.put(key, data[:-20] if damage == "truncated" else data.replace(b"fold", b"f0ld", 1))
        told(other("pull", "origin", "folded.json"), key)
        assert other.truth() == {}
        told(machine("push", "origin", "folded.json"), key)
        machine.done("push", "origin", "folded.json", "--anew")
        ended_by_a_push(machine, direct)

    def test_a_name(self, machine: Machine, other: Machine, direct: Bucket) -> None:
        machine.done("tag", "newest", _document(machine, "folded.json"))
        machine.done("push", "origin", "newest")
        key = name_key("default", "newest")
        direct.put(key, b'{"root":"somewhere"}\n')
        told(other("pull", "origin", "newest"), key)
        told(machine("push", "origin", "newest"), key)
        machine.done("push", "origin", "newest", "--anew")
        other.done("pull", "origin", "newest")
        ended_by_a_push(machine, direct)


def _last_object(bucket: Bucket) -> tuple[str, bytes]:
    key = list(bucket.entries(OBJECTS))[-1].key
    found = bucket.get(key)
    assert found is not None
    return key, found[0]


class TestOnDemand:
    def test_what_is_read_while_nothing_answers(self, machine: Machine, proxy: Proxy, direct: Bucket) -> None:
        path = str(machine.folder / machine.fold(DOCUMENT))
        machine.done("push", "origin", path)
        other = Machine(machine.folder.parent / "two", machine.settings)
        other.done("pull", "origin", path, "--lazily")
        before = other.truth()
        proxy.stop()
        told(other("unfold", path), "can't be reached")
        told(other("unfold", path, "--offline"), "--offline")
        assert other.truth() == before
        other.hold()
        proxy.resume()
        told(other("unfold", path, "--offline"))
        assert other.done("unfold", path).out == DOCUMENT
        proxy.stop()
        assert other.done("unfold", path).out == DOCUMENT, "it is here by now"
        other.hold()

    def test_what_is_damaged_there_does_not_come(
        self, machine: Machine, direct: Bucket, proxy: Proxy
    ) -> None:
        path = str(machine.folder / machine.fold(DOCUMENT))
        machine.done("push", "origin", path)
        other = Machine(machine.folder.parent / "two", machine.settings)
        other.done("pull", "origin", path, "--lazily")
        (key, _), (_, another) = _first_object(direct), _last_object(direct)
        direct.put(key, another)
        told(other("unfold", path), key[:20])
        other.hold()
        machine.done("push", "origin", path, "--anew")
        assert other.done("unfold", path).out == DOCUMENT


class TestInterrupted:
    def test_it_ends_at_once(
        self, machine: Machine, proxy: Proxy, direct: Bucket, interruptible: None
    ) -> None:
        """The server answers nothing for a minute; the command does not wait for it."""
        machine.fold(DOCUMENT)
        slow = Machine(machine.folder.parent / "slow", replace(machine.settings, timeout_seconds=60))
        slow.fold(DOCUMENT)
        proxy.delay_seconds = 60
        proxy.script("." * 12 + "d" * 1000)
        process = slow.started("push", "origin", "--all")
        while not proxy.hurt["d"]:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS_MAX) == 130
        slow.hold()
        proxy.stop()
        proxy.script(".")
        proxy.resume()
        ended_by_a_push(machine, direct)


class TestGc:
    def test_hurt_in_the_middle(self, patient: Machine, proxy: Proxy, direct: Bucket) -> None:
        path = patient.fold(DOCUMENT)
        patient.done("push", "origin", path)
        patient.fold(document(5, objects=20), "given-up.json")
        patient.done("push", "origin", "given-up.json")
        patient.done("remote", "forget", "origin", "given-up.json", "--now")
        objects = len(list(direct.entries(OBJECTS)))
        # Until the server's clock, which tells whole seconds, is past the root's expiry.
        time.sleep(1.1)
        proxy.script("." * 29 + "5" + "." * 29 + "l")
        patient.done("remote", "gc", "origin", "--grace", "0s")
        assert proxy.hurt.total() > 5
        proxy.script(".")
        assert len(list(direct.entries(OBJECTS))) == objects - 20
        with patient.store() as store:
            assert hold_bucket(direct, store) == 1
        patient.done("push", "origin", "given-up.json")
        with patient.store() as store:
            assert hold_bucket(direct, store) == 2


class TestWithoutConditions:
    def test_it_is_refused(self, fast_path: Path, rclone: Place) -> None:
        machine = Machine(fast_path / "one", rclone.settings)
        path = machine.fold(DOCUMENT)
        told(machine("push", "origin", path), "could undo each other", "remote check")
        machine.hold()

    def test_by_a_stated_weaker_mode(self, fast_path: Path, rclone: Place) -> None:
        machine = Machine(fast_path / "one", replace(rclone.settings, conditions="none"))
        machine.fold(DOCUMENT)
        machine.done("push", "origin", "folded.json")
        ended_by_a_push(machine, rclone.bucket())


class TestNotThere:
    def test_nothing_was_ever_pushed(self, machine: Machine) -> None:
        told(machine("pull", "origin", "--all"), "no castore is in the bucket")
        assert machine.truth() == {}

    @pytest.mark.parametrize("command", ["push", "pull"])
    def test_a_bucket_that_nobody_made(self, fast_path: Path, rclone: Place, command: str) -> None:
        machine = Machine(fast_path / "one", replace(rclone.settings, url="s3://nobody-made-it/prefix"))
        path = machine.fold(DOCUMENT)
        told(machine(command, "origin", path), "bucket of remote 'origin' is not there")
        machine.hold()
