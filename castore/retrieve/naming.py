"""What names an object, and for how long, in a few words: for people and agents alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from castore.digest import SHORT_HEX
from castore.overview.words import age_text, date_text
from castore.roots.model import STATE, Root

if TYPE_CHECKING:
    from castore.store.life import Life

__all__ = ["life_words", "place_words", "root_title", "root_words", "state_words"]


def root_words(root: Root, now: float) -> str:
    """`incident.json (document, yesterday, kept)`."""
    return f"{root_title(root)} ({root.kind}, {age_text(root.created, now)}, {state_words(root, now)})"


def root_title(root: Root) -> str:
    """What people know it by: its name, its source, or its id; of a log, with its place there."""
    title = root.name or root.source_name or root.id[:SHORT_HEX]
    return title if root.place is None else f"{title}, {place_words(root.place)}"


def place_words(place: int) -> str:
    """In a log."""
    return "state" if place == STATE else f"record {place}"


def state_words(root: Root, now: float) -> str:
    if root.forgotten is not None and root.expires_alone is not None:
        return "forgotten, needed by a later one"
    if root.expires is None:
        return "kept"
    if root.is_expired(now):
        return "expired"
    day = date_text(root.expires)
    return f"forgotten, kept until {day}" if root.forgotten is not None else f"kept until {day}"


def life_words(life: Life | None) -> str:
    """`kept`, `kept until 2026-12-13`, `unnamed`, `damaged`, `purged`; `missing` is what has no life."""
    if life is None:
        return "missing"
    if life.state == "expiring" and life.expires is not None:
        return f"kept until {date_text(life.expires)}"
    return str(life.state)
