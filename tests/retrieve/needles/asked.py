"""Nothing stands apart: a name or a number is known, and the answer is elsewhere in what holds it."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.retrieve.needles.needle import Needle, compact, day, iso, needle, pretty, sentence, spot, text


def _code(rng: Random) -> str:
    return f"{rng.getrandbits(32):08x}"


def _wide(rng: Random, n: int) -> dict[str, Any]:
    """A row of some 600 bytes; `door` comes last."""
    row: dict[str, Any] = {"order": 70_000 + n, "placed": iso(n * 60), "buyer": f"b-{_code(rng)}"}
    row |= {f"part_{k}": sentence(rng) for k in range(9)}
    return row | {"door": f"d-{_code(rng)}"}


@needle(150, 6000)
def number_of_an_order(rng: Random, count: int) -> Needle:
    rows = [_wide(rng, n) for n in range(count)]
    at = spot(rng, count, "any")
    return Needle(compact(rows), rows[at]["door"], f"\\b{70_000 + at}\\b")


@needle(150, 5000)
def order_of_a_buyer(rng: Random, count: int) -> Needle:
    """Over many lines each."""
    rows = [_wide(rng, n) for n in range(count)]
    at = spot(rng, count, "last")
    return Needle(pretty(rows), rows[at]["door"], rows[at]["buyer"])


@needle(150, 5000)
def order_in_a_result(rng: Random, count: int) -> Needle:
    """The rows are in a string in a string."""
    rows = [_wide(rng, n) for n in range(count)]
    at = spot(rng, count, "any")
    inner = json.dumps({"ok": True, "rows": rows})
    return Needle(
        compact({"content": [{"type": "text", "text": inner}]}), rows[at]["door"], rows[at]["buyer"]
    )


@needle(120, 4000)
def request_in_a_log(rng: Random, count: int) -> Needle:
    """Lines of 400 bytes; the answer ends the line."""
    lines = []
    found = [_code(rng) for _ in range(count)]
    for n in range(count):
        told = " ".join(
            f"{k}={_code(rng)}" for k in ("span", "user", "node", "pool", "key", "etag", "zone", "lot")
        )
        said = f'path="/v2/{rng.randrange(99)}" agent="{sentence(rng)}, {sentence(rng)}"'
        lines.append(f"{iso(n)} INFO req={_code(rng)} {told} {said} trace={found[n]}")
    at = spot(rng, count, "any")
    return Needle(text(lines), found[at], lines[at][26:38])


@needle(120, 4000)
def account_by_its_key(rng: Random, count: int) -> Needle:
    """The name is a key, and the answer in its value."""
    held = {
        f"acct-{_code(rng)}": {
            "plan": "basic",
            "log": [sentence(rng) for _ in range(9)],
            "pin": f"p-{_code(rng)}",
        }
        for _ in range(count)
    }
    name = list(held)[spot(rng, count, "any")]
    return Needle(compact({"region": "eu", "accounts": held}), str(held[name]["pin"]), name)


@needle(120, 4000)
def record_of_a_line(rng: Random, count: int) -> Needle:
    rows = [_wide(rng, n) for n in range(count)]
    at = spot(rng, count, "middle")
    return Needle(text([json.dumps(each) for each in rows]), rows[at]["door"], rows[at]["buyer"])


@needle(150, 4000)
def columns_far_apart(rng: Random, count: int) -> Needle:
    """CSV of many columns in a string."""
    rows = [[_code(rng), *(str(rng.randrange(10**6)) for _ in range(40)), _code(rng)] for _ in range(count)]
    at = spot(rng, count, "any")
    head = ",".join(f"c{n}" for n in range(42))
    lines = [head, *(",".join(each) for each in rows)]
    return Needle(json.dumps("\n".join(lines)).encode(), rows[at][-1], rows[at][0])


@needle(120, 3000)
def quoted_words(rng: Random, count: int) -> Needle:
    """What is searched for has quotes, which the bytes have escaped."""
    rows = [
        {
            "n": n,
            "said": f'the sign reads "{_code(rng)}" today',
            "seen": [sentence(rng) for _ in range(6)],
            "cam": _code(rng),
        }
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    return Needle(compact(rows), str(rows[at]["cam"]), f'reads "{str(rows[at]["said"])[16:24]}"')


@needle(120, 3000)
def customer_in_chinese(rng: Random, count: int) -> Needle:
    """Escaped: six bytes a character."""
    rows = [
        {
            "客户": f"{rng.choice('王李张刘陈杨赵黄')}{rng.choice('伟娜敏洋静帆磊丽')}{n}号",
            "地址": ["杭州市西湖区某路某号"] * 6,
            "柜": _code(rng),
        }
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    return Needle(json.dumps(rows).encode(), str(rows[at]["柜"]), str(rows[at]["客户"]))


@needle(200, 6000)
def either_case(rng: Random, count: int) -> Needle:
    rows = [
        {"id": n, "kind": "visit", "who": sentence(rng), "rest": [sentence(rng)] * 5, "key": _code(rng)}
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    rows[at]["who"] = "Mme KESTREL of the third floor"
    return Needle(compact(rows), str(rows[at]["key"]), "(?i)mme kestrel")


@needle(300, 8000)
def row_of_a_statement(rng: Random, count: int) -> Needle:
    """One long line of rows: the answer is a hundred characters on."""
    rows = [f"('{_code(rng)}','{sentence(rng)}, {sentence(rng)}','{_code(rng)}')" for _ in range(count)]
    at = spot(rng, count, "any")
    statement = f"INSERT INTO t (a, b, c) VALUES {','.join(rows)};"
    return Needle(statement.encode(), rows[at][-10:-2], rows[at][2:10])


@needle(150, 5000)
def name_in_several(rng: Random, count: int) -> Needle:
    """A name that three rows have: the first of them is the one."""
    rows = [_wide(rng, n) for n in range(count)]
    for part in (1, 2, 3):
        rows[count * part // 4]["part_4"] = "seen by Inspector Varga on the stairs"
    return Needle(compact(rows), rows[count // 4]["door"], "Inspector Varga")


@needle(150, 5000)
def page_of_an_article(rng: Random, count: int) -> Needle:
    """Paragraphs in a string of an object."""
    parts = [". ".join(sentence(rng) for _ in range(6)) for _ in range(count)]
    at = spot(rng, count, "any")
    parts[at] = f"The bell of Sant'Orso rang. {parts[at]}. It was cast by one Marten Heys"
    return Needle(
        pretty({"url": "https://example.org/a", "markdown": "\n\n".join(parts), "fetched": day(2)}),
        "cast by one Marten Heys",
        "Sant'Orso",
    )


@needle(200, 6000)
def five_long_hits(rng: Random, count: int) -> Needle:
    """Errors in many long lines; the fact is beside the second. Five excerpts must fit as well."""
    lines = [
        f"{iso(n * 3)} INFO  [pool-{n % 7}] {', '.join(sentence(rng) for _ in range(4))}"
        for n in range(count)
    ]
    for part in range(9):
        at = count * (part + 1) // 11
        told = "because the Bishop of Bath called" if part == 1 else sentence(rng)
        lines[at] = f"{lines[at][:60]}, then ERROR while saving: {told}, {sentence(rng)}, {sentence(rng)}"
    return Needle(text(lines), "the Bishop of Bath called", "ERROR")
