"""View: a session as the model should see it, and a root that gives the session's bytes back.

session bytes -> records -> format -> strategies -> render -> proof -> commit -> the view's bytes

Laws:
- `unfold(view(session)) == session`, proved on the splices before anything is stored; what the view names
  is on the disk before a byte of it is given out, and a crash leaves the root with all its objects or none.
- The same session and options give the same view, whatever the store holds (L8). A view of a recorded view
  with the same options is that view; with others it is refused, for what left can't come back by deciding
  again.
- A view of a grown session stores only what it adds to the earlier one that it begins with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO

from castore.digest import Digest
from castore.document.reference import members
from castore.errors import InvalidOption, SessionInvalid
from castore.fold.literal import rebuild
from castore.roots.model import Content, Root, RootDraft, RootKind
from castore.transcript.budget import Budget, Measured, fit
from castore.transcript.collapse.session import collapsed, session_log
from castore.transcript.decision import Decision, ViewOptions
from castore.transcript.formats import ReadOptions, read_transcript
from castore.transcript.marker import whole_marker
from castore.transcript.model import Leave, PartKind, Reason, Transcript
from castore.transcript.recorded import differences, find_recorded, is_asked_so, refuse_edited
from castore.transcript.recording import record
from castore.transcript.records import read_records
from castore.transcript.render import Rendered, render
from castore.transcript.strategies import decide, find_strategies

if TYPE_CHECKING:
    from castore.index.views import ViewRow
    from castore.store import Store, StoreHandle
    from castore.store.batch import NameMove
    from castore.transcript.collapse.persistence import CollapseLog

__all__ = [
    "DEFAULT_STRATEGIES",
    "View",
    "ViewRequest",
    "make_view",
    "plan_transcript",
    "plan_view",
    "session_transcript",
]

DEFAULT_STRATEGIES = ("transparent",)

_BRANCH = ("leaf", "sidechain", "asked")
"""What was asked for of the session itself."""


@dataclass(frozen=True)
class ViewRequest:
    """What is asked for. format None: told from the content. is_strict: what is odd is refused.

    strategies: names; or one text, with commas between them. budget: strategies are added until the view fits
    (castore.transcript.budget); a text is parsed. session: what the session's collapse log is called, if not
    by the session's own id. Raises InvalidOption for what is neither.
    """

    strategies: Sequence[str] = DEFAULT_STRATEGIES
    options: ViewOptions = field(default_factory=ViewOptions)
    format: str | None = None
    leaf: str | None = None
    sidechain: str | None = None
    is_strict: bool = False
    session: str | None = None
    budget: Budget | str | None = None
    allow_prose: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "strategies", _names(self.strategies))
        if isinstance(self.budget, str):
            object.__setattr__(self, "budget", Budget.parse(self.budget))
        elif self.budget is not None and not isinstance(self.budget, Budget):
            raise InvalidOption(f"a budget is a Budget or a text, not a {type(self.budget).__name__}")
        if not isinstance(self.options, ViewOptions):
            raise InvalidOption(f"options are a ViewOptions, not a {type(self.options).__name__}")
        if any(_is_collapse(name) for name in self.strategies[1:]):
            raise InvalidOption("'collapse' comes before the other strategies", option="--strategy")
        if self.session is not None and not self.is_collapsed:
            raise InvalidOption(
                "--session names a collapse log", option="--session", hint="say --strategy collapse too"
            )

    @property
    def is_collapsed(self) -> bool:
        """Whether what the session's collapse log hides is hidden."""
        return _is_collapse(self.strategies[0]) if self.strategies else False

    def said(self) -> dict[str, Any]:
        """What decides the view's bytes, as its root remembers it."""
        said: dict[str, Any] = {"strategies": [str(each.id) for each in find_strategies(self.strategies)]}
        for name, value in zip(_BRANCH, (self.leaf, self.sidechain, self.format), strict=True):
            if value is not None:
                said[name] = value
        if self.session is not None:
            said["session"] = self.session
        if self.budget is not None:
            said["budget"] = [str(self.budget), self.allow_prose]
        return {**said, "options": self.options.said()}


