"""Recording a view: its root, with the splices that it adds to an earlier view of the session.

Laws: the root names every object that its own splices need, and is based on one that names the rest, all of
which were read and found whole just before; if one is not, the view is recorded with all its objects, which
heals it. In a crash the root is there with all of that, or it is not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

from castore.errors import BaseMissing, Damaged, NotFound, RemoteError, RootDamaged
from castore.roots.model import Root, RootDraft
from castore.store.reads import ReadCount
from castore.transcript.recorded import VIEW, RecordedSplice, is_asked_so, prefix_digests, splices_of
from castore.transcript.render import Rendered

if TYPE_CHECKING:
    from castore.index.views import ViewRow
    from castore.store import Store
    from castore.store.batch import NameMove

__all__ = ["Recordable", "record"]

_LOOKED_AT_MAX = 4
"""Earlier views that are read in search of one to be based on."""

_CHAIN_MAX = 60
"""A longer chain begins anew: reading a view reads all that it is based on."""


class Recordable(Protocol):
    """What is recorded of a view."""

    @property
    def rendered(self) -> Rendered: ...

    @property
    def taken(self) -> tuple[str, ...]: ...

    @property
    def prose_is_complete(self) -> bool: ...


def record(
    store: Store,
    view: Recordable,
    said: Mapping[str, Any],
    draft: RootDraft,
    rows: Sequence[ViewRow],
    *,
    allow_purged: bool,
    move: NameMove | None = None,
) -> Root:
    """The view's root is there with all its objects. Where the view that it is based on goes meanwhile, it is
    recorded whole. move: as of Batch.commit."""
    recorded = _recorded(view.rendered)
    scope = store.granted.writing_scope(draft.scope)
    base = _base(store, view, said, scope, rows, recorded)
    while True:
        kept = base.kept if base is not None else 0
        own = recorded[kept:]
        facts = {
            **said,
            "taken": list(view.taken),
            "format": view.rendered.transcript.format,
            "ends": view.rendered.transcript.leaf,
            "prose": "complete" if view.prose_is_complete else "incomplete",
            "head": _head(view.rendered),
            "keep": kept,
            "splices": [splice.to_json() for splice in own],
        }
        with store.batch() as batch:
            staged = {batch.stage(each.data).digest for each in view.rendered.splices[kept:]}
            staged |= {batch.stage(each).digest for each in view.rendered.contents}
            whole = replace(
                draft,
                objects=tuple(sorted(staged)),
                base=base.root_id if base is not None else None,
                details={**draft.details, VIEW: facts},
            )
            try:
                return batch.commit(whole, move=move, allow_purged=allow_purged)
            except BaseMissing:
                # It went between our look and the transaction.
                base = None


# --- Helpers ---------------------------------------------------------------------------------------


def _recorded(rendered: Rendered) -> list[RecordedSplice]:
    """The splices in terms of the view."""
    found = []
    moved = 0
    for splice in rendered.splices:
        start = splice.start - moved
        found.append(
            RecordedSplice(
                start,
                len(splice.replacement),
                replace(splice.descriptor, items=None, lines=None),
                str(splice.reason),
                splice.before,
                splice.after,
            )
        )
        moved += splice.end - splice.start - len(splice.replacement)
    return found


def _head(rendered: Rendered) -> dict[str, Any] | None:
    """How the view begins, up to the end of what stands for its first splice."""
    moved = 0
    for splice in rendered.splices:
        if splice.replacement and b"[ctx " in splice.replacement:
            size = splice.start - moved + len(splice.replacement)
            begins = sha256(b"".join(rendered.pieces())[:size]).hexdigest()
            return {"size": size, "sha256": begins}
        moved += splice.end - splice.start - len(splice.replacement)
    return None


@dataclass(frozen=True, slots=True)
class _Base:
    """An earlier view of the same session. kept: how many of its splices this one begins with."""

    root_id: str
    kept: int


def _base(
    store: Store,
    view: Recordable,
    said: Mapping[str, Any],
    scope: str,
    rows: Sequence[ViewRow],
    recorded: list[RecordedSplice],
) -> _Base | None:
    """The longest earlier view, of a session that this one begins with, made in the same way."""
    source = view.rendered.transcript.source
    earlier = [row for row in rows if row.scope == scope and row.source.size < len(source)]
    digests = prefix_digests(source, {row.source.size for row in earlier})
    earlier = [row for row in earlier if digests[row.source.size] == row.source.digest.hex]
    for row in sorted(earlier, key=lambda row: -row.source.size)[:_LOOKED_AT_MAX]:
        root = store.root(row.root_id)
        facts = root.details.get(VIEW, {}) if root is not None else {}
        if root is None or not is_asked_so(facts, said):
            continue
        try:
            chain = store.based_chain(root)
            splices = splices_of(store, root)
        except (BaseMissing, RootDamaged):
            continue  # Then this view is recorded whole, which needs nothing of that one.
        kept = 0
        while kept < min(len(splices), len(recorded)) and splices[kept] == recorded[kept]:
            kept += 1
        while chain and not chain[0].details[VIEW]["splices"]:
            # It adds nothing itself, so what it is based on will do, and chains stay as short as can be.
            chain = chain[1:]
        if not kept or not chain or len(chain) >= _CHAIN_MAX or not _are_whole(store, recorded[:kept]):
            return None
        return _Base(chain[0].id, kept)
    return None


def _are_whole(store: Store, splices: Sequence[RecordedSplice]) -> bool:
    """Whether the objects that these need can be read. It is no use of them, so it is noted nowhere."""
    count = ReadCount()
    try:
        digests = {splice.descriptor.digest for splice in splices}
        store.want(digests)
        for digest in digests:
            store.read(digest, count=count)
    except (NotFound, Damaged, RemoteError):
        return False
    return True
