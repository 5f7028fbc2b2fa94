"""What Pi sends for a branch, in the shape of Anthropic's API, for checking.

Law: as Pi itself does, the summary goes first, replies that ended in an error or were aborted are left out
with the results of their calls, and other calls without a result get one that says so.
"""

from __future__ import annotations

import re
from typing import Any

from castore.transcript.formats.pi_tree import Branch

__all__ = ["as_messages"]

_NO_RESULT = "No result provided"
_ID_BYTES_MAX = 64


def as_messages(branch: Branch) -> list[Any]:
    sender = _Sender()
    if branch.compaction is not None and branch.compaction.value is not None:
        summary = branch.compaction.value.text("summary") or ""
        sender.user([_text(f"The conversation before was compacted into this summary:\n\n{summary}")])
    for entry in branch.viewed:
        if entry is not branch.compaction and entry.value is not None:
            sender.entry(entry.value.python())
    sender.close(is_final=True)
    return sender.messages


class _Sender:
    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.waiting: dict[str, str] = {}
        """Call id as Pi has it -> as it is sent, of calls without a result so far."""
        self.dropped: set[str] = set()
        self.ids: dict[str, str] = {}
        self.sent_ids: set[str] = set()

    def entry(self, entry: dict[str, Any]) -> None:
        type = entry.get("type")
        if type == "branch_summary":
            self.user([_text(f"A summary of a branch that was left:\n\n{entry.get('summary')}")])
        elif type == "custom_message":
            self.user(_user_blocks(entry.get("content")))
        elif type == "message":
            self.message(entry.get("message") or {})

    def message(self, message: dict[str, Any]) -> None:
        role = message.get("role")
        if role == "assistant":
            self.assistant(message)
        elif role == "toolResult":
            self.result(message)
        elif role == "bashExecution":
            if not message.get("excludeFromContext"):
                self.user([_text(_ran(message))])
        elif role in ("user", "custom", "hookMessage"):
            self.user(_user_blocks(message.get("content")))
        elif role in ("branchSummary", "compactionSummary"):
            self.user([_text(str(message.get("summary") or ""))])

    def user(self, blocks: list[Any]) -> None:
        self.close()
        if blocks:
            self._append("user", blocks)

    def assistant(self, message: dict[str, Any]) -> None:
        self.close()
        content = message.get("content")
        blocks = [_text(content)] if isinstance(content, str) else content or []
        calls = [block for block in blocks if _type(block) == "toolCall"]
        if message.get("stopReason") in ("error", "aborted"):
            self.dropped |= {str(call.get("id")) for call in calls}
            return
        sent = [made for block in blocks if (made := self._block(block)) is not None]
        for call in calls:
            id = str(call.get("id"))
            self.waiting[id] = self._id(id)
        if sent:
            self._append("assistant", sent)

    def result(self, message: dict[str, Any]) -> None:
        id = str(message.get("toolCallId"))
        if id in self.dropped:
            return
        self.waiting.pop(id, None)
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": self._id(id),
            "content": _user_blocks(message.get("content")),
        }
        if message.get("isError") is True:
            block["is_error"] = True
        self._append("user", [block])

    def close(self, *, is_final: bool = False) -> None:
        """Calls still waiting get a result that says so, unless the session ends with them."""
        if not is_final:
            for id in self.waiting.values():
                block = {"type": "tool_result", "tool_use_id": id, "content": _NO_RESULT, "is_error": True}
                self._append("user", [block])
        self.waiting.clear()

    def _block(self, block: Any) -> dict[str, Any] | None:
        type = _type(block)
        if type == "toolCall":
            return {
                "type": "tool_use",
                "id": self._id(str(block.get("id"))),
                "name": block.get("name"),
                "input": block.get("arguments"),
            }
        if type == "thinking":
            signature = block.get("thinkingSignature")
            if signature:
                return {"type": "thinking", "thinking": block.get("thinking"), "signature": signature}
            return _text(block["thinking"]) if str(block.get("thinking") or "").strip() else None
        if type == "text":
            return _text(block["text"]) if str(block.get("text") or "").strip() else None
        return None

    def _append(self, role: str, blocks: list[Any]) -> None:
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1]["content"].extend(blocks)
        else:
            self.messages.append({"role": role, "content": blocks})

    def _id(self, id: str) -> str:
        """As the API takes it; two ids stay two."""
        if id not in self.ids:
            made = re.sub(r"[^a-zA-Z0-9_-]", "_", id)[:_ID_BYTES_MAX]
            if made in self.sent_ids:
                made = f"{made[: _ID_BYTES_MAX - 10]}_{len(self.ids)}"
            self.ids[id] = made
            self.sent_ids.add(made)
        return self.ids[id]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _type(block: Any) -> Any:
    return block.get("type") if isinstance(block, dict) else None


def _user_blocks(content: Any) -> list[Any]:
    """Text and images as the API takes them; blank texts are left out, as Pi does."""
    if isinstance(content, str):
        return [_text(content)] if content.strip() else []
    sent: list[Any] = []
    for block in content or []:
        if _type(block) == "text" and str(block.get("text") or "").strip():
            sent.append(_text(block["text"]))
        elif _type(block) == "image":
            source = {"type": "base64", "media_type": block.get("mimeType"), "data": block.get("data")}
            sent.append({"type": "image", "source": source})
    return sent


def _ran(message: dict[str, Any]) -> str:
    output = message.get("output")
    told = f"```\n{output}\n```" if output else "(no output)"
    return f"Ran `{message.get('command')}`\n{told}"
