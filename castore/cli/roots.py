"""How a root reads: in a line, in a few words, in a block, and as facts; and the life of an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from castore.cli.output import Count, Identity, Moment, Record, Size
from castore.digest import Digest
from castore.retrieve.naming import life_words, place_words, root_title, root_words, state_words
from castore.roots.model import PURGED, Root

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
        state_words(root, now),
        Identity(root.id),
    )
    return Record(cells, root_facts(root))


def root_lines(root: Root, now: float) -> list[tuple[str, Any]]:
    """A label and a value for all that a person asks of one root; what it has not is left out."""
    size = _size(root)
    lines = [
        ("root", root.id),
        ("kind", str(root.kind)),
        ("name", root.name),
        ("scope", root.scope),
        ("source", root.source_name),
        ("place", None if root.place is None else place_words(root.place)),
        ("key", root.key),
        ("size", None if size is None else Size(size)),
        ("document", None if root.document is None else str(root.document.digest)),
        ("folded size", None if root.document is None else Size(root.document.size)),
        ("created", Moment(root.created)),
        ("state", state_words(root, now)),
        ("objects", Count(len(root.objects))),
        ("purged", Count(_purged(root)) if _purged(root) else None),
    ]
    return [(label, value) for label, value in lines if value is not None]


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


def _purged(root: Root) -> int:
    """How many objects it named until they were purged."""
    purged = root.details.get(PURGED)
    return len(purged) if isinstance(purged, list | tuple) else 0
