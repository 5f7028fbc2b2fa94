"""Texts as programs write them: each a family of lines that are alike."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.retrieve.anomalies import WORDS, stamp

Line = Callable[[random.Random, int], str]


def app(rng: random.Random, at: int) -> str:
    return (
        f"{stamp(at * 3)} INFO  worker-{rng.randrange(8)} handled request {rng.getrandbits(64):016x} "
        f"in {rng.randrange(5, 90)} ms"
    )


def mixed(rng: random.Random, at: int) -> str:
    level = rng.choice(["INFO", "INFO", "DEBUG", "WARN"])
    what = rng.choice(
        [
            f"cache miss for key user:{rng.randrange(10**6)}",
            f"opened connection #{rng.randrange(900)} to 10.0.{rng.randrange(256)}.{rng.randrange(256)}",
            f"job {rng.choice(WORDS)} finished after {rng.uniform(0, 9):.2f}s",
            "heartbeat sent",
        ]
    )
    return f"[{stamp(at * 5)}] {level}: {what}"


def nginx(rng: random.Random, at: int) -> str:
    return (
        f"10.1.{rng.randrange(256)}.{rng.randrange(256)} - - [{stamp(at)}] "
        f'"GET /{rng.choice(WORDS)}/{rng.randrange(10**4)} HTTP/1.1" {rng.choice([200, 200, 304])} '
        f'{rng.randrange(200, 9000)} "-" "agent/{rng.randrange(3)}.0"'
    )


def table(rng: random.Random, at: int) -> str:
    name = f"{rng.choice(WORDS)}_{at:04d}"
    return f"{name}   {rng.randrange(10, 400):>6}  {rng.randrange(0, 9):>4}   {rng.randrange(80, 101)}%"


def csv(rng: random.Random, at: int) -> str:
    if at == 0:
        return "id,name,amount,state"
    return f"{at},{rng.choice(WORDS)},{rng.uniform(1, 90):.2f},{rng.choice(['open', 'done'])}"


def tsv(rng: random.Random, at: int) -> str:
    return f"{at}\t{rng.choice(WORDS)}\t{rng.randrange(50, 70)}\tyes"


def jsonl(rng: random.Random, at: int) -> str:
    return f'{{"id": {at}, "kind": "{rng.choice(WORDS[:4])}", "ms": {rng.randrange(50, 80)}, "ok": true}}'


def pairs(rng: random.Random, at: int) -> str:
    user = rng.choice(WORDS)
    return f'ts={stamp(at)} level=info user={user} took={rng.randrange(5, 60)}ms msg="saved draft"'


def chinese(rng: random.Random, at: int) -> str:
    order, stock = rng.randrange(10**6), rng.randrange(9)
    return f"{stamp(at)} 信息 订单{order}已由仓库{stock}发出，用时{rng.randrange(5, 60)}毫秒"


def build(rng: random.Random, at: int) -> str:
    version = f"v{rng.randrange(3)}.{rng.randrange(20)}.{rng.randrange(9)}"
    return f"[{at:4d}/9999] Compiling {rng.choice(WORDS)}-{rng.choice(WORDS)} {version}"


def listing(rng: random.Random, at: int) -> str:
    when = f"Mar {rng.randrange(1, 29):>2} 09:{rng.randrange(60):02d}"
    return f"-rw-r--r-- 1 root root {rng.randrange(100, 99999):>8} {when} {rng.choice(WORDS)}_{at}.txt"


def suite(rng: random.Random, at: int) -> str:
    return f"suite_{rng.choice(WORDS)}.py::test_{rng.choice(WORDS)}_{at} PASSED [{at % 100:3d}%]"


FAMILIES: dict[str, Line] = {
    each.__name__: each
    for each in (app, mixed, nginx, table, csv, tsv, jsonl, pairs, chinese, build, listing, suite)
}
