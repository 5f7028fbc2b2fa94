"""Measure: the facts of one file. A session is told from any other JSON by its content; nothing is stored.

Laws: the same bytes, request and name give the same facts, but for `missing`, which is the store's answer at
the time; and for the tokens, which are counted where the extra `tokens` is installed, and estimated where it
is not. A session of 4 MB takes about a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from castore.errors import DocumentInvalid, LimitExceeded
from castore.report.folded import fold_facts
from castore.report.model import LISTED_MAX, DocumentFacts, FoldFacts, Listed, OddFacts, SessionFacts
from castore.report.named import Presence, references
from castore.report.payloads import payloads, repeats
from castore.report.sizes import measure_sizes, tools, turns
from castore.report.stability import is_turn_by_turn, stability
from castore.report.values import Composition, biggest
from castore.report.viewed import digests_of, moved, pairs, strategy_facts
from castore.transcript import tokens
from castore.transcript.measure import Meter
from castore.transcript.model import Transcript
from castore.transcript.view import ViewRequest, plan_transcript, session_transcript

__all__ = ["STRATEGIES", "measure", "measure_document", "measure_session"]

STRATEGIES = ("transparent", "tiered", "dedupe-reads", "clip")
"""Those that say something with their default options: `cap` wants a size, `collapse` a log."""

_ODDITIES_MAX = LISTED_MAX // 5
_COUNTED_BYTES = 32 << 20
"""Of a longer document the tokens are counted in this many bytes, evenly spread."""
_PIECE_BYTES = 1 << 20


def measure(
    data: bytes,
    name: str,
    request: ViewRequest | None = None,
    *,
    strategies: Sequence[str] = STRATEGIES,
    is_present: Presence | None = None,
) -> SessionFacts | DocumentFacts:
    """The facts of a session, or else of a document. name: what it is called, for people.

    request: with what options, format and branch it is viewed; its strategies together are the view that is
    told part by part (SessionFacts.view). A format or branch that is named is one that it must have.
    strategies: those that are compared. is_present: whether the store has an object, by the beginning of its
    digest; None: there is no store to ask.
    Raises SessionInvalid and InvalidOption for what was named, DocumentInvalid for what is no JSON either,
    and LimitExceeded.
    """
    request = request or ViewRequest()
    must_be_session = not (request.format is request.leaf is request.sidechain is None)
    try:
        transcript = session_transcript(data, request)
    except (DocumentInvalid, LimitExceeded) as error:
        if must_be_session or request.is_strict:
            raise
        # What looked like a session has a place that is wrong; of anything else nothing need be said.
        why = error.message if error.place is not None else ""
    else:
        return measure_session(transcript, name, request, strategies=strategies, is_present=is_present)
    # Only here, where the error is gone, are the records of what is no session, which may be millions.
    return measure_document(data, name, why_no_session=why, is_present=is_present)


def measure_session(
    transcript: Transcript,
    name: str,
    request: ViewRequest,
    *,
    strategies: Sequence[str] = STRATEGIES,
    is_present: Presence | None = None,
) -> SessionFacts:
    """As `measure`, of a transcript that castore.transcript.view.session_transcript read."""
    source = transcript.source
    meter = Meter(transcript, is_tokens=True)
    sizes = measure_sizes(transcript, meter)
    viewed = ",".join(request.strategies)
    requests = {each: replace(request, strategies=(each,)) for each in strategies if each != viewed}
    requests = {viewed: request, **requests}
    views = {each: plan_transcript(transcript, asked) for each, asked in requests.items()}
    oddities = [OddFacts(each.line, each.code, each.words) for each in transcript.oddities]
    return SessionFacts(
        name=name,
        format=transcript.format,
        session=transcript.session,
        size=len(source),
        characters=len(source.decode("utf-8", "replace")),
        tokens=sizes.all_tokens,
        is_estimated=not tokens.counter()[1],
        messages=len(transcript.messages),
        turns=transcript.turns,
        open_turn=transcript.open_turn,
        kinds=sizes.kinds(),
        turn_facts=turns(transcript, sizes),
        tools=tools(transcript, sizes),
        payloads=payloads(transcript, sizes, digests_of(views.values())),
        repeats=repeats(transcript, sizes),
        strategies=tuple(strategy_facts(each, view, meter) for each, view in views.items()),
        fold=_fold_of_session(source),
        view=viewed,
        moved=moved(views[viewed]),
        pairs=pairs(views[viewed]),
        stability=tuple(
            stability(each, transcript, asked) for each, asked in requests.items() if is_turn_by_turn(asked)
        ),
        references=references(source, is_present),
        oddities=Listed(tuple(oddities[:_ODDITIES_MAX]), len(oddities)),
    )


def measure_document(
    data: bytes, name: str, *, why_no_session: str = "", is_present: Presence | None = None
) -> DocumentFacts:
    """The facts of a sequence of JSON values. Raises DocumentInvalid, LimitExceeded."""
    fold = fold_facts(data)
    composition = Composition.of(data)
    count, is_exact = _tokens(data)
    return DocumentFacts(
        name=name,
        size=len(data),
        characters=len(data.decode("utf-8", "replace")),
        tokens=count,
        is_estimated=not is_exact,
        values=composition.top_level,
        kinds=composition.facts(),
        biggest=biggest(data),
        fold=fold,
        references=references(data, is_present),
        why_no_session=why_no_session,
    )


# --- Helpers ---------------------------------------------------------------------------------------


def _fold_of_session(source: bytes) -> FoldFacts | None:
    """A session may have lines that are no JSON, or too much in one; fold refuses those."""
    try:
        return fold_facts(source)
    except (DocumentInvalid, LimitExceeded):
        return None


def _tokens(data: bytes) -> tuple[int, bool]:
    """Of a very long document what a part of it has is taken for all."""
    if len(data) <= _COUNTED_BYTES:
        return tokens.count(data)
    pieces = _COUNTED_BYTES // _PIECE_BYTES
    starts = [(len(data) - _PIECE_BYTES) * each // (pieces - 1) for each in range(pieces)]
    counted = sum(tokens.count(data[start : start + _PIECE_BYTES])[0] for start in starts)
    return counted * len(data) // _COUNTED_BYTES, False
