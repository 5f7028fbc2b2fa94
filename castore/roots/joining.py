"""Joining: what two roots of one id come to, where a store meets a bucket or a bundle. Pure.

Laws, of `joined(there, arriving)`, for any two roots that can be joined:
- It names whatever either names, but for what either says was purged: a purge is not undone by a copy.
- It is live if either is, and then expires no earlier than either that is live. If neither is, it expires
  when the later one does (of two with a key it is the one that was made later), so that forgetting what both
  have holds. But what is over for good, since what it was bound to was purged, comes back only as one with
  its key that was made later.
- Joining again with either changes nothing. In which order two arrive makes no difference to what it names,
  says of purges, when it was created, and how long it is kept. `there` wins where both can't be right: its
  sequence, the sizes that it tells, its base (which is complete for what `there` names; the objects of both
  are named), details that both have, and which of two live roots has a key.
- Where one has expired and the other has not, the other wins in its place: the base, too, of one that has
  expired may be gone.
- The detail REMOTE is of one store alone: that of `there` stays, that of `arriving` does not come along.

What is of a log or has a key is not mixed: a record of a log is the same on both sides, unless one has
expired, which then goes as a whole; of two states the one that tells of more records is taken whole, and of
two roots with a key that of `there`, if it is live; with the time when that was created. Anything else is
RootsDiverged.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

from castore.digest import Digest
from castore.errors import RootsDiverged
from castore.layout import ROOT_ID_HEX
from castore.roots.model import (
    BY,
    LAST,
    PURGED,
    REMOTE,
    STATE,
    Root,
    RootDraft,
    alone,
    is_over,
    latest,
    root_id,
)

__all__ = ["content_mark", "has_its_id", "joined", "says_what"]


def joined(there: Root | None, arriving: Root, *, now: float, is_newer: bool = False) -> Root:
    """The root that is to be where `there` is, once `arriving`, which has the same id, has come.

    is_newer: a state that arrives was made from the one that is there, or is wanted whatever that says. The
    result's sequence is that of `there`, or else of `arriving`: who writes it in a store gives it another.
    Raises RootsDiverged.
    """
    carried = _without_remote(arriving)
    if there is None:
        return replace(carried, objects=tuple(sorted(set(carried.objects))))
    _check_same(there, arriving)
    over = _over(there, carried)
    if over is not None:
        return _beside(there, over, {*_purged(there), *_purged(arriving)})
    if there.key is not None and not there.is_live(now) and not arriving.is_live(now):
        later = carried if arriving.created > there.created else there
        return _beside(there, later, set(_purged(later)))
    first, second = (there, carried)
    if there.is_expired(now) and not arriving.is_expired(now):
        first, second = carried, there
    if there.key is not None or there.place == STATE:
        is_wanted = is_newer and there.key is None and carried.is_live(now)
        chosen = carried if is_wanted else _whole(there, first, second, now)
        return _kept(_beside(there, chosen, set(_purged(chosen))), there, carried, now)
    purged = {*_purged(there), *_purged(arriving)}
    if there.place is not None and there.is_expired(now) != arriving.is_expired(now):
        # What a log said that is gone is no part of one that says something else in its place.
        second = first
    elif there.place is not None:
        _check_same_record(there, arriving, purged)
    whole = replace(
        first,
        created=min(first.created, second.created),
        objects=tuple(each for each in (*first.objects, *second.objects) if str(each) not in purged),
        details=_details(first, second),
    )
    return _kept(_beside(there, whole, purged), there, carried, now)


def content_mark(root: Root) -> str:
    """32 hex digits that are those of another root of this id only if both name and say the same."""
    import json

    objects, details = _said(root, set())
    text = json.dumps([sorted(map(str, objects)), details], sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:ROOT_ID_HEX]


def has_its_id(root: Root) -> bool:
    """Whether the root's id is that of what it is: so that, of two with one id, both are of one scope.

    The objects that it was purged of count among those that it names.
    """
    try:
        purged = tuple(Digest.parse(each) for each in _purged(root))
    except ValueError:
        return False
    draft = RootDraft(
        root.kind,
        (*root.objects, *purged),
        name=root.name,
        source_name=root.source_name,
        source=root.source,
        document=root.document,
        place=root.place,
        key=root.key,
    )
    return root_id(draft, root.scope) == root.id


def says_what(root: Root) -> Root:
    """The root without what only the store that it lies in says of it: two of these that are equal have the
    same content, and are kept as long."""
    return replace(_without_remote(alone(root)), sequence=0)


# --- Helpers ---------------------------------------------------------------------------------------


def _without_remote(root: Root) -> Root:
    if REMOTE not in root.details:
        return root
    return replace(root, details={key: value for key, value in root.details.items() if key != REMOTE})


def _purged(root: Root) -> tuple[str, ...]:
    """What it says was purged; nothing, where that is no list of words."""
    found: Any = root.details.get(PURGED, ())
    if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
        return ()
    return tuple(found)


def _over(there: Root, arriving: Root) -> Root | None:
    """That of the two which is over for good, if the other was not made since."""
    for one, other in ((there, arriving), (arriving, there)):
        if is_over(one) and not is_over(other):
            is_newer = other.key is not None and one.forgotten is not None and other.created > one.forgotten
            return None if is_newer else one
    return None


def _beside(there: Root, root: Root, purged: set[str]) -> Root:
    """`root` as it is to be in the place of `there`, purged of these."""
    details = {key: value for key, value in root.details.items() if key not in (PURGED, REMOTE)}
    if purged:
        details[PURGED] = sorted(purged)
    if REMOTE in there.details:
        details[REMOTE] = there.details[REMOTE]
    objects = tuple(sorted(set(root.objects)))
    return replace(root, sequence=there.sequence, objects=objects, details=details)


def _check_same(there: Root, arriving: Root) -> None:
    """What the id follows from is the same, or the id of one is not its own. Raises RootsDiverged."""
    if (there.id, there.kind, there.scope, there.name, there.place, there.key) != (
        arriving.id,
        arriving.kind,
        arriving.scope,
        arriving.name,
        arriving.place,
        arriving.key,
    ):
        raise RootsDiverged(arriving.id, "it is of another kind, scope or name")
    if there.key is not None:
        return
    contents = (
        (one.source_name, one.source and one.source.digest, one.document and one.document.digest)
        for one in (there, arriving)
    )
    if next(contents) != next(contents):
        raise RootsDiverged(arriving.id, "it is of another source or document")


def _check_same_record(there: Root, arriving: Root, purged: set[str]) -> None:
    """Two records with one place in a log are one. Raises RootsDiverged."""
    if _said(there, purged) != _said(arriving, purged):
        words = f"record {there.place} of the log '{there.source_name}' says something else"
        raise RootsDiverged(arriving.id, words)


def _said(root: Root, purged: set[str]) -> tuple[set[Digest], dict[str, Any]]:
    own = {key: value for key, value in root.details.items() if key not in (PURGED, REMOTE)}
    return {each for each in root.objects if str(each) not in purged}, own


def _whole(there: Root, first: Root, second: Root, now: float) -> Root:
    """Which of two roots that are replaced whole is meant. Raises RootsDiverged for states."""
    if first.is_live(now) != second.is_live(now):
        return first if first.is_live(now) else second
    if there.key is not None or _said(first, set()) == _said(second, set()):
        return first
    counts = _count(first), _count(second)
    if counts[0] == counts[1]:
        words = f"the state of the log '{there.source_name}' says something else"
        raise RootsDiverged(there.id, words)
    return first if counts[0] > counts[1] else second


def _count(state: Root) -> int:
    """How many records there were when the state was written; -1 where it does not say."""
    told = state.details.get(LAST)
    return told if type(told) is int else -1


def _details(first: Root, second: Root) -> dict[str, Any]:
    details = {**second.details, **first.details}
    if BY in details and not (BY in first.details and BY in second.details):
        # Somebody asked for one of them by hand.
        del details[BY]
    return details


def _kept(whole: Root, there: Root, arriving: Root, now: float) -> Root:
    """`whole`, kept as these two are together, as the laws above say."""
    live = [root for root in (there, arriving) if root.is_live(now)]
    if live:
        until = latest(root.expires for root in live)
        until_alone = latest(alone(root).expires for root in live)
        forgotten, restorable = None, None
    else:
        pair = (there, arriving)
        last = max(pair, key=_expiry)
        until = last.expires
        until_alone = latest(alone(root).expires for root in pair)
        times = [root.forgotten for root in pair if root.forgotten is not None]
        forgotten = max(times, default=None)
        restorable = _restorable(pair) if times else None
    return replace(
        whole,
        expires=until,
        expires_alone=None if until_alone == until else until_alone,
        forgotten=forgotten,
        expires_unforgotten=restorable,
    )


def _restorable(pair: tuple[Root, Root]) -> float | None:
    """The expiry that undoing the forget restores: the later one."""
    return latest(root.expires_unforgotten if root.forgotten is not None else root.expires for root in pair)


def _expiry(root: Root) -> float:
    return float("inf") if root.expires is None else root.expires
