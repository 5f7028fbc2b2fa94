"""What was read back: results of calls by which a model got what a view had moved. They are not moved again.

Laws: of each address that was read back (a digest, and the words that say which part of it) the latest result
stays whole in every strategy but `cap`, which takes it last of all; so a model that reads a thing keeps it,
and never has to fetch it again and again. An earlier read of the same address leaves only if the later one
came within the same step of turns: then both are before the boundary at once, and no view changes what an
earlier one showed but at a step. Otherwise both stay. A call that failed read nothing.

A call reads back if it is one of the tools `ctx_read`, `ctx_grep`, `ctx_show` (of whatever server), if it
reads a resource `ctx://…`, if its command runs `ctx cat`, `ctx show` or `ctx grep` (after others, in a pipe),
or if it is what `--retrieve-with` says. Commands of more than 64 kB are not looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from castore.transcript.arguments import arguments_of
from castore.transcript.decision import ViewOptions, boundary_turn
from castore.transcript.model import Part, PartKind, Transcript

__all__ = ["ReadBacks", "addresses_of"]

_ARGUMENTS_BYTES_MAX = 64 << 10
_TOOL = re.compile(r"(?:^|[^a-z0-9])(ctx_(?:read|grep|show))$")
_PAYLOADS = frozenset({PartKind.RESULT, PartKind.MEDIA, PartKind.UNKNOWN})

_VERBS = frozenset({"cat", "show", "grep"})
_COMMANDS = ("command", "cmd", "script")
"""Members of a shell tool's arguments that hold what it runs."""
_SHELLS = frozenset({"bash", "dash", "sh", "zsh"})
_BEFORE = frozenset(
    ["!", "command", "do", "else", "env", "exec", "if", "nice", "nohup", "run", "sudo", "then", "time"]
) | {"timeout", "uv", "uvx", "while", "{"}
"""Words that may stand before a command without being it."""
_BEFORE_MAX = 6
_ASIDE = re.compile(r"-|\w+=|[0-9.]+[smh]?$")
"""Options of those, settings of the environment, and times."""

_SHELL_TOKEN = re.compile(
    r"(?P<space>[ \t\r]++|\\\n)|(?P<end>[;\n()`]|&&|\|\||&)|(?P<pipe>\|&?)"
    r"|(?P<word>(?:[<>]&|&>|[^\s'\"\\;&|()`]|\\.|'[^']*+'|\"(?:[^\"\\]|\\.)*+\")++)|(?P<other>.)",
    re.DOTALL,
)
_QUOTED = re.compile(r"\\(.)|'([^']*+)'|\"((?:[^\"\\]|\\.)*+)\"", re.DOTALL)
_DIGEST = re.compile(r"(?<![0-9a-f])(?:sha256:)?([0-9a-f]{16})[0-9a-f]{0,48}(?![0-9a-f])")
_PASTED = re.compile(r"\s*(?:\[ctx |\{)")
"""A marker or a reference, pasted whole."""

Address = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Read:
    """One call that read something back, with its results."""

    turn: int
    addresses: frozenset[Address]
    parts: tuple[int, ...]


