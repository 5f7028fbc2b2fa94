"""Sessions that are made, for tests: each longer one begins with the shorter ones."""

from __future__ import annotations

import json

__all__ = ["pi_session"]


def pi_session(
    turns: int, *, result: str = "line {turn} of what the tool gave back, which is long\n" * 20
) -> bytes:
    """A session of one prompt, a call and its result a turn."""
    records: list[dict[str, object]] = [
        {"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}
    ]
    parent: str | None = None

    def say(message: dict[str, object]) -> None:
        nonlocal parent
        own = f"{len(records):08x}"
        records.append(
            {
                "type": "message",
                "id": own,
                "parentId": parent,
                "timestamp": "2026-01-01T00:00:00Z",
                "message": message,
            }
        )
        parent = own

    for turn in range(turns):
        say({"role": "user", "content": f"prompt {turn}, and please say how it went", "timestamp": turn})
        call = {
            "type": "toolCall",
            "id": f"call_{turn}",
            "name": "bash",
            "arguments": {"command": f"make {turn}"},
        }
        say(
            {
                "role": "assistant",
                "content": [{"type": "text", "text": f"running {turn}"}, call],
                "api": "anthropic-messages",
                "stopReason": "toolUse",
            }
        )
        say(
            {
                "role": "toolResult",
                "toolCallId": f"call_{turn}",
                "toolName": "bash",
                "isError": False,
                "content": [{"type": "text", "text": result.replace("{turn}", str(turn))}],
            }
        )
        say(
            {
                "role": "assistant",
                "content": [{"type": "text", "text": f"it went well {turn}"}],
                "api": "anthropic-messages",
                "stopReason": "stop",
            }
        )
    return "".join(json.dumps(each) + "\n" for each in records).encode()
