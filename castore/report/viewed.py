"""Viewed: what strategies make of a session, and what leaves with one of them. Planned; nothing is stored."""

from __future__ import annotations

from collections.abc import Iterable

from castore.report.excerpts import beginning, cut, excerpt_of_literal, excerpt_of_part, text_of
from castore.report.model import (
    MOVED_MAX,
    PAIRS_MAX,
    PROSE_CHARACTERS_MAX,
    Listed,
    Moved,
    Pair,
    StrategyFacts,
)
from castore.report.sizes import role_of, share_of
from castore.transcript.decision import Act
from castore.transcript.explain import count
from castore.transcript.measure import Meter
from castore.transcript.model import Form, Part, PartKind, Transcript
from castore.transcript.render import ViewSplice
from castore.transcript.view import View

__all__ = ["digests_of", "moved", "pairs", "strategy_facts"]

_SHORT_HEX = 16
_ACTS = {Act.MOVE: "moved", Act.DROP: "dropped", Act.CLIP: "clipped", Act.SAME: "same as before"}


def strategy_facts(strategy: str, view: View, meter: Meter) -> StrategyFacts:
    """strategy: what it is called. meter: of tokens."""
    source = len(view.transcript.source)
    objects = {each.descriptor.digest: len(each.data) for each in view.rendered.splices}
    return StrategyFacts(
        strategy,
        view.rendered.size,
        len(view.to_bytes().decode("utf-8", "replace")),
        meter.measure(view.rendered).size,
        count(view).moved,
        len(objects),
        sum(objects.values()),
        (source - view.rendered.size) / source if source else 0.0,
    )


def digests_of(views: Iterable[View]) -> dict[int, str]:
    """Index of a part -> digest of the object that it becomes; of the first view in which it leaves."""
    found: dict[int, str] = {}
    for view in views:
        for splice in view.rendered.splices:
            if splice.part is not None:
                found.setdefault(splice.part, str(splice.descriptor.digest))
    return found


def moved(view: View) -> Listed[Moved]:
    """What left, in order of the file."""
    splices = view.rendered.splices
    return Listed(tuple(_moved(view, each) for each in splices[:MOVED_MAX]), len(splices))


def pairs(view: View) -> Listed[Pair]:
    """What the model gets of each part, in order of the file; without what never reaches it.

    Of a session of many parts all prose is among them before anything else is: it is what people look for.
    """
    transcript = view.transcript
    splices = {each.part: each for each in view.rendered.splices if each.part is not None}
    parts = [part for part in transcript.parts if part.kind is not PartKind.UI]
    chosen = sorted(parts, key=lambda part: part.kind is not PartKind.PROSE)[:PAIRS_MAX]
    chosen.sort(key=lambda part: part.index)
    found = (_pair(transcript, part, splices.get(part.index)) for part in chosen)
    return Listed(tuple(found), len(parts))


# --- Helpers ---------------------------------------------------------------------------------------


def _moved(view: View, splice: ViewSplice) -> Moved:
    transcript = view.transcript
    part = None if splice.part is None else transcript.parts[splice.part]
    decision = None if part is None else view.decisions.get(part.index)
    digest = splice.descriptor.digest
    if part is None:
        excerpt = excerpt_of_literal(transcript.source, splice.start, splice.end)
    else:
        excerpt = excerpt_of_part(transcript, part)
    return Moved(
        None if part is None else part.index,
        None if part is None else part.turn,
        transcript.records.line_of(splice.start),
        "records" if part is None else part.label,
        None if part is None else part.tool,
        str(splice.reason),
        "moved" if decision is None else _ACTS[decision.act],
        splice.end - splice.start,
        len(splice.replacement),
        len(splice.data),
        str(digest),
        ("cat", digest.hex[:_SHORT_HEX]),
        excerpt,
    )


def _pair(transcript: Transcript, part: Part, splice: ViewSplice | None) -> Pair:
    whole = text_of(transcript.literal(part))
    if part.kind is PartKind.PROSE:
        text = cut(whole, PROSE_CHARACTERS_MAX)
    else:
        text = excerpt_of_part(transcript, part)
    return Pair(
        part.index,
        part.message,
        part.turn,
        str(role_of(transcript, part)),
        share_of(transcript, part),
        part.label,
        part.tool,
        text,
        len(whole),
        None if splice is None else _shown(transcript, part, splice),
    )


def _shown(transcript: Transcript, part: Part, splice: ViewSplice) -> str:
    literal = splice.replacement
    block = transcript.text_block
    if part.form is Form.BLOCK and literal.startswith(block.before):
        literal = literal[len(block.before) : len(literal) - len(block.after)]
    text = text_of(literal)
    return cut(text, PROSE_CHARACTERS_MAX) if part.kind is PartKind.PROSE else _on_a_line(text)


def _on_a_line(text: str) -> str:
    """Of a clipped result the marker is what matters, wherever it stands."""
    at = text.find("[ctx ")
    return beginning(text if at <= 0 else "… " + text[at:])
