"""Sizes: what the bytes and tokens of a session are of, by kind, by turn and by tool. Pure.

Law: every byte of the file is counted once, and so is every token that castore.transcript.measure counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from castore.report.excerpts import beginning, excerpt_of_part
from castore.report.model import LISTED_MAX, TURNS_MAX, KindFacts, Listed, Share, ToolFacts, TurnFacts
from castore.transcript.formats import find_format
from castore.transcript.measure import CALL_TOKENS, MESSAGE_TOKENS, Meter
from castore.transcript.model import Part, PartKind, Role, Transcript

__all__ = ["Sizes", "measure_sizes", "share_of", "tools", "turns"]

_TITLE_CHARACTERS_MAX = 80

_SHARES = {
    PartKind.THINKING: Share.THINKING,
    PartKind.CALL: Share.CALLS,
    PartKind.RESULT: Share.RESULTS,
    PartKind.MEDIA: Share.MEDIA,
    PartKind.UNKNOWN: Share.UNKNOWN,
    PartKind.UI: Share.UI,
}
_PROSE = {Role.SYSTEM: Share.SYSTEM, Role.ASSISTANT: Share.ASSISTANT, Role.SUMMARY: Share.SUMMARY}


def share_of(transcript: Transcript, part: Part) -> Share:
    if part.kind is not PartKind.PROSE:
        return _SHARES[part.kind]
    return _PROSE.get(role_of(transcript, part), Share.USER)


def role_of(transcript: Transcript, part: Part) -> Role:
    """Who says it; of what stands outside messages, the user, who is the one that it is told as."""
    if part.role is not None:
        return part.role
    return transcript.messages[part.message].role if part.message >= 0 else Role.USER


@dataclass(frozen=True)
class Sizes:
    """tokens: of the parts, by index. by_turn: turn -> kind -> bytes, and tokens. outside: bytes of what is
    not viewed."""

    tokens: list[int]
    parts: Counter[Share] = field(default_factory=Counter)
    size_by_turn: dict[int, Counter[Share]] = field(default_factory=dict)
    tokens_by_turn: dict[int, Counter[Share]] = field(default_factory=dict)
    outside: int = 0

    @property
    def all_tokens(self) -> int:
        return sum(sum(each.values()) for each in self.tokens_by_turn.values())

    def kinds(self) -> tuple[KindFacts, ...]:
        """All kinds that there are, in the order of Share."""
        sizes: Counter[Share] = sum(self.size_by_turn.values(), Counter({Share.OUTSIDE: self.outside}))
        tokens: Counter[Share] = sum(self.tokens_by_turn.values(), Counter())
        kinds = [KindFacts(each, self.parts[each], sizes[each], tokens[each]) for each in Share]
        return tuple(each for each in kinds if each.size or each.parts or each.tokens)


def measure_sizes(transcript: Transcript, meter: Meter) -> Sizes:
    """meter: of tokens, of this transcript."""
    sizes = Sizes([meter.part_tokens(part) for part in transcript.parts])
    for part in transcript.parts:
        share = share_of(transcript, part)
        sizes.parts[share] += 1
        _at(sizes.size_by_turn, part.turn)[share] += part.size
        _at(sizes.tokens_by_turn, part.turn)[share] += sizes.tokens[part.index]
    outside = sum(each.end - each.start for each in transcript.leaves)
    sizes.parts[Share.OUTSIDE] = len(transcript.leaves)
    for turn, size in _around(transcript):
        _at(sizes.size_by_turn, turn)[Share.AROUND] += size
    _count_ties(transcript, meter, sizes)
    return replace(sizes, outside=outside)


def turns(transcript: Transcript, sizes: Sizes) -> tuple[TurnFacts, ...]:
    """In order; of more than TURNS_MAX neighbours are told together."""
    titles = _titles(transcript)
    found = sorted(sizes.size_by_turn.keys() | sizes.tokens_by_turn.keys())
    together = -(-len(found) // TURNS_MAX) or 1
    facts = []
    for at in range(0, len(found), together):
        several = found[at : at + together]
        size: Counter[Share] = sum((sizes.size_by_turn.get(each, Counter()) for each in several), Counter())
        tokens: Counter[Share] = sum(
            (sizes.tokens_by_turn.get(each, Counter()) for each in several), Counter()
        )
        title = next((titles[each] for each in several if each in titles), "")
        facts.append(TurnFacts(several[0], several[-1], _in_order(size), _in_order(tokens), title))
    return tuple(facts)


def tools(transcript: Transcript, sizes: Sizes) -> Listed[ToolFacts]:
    """By what their calls and results take of the context. What nobody named is of the tool `unknown`."""
    named = {part.call_id: part.tool for part in transcript.parts_of(PartKind.CALL) if part.call_id}
    found: dict[str, _Tool] = {}
    for part in transcript.parts:
        is_call = part.kind is PartKind.CALL
        if not is_call and (part.call_id is None or part.kind in (PartKind.PROSE, PartKind.THINKING)):
            continue
        if part.kind is PartKind.UI:
            continue
        tool = part.tool or named.get(part.call_id or "") or "unknown"
        found.setdefault(tool, _Tool()).add(part, sizes.tokens[part.index])
    facts = [each.facts(tool) for tool, each in found.items()]
    facts.sort(key=lambda each: (-each.call_tokens - each.result_tokens, -each.result_size, each.tool))
    return Listed(tuple(facts[:LISTED_MAX]), len(facts))


# --- Helpers ---------------------------------------------------------------------------------------


def _at(found: dict[int, Counter[Share]], turn: int) -> Counter[Share]:
    return found.setdefault(turn, Counter())


def _in_order(counted: Counter[Share]) -> dict[Share, int]:
    return {each: counted[each] for each in Share if counted[each]}


def _around(transcript: Transcript) -> Iterator[tuple[int, int]]:
    """(turn, bytes) of what stands between parts and leaves. A line belongs to the turn of the part in it;
    where one line holds them all, what stands before a part belongs to that part's turn."""
    source = transcript.source
    spans = [(part.start, part.end, part.turn) for part in transcript.parts]
    spans += [(leave.start, leave.end, None) for leave in transcript.leaves]  # type: ignore[misc]
    spans.sort(key=lambda each: each[0])
    done, turn = 0, None
    for start, end, of in spans:
        following = turn if of is None else of
        line = source.rfind(b"\n", done, start) + 1 or done
        yield _turn(turn, following), line - done
        yield _turn(following, turn), start - line
        done, turn = max(done, end), following
    yield _turn(turn, None), len(source) - done


