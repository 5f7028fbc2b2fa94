"""How a root reads: in a line, in a few words, in a block, and as facts; and the life of an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from castore.cli.output import Count, Identity, Moment, Record, Size, age_text, date_text
from castore.digest import SHORT_HEX, Digest
from castore.roots.model import PURGED, STATE, Root

if TYPE_CHECKING:
    from castore.store.life import Life

__all__ = ["life_facts", "life_words", "root_facts", "root_lines", "root_record", "root_title", "root_words"]


def root_record(root: Root, now: float) -> Record:
    """Age, kind, title, objects, size of the source, its digest, until when it is kept, its id."""
    size = _size(root)
    cells = (
        Moment(root.created),
        str(root.kind),
        root_title(root),
        Count(len(root.objects), "object"),
        None if size is None else Size(size),
        _digest(root),
        _state(root, now),
        Identity(root.id),
    )
    return Record(cells, root_facts(root))


def root_words(root: Root, now: float) -> str:
    """`incident.json (document, yesterday, kept)`."""
    return f"{root_title(root)} ({root.kind}, {age_text(root.created, now)}, {_state(root, now)})"


def root_lines(root: Root, now: float) -> list[tuple[str, Any]]:
    """A label and a value for all that a person asks of one root; what it has not is left out."""
    size = _size(root)
    lines = [
        ("root", root.id),
        ("kind", str(root.kind)),
        ("name", root.name),
        ("scope", root.scope),
        ("source", root.source_name),
        ("place", None if root.place is None else _place(root.place)),
        ("key", root.key),
        ("size", None if size is None else Size(size)),
        ("document", None if root.document is None else str(root.document.digest)),
        ("folded size", None if root.document is None else Size(root.document.size)),
        ("created", Moment(root.created)),
        ("state", _state(root, now)),
        ("objects", Count(len(root.objects))),
        ("purged", Count(_purged(root)) if _purged(root) else None),
    ]
    return [(label, value) for label, value in lines if value is not None]


def root_title(root: Root) -> str:
    """What people know it by: its name, its source, or its id; of a log, with its place there."""
    title = root.name or root.source_name or root.id[:SHORT_HEX]
    return title if root.place is None else f"{title}, {_place(root.place)}"


def root_facts(root: Root) -> Mapping[str, Any]:
    return {
        "id": root.id,
        "scope": root.scope,
        "kind": str(root.kind),
        "name": root.name,
        "source_name": root.source_name,
        "source": None if root.source is None else str(root.source.digest),
        "document": None if root.document is None else str(root.document.digest),
        "size": _size(root),
        "created": Moment(root.created),
        "expires": None if root.expires is None else Moment(root.expires),
        "forgotten": None if root.forgotten is None else Moment(root.forgotten),
        "objects": len(root.objects),
        "purged": _purged(root),
        "place": root.place,
        "key": root.key,
    }


def life_words(life: Life | None) -> str:
    """`kept`, `kept until 2026-12-13`, `unnamed`, `damaged`, `purged`; `missing` is what has no life."""
    if life is None:
        return "missing"
    if life.state == "expiring" and life.expires is not None:
        return f"kept until {date_text(life.expires)}"
    return str(life.state)


def life_facts(life: Life | None) -> Mapping[str, Any]:
    """roots: how many name it. last_read: a day."""
    if life is None:
        return {"state": "missing", "roots": 0, "expires": None, "last_read": None}
    return {
        "state": str(life.state),
        "roots": life.roots,
        "expires": None if life.expires is None else Moment(life.expires),
        "last_read": life.last_read,
    }


def _place(place: int) -> str:
    """In a log."""
    return "state" if place == STATE else f"record {place}"


def _digest(root: Root) -> Digest | None:
    """The digest of the folded document, or of the one object."""
    if root.document is not None:
        return root.document.digest
    return root.objects[0] if len(root.objects) == 1 else None


def _size(root: Root) -> int | None:
    """Bytes of the source; of the objects, for a put."""
    if root.source is not None:
        return root.source.size
    size = root.details.get("size")
    return size if isinstance(size, int) else None


def _state(root: Root, now: float) -> str:
    if root.forgotten is not None and root.expires_alone is not None:
        return "forgotten, needed by a later one"
    if root.expires is None:
        return "kept"
    if root.is_expired(now):
        return "expired"
    day = date_text(root.expires)
    return f"forgotten, kept until {day}" if root.forgotten is not None else f"kept until {day}"


def _purged(root: Root) -> int:
    """How many objects it named until they were purged."""
    purged = root.details.get(PURGED)
    return len(purged) if isinstance(purged, list | tuple) else 0