class ReadBacks:
    """What a transcript read back.

    latest: indices of the parts of which no later read has the address; these stay in every view."""

    def __init__(self, transcript: Transcript, options: ViewOptions) -> None:
        self._step = options.step
        self._boundary = boundary_turn(transcript, options.step)
        self._reads = _reads(transcript, options.retrieve_with)
        self.latest = self._of(lambda read, later: any(turn is None for turn in later))

    def kept(self, edge: int | None = None) -> frozenset[int]:
        """Those that stay whole, `latest` among them. edge: the turn up to which the strategy takes things as
        old, which moves in steps; None: the boundary between whole and moved."""
        boundary = self._boundary if edge is None else edge

        def is_kept(read: _Read, later: Sequence[int | None]) -> bool:
            step_end = (read.turn // self._step + 1) * self._step
            return read.turn >= boundary or any(turn is None or turn >= step_end for turn in later)

        return self._of(is_kept)

    def _of(self, is_meant: Callable[[_Read, Sequence[int | None]], bool]) -> frozenset[int]:
        """The parts of the reads that are meant. It is asked of each with the turns of the next reads of its
        addresses, None where there is none."""
        found: set[int] = set()
        next_turn: dict[Address, int] = {}
        for read in reversed(self._reads):
            if is_meant(read, [next_turn.get(address) for address in read.addresses]):
                found.update(read.parts)
            next_turn.update(dict.fromkeys(read.addresses, read.turn))
        return frozenset(found)


def addresses_of(tool: str, arguments: str, retrieve_with: str | None = None) -> frozenset[Address]:
    """What a call reads back: words, digests in them by 16 digits. Empty if it reads nothing back.

    arguments: the text of its arguments, JSON or not."""
    if len(arguments) > _ARGUMENTS_BYTES_MAX:
        return frozenset()
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return frozenset()
    if not isinstance(value, dict):
        return frozenset()
    name = tool.lower()
    own = _TOOL.search(name)
    if own is not None:
        return _of_values(own[1], value)
    verb = (retrieve_with or "").split()
    if re.split(r"__|[^\w-]", name)[-1] in [word.lower() for word in verb] and _DIGEST.search(arguments):
        return _of_values(name, value)
    uri = value.get("uri")
    if isinstance(uri, str) and uri.startswith("ctx://"):
        return _of_values("ctx://", {"uri": uri})
    return frozenset(address for words in _pipelines(value) for address in _of_pipeline(words, verb))


# --- Of a transcript -------------------------------------------------------------------------------


def _reads(transcript: Transcript, retrieve_with: str | None) -> list[_Read]:
    """The calls that read back and did not fail, in the order of their results."""
    addresses: dict[str, frozenset[Address]] = {}
    for call in transcript.parts_of(PartKind.CALL):
        if call.call_id is not None and _may_read(transcript, call, retrieve_with):
            found = addresses_of(call.tool or "", arguments_of(transcript, call), retrieve_with)
            if found:
                addresses[call.call_id] = found
    results: dict[str, list[Part]] = {}
    for part in transcript.parts if addresses else ():
        if part.kind in _PAYLOADS and part.call_id in addresses:
            results.setdefault(part.call_id or "", []).append(part)
    return [
        _Read(parts[0].turn, addresses[id], tuple(part.index for part in parts))
        for id, parts in results.items()
        if not any(part.is_error for part in parts)
    ]


def _may_read(transcript: Transcript, call: Part, retrieve_with: str | None) -> bool:
    """Whether it is worth reading its arguments: a session has very many calls."""
    if call.size > 2 * _ARGUMENTS_BYTES_MAX:
        return False
    if retrieve_with is not None or _TOOL.search((call.tool or "").lower()):
        return True
    return transcript.source.find(b"ctx", call.start, call.end) >= 0


# --- Of a tool's arguments -------------------------------------------------------------------------


def _of_values(name: str, value: dict[str, Any]) -> frozenset[Address]:
    """One address: the arguments as values, in order of their names."""
    written = json.dumps(_shortened(value), sort_keys=True) if value else ""
    return frozenset({(name, written)}) if written else frozenset()


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return _word(value)
    if isinstance(value, list):
        return [_shortened(each) for each in value]
    if isinstance(value, dict):
        return {name: _shortened(each) for name, each in value.items()}
    return value


def _word(text: str) -> str:
    """A digest by its 16 digits, as a marker says it; of a marker or reference that was pasted, that."""
    found = _DIGEST.search(text)
    if found is None:
        return text
    return found[1] if _PASTED.match(text) else _DIGEST.sub(r"\1", text)


# --- Of a shell's command --------------------------------------------------------------------------


def _pipelines(value: dict[str, Any]) -> Iterator[list[list[str]]]:
    """Each pipeline that the call runs: the words of its commands."""
    for name in _COMMANDS:
        command = value.get(name)
        if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
            if command[0].rpartition("/")[2] in _SHELLS:
                yield from _parsed(command[-1])
            else:
                yield [command]
        elif isinstance(command, str):
            yield from _parsed(command)


def _parsed(text: str) -> Iterator[list[list[str]]]:
    pipeline: list[list[str]] = [[]]
    for token in _SHELL_TOKEN.finditer(text):
        if token["word"] is not None:
            pipeline[-1].append(_unquoted(token["word"]))
        elif token["pipe"] is not None:
            pipeline.append([])
        elif token["end"] is not None:
            yield pipeline
            pipeline = [[]]
    yield pipeline


def _unquoted(word: str) -> str:
    return _QUOTED.sub(lambda found: found[1] or found[2] or found[3] or "", word)


def _of_pipeline(commands: Sequence[Sequence[str]], verb: Sequence[str]) -> Iterator[Address]:
    """The addresses that it reads, with what is done to them behind it: `head` shows other than `tail`."""
    for at, words in enumerate(commands):
        asked = _asked(words, verb)
        if asked is None:
            continue
        behind = [word for command in commands[at + 1 :] for word in ("|", *command)]
        short = [_word(word) for word in asked]
        digests = [new for old, new in zip(asked, short, strict=True) if _DIGEST.fullmatch(old) or new != old]
        others = [word for word in short if word not in digests]
        for digest in digests:
            yield (*others[:1], digest, *others[1:], *behind)
        if not digests and len(asked) > 1:
            yield (*short, *behind)


def _asked(words: Sequence[str], verb: Sequence[str]) -> list[str] | None:
    """Of a command that reads back: the word for what it does, and all after it."""
    start = 0
    while start < min(len(words), _BEFORE_MAX) and (words[start] in _BEFORE or _ASIDE.match(words[start])):
        start += 1
    command = list(words[start:])
    if verb and command[: len(verb)] == list(verb):
        return ["read", *command[len(verb) :]]
    if not command or command[0].rpartition("/")[2] != "ctx":
        return None
    for at, word in enumerate(command[1:_BEFORE_MAX], 1):
        if word in _VERBS:
            return command[at:]
        if not word.startswith("-") and not command[at - 1].startswith("-"):
            return None
    return None
