"""JSON in strings, strings in JSON, and what tools wrap around both."""

from __future__ import annotations

import base64
import json
from random import Random
from typing import Any

from tests.retrieve.needles.needle import Needle, compact, iso, needle, pretty, sentence, spot, text


@needle(250, 6000)
def rows_of_a_tool_result(rng: Random, count: int) -> Needle:
    rows = [
        {
            "run": n,
            "state": "succeeded",
            "seconds": rng.randrange(20, 90),
            "ref": f"{rng.getrandbits(40):010x}",
        }
        for n in range(count)
    ]
    rows[spot(rng, count, "any")] |= {"state": "failed", "ref": "branch lindwurm"}
    answer = {"content": [{"type": "text", "text": json.dumps(rows)}], "isError": False}
    return Needle(json.dumps(answer).encode(), "branch lindwurm")


@needle(250, 6000)
def arguments_of_a_call(rng: Random, count: int) -> Needle:
    changes = [
        {"op": "update", "table": "stock", "key": rng.randrange(10**6), "set": {"qty": rng.randrange(500)}}
        for _ in range(count)
    ]
    changes[spot(rng, count, "middle")] = {"op": "delete", "table": "ledger", "key": 77_001_199, "set": {}}
    call = {"name": "apply_changes", "arguments": json.dumps({"changes": changes, "dry_run": False})}
    return Needle(pretty({"id": "call_8Xq", "type": "function", "function": call}), "77001199", "delete")


@needle(250, 5000)
def escaped_twice(rng: Random, count: int) -> Needle:
    rows = [{"txn": n + 10**6, "kind": "purchase", "text": sentence(rng)} for n in range(count)]
    rows[spot(rng, count, "any")] |= {"kind": "chargeback", "text": "claimed by the bank of Faro"}
    return Needle(
        json.dumps(json.dumps({"rows": rows})).encode(), "claimed by the bank of Faro", "chargeback"
    )


def _csv(rng: Random, count: int) -> list[str]:
    return [
        f"{n},{iso(n * 60)},{rng.choice(('EUR', 'EUR', 'USD'))},{rng.randrange(10, 4000) / 100},"
        f"{sentence(rng)}"
        for n in range(count)
    ]


@needle(350, 9000)
def csv_in_a_string(rng: Random, count: int) -> Needle:
    """A currency that comes once; the fact is the last column."""
    lines = ["n,at,currency,amount,memo", *_csv(rng, count)]
    at = spot(rng, count, "any")
    lines[at] = f"{at - 1},{iso(at * 60 - 60)},XAU,12.07,weighed again by Rasmus"
    return Needle(compact({"file": "may.csv", "text": "\n".join(lines)}), "weighed again by Rasmus")


@needle(400, 9000)
def csv_with_a_broken_line(rng: Random, count: int) -> Needle:
    lines = ["n,at,currency,amount,memo", *_csv(rng, count)]
    lines[spot(rng, count, "last")] = "-- truncated by the exporter after 2 GB, rest in may-2.csv --"
    return Needle(compact("\n".join(lines)), "rest in may-2.csv")


def _noise(rng: Random, size: int) -> str:
    return base64.b64encode(rng.randbytes(size)).decode()


@needle(60, 2000)
def noise_in_each_row(rng: Random, count: int) -> Needle:
    """Much base64, and one label that is asked for."""
    rows = [{"page": n, "thumb": _noise(rng, 300), "label": f"scan {n}"} for n in range(count)]
    rows[spot(rng, count, "any")]["label"] = "scan of the will, witness: H. Aaltonen"
    return Needle(compact(rows), "witness: H. Aaltonen", "the will")


@needle(350, 9000)
def a_line_in_noise(rng: Random, count: int) -> Needle:
    """Lines of base64, and one that one can read."""
    lines = [_noise(rng, 57) for _ in range(count)]
    lines[spot(rng, count, "middle")] = "note to self: the second half is under the sundial"
    return Needle(text(lines), "the second half is under the sundial")


@needle(300, 8000)
def log_as_a_string(rng: Random, count: int) -> Needle:
    lines = [
        f"{iso(n * 4)} [main] ok   batch {n:05} rows={rng.randrange(900, 1100)} lag={rng.randrange(9)}s"
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    lines[at] = f"{iso(at * 4)} [main] lost batch {at:05} rows=0 lag=9s handed to spool-3"
    return Needle(json.dumps("\n".join(lines)).encode(), "handed to spool-3")


@needle(250, 6000)
def stream_of_events(rng: Random, count: int) -> Needle:
    """Server-sent events; one is an error."""
    lines = []
    for n in range(count):
        delta = {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": sentence(rng)},
        }
        lines += ["event: content_block_delta", f"data: {json.dumps(delta)}", f"id: {n}", ""]
    wrong = {"type": "error", "error": {"type": "overloaded_error", "message": "pool cinder-4 is drained"}}
    at = spot(rng, count, "any") * 4
    lines[at : at + 2] = ["event: error", f"data: {json.dumps(wrong)}"]
    return Needle(text(lines), "pool cinder-4 is drained")


@needle(250, 6000)
def page_in_a_result(rng: Random, count: int) -> Needle:
    """HTML in a string of an answer."""
    cells = "".join(f"<tr><td>{n}</td><td>{sentence(rng)}</td><td>open</td></tr>\n" for n in range(count))
    rest = "<p class='late'>The deadline was moved to 17 June, 14:00 sharp.</p>"
    html = f"<!doctype html>\n<html><body><table>\n{cells}</table>\n{rest}\n{'<br>' * 300}</body></html>"
    return Needle(
        json.dumps({"status": 200, "url": "https://example.org/calls", "body": html}).encode(),
        "17 June, 14:00",
        "deadline",
    )


@needle(500, 9000)
def three_deep(rng: Random, count: int) -> Needle:
    """The output of a command, in JSON, in a string, in JSON."""
    lines = [f"{iso(n)} goroutine {rng.randrange(900)} idle for {rng.randrange(60)}s" for n in range(count)]
    lines[spot(rng, count, "any")] = "panic: ring buffer of lane 6 wrapped at 8191"
    inner = json.dumps({"exit_code": 2, "stdout": "\n".join(lines), "stderr": ""})
    return Needle(
        pretty({"role": "tool", "content": [{"type": "text", "text": inner}]}),
        "lane 6 wrapped at 8191",
        "panic",
    )


@needle(200, 4000)
def messages_with_a_body(rng: Random, count: int) -> Needle:
    """Rows whose bodies are JSON in strings; one body is of another shape."""
    rows: list[dict[str, Any]] = [
        {
            "offset": n,
            "partition": n % 8,
            "body": json.dumps(
                {"event": "item_added", "cart": rng.randrange(10**6), "qty": rng.randrange(1, 5)}
            ),
        }
        for n in range(count)
    ]
    rows[spot(rng, count, "any")]["body"] = json.dumps({"event": "override", "by": "console on Faroe-2"})
    return Needle(compact(rows), "console on Faroe-2")
