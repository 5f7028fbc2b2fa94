"""The commands that write, and some that read, each with what must be there before it.

A new command is one line in a list here: the proofs of order, kills and failing calls all take it.
"""

from __future__ import annotations

from typing import Any

from castore import api
from castore.config import SYNC_FILES_MAX
from castore.objects.database import encode_object
from castore.store import StoreHandle
from castore.store.keeping import RootChoice
from castore.summary.cache import SummaryCache
from castore.summary.strategy import NamedMaker
from castore.transcript.collapse.extract import Extract
from castore.transcript.collapse.opening import open_coordinator
from castore.transcript.collapse.spans import Messages
from castore.transcript.collapse.staging import span_of_turns, stage_span
from castore.transcript.decision import ViewOptions
from castore.transcript.view import ViewRequest
from tests.durability.shell import Shell, document
from tests.transcript.sessions import pi_session

__all__ = ["MORE", "READING", "SCENARIOS", "Scenario"]

VIEWED = ViewRequest(options=ViewOptions(step=1))
"""How the views here are asked for."""

_UNNAMED = b"an object that a crash left without root and row " * 30


_LARGE_ARRAY = b'[%s"a"]' % (b'{"number": 1, "text": "of many frames"},' * 80_000)
"""Of three frames: they are put in pieces, and have rows."""


class Scenario:
    """A command line, what must be in the store before it, and what it reads.

    In the arguments, DOCUMENT stands for a file that holds the folded document `kept`, KEPT for its digest,
    OBJECT for the digest of an object of it.
    """

    beside: frozenset[str] = frozenset()
    """Names in the folder of the store that it may leave, or that were there."""
    exit_codes: frozenset[int] = frozenset()
    """That it may have when a call fails, beside those of every command."""

    def __init__(self, name: str, *arguments: str, values: int = 0, **options: Any) -> None:
        self.name = name
        self.arguments = arguments
        self.options = options
        self.files = int(options.get("files", 0))
        """So many are put: their paths are what it reads."""
        self.stdin = document("traced", values) if values else b""
        if self.files:
            self.stdin = b"".join(f"{name}\n".encode() for name in self._names())
        self.out: str | None = str(options["out"]) if "out" in options else None
        self.has_store = bool(options.get("has_store", True))
        self.has_index = bool(options.get("has_index", True))
        self.has_unnamed = bool(options.get("has_unnamed", False))
        self.in_steps = bool(options.get("in_steps", False))
        """It has several transactions."""
        self.session: bytes = options.get("session", b"")
        """An agent's session that it reads."""
        self.viewed: bytes = options.get("viewed", b"")
        """An earlier state of it, of which a view is recorded before."""
        self.staged: list[slice] = options.get("staged", [])
        """Turns of the session that are staged before."""
        self.staged_ids: set[str] = set()
        self.summary: str | None = options.get("summary")
        """What is cached before as a summary of the document, and of an object that is doomed."""
        self.stdin = self.session or self.stdin
        self.kept: dict[bytes, bytes] = {}
        """By the folded document: the source of what is there before it, and must stay."""

    def prepare(self, ctx: Shell, seed: int) -> Shell:
        """A folder of its own, so that nothing of an earlier run is there already."""
        folder = ctx.folder / f"run-{seed}"
        folder.mkdir()
        shell = Shell(folder, ctx.folder.parent / "home")
        for name in self._names():
            folder.joinpath(name).write_text(f"the file {name}\n" * 40)
        if self.has_store:
            self._fill(shell)
        return shell

    def command(self, shell: Shell) -> list[str]:
        """What runs, in the folder that was prepared."""
        return shell.command(*self._arguments())

    def unsynced(self, shell: Shell, which: str) -> list[str]:
        """The same without the syncs that `unsynced.py` calls `which`."""
        return shell.unsynced(which, *self._arguments())

    def out_of(self, shell: Shell) -> str | None:
        return None if self.out is None else str(shell.folder / self.out)

    def places(self, shell: Shell) -> tuple[str, ...]:
        """What matters beside the store and OUT."""
        return ()

    def wrong(self, shell: Shell, *, is_done: bool) -> list[str]:
        """What does not hold that must, beside what must of every store. is_done: it was run again, whole."""
        return []

    def _fill(self, shell: Shell) -> None:
        store = api.init_store(shell.store)
        kept = api.fold_bytes(store, document("kept"))
        self.kept[kept] = document("kept")
        shell.folder.joinpath("kept.json").write_bytes(kept)
        doomed = api.fold_bytes(store, document("doomed"), name="doomed")
        if self.arguments[0] == "gc":
            store.forget(RootChoice(references=("doomed",)))
        elif self.arguments[0] != "purge":
            self.kept[doomed] = document("doomed")
        if self.viewed:
            view = api.view_bytes(store, self.viewed, VIEWED)
            if self.arguments[0] == "view":
                self.kept[view] = self.viewed
        if self.staged:
            coordinator = open_coordinator(self.session, StoreHandle.of(store))
            messages = Messages(coordinator.transcript)
            for turns in self.staged:
                stage_span(coordinator, messages, span_of_turns(messages, turns), Extract())
            self.staged_ids = {each.collapse_id for each in coordinator.staged}
        if self.summary is not None:
            cache = SummaryCache(StoreHandle.of(store))
            for source in (kept, api.Digest.parse(_object_of(document("doomed", 1)))):
                cache.put(source, self.summary, NamedMaker("mine"))
        store.close()
        if self.has_unnamed:
            _leave_unnamed(shell)
        if not self.has_index:
            shell.store.joinpath("index.sqlite").unlink()

    def _arguments(self) -> list[str]:
        document_digest = str(api.Digest.of(next(iter(self.kept)))) if self.kept else ""
        value = document("kept", 1)
        meant = {
            "DOCUMENT": "kept.json",
            "KEPT": document_digest,
            "OBJECT": _object_of(value),
            "DOOMED": _object_of(document("doomed", 1)),
        }
        return [meant.get(each, each) for each in self.arguments]

    def _names(self) -> list[str]:
        return [f"file-{number}" for number in range(self.files)]

    def __repr__(self) -> str:
        return self.name