def _turn(turn: int | None, other: int | None) -> int:
    """Before the first part that is the turn of the first."""
    if turn is not None:
        return turn
    return -1 if other is None else other


def _count_ties(transcript: Transcript, meter: Meter, sizes: Sizes) -> None:
    """Tokens of messages and calls as such; of a body, whose every byte is sent, those of its other bytes."""
    from castore.transcript.render import Rendered

    if not find_format(transcript.format).is_body:
        for message in transcript.messages:
            _at(sizes.tokens_by_turn, message.turn)[Share.AROUND] += MESSAGE_TOKENS
        for part in transcript.parts_of(PartKind.CALL):
            _at(sizes.tokens_by_turn, part.turn)[Share.AROUND] += CALL_TOKENS
        return
    # Tokens do not quite add up: if the texts alone take more than all, nothing is left for the rest.
    rest = max(meter.measure(Rendered(transcript, ())).size - sum(sizes.tokens), 0)
    around = {turn: each[Share.AROUND] for turn, each in sorted(sizes.size_by_turn.items())}
    total = sum(around.values())
    bytes_done = tokens_done = 0
    for turn, size in around.items():
        bytes_done += size
        upto = rest * bytes_done // total if total else 0
        _at(sizes.tokens_by_turn, turn)[Share.AROUND] += upto - tokens_done
        tokens_done = upto


def _titles(transcript: Transcript) -> dict[int, str]:
    """Turn -> how its first prompt begins."""
    found: dict[int, str] = {}
    for message in transcript.messages:
        if message.is_prompt and message.turn not in found:
            prose = (transcript.parts[index] for index in message.parts)
            first = next((part for part in prose if part.kind is PartKind.PROSE), None)
            if first is not None:
                found[message.turn] = beginning(
                    excerpt_of_part(transcript, first), characters_max=_TITLE_CHARACTERS_MAX
                )
    return found


@dataclass
class _Tool:
    """What is counted of one tool. answered, failed: call ids; or parts, where there is none."""

    calls: int = 0
    call_size: int = 0
    call_tokens: int = 0
    result_size: int = 0
    result_tokens: int = 0
    media_size: int = 0
    answered: set[str | int] = field(default_factory=set)
    failed: set[str | int] = field(default_factory=set)

    def add(self, part: Part, tokens: int) -> None:
        if part.kind is PartKind.CALL:
            self.calls += 1
            self.call_size += part.size
            self.call_tokens += tokens
            return
        self.result_size += part.size
        self.result_tokens += tokens
        self.media_size += part.size if part.kind is PartKind.MEDIA else 0
        self.answered.add(part.call_id or part.index)
        if part.is_error:
            self.failed.add(part.call_id or part.index)

    def facts(self, tool: str) -> ToolFacts:
        return ToolFacts(
            tool,
            self.calls,
            self.call_size,
            self.call_tokens,
            len(self.answered),
            self.result_size,
            self.result_tokens,
            self.media_size,
            len(self.failed),
        )
