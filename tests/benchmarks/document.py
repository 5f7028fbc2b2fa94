"""A document as agents make them, of any size: results, logs, rows, JSON in strings, base64, Chinese.

Deterministic: the same size gives the same bytes. `python -m tests.benchmarks.document BYTES > FILE`,
with `--lines` as JSON Lines.
"""

from __future__ import annotations

import base64
import json
import random
import sys
from collections.abc import Iterator

WORDS = [
    "request",
    "user",
    "cache",
    "index",
    "worker",
    "retry",
    "deploy",
    "metric",
    "region",
    "shard",
    "queue",
    "token",
    "build",
    "commit",
]
LEVELS = ("INFO", "INFO", "INFO", "WARN", "ERROR")
CHINESE = "订单已发货请在签收后七天内申请退货生鲜商品除外客服将于次日联系您处理结果以邮件为准"


def log_text(chance: random.Random, lines: int) -> str:
    return "\n".join(
        f"2026-{chance.randrange(1, 13):02d}-{chance.randrange(1, 29):02d}T{chance.randrange(24):02d}:"
        f"{chance.randrange(60):02d}:{chance.randrange(60):02d}.{chance.randrange(1000):03d}Z "
        f"{chance.choice(LEVELS)} {chance.choice(WORDS)}-{chance.randrange(40)} "
        f'handled "GET /{chance.choice(WORDS)}/{chance.randrange(10**6)}" in {chance.randrange(900)} ms'
        for _ in range(lines)
    )


def rows(chance: random.Random, count: int) -> list[dict[str, object]]:
    return [
        {
            "id": at,
            "status": chance.choice((200, 200, 200, 404, 500)),
            "host": f"web-{chance.randrange(40):02d}",
            "latency": round(chance.random() * 1000, 3),
            "note": None if at % 3 else chance.choice(WORDS),
        }
        for at in range(count)
    ]


def prose(chance: random.Random, words: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(words))


def chinese(chance: random.Random, length: int) -> str:
    return "".join(chance.choice(CHINESE) for _ in range(length))


def message(chance: random.Random, at: int) -> dict[str, object]:
    """One record of a session, of a kind that depends on its position."""
    kind = at % 8
    base: dict[str, object] = {"role": "tool" if kind else "assistant", "id": f"call_{at:08d}"}
    if kind == 0:
        base["content"] = [{"type": "text", "text": prose(chance, 60)}]
    elif kind in (1, 2):
        base["content"] = log_text(chance, chance.randrange(20, 1200))
    elif kind == 3:
        base["content"] = json.dumps(rows(chance, chance.randrange(20, 400)))
    elif kind == 4:
        base["rows"] = rows(chance, chance.randrange(20, 1500))
    elif kind == 5:
        base["content"] = chinese(chance, chance.randrange(200, 8000))
    elif kind == 6:
        data = b"\x89PNG\r\n\x1a\n" + chance.randbytes(chance.randrange(2_000, 40_000))
        base["source"] = {
            "type": "base64",
            "media_type": "image/png",
            "data": base64.b64encode(data).decode(),
        }
    else:
        base["details"] = {
            "files": [f"src/{chance.choice(WORDS)}/{n}.py" for n in range(chance.randrange(5, 200))]
        }
        base["diff"] = "".join(f"@@ -{n},3 +{n},4 @@\n-\told = \"{n}\"\n+\tnew = '{n}'\n" for n in range(200))
    return base


def pieces(size: int, *, lines: bool = False) -> Iterator[bytes]:
    """The document in pieces, at least `size` bytes in all."""
    chance = random.Random(20261130)
    done = at = 0
    if not lines:
        yield b'{"session":"benchmark","messages":['
    while done < size:
        text = json.dumps(message(chance, at), ensure_ascii=at % 16 < 4)
        piece = (text + "\n" if lines else ("," if at else "") + text).encode()
        done += len(piece)
        at += 1
        yield piece
    if not lines:
        yield b"]}\n"


if __name__ == "__main__":
    for each in pieces(int(sys.argv[1]), lines="--lines" in sys.argv):
        sys.stdout.buffer.write(each)
