"""Which log a session has, and the session as that log hides turns of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from castore.digest import Digest
from castore.errors import InvalidOption
from castore.transcript.collapse.persistence import CollapseLog
from castore.transcript.collapse.project import project
from castore.transcript.collapse.replay import holding_commits
from castore.transcript.model import Transcript

if TYPE_CHECKING:
    from castore.store import StoreHandle

__all__ = ["collapsed", "session_key", "session_log"]

_KEY_CHARACTERS_MAX = 100


def session_key(transcript: Transcript, name: str | None = None) -> str:
    """What the session's log is called: the name given, else the session's own id, or its digest if that is
    long or can't be printed. Raises InvalidOption if there is neither."""
    if name is not None:
        if not 0 < len(name) <= _KEY_CHARACTERS_MAX or not (name.isascii() and name.isprintable()):
            raise InvalidOption(
                f"a session's name has 1 to {_KEY_CHARACTERS_MAX} printable ASCII characters",
                option="--session",
            )
        return name
    found = transcript.session
    if not found:
        raise InvalidOption(
            f"a session of the format '{transcript.format}' has no id that its log could be known by",
            option="--session",
            hint="name its log with --session NAME",
        )
    if len(found) > _KEY_CHARACTERS_MAX or not (found.isascii() and found.isprintable()):
        return str(Digest.of(found.encode("utf-8", "surrogatepass")))
    return found


def session_log(
    transcript: Transcript, handle: StoreHandle, name: str | None = None, scope: str | None = None
) -> CollapseLog:
    """The session's log in the store, to be read. scope: that it lies in; None: the one that is seen,
    wherever that is. Raises InvalidOption as `session_key` does."""
    from castore.transcript.collapse.seen_log import SeenLog
    from castore.transcript.collapse.store_log import StoreLog

    key = session_key(transcript, name)
    return SeenLog(handle, key) if scope is None else StoreLog(handle, key, scope)


def collapsed(transcript: Transcript, log: CollapseLog, *, retrieve_with: str | None = None) -> Transcript:
    """The transcript as the log says. Raises LogDamaged, and what reading a summary raises."""
    commits = holding_commits(log.load().records)
    return project(transcript, commits, log.summary, retrieve_with=retrieve_with)
