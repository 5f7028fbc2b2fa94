"""What a source was itself made from: a summary of a summary drifts, and updates go back to the source.

Laws:
- A text is derived if a live root that the caller sees says so: an entry of which it is the summary, a
  collapse that hides turns behind it, or a view whose bytes it is. White space at its ends is no matter: who
  prints a text adds a line feed, who pastes it loses one. A text that is its own source is not derived, and
  what differs from its source by such white space alone is not either.
- The chain goes back to the first source, one step at a time, the latest root of the scope first where
  several made the same text, and never comes to the same text twice.
- Whoever records a chain keeps what its steps rest on: the objects of entries and collapses, and the root
  of a view, without which the view can't be taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from castore.config import SUMMARY_BYTES_MAX, SUMMARY_STEPS_MAX
from castore.digest import Digest
from castore.errors import DerivedSource, InvalidOption, LimitExceeded
from castore.roots.model import Root, RootKind
from castore.summary.entry import Entry, Step, entry_of

if TYPE_CHECKING:
    from castore.store import Store

__all__ = ["COLLAPSE", "VIEW", "Derivation", "derivation", "refused"]

_TEXT_BYTES_MAX = SUMMARY_BYTES_MAX + 1024
"""A longer text is no summary with white space around it."""

COLLAPSE, VIEW = "collapse", "view"
"""By what a step was, that no entry tells."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """chain: the steps from a text back to its first source; none: it is one. keeps: objects that the steps
    rest on; base: the root of the view among them."""

    chain: tuple[Step, ...] = ()
    keeps: tuple[Digest, ...] = ()
    base: str | None = None


def derivation(store: Store, source: bytes | Digest, scope: str) -> Derivation:
    """What `source` was made from, as the caller sees it. scope: of the root that is to keep it.

    Raises InvalidOption for a view of another scope, or of a view, which that root can't keep; LimitExceeded;
    ObjectMissing, ObjectPurged, ObjectDamaged of an object that is read to know its text.
    """
    chain: list[Step] = []
    keeps: set[Digest] = set()
    base: str | None = None
    spellings = _spellings(store, source)
    known = set(spellings)
    at: Digest | None = spellings[0]
    while at is not None and (origin := _origin(store, spellings, scope, known)) is not None:
        chain.append(origin.step)
        keeps.update(origin.root.objects if origin.step.by != VIEW else ())
        base = _one_base(base, origin, scope)
        at = origin.step.digest
        spellings = (at,) if at is not None else ()
        known.update(spellings)
        if origin.entry is not None and origin.entry.chain:
            # It was followed when that was made, and all of it is kept since.
            chain += _until_known(origin.entry.chain, known)
            break
        if len(chain) > SUMMARY_STEPS_MAX:
            break
    if len(chain) > SUMMARY_STEPS_MAX:
        raise LimitExceeded(
            f"'{_digest_of(source).abbreviated}' is over {SUMMARY_STEPS_MAX} steps from its source",
            limit="SUMMARY_STEPS_MAX",
            hint="summarise the source itself",
        )
    return Derivation(tuple(chain), tuple(sorted(keeps)), base)


def refused(store: Store, source: bytes | Digest, scope: str) -> DerivedSource | None:
    """The error that says what the source was made from; None for one that is not derived. Raises
    ObjectMissing, ObjectPurged, ObjectDamaged."""
    spellings = _spellings(store, source)
    origin = _origin(store, spellings, scope, set(spellings))
    if origin is None:
        return None
    step = origin.step
    return DerivedSource(
        str(spellings[0]),
        step.by,
        made_of=None if step.digest is None else str(step.digest),
        source_name=step.name,
    )


# --- Helpers ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Origin:
    """One way in which a text was made: the root that says so, and of an entry, the entry."""

    step: Step
    root: Root
    entry: Entry | None = None


def _digest_of(source: bytes | Digest) -> Digest:
    return source if isinstance(source, Digest) else Digest.of(source)


def _spellings(store: Store, source: bytes | Digest) -> tuple[Digest, ...]:
    """Its own digest first, then those of the texts that differ from it by what prints and pastes change: a
    line feed at the end, or all white space at its ends. What is too long for a summary has its own alone."""
    from castore.store.reads import ReadCount

    digest = _digest_of(source)
    if isinstance(source, Digest):
        store.want([source])
        found = store.stat(source)
        if found is None or found.size > _TEXT_BYTES_MAX:
            return (digest,)
        # Nobody reads it to use it: that counts for nothing.
        source = store.read(source, count=ReadCount())
    if len(source) > _TEXT_BYTES_MAX:
        return (digest,)
    bare = source.strip()
    ended = source.removesuffix(b"\n") if source.endswith(b"\n") else source + b"\n"
    # Most texts end with one line feed, and then it is one other text.
    others = dict.fromkeys(text for text in (ended, bare, bare + b"\n") if text != source)
    return (digest, *map(Digest.of, others))


def _origin(store: Store, spellings: Iterable[Digest], scope: str, known: set[Digest]) -> _Origin | None:
    """How the text was made, from what is not known yet; None if nothing that the caller sees says it."""
    found = [
        origin
        for digest in spellings
        for origin in (*_makers(store, digest, known), *_views(store, digest, known))
    ]
    return max(found, key=lambda origin: (origin.root.scope == scope, origin.root.sequence), default=None)


def _makers(store: Store, digest: Digest, known: set[Digest]) -> Iterator[_Origin]:
    now = store.parts.clock()
    for root in store.roots_naming(digest):
        if not root.is_live(now):
            continue
        entry = entry_of(root)
        if entry is not None and entry.summary.digest == digest and entry.source.digest not in known:
            step = Step(entry.key.maker, entry.source.digest, root.source_name)
            yield _Origin(step, root, entry)
        elif root.kind is RootKind.COLLAPSE and root.place:
            said = root.details.get(COLLAPSE)
            if isinstance(said, dict) and said.get("summary") == str(digest):
                yield _Origin(Step(COLLAPSE, None, root.source_name), root)


def _views(store: Store, digest: Digest, known: set[Digest]) -> Iterator[_Origin]:
    now = store.parts.clock()
    for root in store.document_roots(digest):
        # A session of which nothing left is recorded as a view of itself.
        is_view = root.kind is RootKind.VIEW and root.source is not None and root.is_live(now)
        if is_view and root.source is not None and root.source.digest not in known:
            yield _Origin(Step(VIEW, root.source.digest, root.source_name), root)


def _one_base(base: str | None, origin: _Origin, scope: str) -> str | None:
    """The root on which all of the chain rests so far. A root has one base."""
    further = origin.root.id if origin.step.by == VIEW else origin.root.base if origin.entry else None
    if further in (None, base):
        return base
    if origin.root.scope != scope:
        raise InvalidOption(
            f"it rests on a view that is recorded in scope '{origin.root.scope}' and can be kept there alone",
            hint=f"say --scope '{origin.root.scope}', or summarise the session itself",
        )
    if base is not None:
        raise InvalidOption(
            "it rests on a view of a view, and one of the two alone could be kept with it",
            hint="summarise the session itself",
        )
    return further


def _until_known(chain: tuple[Step, ...], known: set[Digest]) -> Iterator[Step]:
    for step in chain:
        if step.digest in known:
            return
        yield step
