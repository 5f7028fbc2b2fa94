"""Stepping: machines that share a bucket, each request of theirs one step, in every order that there is.

A machine is a function that is given a bucket, a clock and a sleep, and is deterministic: what it asks next
follows from the answers that it has had. So it is run from its beginning with those answers, until it asks
what is not among them; and the whole state of a search is what each machine was answered, and what lies in
the bucket. Equal states are looked at once. That makes the search complete, and cheap: no threads, and a
request in one state of what it touches is done once, by obstore's store in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from obstore.store import MemoryStore

from castore.remote.bucket import Bucket
from castore.remote.connecting import in_memory
from castore.remote.service import Entry
from castore.settings import RemoteSettings

__all__ = ["Contents", "Explored", "Machine", "Request", "Results", "Thing", "explore"]


class Request(NamedTuple):
    """operation: of a Service, or `clock` or `sleep`. more: what else it takes."""

    operation: str
    key: str = ""
    more: tuple[Any, ...] = ()

    @property
    def keys(self) -> Sequence[str]:
        return self.more if self.operation == "delete" else (self.key,)


class Thing(NamedTuple):
    """What lies under a key."""

    data: bytes
    modified: float


Contents = Mapping[str, Thing]

Results = tuple[str, ...]
"""What each machine came to."""

Machine = Callable[[Bucket, Callable[[], float], Callable[[float], None]], object]


class _Asked(BaseException):
    """The machine asks what it has no answer to."""

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self.request = request


class _Asking:
    """A Service whose answers were given before."""

    is_far = False
    deletes_max = 1000

    def __init__(self, answers: Sequence[Any], page_entries: int) -> None:
        self._answers = iter(answers)
        self._page_entries = page_entries

    def ask(self, request: Request) -> Any:
        for answer in self._answers:
            return answer
        raise _Asked(request)

    def get(self, key: str, start: int, length: int | None, bytes_max: int | None) -> Any:
        assert (start, length) == (0, None)
        return self.ask(Request("get", key))

    def head(self, key: str) -> Entry | None:
        return self.ask(Request("head", key))

    def put(self, key: str, data: bytes | Path) -> None:
        self.ask(Request("put", key, (data if isinstance(data, bytes) else data.read_bytes(),)))

    def create(self, key: str, data: bytes) -> bool:
        return self.ask(Request("create", key, (data,)))

    def replace(self, key: str, data: bytes, entry: Entry) -> bool:
        return self.ask(Request("replace", key, (data, entry.version)))

    def delete(self, keys: Sequence[str]) -> None:
        self.ask(Request("delete", "", tuple(keys)))

    def pages(self, prefix: str) -> Iterator[Sequence[Entry]]:
        last = ""
        while page := self.ask(Request("list", prefix, (last, self._page_entries))):
            yield page
            if len(page) < self._page_entries:
                return
            last = page[-1].key

    def settle(self) -> None:
        return


@dataclass(slots=True)
class _Node:
    """What one machine was answered so far, and what it does then: asks, or has ended."""

    answers: tuple[Any, ...]
    request: Request | None
    result: object = None
    children: dict[Any, _Node] = field(default_factory=dict)


class State(NamedTuple):
    """asleep: by machine, the contents and time that it fell asleep at. jumps: how many of those that may be
    at any step there were; time: what it is now."""

    nodes: tuple[int, ...]
    killed: frozenset[int]
    asleep: tuple[Any, ...]
    contents: frozenset[tuple[str, Thing]]
    jumps: int
    time: float


@dataclass(slots=True)
class Explored:
    """What a search came to. loss: the steps that led to a state where the law does not hold, and why; None:
    there is none. results: what machines came to, at every end."""

    states: int = 0
    ends: int = 0
    loss: str | None = None
    results: set[Results] = field(default_factory=set)


def explore(
    machines: Mapping[str, Machine],
    contents: Contents,
    law: Callable[[Contents], str | None],
    *,
    at_end: Callable[[Contents, Results], str | None] = lambda contents, results: None,
    now: float,
    kills: int = 0,
    jumps: Sequence[float] = (),
    in_time: Callable[[Request], bool] = lambda request: False,
    page_entries: int = 1000,
    private: Collection[str] = ("format", "marks/"),
    begun: Mapping[str, str] | None = None,
) -> Explored:
    """Runs the machines in every order of their requests; after each `law` says what it does not hold for.

    kills: how many machines may be killed, each at any step. jumps: seconds by which time may pass at once,
    in this order, each at any step but one at which a machine is about to send what `in_time` says is sent in
    time; where all sleep, an hour passes. private: beginnings of keys that no order of requests makes a
    difference to: they are no steps. begun: by machine, a key that it is about to write at the start, run
    alone until then.
    at_end: as `law`, once all have ended; it is told what each came to, or `killed`.
    """
    search = _Search(machines, now, jumps, page_entries, tuple(private))
    explored = Explored()
    first = search.first(contents, begun or {})
    came_from: dict[State, tuple[State, str] | None] = {first: None}
    waiting = [first]
    holds: dict[frozenset[tuple[str, Thing]], str | None] = {}
    while waiting:
        state = waiting.pop()
        explored.states += 1
        if state.contents not in holds:
            holds[state.contents] = law(dict(state.contents))
        problem = holds[state.contents]
        following = list(search.following(state, kills, in_time))
        if not following:
            explored.ends += 1
            results = search.results(state)
            explored.results.add(results)
            problem = problem or search.stuck(state) or at_end(dict(state.contents), results)
        if problem is not None:
            explored.loss = f"{problem}, after:\n" + "\n".join(_path(came_from, state))
            return explored
        for words, new in following:
            if new not in came_from:
                came_from[new] = (state, words)
                waiting.append(new)
    return explored


# --- Helpers ---------------------------------------------------------------------------------------


_TIME_MAX = 6 * 3600
"""Who sleeps longer waits for ever."""


class _Search:
    def __init__(
        self,
        machines: Mapping[str, Machine],
        now: float,
        jumps: Sequence[float],
        page_entries: int,
        private: tuple[str, ...],
    ) -> None:
        self._names = list(machines)
        self._machines = list(machines.values())
        self._now = now
        self._jumps = jumps
        self._page_entries = page_entries
        self._private = private
        self._nodes: list[_Node] = []
        self._numbers: dict[tuple[int, int, Any], int] = {}
        self._done: dict[tuple[Any, ...], tuple[Any, frozenset[tuple[str, Thing]]]] = {}

    def first(self, contents: Contents, begun: Mapping[str, str]) -> State:
        nodes = tuple(self._run(number, ()) for number in range(len(self._machines)))
        state = State(nodes, frozenset(), (None,) * len(nodes), frozenset(contents.items()), 0, self._now)
        for number in range(len(nodes)):
            state = self._settled(state, number)
            key = begun.get(self._names[number])
            while key is not None and (request := self._nodes[state.nodes[number]].request) is not None:
                if (request.operation, request.key) == ("put", key):
                    break
                state = self._stepped(state, number, request)
        return state

    def following(
        self, state: State, kills: int, in_time: Callable[[Request], bool]
    ) -> Iterator[tuple[str, State]]:
        """Every state that one step leads to, with words for it."""
        asked: list[Request] = []
        is_idle = True
        for number, name in enumerate(self._names):
            request = self._nodes[state.nodes[number]].request
            if request is None or number in state.killed:
                continue
            asked.append(request)
            if len(state.killed) < kills:
                yield f"{name} is killed", state._replace(killed=state.killed | {number})
            if state.asleep[number] == (state.contents, state.time):
                continue
            is_idle = False
            yield f"{name}: {_shown(request)}", self._stepped(state, number, request)
        if asked and is_idle and state.time < self._now + _TIME_MAX:
            yield "an hour passes", state._replace(time=state.time + 3600)
        elif asked and state.jumps < len(self._jumps) and not any(map(in_time, asked)):
            time = state.time + self._jumps[state.jumps]
            yield "time passes", state._replace(jumps=state.jumps + 1, time=time)

    def results(self, state: State) -> Results:
        return tuple(
            "killed" if number in state.killed else str(self._nodes[node].result)
            for number, node in enumerate(state.nodes)
        )

    def stuck(self, state: State) -> str | None:
        for number, node in enumerate(state.nodes):
            if self._nodes[node].request is not None and number not in state.killed:
                return f"{self._names[number]} waits for ever"
        return None

    # --- Helpers ---

    def _stepped(self, state: State, number: int, request: Request) -> State:
        if request.operation == "sleep":
            answer, contents = None, state.contents
        else:
            answer, contents = self._do(request, state)
        nodes = list(state.nodes)
        nodes[number] = self._child(number, state.nodes[number], answer)
        asleep = list(state.asleep)
        asleep[number] = None
        return self._settled(
            state._replace(nodes=tuple(nodes), asleep=tuple(asleep), contents=contents), number
        )

    def _settled(self, state: State, number: int) -> State:
        """What the machine asks that is no step is answered."""
        while (request := self._nodes[state.nodes[number]].request) is not None:
            if request.operation == "clock":
                nodes = list(state.nodes)
                nodes[number] = self._child(number, state.nodes[number], state.time)
                state = state._replace(nodes=tuple(nodes))
            elif request.operation == "sleep" and state.asleep[number] is None:
                asleep = list(state.asleep)
                asleep[number] = (state.contents, state.time)
                return state._replace(asleep=tuple(asleep))
            elif request.keys and all(key.startswith(self._private) for key in request.keys):
                return self._stepped(state, number, request)
            else:
                return state
        return state

    def _child(self, number: int, node: int, answer: Any) -> int:
        key = (number, node, answer)
        if key not in self._numbers:
            self._numbers[key] = self._run(number, (*self._nodes[node].answers, answer))
        return self._numbers[key]

    def _run(self, number: int, answers: tuple[Any, ...]) -> int:
        """The machine, run from its beginning with these answers."""
        service = _Asking(answers, self._page_entries)
        bucket = Bucket("stepped", RemoteSettings(url="memory:///", workers=1), service)

        def clock() -> float:
            return service.ask(Request("clock"))

        def sleep(seconds: float) -> None:
            service.ask(Request("sleep"))

        try:
            node = _Node(answers, None, self._machines[number](bucket, clock, sleep))
        except _Asked as asked:
            node = _Node(answers, asked.request)
        self._nodes.append(node)
        return len(self._nodes) - 1

    def _do(self, request: Request, state: State) -> tuple[Any, frozenset[tuple[str, Thing]]]:
        """The answer of the bucket, and what lies there then."""
        keys = set(request.keys)
        is_list = request.operation == "list"
        touched = frozenset(
            (key, thing)
            for key, thing in state.contents
            if (key.startswith(request.key) if is_list else key in keys)
        )
        identity = (request, touched, state.time)
        if identity not in self._done:
            self._done[identity] = _done(request, dict(touched), state.time)
        answer, new = self._done[identity]
        return answer, (state.contents - touched) | new


def _done(request: Request, touched: Contents, now: float) -> tuple[Any, frozenset[tuple[str, Thing]]]:
    """The request, done by obstore's store in memory; versions are those of S3: they follow from bytes."""
    service = in_memory(MemoryStore()).service
    for key, thing in touched.items():
        service.put(key, thing.data)
    operation, key, more = request
    new = dict(touched)

    def seen(entry: Entry | None) -> Entry | None:
        if entry is None:
            return None
        thing = touched[entry.key]
        return entry._replace(version=_version(thing.data), modified=thing.modified)

    answer: Any = None
    if operation == "get":
        found = service.get(key, 0, None, None)
        answer = None if found is None else (found[0], seen(found[1]))
    elif operation == "head":
        answer = seen(service.head(key))
    elif operation == "put":
        service.put(key, *more)
        new[key] = Thing(more[0], now)
    elif operation == "create":
        answer = service.create(key, *more)
        if answer:
            new[key] = Thing(more[0], now)
    elif operation == "replace":
        found_entry = service.head(key)
        is_same = found_entry is not None and _version(touched[key].data) == more[1]
        version = found_entry.version if found_entry is not None and is_same else '"another"'
        answer = service.replace(key, more[0], Entry(key, 0, version, 0.0))
        if answer:
            new[key] = Thing(more[0], now)
    elif operation == "delete":
        service.delete(more)
        new = {each: thing for each, thing in touched.items() if service.head(each) is not None}
    else:
        assert operation == "list"
        last, page_entries = more
        entries = [seen(entry) for page in service.pages(key) for entry in page if entry.key > last]
        answer = tuple(entries[:page_entries])
    return answer, frozenset(new.items())


def _version(data: bytes) -> str:
    return f'"{sha256(data).hexdigest()[:32]}"'


def _shown(request: Request) -> str:
    return " ".join([request.operation, *(key[:28] for key in request.keys)]).rstrip()


def _path(came_from: Mapping[State, tuple[State, str] | None], state: State) -> list[str]:
    steps: list[str] = []
    while (before := came_from[state]) is not None:
        state, words = before
        steps.append(f"  {words}")
    return steps[::-1]
