"""Facts: where the context went, as plain values. castore.report.measure finds them; `ctx stats` and the page
show them. Nothing here reads, decides or prints.

Laws:
- Sums hold exactly. `kinds` add up to the file (`size`) and to what the model gets (`tokens`); the turns add
  up to the kinds, but for `outside`, which no turn has. A strategy's `size` is the length of that very view.
- What can be long is a `Listed`: at most so many are shown, the biggest or the first, and how many there are
  is said. The bounds are the constants here. Texts are excerpts: their bounds are in characters.
- Sizes are bytes of the file, escapes included, unless a field says characters or tokens. Tokens are of
  texts, as castore.transcript.measure counts them; `is_estimated` says whether they were counted.
- `to_json` of any of them is made of dicts, lists, strings, numbers, booleans and null.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

__all__ = [
    "CONTEXT",
    "EXCERPT_CHARACTERS_MAX",
    "LISTED_MAX",
    "MOVED_MAX",
    "PAIRS_MAX",
    "PROSE_CHARACTERS_MAX",
    "TURNS_MAX",
    "BigValue",
    "DocumentFacts",
    "FoldFacts",
    "FoldSpan",
    "KindFacts",
    "Listed",
    "Moved",
    "OddFacts",
    "Pair",
    "Payload",
    "ReferenceFacts",
    "RepeatFacts",
    "SessionFacts",
    "Share",
    "StabilityFacts",
    "Stable",
    "StrategyFacts",
    "ToolFacts",
    "TurnFacts",
    "ValueFacts",
    "to_json",
]

T = TypeVar("T")

EXCERPT_CHARACTERS_MAX = 160
"""Of an excerpt, on one line."""
PROSE_CHARACTERS_MAX = 4000
"""Of a text that is shown side by side with its view."""
LISTED_MAX = 100
"""Tools, payloads, repeats, spans of a fold, biggest values; of oddities a fifth of that."""
TURNS_MAX = 1000
"""Of more turns neighbours are told together, so that the sums hold."""
MOVED_MAX = 2000
PAIRS_MAX = 1000


class Share(StrEnum):
    """What a session's bytes are. Every byte is of exactly one."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    SUMMARY = "summary"
    """These four are prose: what is said."""
    THINKING = "thinking"
    CALLS = "calls"
    """Arguments of tool calls."""
    RESULTS = "results"
    MEDIA = "media"
    UNKNOWN = "unknown"
    """Blocks and records of a type that the format does not know."""
    UI = "ui"
    """What never reaches the model."""
    AROUND = "around"
    """What ties these together: ids, names, times, brackets. Its tokens are those of messages and calls."""
    OUTSIDE = "outside"
    """Records that are not part of what is viewed: before a compaction, of another branch, cut lines."""


CONTEXT = (
    Share.SYSTEM,
    Share.USER,
    Share.ASSISTANT,
    Share.SUMMARY,
    Share.THINKING,
    Share.CALLS,
    Share.RESULTS,
    Share.MEDIA,
    Share.UNKNOWN,
)
"""What reaches the model, in the order in which it is shown."""


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """shown: the biggest, or the first of them. total: how many there are."""

    shown: tuple[T, ...] = ()
    total: int = 0

    @property
    def left_out(self) -> int:
        return self.total - len(self.shown)


@dataclass(frozen=True, slots=True)
class KindFacts:
    """parts: how many; 0 where there are none to count."""

    kind: Share
    parts: int
    size: int
    tokens: int


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """One turn, or the turns from `first` to `last`; -1 is what stands before the first turn.

    sizes, tokens: by kind, those that the turn has. title: how its prompt begins; empty if it has none.
    """

    first: int
    last: int
    sizes: dict[Share, int]
    tokens: dict[Share, int]
    title: str = ""

    @property
    def size(self) -> int:
        return sum(self.sizes.values())


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """calls, results: parts. errors: of the results. media_size: what of the results is media."""

    tool: str
    calls: int
    call_size: int
    call_tokens: int
    results: int
    result_size: int
    result_tokens: int
    media_size: int
    errors: int


@dataclass(frozen=True, slots=True)
class Payload:
    """One part. part: its index; line: of the file, from 1. share: of the file's bytes, 0 to 1.

    digest: of the object that it becomes if a strategy moves it; None if none would.
    """

    part: int
    turn: int
    line: int
    kind: Share
    label: str
    tool: str | None
    size: int
    tokens: int
    share: float
    is_error: bool
    digest: str | None
    excerpt: str


@dataclass(frozen=True, slots=True)
class RepeatFacts:
    """One result that came several times (`path` None), or one file that was read several times.

    repeat_size, repeat_tokens: what all but the first took. turns: of the first of them, at most 20.
    """

    tool: str | None
    path: str | None
    times: int
    size: int
    repeat_size: int
    repeat_tokens: int
    turns: tuple[int, ...]
    excerpt: str


@dataclass(frozen=True, slots=True)
class StrategyFacts:
    """The view that one strategy, or several joined by commas, makes with the default options.

    size, characters, tokens: of the view. parts: how many left, by reason. objects: distinct ones that it
    would store, object_size: their bytes. saved: share of the session's bytes, 0 to 1.
    """

    strategy: str
    size: int
    characters: int
    tokens: int
    parts: dict[str, int]
    objects: int
    object_size: int
    saved: float


