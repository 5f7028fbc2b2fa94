"""A machine: a folder with a store, whose remote `origin` is a bucket; `ctx` runs there as a process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from castore.gc.verify import verify
from castore.remote.bucket import Bucket
from castore.remote.connecting import connect
from castore.remote.remotes import add
from castore.settings import RemoteSettings
from castore.store import Store
from tests.cli.conftest import Done, Shell

__all__ = ["Machine", "document"]

_LEFT_BY_A_KILL = ("stray", "unnamed")
"""Objects whose root was not yet there, and files that were not yet renamed: no damage."""


def document(seed: int, objects: int = 12) -> bytes:
    """A document of which so many values fold, each its own; those of one seed are the same."""
    chance = Random(seed)
    values = {f"text {at}": f"{seed} {at} " + chance.randbytes(900).hex() for at in range(objects)}
    return json.dumps(values).encode()


class Machine:
    """environment: of its processes, beside this one's."""

    def __init__(self, folder: Path, settings: RemoteSettings, **environment: str) -> None:
        self.folder = folder
        home = folder / "home"
        home.mkdir(parents=True)
        self.shell = Shell(folder, home)
        self.shell.environment |= environment
        self.settings = settings
        store = Store.init(folder / ".ctxstore")
        add(store, "origin", settings)
        store.close()

    def __call__(self, *arguments: str, stdin: bytes = b"", **environment: str) -> Done:
        return self.shell(*arguments, stdin=stdin, **environment)

    def done(self, *arguments: str, stdin: bytes = b"") -> Done:
        """As a call, and it succeeds."""
        done = self(*arguments, stdin=stdin)
        assert done.code == 0, done
        return done

    def started(self, *arguments: str) -> subprocess.Popen[bytes]:
        """A process of its own, to be killed."""
        return subprocess.Popen(
            self.shell.command(*arguments),
            cwd=self.folder,
            env=self.shell.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def fold(self, data: bytes, name: str = "folded.json") -> str:
        """The path of the folded document."""
        (self.folder / "in.json").write_bytes(data)
        self.done("fold", "in.json", "-o", name)
        return name

    @property
    def bucket(self) -> Bucket:
        return connect("origin", self.settings)

    @contextmanager
    def store(self) -> Iterator[Store]:
        store = Store.open(self.folder / ".ctxstore")
        try:
            yield store
        finally:
            store.close()

    def truth(self) -> dict[str, bytes]:
        """All objects and roots of the store."""
        found = {}
        for kind in ("objects", "roots"):
            for path in sorted((self.folder / ".ctxstore" / kind).rglob("*")):
                if path.is_file():
                    found[str(path.relative_to(self.folder))] = path.read_bytes()
        return found

    def hold(self, *, was_killed: bool = False) -> None:
        """The store has no damage; and nothing unfinished, unless a command was killed."""
        with self.store() as store:
            found = [str(each) for each in verify(store)]
        assert [each for each in found if not (was_killed and each.startswith(_LEFT_BY_A_KILL))] == []
