"""Logs: roots that have places in one, which two writers can't both give away.

Laws:
- A log is the roots of one kind, scope and source name that have a place. Its records are numbered from 1,
  each the next one of the log; its state has the place STATE, and is replaced whole.
- Of two writers who read the same log, one writes and the other gets LogMoved: a record's number must be the
  next one in its own transaction, and a state says which one it is in place of.
- Nothing of other scopes has a part in that: a log lies in one scope, and so do the ids of its roots.
- What a root of a log named, and what stands in its place does not, is kept for the grace as what is
  forgotten is (castore.store.replacing).
- A log is forgotten whole. Numbers that were given are not given again while a forgotten record may come
  back, so that a log that is begun anew goes on behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from castore.errors import InvalidOption, LogMoved
from castore.roots.model import STATE, Root, RootDraft, RootKind, log_root_id

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = [
    "LogRoots",
    "LogScopes",
    "check_drafts",
    "check_is_not_begun_anew",
    "check_next",
    "read_log",
    "whole_logs",
]


@dataclass(frozen=True, slots=True)
class LogRoots:
    """The live roots of a log: its records, in order, and its state, if it has one.

    last: the highest number of a record that has not expired, forgotten ones included; 0: there is none.
    """

    records: tuple[Root, ...] = ()
    state: Root | None = None
    last: int = 0


class LogScopes(NamedTuple):
    """Scopes, sorted: those with a live log, and those whose log is forgotten whole and may come back."""

    live: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()


def read_log(connection: Connection, kind: RootKind, scope: str, source_name: str, now: float) -> LogRoots:
    """What the log holds now."""
    from castore.index import roots

    found = [root for root in roots.of_log(connection, kind, scope, source_name) if not root.is_expired(now)]
    live = [root for root in found if root.is_live(now)]
    return LogRoots(
        tuple(root for root in live if root.place != STATE),
        next((root for root in live if root.place == STATE), None),
        max((root.place or 0 for root in found), default=0),
    )


def check_drafts(drafts: Iterable[RootDraft]) -> None:
    """Those of logs are of nothing else. Raises InvalidOption."""
    for draft in drafts:
        if draft.place is None:
            continue
        others = (draft.name, draft.source, draft.document, draft.base, draft.keep_seconds)
        if draft.source_name is None or any(each is not None for each in others) or draft.place < 0:
            raise InvalidOption("a root of a log has a source name and a place, and is kept for ever")


def check_next(
    connection: Connection, drafts: Sequence[RootDraft], scopes: Sequence[str], now: float
) -> None:
    """The places of these drafts, in their order, are the next ones of their logs. Raises LogMoved."""
    from castore.index import roots

    lasts: dict[tuple[RootKind, str, str], int] = {}
    states: set[tuple[RootKind, str, str]] = set()
    for draft, scope in zip(drafts, scopes, strict=True):
        if draft.place is None or draft.source_name is None:
            continue
        log = (draft.kind, scope, draft.source_name)
        if draft.place == STATE:
            old = roots.by_id(connection, log_root_id(*log, STATE))
            replaced = old.sequence if old is not None and old.is_live(now) else 0
            if draft.replaces != replaced or log in states:
                raise _moved(draft.source_name)
            states.add(log)
            continue
        if log not in lasts:
            lasts[log] = roots.last_place(connection, *log, now)
        lasts[log] += 1
        if draft.place != lasts[log]:
            raise _moved(draft.source_name)


def check_is_not_begun_anew(connection: Connection, chosen: Iterable[Root], now: float) -> None:
    """Of these forgotten roots, those of logs can come back: nothing was written in their logs since. Raises
    LogMoved."""
    from castore.index import roots

    forgotten: dict[tuple[RootKind, str, str], float] = {}
    for root in chosen:
        if root.place is not None and root.source_name is not None and root.forgotten is not None:
            log = (root.kind, root.scope, root.source_name)
            forgotten[log] = max(forgotten.get(log, 0.0), root.forgotten)
    for log, since in forgotten.items():
        if any(root.is_live(now) and root.created >= since for root in roots.of_log(connection, *log)):
            raise LogMoved(
                f"the log of '{log[2]}' was begun anew since it was forgotten",
                hint="forget what it holds now; what was forgotten before stays so",
                subject=log[2],
            )


def whole_logs(connection: Connection, found: Iterable[Root]) -> list[Root]:
    """`found`, and of each log that one of them is of, all its roots."""
    from castore.index import roots

    whole: dict[str, Root] = {}
    for root in found:
        if root.place is not None and root.source_name is not None:
            for each in roots.of_log(connection, root.kind, root.scope, root.source_name):
                whole[each.id] = each
        else:
            whole[root.id] = root
    return list(whole.values())


def _moved(source_name: str) -> LogMoved:
    return LogMoved(f"somebody else wrote in the log of '{source_name}'", subject=source_name)
