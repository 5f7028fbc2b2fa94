"""What Claude Code sends for a transcript, in the shape of Anthropic's API, for checking.

Law: as the tool does, a reply is put together from its lines and the results of its calls follow it at once;
a call without a result (but for the last reply's) gets one that says so, a result without a call is left out.
"""

from __future__ import annotations

from typing import Any

from castore.transcript.formats.claude_tree import Line, Selection
from castore.transcript.formats.stand_in import is_stand_in

__all__ = ["as_messages"]

_NO_RESULT = "The result of this call is missing"
_CALLS = ("tool_use",)


def as_messages(selection: Selection) -> list[Any]:
    sender = _Sender(selection)
    for line in _in_order(selection):
        sender.line(line)
    return sender.messages


def _in_order(selection: Selection) -> list[Line]:
    """The compaction's summary goes before what was kept of the records before it."""
    kept, rest = selection.viewed[: selection.kept], selection.viewed[selection.kept :]
    summary = next((i for i, line in enumerate(rest) if line.is_summary), None)
    if not kept or summary is None:
        return selection.viewed
    return [*rest[: summary + 1], *kept, *rest[summary + 1 :]]


class _Sender:
    def __init__(self, selection: Selection) -> None:
        self.messages: list[dict[str, Any]] = []
        self.replies: dict[str, list[Any]] = {}
        self.results: dict[str, Any] = {}
        self.sent: set[str] = set()
        self.last: str | None = None
        """The last reply, if nobody went on after it: its calls may wait for their results."""
        for line in selection.viewed:
            if line.type == "assistant" and not line.value.flag("isApiErrorMessage"):
                self.last = _name(line)
                self.replies.setdefault(self.last, []).extend(_blocks(line))
            elif line.type == "user":
                for block in _blocks(line):
                    if block.get("type") == "tool_result":
                        self.results.setdefault(str(block.get("tool_use_id")), block)
                if line.is_prompt or is_stand_in(line.value):
                    self.last = None

    def line(self, line: Line) -> None:
        if line.type == "assistant":
            self._reply(_name(line))
        elif line.type == "user":
            said = [block for block in _blocks(line) if block.get("type") != "tool_result"]
            self._append("user", said)
        elif line.type == "attachment" and line.value.text("attachment", "type") == "queued_command":
            prompt = line.value.get("attachment", "prompt")
            self._append("user", _listed(None if prompt is None else prompt.python()))
        elif line.type == "system" and line.value.text("subtype") == "local_command":
            self._append("user", _listed(line.value.text("content")))

    def _reply(self, name: str) -> None:
        blocks = self.replies.get(name)
        if blocks is None or name in self.sent:
            return
        self.sent.add(name)
        if all(block.get("type") in ("thinking", "redacted_thinking") for block in blocks):
            # Cut while it was thinking: the API takes no reply of nothing else, and the tool leaves it out.
            return
        self._append("assistant", blocks)
        results: list[Any] = []
        for block in blocks:
            if block.get("type") not in _CALLS:
                continue
            id = str(block.get("id"))
            if id in self.results:
                results.append(self.results[id])
            elif name != self.last:
                missing = {"type": "tool_result", "tool_use_id": id, "content": _NO_RESULT, "is_error": True}
                results.append(missing)
        self._append("user", results)

    def _append(self, role: str, blocks: list[Any]) -> None:
        if not blocks:
            return
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1]["content"].extend(blocks)
        else:
            self.messages.append({"role": role, "content": list(blocks)})


def _name(line: Line) -> str:
    return line.reply or line.uuid or f"line {line.record.index}"


def _blocks(line: Line) -> list[Any]:
    content = line.value.get("message", "content")
    return _listed(None if content is None else content.python())


def _listed(content: Any) -> list[Any]:
    """Content as blocks; blank texts are left out, as the tool does."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [
        block
        for block in content
        if isinstance(block, dict) and (block.get("type") != "text" or str(block.get("text") or "").strip())
    ]
