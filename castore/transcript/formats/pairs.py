"""Pairs: the calls of a transcript and their results, told apart and told when odd. For every format.

Law: every result is paired with the call that has its id or, where the API gives no ids, with the first
call of its name that has no result yet. What has no other half is said: `unanswered-call` (but for the
calls of an open tool loop), `orphan-result`, `repeated-result`, `duplicate-call-id`.
"""

from __future__ import annotations

from collections import deque

from castore.transcript.builder import Builder

__all__ = ["Pairs"]


class Pairs:
    """Tell calls and results in the order of the source; `finish` says what was left over."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._waiting: dict[str, tuple[int, int]] = {}
        """Call id -> the line of the call, and how many calls were told before it."""
        self._all_unnamed: deque[tuple[int, str]] = deque()
        """Calls whose id we made up, because the API gives none, in order; what has its result is dropped
        when it comes to the front, so that each is looked at once."""
        self._unnamed: dict[str | None, deque[tuple[int, str]]] = {}
        """The same by tool, None for calls that name none."""
        self._tools: dict[str, str | None] = {}
        self._reply: set[str] = set()
        """The calls of the latest reply: without a result they are an open loop, not odd."""
        self._calls = 0
        self._told = 0

    def reply(self) -> None:
        """A new reply begins."""
        self._reply = set()
        self._calls = 0

    def prompt(self) -> None:
        """A prompt stands here: what has no result yet will not get one."""
        self._reply = set()

    def call(self, id: str | None, *, made_up: str, tool: str | None, line: int) -> str:
        """A call; its id, or one made up from that of its message and how many calls stand before it there:
        thinking that leaves does not change it."""
        self._calls += 1
        self._told += 1
        if not id:
            id = f"{made_up}.{self._calls}"
            self._all_unnamed.append((self._told, id))
            self._unnamed.setdefault(tool, deque()).append((self._told, id))
        if id in self._tools:
            self._builder.odd(line, "duplicate-call-id", f"a second call with the id '{id}'")
        self._tools[id] = tool
        self._waiting[id] = (line, self._told)
        self._reply.add(id)
        return id

    def result(self, id: str | None, *, tool: str | None, line: int) -> str | None:
        """A result: the id of its call, which may be missing."""
        if not id:
            id = self._first_waiting(tool)
            if id is None:
                named = f" of '{tool}'" if tool else ""
                self._builder.odd(line, "orphan-result", f"a result{named} without a call")
                return None
        elif id not in self._tools:
            self._builder.odd(line, "orphan-result", f"a result without its call '{id}'")
        elif id not in self._waiting:
            self._builder.odd(line, "repeated-result", f"a second result of the call '{id}'")
        self._waiting.pop(id, None)
        return id

    def tool(self, id: str | None) -> str | None:
        """The tool of a call."""
        return self._tools.get(id) if id is not None else None

    def finish(self) -> None:
        for id, (line, _told) in self._waiting.items():
            if id not in self._reply:
                self._builder.odd(line, "unanswered-call", f"the call '{id}' has no result")

    def _first_waiting(self, tool: str | None) -> str | None:
        queues = [self._all_unnamed]
        if tool is not None:
            queues = [queue for name in (tool, None) if (queue := self._unnamed.get(name)) is not None]
        fronts = [front for queue in queues if (front := self._front(queue)) is not None]
        return min(fronts)[1] if fronts else None

    def _front(self, queue: deque[tuple[int, str]]) -> tuple[int, str] | None:
        """The first of the queue that has no result yet."""
        while queue:
            told, id = queue[0]
            if id in self._waiting and self._waiting[id][1] == told:
                return queue[0]
            queue.popleft()
        return None
