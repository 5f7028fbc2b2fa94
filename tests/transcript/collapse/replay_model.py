"""A small model of a collapsed session: lists of messages and spans, and nothing of castore.

It says what the model gets, what may be staged, and what a log that was cut short says.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.transcript.collapse.talks import Talk

__all__ = ["Model", "Placed"]


@dataclass(frozen=True)
class Placed:
    """A span of messages, by what its first and last one say, and the summary."""

    first: str
    last: str
    summary: str


@dataclass
class Model:
    talk: Talk
    keep_turns: int
    commits: list[Placed] = field(default_factory=list)
    staged: list[Placed] = field(default_factory=list)
    known_compactions: int = 0

    # --- What the model gets ---

    def view(self) -> list[str]:
        """What is said, a summary in place of what it hides."""
        said = [each.text for each in self.talk.said]
        shown = {start: (end, placed) for start, end, placed in self.shown()}
        found, at = [], 0
        while at < len(said):
            if at in shown:
                end, placed = shown[at]
                found.append(placed.summary)
                at = end
            else:
                found.append(said[at])
                at += 1
        return found

    def shown(self) -> list[tuple[int, int, Placed]]:
        """Of commits that overlap the latest; those of which every message is there, after the compaction."""
        chosen: list[tuple[int, int, Placed]] = []
        for placed in reversed(self.commits):
            place = self.place(placed)
            if place and not any(place[0] < end and start < place[1] for start, end, _ in chosen):
                chosen.append((*place, placed))
        return sorted(chosen, key=lambda each: each[0])

    def place(self, placed: Placed) -> tuple[int, int] | None:
        said = [each.text for each in self.talk.said]
        if placed.first not in said or placed.last not in said:
            return None
        start, end = said.index(placed.first), said.index(placed.last) + 1
        return (start, end) if start >= self.talk.compacted else None

    def turns(self) -> list[tuple[int, int]]:
        """Each turn's messages: what was sent since the last reply, the reply, and its results."""
        bounds: list[int] = []
        has_reply = False
        for at, said in enumerate(self.talk.said):
            begins = not bounds or (said.role != "result" and has_reply)
            if begins:
                bounds.append(at)
                has_reply = False
            has_reply = has_reply or said.role == "assistant"
        return list(zip(bounds, [*bounds[1:], len(self.talk.said)], strict=True))

    # --- What happens to the log ---

    def observe(self) -> None:
        """What a compaction or a rewind took away is dropped, once somebody changes the log."""
        if not (self.commits or self.staged):
            return
        if self.talk.compactions and self.known_compactions != self.talk.compactions:
            self.commits, self.staged = [], []
            self.known_compactions = self.talk.compactions
        self.commits = [each for each in self.commits if self.place(each)]
        self.staged = [each for each in self.staged if self.place(each)]

    def may_stage(self, first_turn: int, last_turn: int) -> bool:
        turns = self.turns()
        start, end = turns[first_turn][0], turns[last_turn][1]
        if last_turn >= len(turns) - self.keep_turns or start < self.talk.compacted:
            return False
        others = [(a, b) for a, b, _ in self.shown()] + [
            place for s in self.staged if (place := self.place(s))
        ]
        return all(end <= a or b <= start or (start <= a and b <= end) for a, b in others)

    def stage(self, first_turn: int, last_turn: int, summary: str) -> None:
        turns = self.turns()
        start, end = turns[first_turn][0], turns[last_turn][1]
        self.known_compactions = self.talk.compactions
        said = self.talk.said
        kept = [s for s in self.staged if not ((p := self.place(s)) and start <= p[0] and p[1] <= end)]
        placed = Placed(said[start].text, said[end - 1].text, summary)
        self.staged = sorted([*kept, placed], key=lambda s: self.place(s) or (0, 0))

    def ready(self) -> list[Placed]:
        """What is staged and does not reach into the last turns."""
        turns = self.turns()
        edge = turns[-self.keep_turns][0] if len(turns) >= self.keep_turns else 0
        return [each for each in self.staged if (place := self.place(each)) and place[1] <= edge]

    def commit(self, count: int) -> None:
        """The first so many of those that are ready. Committed once more, the same is what came last."""
        for placed in self.ready()[:count]:
            self.staged.remove(placed)
            self.commits = [each for each in self.commits if each != placed] + [placed]

    def reset(self) -> None:
        self.commits, self.staged, self.known_compactions = [], [], 0