@dataclass(frozen=True)
class View:
    """A view and how it came about. taken: ids of the strategies that made it; options: what they were told.

    root: None if the view is the session itself, or was only planned. measured: what it takes of its budget;
    None if there was none.
    """

    transcript: Transcript
    decisions: dict[int, Decision]
    rendered: Rendered
    taken: tuple[str, ...]
    root: Root | None = None
    measured: Measured | None = None
    options: ViewOptions = field(default_factory=ViewOptions)

    @cached_property
    def source(self) -> Content:
        return Content(Digest.of(self.transcript.source), len(self.transcript.source))

    @cached_property
    def content(self) -> Content:
        """Digest and size of the view."""
        digest = sha256()
        for piece in self.pieces():
            digest.update(piece)
        return Content(Digest(digest.hexdigest()), self.rendered.size)

    @property
    def prose_is_complete(self) -> bool:
        """Whether every prose part of what is viewed stands as it was."""
        parts = self.transcript.parts
        return not self.transcript.collapsed and not any(
            splice.part is not None and parts[splice.part].kind is PartKind.PROSE
            for splice in self.rendered.splices
        )

    def pieces(self) -> Iterator[bytes | memoryview]:
        """The view's bytes."""
        return self.rendered.pieces()

    def to_bytes(self) -> bytes:
        return b"".join(self.pieces())


def plan_view(
    source: bytes,
    request: ViewRequest,
    handle: StoreHandle | None = None,
    *,
    log: CollapseLog | None = None,
    scope: str | None = None,
) -> View:
    """The view that `make_view` would make. handle: where it would be recorded; a view that is recorded there
    is planned as its session, and nothing is written. None: `source` is a session that is no view.
    log, scope: as of `make_view`.

    Raises SessionInvalid, LimitExceeded, InvalidOption.
    """
    rows = handle.get().views() if handle is not None and handle.exists else []
    if rows and handle is not None:
        source = _session_of(source, handle.get(), rows, request)
    return _planned(source, request, handle, log, scope)


def _planned(
    source: bytes,
    request: ViewRequest,
    handle: StoreHandle | None,
    log: CollapseLog | None,
    scope: str | None,
) -> View:
    """source: a session, no view."""
    return plan_transcript(session_transcript(source, request), request, handle, log=log, scope=scope)


def plan_transcript(
    transcript: Transcript,
    request: ViewRequest,
    handle: StoreHandle | None = None,
    *,
    log: CollapseLog | None = None,
    scope: str | None = None,
) -> View:
    """As `plan_view`, of a transcript that `session_transcript` read: one is read for several views.

    Raises LimitExceeded, InvalidOption.
    """
    strategies = find_strategies(request.strategies)
    if request.is_collapsed:
        if log is None and handle is not None:
            log = session_log(transcript, handle, request.session, scope)
        if log is not None:
            transcript = collapsed(transcript, log, retrieve_with=request.options.retrieve_with)
    if isinstance(request.budget, Budget):
        fitted = fit(
            transcript,
            tuple(request.strategies),
            request.options,
            request.budget,
            allow_prose=request.allow_prose,
        )
        _prove(fitted.rendered)
        return View(
            transcript,
            fitted.decisions,
            fitted.rendered,
            taken=fitted.strategies,
            measured=fitted.measured,
            options=fitted.options,
        )
    decisions = decide(transcript, strategies, request.options)
    rendered = render(transcript, decisions, request.options)
    _prove(rendered)
    taken = tuple(str(each.id) for each in strategies)
    return View(transcript, decisions, rendered, taken, options=request.options)


def make_view(
    source: bytes,
    handle: StoreHandle,
    request: ViewRequest,
    *,
    source_name: str | None = None,
    name: str | None = None,
    scope: str | None = None,
    keep_seconds: int | None = None,
    allow_purged: bool = False,
    move: NameMove | None = None,
    file: str | None = None,
    target: BinaryIO | None = None,
    is_private: bool = False,
    log: CollapseLog | None = None,
) -> View:
    """The view of a session, recorded: `unfold` of its bytes gives `source` back.

    source: a session; or a view that was recorded, with or without records that a harness appended. If
    nothing leaves, the view is the session, and no root and no store is made, but for a session that would be
    taken for something else, since markers or references stand in it. move: `name` may be taken from
    the root that has it, as of Batch.commit. file: where the view will
    lie, an absolute path, which the root remembers. target: gets the view's bytes when it is recorded; or
    before, if it `is_private` (its owner shows it only when this returns): then a full disk records nothing.
    log: the collapse log, for a request that is collapsed; None: the session's, in the scope, or the one that
    the caller sees. Recording needs a scope to write in; a log is read without.
    Raises SessionInvalid, LimitExceeded, InvalidOption, NameTaken and what Store and Batch raise.
    """
    rows = handle.get().views() if handle.exists else []
    if rows:
        source = _session_of(source, handle.get(), rows, request)
    if handle.exists:
        _refuse_folded(source, handle.get())
    view = _planned(source, request, handle, log, scope)
    is_session = not view.rendered.splices and not _is_like_a_view(source)
    if is_private or is_session:
        _write(view, target)
    if is_session:
        return view
    store = handle.get_or_create()
    rows = rows or store.views()
    draft = RootDraft(
        RootKind.VIEW,
        (),
        scope=scope,
        name=name,
        source_name=source_name,
        source=view.source,
        document=view.content,
        keep_seconds=keep_seconds,
        details={} if file is None else {"file": file},
    )
    root = record(store, view, request.said(), draft, rows, allow_purged=allow_purged, move=move)
    if not is_private:
        _write(view, target)
    return replace(view, root=root)


