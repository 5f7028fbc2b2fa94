"""What names meant, and states of logs said, when a store last agreed with a remote: `remotes/<name>.json`.

Laws: these are notes. Losing them loses nothing: a name that was moved at the remote is then moved only by
`--move`, as if somebody else had moved it. A file is replaced at once; what can't be read counts as no notes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from castore import durable
from castore.layout import ROOT_ID
from castore.remote.keys import root_key
from castore.roots.joining import content_mark
from castore.roots.model import Root
from castore.store import Store

__all__ = ["Seen", "Tracking"]

_BYTES_MAX = 64 << 20


class Seen(NamedTuple):
    """A name's record as it was seen: `moves` of it, and the root that had the name. Of a state of a log:
    what it said (castore.roots.joining.content_mark)."""

    moves: int
    root: str


class Tracking:
    """The notes of one store about one remote."""

    def __init__(self, store: Store, remote: str) -> None:
        self._layout = store.parts.layout
        self._mode = store.parts.modes
        self._path = f"{self._layout.remotes}/{remote}.json"
        self._seen = _read(self._path)
        self._changed: dict[str, Seen] = {}

    def get(self, key: str) -> Seen | None:
        """What the record under this key said."""
        return self._changed.get(key) or self._seen.get(key)

    def is_agreed(self, state: Root) -> bool:
        """The state of a log says what this store and the remote last agreed about: what is in its place on
        the other side was made from it."""
        seen = self.get(root_key(state.id))
        return seen is not None and seen.root == content_mark(state)

    def note_state(self, state: Root) -> None:
        """This store and the remote have this state of a log."""
        self.note(root_key(state.id), Seen(0, content_mark(state)))

    def note(self, key: str, seen: Seen) -> None:
        """This store and the remote agree about the name."""
        if self.get(key) != seen:
            self._changed[key] = seen

    def save(self) -> None:
        """What was noted is in the file, with what others noted meanwhile. Best effort between processes."""
        if not self._changed:
            return
        import json

        merged = {**_read(self._path), **self._changed}
        data = json.dumps({key: list(seen) for key, seen in sorted(merged.items())}).encode() + b"\n"
        if not os.path.isdir(self._layout.remotes):
            durable.make_folder(self._layout.remotes, self._mode.folder)
        staged = self._layout.staged_file(f"remote-{os.getpid()}-{os.urandom(6).hex()}")
        durable.publish(self._path, data, staged=staged, mode=self._mode.index)
        self._seen, self._changed = merged, {}


def _read(path: str) -> Mapping[str, Seen]:
    import json

    try:
        with open(path, "rb") as file:
            members = json.loads(file.read(_BYTES_MAX))
        return {
            key: Seen(moves, root)
            for key, (moves, root) in members.items()
            if type(moves) is int and isinstance(root, str) and ROOT_ID.match(root)
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        # Unreadable notes are none: then nothing is taken for agreed.
        return {}
