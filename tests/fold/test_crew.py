"""A crew only ever saves time: whatever happens to its processes, every job gets its answer."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from castore import FoldPolicy
from castore.api import StoreHandle, fold_stream
from castore.cores import may_fork
from castore.errors import DocumentInvalid
from castore.fold import crew as crew_module
from castore.fold.crew import SLOT_BYTES, Crew
from tests.benchmarks.document import pieces

pytestmark = pytest.mark.skipif(not may_fork(), reason="this process has threads, or the system has no fork")


def work(job: bytes) -> bytes:
    if job == b"die":
        os.kill(os.getpid(), signal.SIGKILL)
    if job == b"fail":
        raise ValueError("told to")
    if job == b"long":
        return b"x" * (SLOT_BYTES + 1)
    return job[::-1]


@pytest.fixture
def crew() -> Iterator[Crew]:
    made = Crew(work, 2)
    yield made
    made.close()


class TestAnswers:
    def test_come_for_every_job_in_any_order(self, crew: Crew) -> None:
        tickets = []
        for number in range(300):
            job = str(number).encode() * 50
            while (ticket := crew.give([job[:7], job[7:]])) is None:
                time.sleep(0.001)
            tickets.append((job, ticket))
        for job, ticket in reversed(tickets):
            assert ticket.wait() == job[::-1]

    def test_are_none_where_the_parent_must_do_it(self, crew: Crew) -> None:
        for job in (b"fail", b"long"):
            ticket = crew.give([job])
            assert ticket is not None
            assert ticket.wait() is None
        assert crew.give([b"x" * (SLOT_BYTES + 1)]) is None
        ticket = crew.give([b"abc"])
        assert ticket is not None
        assert ticket.wait() == b"cba"

    def test_a_process_that_dies_loses_only_its_jobs(self, crew: Crew) -> None:
        ticket = crew.give([b"die"])
        assert ticket is not None
        assert ticket.wait() is None
        answers = [each.wait() for _ in range(40) if (each := crew.give([b"abc"])) is not None]
        assert set(answers) <= {b"cba", None}
        assert answers[-1] == b"cba"
        while (last := crew.give([b"die"])) is not None:
            assert last.wait() is None
        assert not crew.has_room()


def fold(folder: Path, document: bytes, processes: int) -> bytes:
    target = io.BytesIO()
    handle = StoreHandle(folder, may_create=True)
    fold_stream(io.BytesIO(document), target, handle, FoldPolicy(), processes=processes)
    return target.getvalue()


class TestFold:
    DOCUMENT = b"".join(pieces(6_000_000))

    def test_is_the_same_with_any_number_of_processes(self, tmp_path: Path) -> None:
        for document in (self.DOCUMENT, b"".join(pieces(6_000_000, lines=True))):
            folded = {fold(tmp_path / str(count), document, count) for count in (1, 2, 5)}
            assert len(folded) == 1

    def test_is_the_same_if_every_process_dies(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        alone = fold(tmp_path / "alone", self.DOCUMENT, 1)
        answer = crew_module._answer

        def dying(work: crew_module.Work, job: bytes) -> bytes | None:
            if len(job) % 3 == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer(work, job)

        monkeypatch.setattr(crew_module, "_answer", dying)
        assert fold(tmp_path / "dying", self.DOCUMENT, 3) == alone

    @pytest.mark.usefixtures("interruptible")
    @pytest.mark.parametrize(
        "how",
        [
            signal.SIGKILL,
            *(pytest.param(each, marks=pytest.mark.long) for each in (signal.SIGTERM, signal.SIGINT)),
        ],
    )
    def test_leaves_no_process_behind_when_it_is_killed(self, tmp_path: Path, how: int) -> None:
        source = tmp_path / "in.json"
        source.write_bytes(b"".join(pieces(30_000_000)))
        program = subprocess.Popen(
            [sys.executable, "-m", "castore", "fold", str(source), "--store", str(tmp_path / "store")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        children: list[str] = []
        listing = Path(f"/proc/{program.pid}/task/{program.pid}/children")
        if not listing.exists():
            program.kill()
            program.wait()
            pytest.skip("the system does not list a process's children")
        deadline = time.monotonic() + 20
        while not children and program.poll() is None and time.monotonic() < deadline:
            children = listing.read_text().split()
        program.send_signal(how)
        program.wait(timeout=30)
        if os.cpu_count() == 1:
            return
        assert children
        deadline = time.monotonic() + 20
        while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not [child for child in children if Path(f"/proc/{child}").exists()]


class TestGuesses:
    """What is given away before it was validated must not change what an invalid document is told."""

    @pytest.mark.parametrize(
        "head",
        [
            b'[{"r":"\xff"},',
            b'[{"r":1 2},',
            b'\n\n[1]\n{"q":01,"z":[{"r":1 2},',
            b'{"q":[{"r":"\xff"},',
            b'[{"r"},',
        ],
    )
    def test_errors_are_those_of_the_strict_scan(self, tmp_path: Path, head: bytes) -> None:
        document = head + b",".join([b'{"r":1}'] * 600_000) + b"]"
        assert len(document) > 4 << 20
        told = []
        for processes in (1, 3):
            handle = StoreHandle(tmp_path / "none", may_create=True)
            with pytest.raises(DocumentInvalid) as caught:
                fold_stream(io.BytesIO(document), io.BytesIO(), handle, FoldPolicy(), processes=processes)
            told.append((caught.value.message, caught.value.place, caught.value.fields))
        assert told[0] == told[1]
        assert told[0][2]["line"] is not None


class TestOddHomes:
    def test_where_children_are_reaped_by_the_system(self, tmp_path: Path) -> None:
        """SIGCHLD may be ignored by whoever started us."""
        source = tmp_path / "in.json"
        source.write_bytes(b"".join(pieces(4_000_000)))
        program = (
            "import signal, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
            "from castore.cli.app import main\nmain()\n"
        )
        command = [sys.executable, "-c", program, "fold", str(source), "--store", str(tmp_path / "store")]
        done = subprocess.run(command, capture_output=True, check=False)
        assert (done.returncode, done.stderr.count(b"error")) == (0, 0), done.stderr
        assert done.stdout == fold(tmp_path / "alone", source.read_bytes(), 1)

    def test_where_no_process_is_to_be_had(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        document = b"".join(pieces(4_000_000))
        alone = fold(tmp_path / "alone", document, 1)

        def refused() -> int:
            raise BlockingIOError(11, "Resource temporarily unavailable")

        monkeypatch.setattr(os, "fork", refused)
        assert fold(tmp_path / "refused", document, 3) == alone
