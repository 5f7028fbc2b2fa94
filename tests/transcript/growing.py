"""Sessions of our own making, of any number of turns, for what is said of growth, time and memory.

Deterministic: turn k is the same in every session that has it, so a longer one begins with a shorter one.
`python -m tests.transcript.growing TURNS [pi|claude-code] > FILE`.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping

WORDS = (
    "index",
    "cache",
    "retry",
    "worker",
    "shard",
    "queue",
    "token",
    "build",
    "commit",
    "region",
    "metric",
)
SENTENCES = (
    "The failing test asks for the second page before the first has been read.",
    "I'll look at how the cursor is made, and then run that one test again.",
    "That was it: the offset was counted in characters, and the file is read as bytes.",
    "Three callers remain; none of them passes a limit.",
)


def pi_turns() -> Iterator[bytes]:
    """The header, then the lines of one turn after another; without end."""
    yield _line({"type": "session", "version": 3, "id": "5e5510", "timestamp": _time(0), "cwd": "/project"})
    parent: str | None = None

    def entry(id: str, message: Mapping[str, object]) -> bytes:
        nonlocal parent
        line = _line(
            {"type": "message", "id": id, "parentId": parent, "timestamp": _time(1), "message": message}
        )
        parent = id
        return line

    turn = 0
    while True:
        chance = random.Random(turn)
        lines = []
        if turn % 10 == 0:
            prompt = {"role": "user", "content": _prose(chance, 3), "timestamp": 1_764_000_000_000 + turn}
            lines.append(entry(f"{turn:06x}a0", prompt))
        calls = [f"call_{turn:06d}_{at}" for at in range(chance.choice((1, 1, 1, 2)))]
        content: list[dict[str, object]] = []
        if turn % 3 == 0:
            signature = chance.randbytes(150).hex()
            thought: dict[str, object] = {
                "type": "thinking",
                "thinking": _prose(chance, 4),
                "thinkingSignature": signature,
            }
            content.append(thought)
        if turn % 4 == 0 or turn % 10 == 9:
            content.append({"type": "text", "text": _prose(chance, 2)})
        if turn % 10 == 9:
            calls = []
        for call in calls:
            arguments = {"path": f"src/{chance.choice(WORDS)}.py", "offset": chance.randrange(900)}
            content.append({"type": "toolCall", "id": call, "name": "read", "arguments": arguments})
        reply = {
            "role": "assistant",
            "content": content,
            "api": "anthropic-messages",
            "usage": {"input": 3, "output": chance.randrange(900), "cost": {"total": chance.random()}},
            "stopReason": "toolUse" if calls else "stop",
        }
        lines.append(entry(f"{turn:06x}b0", reply))
        for at, call in enumerate(calls):
            result = {
                "role": "toolResult",
                "toolCallId": call,
                "toolName": "read",
                "content": [{"type": "text", "text": _output(chance)}],
                "details": {"truncation": {"lines": chance.randrange(2000)}},
                "isError": False,
            }
            lines.append(entry(f"{turn:06x}c{at}", result))
        yield b"".join(lines)
        turn += 1


def claude_code_turns() -> Iterator[bytes]:
    """The lines of one turn after another; without end."""
    parent: str | None = None

    def entry(id: str, type: str, message: Mapping[str, object], **more: object) -> bytes:
        nonlocal parent
        line = _line(
            {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/project"}
            | {"sessionId": "5e5510", "version": "2.0.1", "type": type, "message": message}
            | {"uuid": id, "timestamp": _time(1)}
            | more
        )
        parent = id
        return line

    turn = 0
    while True:
        chance = random.Random(turn)
        lines = []
        if turn % 10 == 0:
            lines.append(entry(f"{turn:06x}-a0", "user", {"role": "user", "content": _prose(chance, 3)}))
        blocks: list[dict[str, object]] = []
        if turn % 3 == 0:
            signature = chance.randbytes(150).hex()
            blocks.append({"type": "thinking", "thinking": _prose(chance, 4), "signature": signature})
        if turn % 4 == 0 or turn % 10 == 9:
            blocks.append({"type": "text", "text": _prose(chance, 2)})
        call = f"toolu_{turn:06d}"
        if turn % 10 != 9:
            arguments = {"file_path": f"src/{chance.choice(WORDS)}.py", "offset": chance.randrange(900)}
            blocks.append({"type": "tool_use", "id": call, "name": "Read", "input": arguments})
        for at, block in enumerate(blocks):
            reply = {"id": f"msg_{turn:06d}", "type": "message", "role": "assistant", "content": [block]}
            lines.append(entry(f"{turn:06x}-b{at}", "assistant", reply))
        if turn % 10 != 9:
            text = _output(chance)
            block = {"tool_use_id": call, "type": "tool_result", "content": text}
            copy = {"type": "text", "file": {"filePath": "src/a.py", "content": text}}
            lines.append(
                entry(f"{turn:06x}-c", "user", {"role": "user", "content": [block]}, toolUseResult=copy)
            )
        yield b"".join(lines)
        turn += 1


TURNS: dict[str, Callable[[], Iterator[bytes]]] = {"pi": pi_turns, "claude-code": claude_code_turns}


def session(turns: int, tool: str = "pi") -> bytes:
    """A session of so many turns."""
    return b"".join(_first(TURNS[tool](), turns + (tool == "pi")))


def session_of_size(size: int, tool: str = "pi") -> Iterator[bytes]:
    """A session in pieces, at least `size` bytes in all."""
    done = 0
    for piece in TURNS[tool]():
        yield piece
        done += len(piece)
        if done >= size:
            return


def _first(pieces: Iterator[bytes], count: int) -> Iterator[bytes]:
    return (piece for _, piece in zip(range(count), pieces, strict=False))


def _line(record: dict[str, object]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _time(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}.000Z"


def _prose(chance: random.Random, sentences: int) -> str:
    return " ".join(f"{chance.choice(SENTENCES)} {chance.choice(WORDS)}" for _ in range(sentences))


def _output(chance: random.Random) -> str:
    """What tools give back: mostly short, sometimes long (as in real sessions: median 1 kB, mean 2 kB)."""
    lines = int(chance.lognormvariate(2.6, 1.2)) + 1
    return "\n".join(
        f"{at:6d}\t{chance.choice(WORDS)} = {chance.choice(WORDS)}_{chance.randrange(10**6)}(limit={at})"
        for at in range(min(lines, 600))
    )


if __name__ == "__main__":
    sys.stdout.buffer.write(session(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "pi"))
