"""The commands that write, each with what must be there before it."""

from __future__ import annotations

from typing import Any

from castore import api
from castore.config import SYNC_FILES_MAX
from castore.store.keeping import RootChoice
from tests.durability.shell import Shell, document

__all__ = ["REBUILD", "SCENARIOS", "Scenario"]


class Scenario:
    """A command line, what must be in the store before it, and what it reads."""

    def __init__(self, name: str, *arguments: str, values: int = 0, **options: Any) -> None:
        self.name = name
        self.arguments = arguments
        self.files = int(options.get("files", 0))
        """So many are put: their paths are what it reads."""
        self.stdin = document("traced", values) if values else b""
        if self.files:
            self.stdin = b"".join(f"{name}\n".encode() for name in self._names())
        self.out: str | None = str(options["out"]) if "out" in options else None
        self.has_store = bool(options.get("has_store", True))
        self.has_index = bool(options.get("has_index", True))
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
            store = api.init_store(shell.store)
            self.kept[api.fold_bytes(store, document("kept"))] = document("kept")
            doomed = api.fold_bytes(store, document("doomed"), name="doomed")
            if self.name != "gc":
                self.kept[doomed] = document("doomed")
            else:
                store.forget(RootChoice(references=("doomed",)))
            store.close()
            if not self.has_index:
                shell.store.joinpath("index.sqlite").unlink()
        return shell

    def _names(self) -> list[str]:
        return [f"file-{number}" for number in range(self.files)]

    def out_of(self, shell: Shell) -> str | None:
        return None if self.out is None else str(shell.folder / self.out)

    def __repr__(self) -> str:
        return self.name


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

REBUILD = Scenario("fold with the index gone", "fold", values=2, has_index=False)
