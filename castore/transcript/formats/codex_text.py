"""What Codex writes into texts: what it says in a user's place, its summaries, and how a command ended.

Law: a text is taken for Codex's own only by how it begins (and ends); a command's exit code is read only
where Codex itself puts it, never from what the command wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from castore.transcript.values import Value, read_json

__all__ = ["CONTEXT_LABEL", "is_developer_context", "is_summary", "is_user_context", "outcome_of"]

_CONTEXT_OF_USER = (
    ("# agents.md instructions", "</instructions>"),
    ("<environment_context>", "</environment_context>"),
    ("<user_instructions>", "</user_instructions>"),
    ("<skill>", "</skill>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<goal_context>", "</goal_context>"),
    ("<hook_prompt", "</hook_prompt>"),
)
"""How Codex begins and ends what it says in a user's place."""

_CONTEXT_OF_DEVELOPER = (
    "<permissions instructions>",
    "<model_switch>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<realtime_conversation>",
    "<skills_instructions>",
    "<personality_spec>",
    "<token_budget",
    "<context_window",
    "<rollout_budget>",
)
"""How Codex begins what it says before a turn, to be said anew when that turn is taken back."""

_SUMMARY_HEAD = b"Another language model started to solve this problem and produced a summary"
"""How Codex begins the message that its compactions leave."""

_EXIT_CODE = re.compile(
    rb'"(?:(?:Chunk ID|Wall time): [^\\"]*(?:\\n|\\u000[aA]))*'
    rb"(?:Process exited with code|Exit code:) (-?[0-9]{1,10})(?:\\n|\\u000[aA])"
)
"""How Codex heads a command's output, as it is spelt in the literal."""

CONTEXT_LABEL = "context text"
"""What a marker calls what Codex said in a user's place."""

_MARKER = re.compile(rb'(?:"|\\n)\[ctx [0-9a-f]{16}: (?:same )?(error result|context text|summary)[, ]')
"""What a view leaves of such a text: how it began, or its exit code, went with it; what it was must not."""


def is_user_context(message: Value) -> bool:
    """Whether Codex says something of what a user's message holds, and so is behind all of it."""
    return any(_is_user_context(text) for text in _texts(message) if _may_be_context(text))


def is_developer_context(message: Value) -> bool:
    """Whether something in a developer's message is said anew with every turn."""
    texts = (text.text() or "" for text in _texts(message))
    return any(text[:80].lstrip().lower().startswith(_CONTEXT_OF_DEVELOPER) for text in texts)


def is_summary(message: Value) -> bool:
    """Whether a user's message is what one of Codex's own compactions left."""
    first = next(_texts(message), None)
    if first is None:
        return False
    return first.source.data.startswith(_SUMMARY_HEAD, first.start + 1) or _is_marked(first, b"summary")


def outcome_of(output: Value) -> tuple[int | None, bool]:
    """The exit code that Codex wrote into a result's text, and whether the text says that it failed."""
    texts = [output] if output.is_string else _texts_of(output)
    for text in texts:
        code = _exit_code(text)
        if code is not None:
            return code, code != 0
        if _is_marked(text, b"error result"):
            return None, True
    return None, False


def _exit_code(text: Value) -> int | None:
    data = text.source.data
    head = _EXIT_CODE.match(data, text.start, text.end)
    if head is not None:
        return int(head[1])
    if not data.startswith(b'"{', text.start) or data.find(b"exit_code", text.start, text.end) < 0:
        return None
    try:
        said = read_json(text.text() or "")
    except (ValueError, RecursionError):
        return None
    metadata = said.get("metadata") if isinstance(said, dict) else None
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _is_marked(text: Value, label: bytes) -> bool:
    """Whether a view's marker stands for the text, or for the middle of it, and calls it so."""
    data = text.source.data
    if data.find(label, text.start, text.end) < 0:
        return False
    return any(found[1] == label for found in _MARKER.finditer(data, text.start, text.end))


def _texts(message: Value) -> Iterator[Value]:
    """The string literals of a message's texts."""
    content = message.get("content")
    if content is None:
        return
    if content.is_string:
        yield content
    else:
        yield from _texts_of(content)


def _texts_of(blocks: Value) -> Iterator[Value]:
    for block in blocks.items():
        text = block.get("text")
        if text is not None and text.is_string:
            yield text


def _may_be_context(text: Value) -> bool:
    """By the first bytes of the literal: nearly all that people write is ruled out without decoding it."""
    return text.source.data[text.start + 1] in b"<#[\\ \t"


def _is_user_context(literal: Value) -> bool:
    text = literal.text() or ""
    head, tail = text[:80].lstrip().lower(), text[-80:].rstrip().lower()
    if any(head.startswith(begin) and tail.endswith(end) for begin, end in _CONTEXT_OF_USER):
        return True
    return _is_marked(literal, CONTEXT_LABEL.encode())
