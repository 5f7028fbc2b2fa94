"""`ctx` in this process, on a store that need not be there, with files beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.access.sessions import pi_session
from tests.access.world import Told, ctx, truth

SESSION = pi_session("apples")
"""Ten calls with long results, two prose parts; eight results and what people saw of them move."""


class Desk:
    """folder: has session.jsonl. store: where the store is, or would be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / ".ctxstore"
        self.session = str(folder / "session.jsonl")
        self.view = str(folder / "view.jsonl")
        Path(self.session).write_bytes(SESSION)

    def __call__(self, *arguments: str, stdin: bytes = b"", scope: str | None = None) -> Told:
        return ctx(self.store, *arguments, scope=scope, stdin=stdin)

    def made(self, *arguments: str) -> bytes:
        """The view of the session, in a file; it is done, and says nothing."""
        told = self("view", self.session, "-o", self.view, *arguments)
        assert told.code == 0, told.err
        return Path(self.view).read_bytes()

    def back(self, view: bytes, *arguments: str) -> bytes:
        """What unfold gives for it."""
        told = self("unfold", *arguments, stdin=view)
        assert told.code == 0, told.err
        return told.out.encode()

    def summary(self, told: Told) -> dict[str, Any]:
        (found,) = [each for each in self.events(told) if each["event"] == "summary"]
        return found

    def events(self, told: Told) -> list[dict[str, Any]]:
        return [json.loads(line) for line in told.err.splitlines()]

    def roots(self, scope: str | None = None) -> list[dict[str, Any]]:
        told = self("log", "--json", scope=scope)
        return [json.loads(line) for line in told.out.splitlines()]

    def kept(self) -> dict[str, bytes]:
        """All files of the store that are truth; none if there is no store."""
        return truth(self.store)


def refused(desk: Desk, code: int, *arguments: str, stdin: bytes = b"") -> Told:
    """The command fails so: nothing is on stdout, OUT is untouched, and nothing is stored or made."""
    out = desk.folder / "out.jsonl"
    out.write_bytes(b"as it was")
    files = set(desk.folder.iterdir())
    before = desk.kept()
    told = desk(*arguments, stdin=stdin)
    assert (told.code, told.out) == (code, ""), told
    assert told.err.startswith("error: ")
    there = desk(*arguments, "-o", str(out), stdin=stdin)
    assert there == told
    assert out.read_bytes() == b"as it was"
    assert set(desk.folder.iterdir()) == files
    assert desk.kept() == before
    return told