def _object_of(source: bytes) -> str:
    """The digest of the only string in a document of one value: it folds as its text."""
    import json

    (text,) = json.loads(source).values()
    return str(api.Digest.of(text.encode()))


def _leave_unnamed(shell: Shell) -> None:
    encoded = encode_object(_UNNAMED, 3)
    path = shell.store / "objects" / encoded.digest.hex[:2] / encoded.digest.hex
    path.parent.mkdir(exist_ok=True, mode=0o700)
    path.write_bytes(encoded.file)
    path.chmod(0o400)


def _hooked(result: bytes) -> bytes:
    """What a hook is told after a call that gave this."""
    import json

    call = {"tool_name": "Bash", "tool_input": {}, "tool_response": {"stdout": result.decode()}}
    return json.dumps({"hook_event_name": "PostToolUse", "session_id": "s-1", **call}).encode()


SCENARIOS = [
    Scenario("fold into a new store", "fold", values=2, has_store=False),
    Scenario("fold", "fold", values=3),
    Scenario("large fold", "fold", values=SYNC_FILES_MAX + 20),
    Scenario("fold to OUT", "fold", "-o", "out.json", values=2, out="out.json"),
    Scenario("put", "put", "-", values=1),
    Scenario("put of many files", "put", "--stdin-paths", files=260),
    Scenario("tag", "tag", "again", "doomed"),
    Scenario("forget", "forget", "doomed"),
    Scenario("gc", "gc", "--now"),
]

MORE = [
    Scenario("tag that moves a name", "tag", "doomed", "KEPT", "--move"),
    Scenario("fold with the index gone", "fold", values=2, has_index=False),
    Scenario("gc with the index gone", "gc", "--now", has_index=False),
    Scenario("gc of an unnamed object", "gc", "--now", has_unnamed=True),
    Scenario("put of a large array", "put", "-", session=_LARGE_ARRAY),
    Scenario("repair", "repair", has_unnamed=True),
    Scenario("repair with the index gone", "repair", has_unnamed=True, has_index=False),
    Scenario("purge", "purge", "DOOMED", "--reason", "a secret", "--yes"),
    Scenario("view", "view", "--step", "1", session=pi_session(3)),
    Scenario("view of a grown session", "view", "--step", "1", session=pi_session(5), viewed=pi_session(4)),
    Scenario("hook", "hook", "claude-code", "--limit", "300", session=_hooked(pi_session(3))),
    Scenario("collapse stage", "collapse", "stage", session=pi_session(6), in_steps=True),
    Scenario(
        "collapse commit", "collapse", "commit", session=pi_session(6), staged=[slice(0, 4), slice(4, 8)]
    ),
    Scenario("summary get", "summary", "get", "kept.json", "--strategy", "extract", "--source-name", "it"),
    Scenario(
        *("summary put", "summary", "put", "kept.json", "-", "--strategy", "mine", "--replace"),
        session=b"another summary",
        summary="a summary",
    ),
    Scenario("purge of what has a summary", "purge", "DOOMED", "--reason", "x", "--yes", summary="a secret"),
]
"""Of these not every sync is needed for a promise: some only make sure of what may be on the disk already."""

READING = [
    Scenario("unfold", "unfold", "DOCUMENT"),
    Scenario("cat", "cat", "OBJECT"),
    Scenario("verify", "verify"),
    Scenario("verify a file", "verify", "DOCUMENT"),
    Scenario("log", "log", "--json"),
    Scenario("ls", "ls", "--json"),
    Scenario("stats", "stats", "--json"),
]