@dataclass(frozen=True, slots=True)
class FoldSpan:
    """One value that a fold would move. size: of its literal; reference_size: of what stands there then.
    line: of the file, from 1, where it begins."""

    path: str
    line: int
    offset: int
    kind: str
    size: int
    reference_size: int
    digest: str
    items: int | None
    lines: int | None


@dataclass(frozen=True, slots=True)
class FoldFacts:
    """What `ctx fold` makes of the file with the default options. size: of the folded document; saved: share
    of the file's bytes."""

    size: int
    values: int
    objects: int
    saved: float
    spans: Listed[FoldSpan]


@dataclass(frozen=True, slots=True)
class Moved:
    """What left the view. part, turn None: whole records. decision: `moved`, `clipped`, `dropped`,
    `same as before`. size: bytes that left the file, view_size: of what stands there now, object_size: of
    the object. words: what reads it back from a store that holds the view, after `ctx`."""

    part: int | None
    turn: int | None
    line: int
    label: str
    tool: str | None
    reason: str
    decision: str
    size: int
    view_size: int
    object_size: int
    digest: str
    words: tuple[str, ...]
    excerpt: str


@dataclass(frozen=True, slots=True)
class Pair:
    """What a part says, and what the view shows of it. Of prose up to PROSE_CHARACTERS_MAX characters stand
    in `text`, of anything else an excerpt; characters: of the whole. shown None: the part stands as it was;
    empty: nothing stands there."""

    part: int
    message: int
    turn: int
    role: str
    kind: Share
    label: str
    tool: str | None
    text: str
    characters: int
    shown: str | None


@dataclass(frozen=True, slots=True)
class Stable:
    """Of the view after turn `last`, how many of its bytes the view after the next turn begins with (kept).
    Of several turns told together (`first` < `last`) both are sums."""

    first: int
    last: int
    size: int
    kept: int


@dataclass(frozen=True, slots=True)
class StabilityFacts:
    """How much of each view a prompt cache can use in the next turn. kept: share of all bytes, 0 to 1."""

    strategy: str
    kept: float
    turns: tuple[Stable, ...]


@dataclass(frozen=True, slots=True)
class ReferenceFacts:
    """References of one kind in the file, or its markers (kind `marker`). objects: distinct ones; size: their
    bytes as the references say. missing: objects that are not in the store; None if there was none to ask."""

    kind: str
    references: int
    objects: int
    size: int
    missing: int | None


@dataclass(frozen=True, slots=True)
class OddFacts:
    line: int
    code: str
    words: str


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """All facts of one session. moved, pairs: of the view that `view` names, one of `strategies`.

    tokens: of what the model gets of it. characters: of the file. turn_facts: in order; repeats, payloads,
    tools: the biggest first; moved, pairs: in order of the file. fold: None if `ctx fold` refuses the file,
    which may have lines that are no JSON. stability: of the strategies that decide turn by turn.
    """

    name: str
    format: str
    session: str | None
    size: int
    characters: int
    tokens: int
    is_estimated: bool
    messages: int
    turns: int
    open_turn: int | None
    kinds: tuple[KindFacts, ...]
    turn_facts: tuple[TurnFacts, ...]
    tools: Listed[ToolFacts]
    payloads: Listed[Payload]
    repeats: Listed[RepeatFacts]
    strategies: tuple[StrategyFacts, ...]
    fold: FoldFacts | None
    view: str
    moved: Listed[Moved]
    pairs: Listed[Pair]
    stability: tuple[StabilityFacts, ...]
    references: Listed[ReferenceFacts] = field(default_factory=Listed)
    oddities: Listed[OddFacts] = field(default_factory=Listed)

    @property
    def best(self) -> StrategyFacts:
        """The strategy that saves most."""
        return min(self.strategies, key=lambda each: each.size)

    @property
    def viewed(self) -> StrategyFacts:
        """The one that `moved` and `pairs` are of."""
        return next(each for each in self.strategies if each.strategy == self.view)


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """Values of one kind in a document: `object`, `array`, `string`, `number`, `literal` (true, false, null),
    `name` (of members), `space`. size: bytes of their own: of arrays and objects the brackets, commas and
    colons. All of them add up to the document."""

    kind: str
    count: int
    size: int


@dataclass(frozen=True, slots=True)
class BigValue:
    """One of the biggest values, none inside another. share: of the document's bytes, 0 to 1."""

    path: str
    offset: int
    kind: str
    size: int
    share: float
    excerpt: str


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """All facts of a JSON document that is no session. values: how many stand at its top level.

    tokens: of its bytes. why_no_session: what is wrong with what looked like a session; else empty.
    """

    name: str
    size: int
    characters: int
    tokens: int
    is_estimated: bool
    values: int
    kinds: tuple[ValueFacts, ...]
    biggest: Listed[BigValue]
    fold: FoldFacts
    references: Listed[ReferenceFacts]
    why_no_session: str


def to_json(facts: Any) -> Any:
    """The facts as plain JSON values; a dataclass is an object with its fields."""
    if is_dataclass(facts) and not isinstance(facts, type):
        return {each.name: to_json(getattr(facts, each.name)) for each in fields(facts)}
    if isinstance(facts, dict):
        return {str(name): to_json(each) for name, each in facts.items()}
    if isinstance(facts, tuple | list):
        return [to_json(each) for each in facts]
    return str(facts) if isinstance(facts, StrEnum) else facts
