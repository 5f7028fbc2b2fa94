"""What agents' tools give back: pages, searches, mails, chats, files."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.retrieve.needles.needle import Needle, compact, day, iso, needle, pretty, sentence, spot, text


@needle(60, 1500)
def web_search(rng: Random, count: int) -> Needle:
    rows: list[dict[str, Any]] = [
        {
            "rank": n + 1,
            "title": sentence(rng).title(),
            "url": f"https://example.org/{rng.getrandbits(40):010x}",
            "snippet": ". ".join(sentence(rng) for _ in range(6)),
        }
        for n in range(count)
    ]
    at = spot(rng, count, "middle")
    rows[at]["snippet"] += ". The ferry to Korčula leaves from pier 4 at 06:35. " + sentence(rng)
    return Needle(pretty(rows), "leaves from pier 4 at 06:35", "[Ff]erry")


@needle(450, 8000)
def page_seen(rng: Random, count: int) -> Needle:
    """An accessibility tree; one node is of a kind of its own."""
    lines = ["- document:", "  - main:"]
    for n in range(count):
        role = rng.choice(("link", "link", "button", "listitem"))
        lines.append(
            f'    - {role} "{rng.choice(("Open", "Edit", "View"))} item {n}" [ref=e{n + 10}] [cursor=pointer]'
        )
    at = spot(rng, count, "any")
    lines[at] = f'    - alert "Session ends at 17:45, draft 3 is not saved" [ref=e{at + 8}]'
    return Needle(text(lines), "draft 3 is not saved")


@needle(250, 6000)
def mailbox(rng: Random, count: int) -> Needle:
    """All read but one."""
    rows: list[dict[str, Any]] = [
        {
            "uid": n,
            "from": f"news{rng.randrange(30)}@example.org",
            "subject": sentence(rng),
            "date": iso(n * 900),
            "flags": ["Seen"],
            "attachments": 0,
        }
        for n in range(count)
    ]
    rows[spot(rng, count, "any")] |= {
        "flags": [],
        "attachments": 3,
        "subject": "the deed, signed by both Alvarez",
    }
    return Needle(compact(rows), "signed by both Alvarez")


@needle(300, 8000)
def chat_of_a_channel(rng: Random, count: int) -> Needle:
    rows = [
        {
            "type": "message",
            "user": f"U0{rng.randrange(6)}KQ",
            "ts": f"{1_777_600_000 + n * 40}.000100",
            "text": sentence(rng),
        }
        for n in range(count)
    ]
    rows[spot(rng, count, "any")] |= {"subtype": "channel_topic", "text": "gate code is 4417 until Sunday"}
    return Needle(json.dumps(rows).encode(), "gate code is 4417")


@needle(300, 6000)
def conversation_searched(rng: Random, count: int) -> Needle:
    lines = [
        json.dumps(
            {"role": rng.choice(("user", "assistant")), "content": ". ".join(sentence(rng) for _ in range(2))}
        )
        for _ in range(count)
    ]
    said = ". ".join(
        [sentence(rng)] * 3 + ["My locker at the pool is 218, remember it"] + [sentence(rng)] * 2
    )
    lines[spot(rng, count, "first")] = json.dumps({"role": "user", "content": said})
    return Needle(text(lines), "218, remember it", "locker")


@needle(900, 20_000)
def file_with_numbers(rng: Random, count: int) -> Needle:
    """A file as a tool reads it, with the number of each line."""
    lines = []
    for n in range(count):
        body = rng.choice(
            ("x = load(x)", "if x is None:", "    return None", "y = merge(x, y)", "", "for each in y:")
        )
        lines.append(f"{n + 1:6}\u2192    {body}")
    at = spot(rng, count, "any")
    lines[at] = f"{at + 1:6}\u2192    RETRY_AFTER = 86_399  # agreed with Halima"
    return Needle(compact({"type": "tool_result", "content": "\n".join(lines)}), "86_399", "RETRY_AFTER")


@needle(450, 10_000)
def paths_found(rng: Random, count: int) -> Needle:
    """An array of paths; one is from elsewhere."""
    rows = [f"/home/app/src/{rng.choice('abcdef')}/{rng.getrandbits(32):08x}/index.ts" for _ in range(count)]
    rows[spot(rng, count, "any")] = "/mnt/usb-of-signe/wallet.dat"
    return Needle(pretty(rows), "usb-of-signe")


@needle(200, 5000)
def tree_of_a_page(rng: Random, count: int) -> Needle:
    nodes: list[dict[str, Any]] = [
        {
            "tag": "li",
            "attrs": {"class": "card"},
            "children": [{"tag": "a", "text": sentence(rng), "attrs": {"href": f"/p/{n}"}}],
        }
        for n in range(count)
    ]
    nodes[spot(rng, count, "any")]["children"].append(
        {"tag": "span", "attrs": {"class": "price", "hidden": ""}, "text": "staff price 18.40"}
    )
    return Needle(
        compact({"tag": "body", "children": [{"tag": "ul", "children": nodes}]}), "staff price 18.40", "staff"
    )


@needle(150, 4000)
def flights(rng: Random, count: int) -> Needle:
    """Everything on time but one; the fact is the gate."""
    rows = [
        {
            "flight": f"{rng.choice(('LX', 'OS', 'SK'))}{rng.randrange(100, 999)}",
            "departs": iso(n * 600),
            "gate": f"{rng.choice('ABC')}{rng.randrange(1, 40)}",
            "status": "On time",
            "seats": {"economy": rng.randrange(120), "business": rng.randrange(12)},
            "aircraft": rng.choice(("A320", "A321", "E190")),
        }
        for n in range(count)
    ]
    rows[spot(rng, count, "last")] |= {"status": "Diverted", "gate": "Z99-apron"}
    return Needle(pretty({"airport": "ZRH", "date": day(0), "flights": rows}), "Z99-apron")


@needle(120, 3000)
def document_asked(rng: Random, count: int) -> Needle:
    """Prose in paragraphs of one long line each."""
    lines = ["# Handbook"]
    for n in range(count):
        if n % 12 == 0:
            lines += ["", f"## Chapter {n // 12 + 1}", ""]
        lines.append(". ".join(sentence(rng).capitalize() for _ in range(9)) + ".")
    at = spot(rng, count, "any")
    lines[at] += " Guests of the observatory leave phones in tray 12. " + ". ".join(
        sentence(rng) for _ in range(8)
    )
    return Needle(text(lines), "leave phones in tray 12", "observatory")


@needle(150, 3000)
def steps_of_a_run(rng: Random, count: int) -> Needle:
    """Rows that hold a command and what it printed; one ended otherwise."""
    rows = [
        {"step": n, "cmd": f"make part-{n}", "exit": 0, "out": "\n".join(sentence(rng) for _ in range(3))}
        for n in range(count)
    ]
    rows[spot(rng, count, "any")] |= {"exit": 137, "out": "killed\nheap dump at /var/crash/juno.hprof"}
    return Needle(compact(rows), "/var/crash/juno.hprof")
