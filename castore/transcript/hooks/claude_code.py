"""Claude Code's hooks: the JSON that comes on stdin, and the answer that its contract takes. Pure.

Laws: an answer changes nothing of a tool's result but texts that are too long: its shape stays, for Claude
Code passes over a value of another shape and shows the result as it was. What was read back, and what a tool
that writes files echoes, is left alone. Texts share what may stand: each that is short stands whole, and what
is long is cut to one length, such that all together are about as long as that.

The contract, by the vendor's reference (hooks: PostToolUse decision control, as of version 2.1.285):
`hookSpecificOutput.updatedToolOutput` takes the result's place (since 2.1.121, of every tool that did not
fail); `additionalContext` stands beside it. Session end takes no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from castore.errors import DocumentInvalid
from castore.transcript.formats.tools import WRITE_TOOLS
from castore.transcript.read_backs import addresses_of

__all__ = [
    "AFTER_TOOL",
    "AT_END",
    "Event",
    "Payload",
    "beside",
    "length_each",
    "parse_event",
    "payloads",
    "replaced",
]

AFTER_TOOL = "PostToolUse"
AT_END = frozenset({"SessionEnd", "Stop", "SubagentStop"})
"""Events that say where a transcript is that is written to no more, or not just now."""

_SHORT = 200
"""A text of up to so many characters stands, however many there are."""
_MANY = 8
"""A list of more texts than this is one payload."""
_PERSISTED_CHARACTERS = 2000
"""What Claude Code shows of an output that it put into a file is no longer."""

_NOT_SHOWN = frozenset(
    {"command", "edits", "filePath", "file_path", "newString", "newTodos", "new_string", "oldString"}
    | {"oldTodos", "old_string", "originalFile", "originalFileContents", "prompt", "structuredPatch", "url"}
    | {"base64", "data", "gitDiff", "source"}
)
"""Members of results that no model sees as text: echoes of the call, images, what is shown to people."""
_PERSISTED = ("persistedOutputPath", "persistedOutputSize")
_NO_TAIL = frozenset({"read", "notebookread"})
"""What stands of these gets line numbers, which would be wrong behind what is left out."""
_ID = re.compile(r"[A-Za-z0-9._-]{1,80}")


@dataclass(frozen=True)
class Event:
    """What a hook is told. session, call: ids, safe to be in a name. transcript: the path of a file.

    result: what the tool gave back; it is the event's own, and `replaced` changes it."""

    name: str
    session: str
    call: str
    tool: str
    arguments: Any
    result: Any
    transcript: str | None


@dataclass(frozen=True)
class Payload:
    """One long text of a result. holder, key: where it stands. file: a path that has all of it, where the
    text is only its beginning. is_list: it is the lines of a list of texts."""

    text: str = field(repr=False)
    holder: Any = field(repr=False)
    key: Any
    is_list: bool = False
    file: str | None = None


def parse_event(data: bytes) -> Event:
    """Raises DocumentInvalid for what is no hook's JSON."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DocumentInvalid("stdin has no JSON of a hook", hint="Claude Code runs this command") from error
    name = said.get("hook_event_name") if isinstance(said, dict) else None
    if not isinstance(name, str):
        raise DocumentInvalid(
            "stdin has no JSON of a hook: 'hook_event_name' is missing", hint="Claude Code runs this command"
        )
    path = said.get("agent_transcript_path") or said.get("transcript_path")
    return Event(
        name,
        _id(said.get("session_id")),
        _id(said.get("tool_use_id")),
        tool if isinstance(tool := said.get("tool_name"), str) else "",
        said.get("tool_input"),
        {"result": said.get("tool_response")},
        path if isinstance(path, str) and path else None,
    )


def payloads(event: Event, characters_max: int, retrieve_with: str | None = None) -> list[Payload]:
    """The long texts of a result, if they are over the limit together; none if they may not be shortened."""
    own = event.tool.lower().rpartition("__")[2]
    if event.name != AFTER_TOOL or (own in WRITE_TOOLS and not event.tool.startswith("mcp__")):
        return []
    if addresses_of(event.tool, json.dumps(event.arguments), retrieve_with):
        return []
    found = [each for each in _texts(event.result) if len(each.text) > _SHORT and _is_text(each.text)]
    if event.tool == "Bash":
        found = [_with_file(each) for each in found]
    is_over = sum(len(each.text) for each in found) > characters_max
    return [each for each in found if is_over or each.file is not None]


def length_each(found: Sequence[Payload], characters_shown: int) -> int:
    """To how many characters each payload is cut that is longer, so that so many stand in all."""
    left = characters_shown
    lengths = sorted(len(each.text) for each in found if each.file is None)
    for at, length in enumerate(lengths):
        share = left // (len(lengths) - at)
        if length > share:
            return max(share, _SHORT)
        left -= length
    return characters_shown


def length_of(payload: Payload, each: int) -> int:
    """To how many this one is cut: each, but for what Claude Code itself shows less of."""
    return min(each, _PERSISTED_CHARACTERS) if payload.file is not None else each


def has_tail(event: Event) -> bool:
    """Whether the end of a text may stand behind what is left out."""
    return event.tool.lower() not in _NO_TAIL


def replaced(event: Event, texts: Sequence[tuple[Payload, str]]) -> dict[str, Any]:
    """The answer in which each of the payloads is this text instead."""
    for payload, text in texts:
        payload.holder[payload.key] = text.split("\n") if payload.is_list else text
        if payload.file is not None:
            # Where they stay, Claude Code shows its own words of the file instead.
            for name in _PERSISTED:
                payload.holder.pop(name, None)
    return _answer(updatedToolOutput=event.result["result"])


def beside(event: Event, markers: Sequence[str]) -> dict[str, Any]:
    """The answer that leaves the result as it is, and says where it is stored."""
    what = "The result" if len(markers) == 1 else "The long texts of the result"
    said = f"{what} of this call of {event.tool[:80]} can be read again later: {' '.join(markers)}"
    return _answer(additionalContext=said)


# --- Helpers ---------------------------------------------------------------------------------------


def _answer(**said: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": AFTER_TOOL, **said}}


def _id(value: Any) -> str:
    return value if isinstance(value, str) and _ID.fullmatch(value) else "unknown"


def _texts(value: Any) -> Iterator[Payload]:
    """Every text that a model may see, in order. No recursion: a result is as deep as it likes."""
    waiting: list[tuple[Any, Any]] = [(value, "result")]
    while waiting:
        holder, key = waiting.pop()
        each = holder[key]
        if isinstance(each, str):
            yield Payload(each, holder, key)
        elif isinstance(each, dict):
            if each.get("isImage") is not True and each.get("type") != "image":
                inner = [name for name in each if name not in _NOT_SHOWN]
                waiting.extend((each, name) for name in reversed(inner))
        elif isinstance(each, list):
            if len(each) > _MANY and all(isinstance(item, str) for item in each):
                yield Payload("\n".join(each), holder, key, is_list=True)
            else:
                waiting.extend((each, at) for at in reversed(range(len(each))))


def _is_text(text: str) -> bool:
    """Half a character has no bytes, so what holds one can't be stored as it is."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _with_file(payload: Payload) -> Payload:
    """Of an output that is in a file of Claude Code's, only the beginning is told."""
    path = payload.holder.get(_PERSISTED[0]) if isinstance(payload.holder, dict) else None
    if payload.key != "stdout" or not isinstance(path, str):
        return payload
    return Payload(payload.text, payload.holder, payload.key, file=path)
