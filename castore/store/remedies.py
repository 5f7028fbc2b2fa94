"""What may bring back an object that is missing or damaged, in a store that has remotes: words for hints.

Laws: nothing is asked of a remote for it. Settings that can't be read keep no error from being told. Of what
a caller does not see the words are those of what nobody has.
"""

from __future__ import annotations

from collections.abc import Iterable

from castore.errors import CastoreError, Damaged, NotFound, ObjectDamaged, ObjectMissing
from castore.store.transaction import Transactions

__all__ = ["DEFAULT_REMOTE", "default_remote", "offer_pull", "offer_repair", "remote_to_name"]

DEFAULT_REMOTE = "origin"
"""The remote that is meant where none is named, if there are several."""


def default_remote(names: Iterable[str]) -> str | None:
    """The only one of these remotes, or `origin`; None where that is none."""
    found = list(names)
    return found[0] if len(found) == 1 else DEFAULT_REMOTE if DEFAULT_REMOTE in found else None


def remote_to_name(parts: Transactions) -> str | None:
    """The remote that a hint names, `NAME` where any of several may be meant; None if the store has none."""
    try:
        remotes = parts.config.remotes
    except CastoreError:
        return None
    return (default_remote(remotes) or "NAME") if remotes else None


def offer_pull(parts: Transactions, error: NotFound, what: str) -> None:
    """The hint of what is not here begins with the pull that brings it. what: the REF to pull."""
    remote = remote_to_name(parts)
    if remote is not None:
        error.offer_pull(remote, what)


def offer_repair(parts: Transactions, error: ObjectMissing | Damaged, *, is_operator: bool) -> None:
    """The hint of an object that was lost here, or is damaged, says how a remote puts that right."""
    remote = remote_to_name(parts)
    if remote is None or not isinstance(error, ObjectMissing | ObjectDamaged):
        return
    command = f"'ctx repair --remote {remote}'"
    if is_operator:
        error.hint = (
            f"{command} brings it back if it was pushed; so does --from FILE if FILE has the bytes; "
            "'ctx verify' lists all damage"
        )
    else:
        first = "" if isinstance(error, ObjectMissing) else "put its bytes again, or "
        error.hint = f"{first}ask the store's operator to run {command}"