def session_transcript(source: bytes, request: ViewRequest) -> Transcript:
    """What the views of a session are made of; of the request its format, branch and strictness count. Raises
    SessionInvalid, InvalidOption, LimitExceeded."""
    records = read_records(source)
    transcript = read_transcript(records, ReadOptions(request.leaf, request.sidechain), format=request.format)
    if request.is_strict and transcript.oddities:
        odd = transcript.oddities[0]
        error = SessionInvalid(
            f"{odd.words} ({odd.code})", line=odd.line, hint="--strict refuses what is odd"
        )
        error.at(f"line {odd.line}")
        raise error
    if request.leaf is None and request.sidechain is None:
        return replace(transcript, leaves=_followed(transcript))
    return transcript


# --- Helpers ---------------------------------------------------------------------------------------


def _followed(transcript: Transcript) -> list[Leave]:
    """The records that leave, but for those at the end of the session, such as turns that were taken back
    just now: they stay until something follows. Without them the view would be how an earlier state of the
    session begins or was viewed, and the two could not be told apart."""
    leaves = list(transcript.leaves)
    end = len(transcript.source)
    while leaves and not leaves[-1].replacement and leaves[-1].reason is not Reason.CUT:
        if transcript.source[leaves[-1].end : end].strip():
            break
        end = leaves.pop().start
    return leaves


def _is_collapse(strategy: str) -> bool:
    return strategy.partition("@")[0] == "collapse"


def _names(given: Sequence[str]) -> tuple[str, ...]:
    """Each a strategy that there is. Raises InvalidOption."""
    if isinstance(given, str):
        given = [name.strip() for name in given.split(",")]
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise InvalidOption("strategies are names, or one text with commas between them", option="--strategy")
    found = find_strategies(given)
    if len({each.id.name for each in found}) < len(found):
        raise InvalidOption("a strategy is given twice", option="--strategy")
    return tuple(given)


def _session_of(source: bytes, store: Store, rows: Sequence[ViewRow], request: ViewRequest) -> bytes:
    """The session behind `source`, if that is a recorded view; else `source`."""
    recorded = find_recorded(rows, store, source)
    if recorded is None:
        refuse_edited(rows, store, source)
        return source
    if recorded.root.document == recorded.root.source:
        return source  # Nothing left it: it is as good a session as it was.
    facts = recorded.facts
    if not is_asked_so(facts, request.said()):
        differing = "; ".join(differences(facts, request.said()))
        raise InvalidOption(
            f"it is a view already, made with other options: {differing}",
            hint="unfold it first, or ask for the same strategies and options",
        )
    return recorded.source(source)[0]


def _refuse_folded(source: bytes, store: Store) -> None:
    """A folded document is no session: its view would be told from it by nothing."""
    for root in store.document_roots(Digest.of(source)):
        if root.kind is RootKind.DOCUMENT and root.source is not None and root.source != root.document:
            raise SessionInvalid(
                "it is a folded document, not a session",
                hint="'ctx unfold' gives the session back; view that",
            )


def _is_like_a_view(source: bytes) -> bool:
    """Whether unfold would take it for a view or a folded document, if no record said that it is none."""
    return next(members(source), None) is not None or whole_marker(source) is not None


def _write(view: View, target: BinaryIO | None) -> None:
    if target is not None:
        for piece in view.pieces():
            target.write(piece)
        target.flush()


def _prove(rendered: Rendered) -> None:
    """The splices, put back, give the source: checked on the very objects that will be stored."""
    source = rendered.transcript.source
    done = 0
    for splice in rendered.splices:
        assert done <= splice.start <= splice.end, "splices of a view overlap"
        done = splice.end
        literal = rebuild(splice.descriptor, bytes(splice.data))
        if splice.before + literal + splice.after != source[splice.start : splice.end]:
            raise AssertionError(f"the span at byte {splice.start} would not come back")
