"""Figures of views of real sessions: `python -m tests.benchmarks.views sessions|prefixes FILE…`.

sessions: for each file and strategy a row of a table: what stands, what left, and whether all came back.
Every figure is of the view's bytes, read again as a session, and not of what made it.
prefixes: the session is replayed turn by turn; what share of each view's bytes the next one begins with.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from castore.api import init_store, unfold_bytes
from castore.store import Store, StoreHandle
from castore.transcript import tokens
from castore.transcript.decision import ViewOptions
from castore.transcript.model import PartKind, Transcript
from castore.transcript.view import View, ViewRequest, make_view
from tests.transcript.laws import hold_prefixes, transcript_of

STRATEGIES = ("transparent", "tiered", "dedupe-reads", "clip")
STEPPING = ("transparent", "tiered")
"""The others decide of each result by itself."""
STEPS = (1, 4, 8, 16)
VIEWS_MAX = 150
"""Of a session of more turns every so many are viewed."""


def main(what: str, files: list[Path]) -> None:
    print({"sessions": SESSIONS_HEAD, "prefixes": PREFIXES_HEAD}[what])
    for path in files:
        data = path.read_bytes()
        for row in {"sessions": session_rows, "prefixes": prefix_rows}[what](data):
            print(f"| {path.name} | {' | '.join(row)} |", flush=True)


# --- Sessions --------------------------------------------------------------------------------------

SESSIONS_HEAD = (
    "| session | strategy | bytes | characters | tokens | messages | prose kept | moved | fields equal"
    " | all recovered |\n|---|---|---|---|---|---|---|---|---|---|"
)


def session_rows(data: bytes) -> Iterator[list[str]]:
    for strategy in STRATEGIES:
        with tempfile.TemporaryDirectory(prefix="castore-views-") as folder:
            store = init_store(Path(folder) / "s")
            view = make_view(data, StoreHandle.of(store), ViewRequest((strategy,)))
            yield [strategy, *_row(store, data, view)]
            store.close()


def _row(store: Store, data: bytes, view: View) -> list[str]:
    shown = view.to_bytes()
    before, after = view.transcript, transcript_of(shown, view.transcript.format)
    kept = len(list((Counter(_prose(before)) & Counter(_prose(after))).elements()))
    fields, equal = _fields(before), _fields(after)
    same = sum((Counter(fields) & Counter(equal)).values())
    moved = Counter(str(each.reason) for each in view.rendered.splices)
    exact = tokens.count(data)[1]
    return [
        f"{len(data):,} -> {len(shown):,}",
        f"{len(data.decode('utf-8', 'replace')):,} -> {len(shown.decode('utf-8', 'replace')):,}",
        f"{'' if exact else 'about '}{tokens.count(data)[0]:,} -> {tokens.count(shown)[0]:,}",
        f"{len(before.messages)} -> {len(after.messages)}",
        f"{kept} of {len(_prose(before))}",
        ", ".join(f"{count} {reason}" for reason, count in moved.most_common()) or "none",
        f"{same} of {len(fields)}",
        "yes" if _all_recovered(store, data, shown, view) else "NO",
    ]


def _prose(transcript: Transcript) -> list[bytes]:
    return [transcript.literal(part) for part in transcript.parts_of(PartKind.PROSE)]


def _fields(transcript: Transcript) -> list[tuple[object, ...]]:
    """What pairs, orders and flags: of each message its role and id, and the ids of its calls and results; of
    each call and result, once, its tool and whether it failed."""
    fields: list[tuple[object, ...]] = []
    for message in transcript.messages:
        fields += [("role", message.index, message.role), ("id", message.index, message.id)]
        fields += [("call", message.index, call) for call in message.calls]
        fields += [("answer", message.index, answer) for answer in message.answers]
    flags: dict[tuple[object, ...], None] = {}
    for part in transcript.parts:
        if part.call_id is not None:
            is_call = part.kind is PartKind.CALL
            flags["tool", is_call, part.call_id, part.tool] = None
            flags["error", is_call, part.call_id, part.is_error] = None
    return [*fields, *flags]


def _all_recovered(store: Store, data: bytes, shown: bytes, view: View) -> bool:
    splices = view.rendered.splices
    are_there = all(store.read(each.descriptor.digest) == bytes(each.data) for each in splices)
    return are_there and unfold_bytes(store, shown) == data


# --- Prefixes --------------------------------------------------------------------------------------

PREFIXES_HEAD = (
    f"| session | strategy | {' | '.join(f'step {step}' for step in STEPS)} |\n|---|---|{'---|' * len(STEPS)}"
)


def prefix_rows(data: bytes) -> Iterator[list[str]]:
    """The law (laws.hold_prefixes) is asserted on the way."""
    for strategy in STRATEGIES:
        steps = STEPS if strategy in STEPPING else STEPS[:1]
        shares = [_share(data, ViewRequest((strategy,), ViewOptions(step=step))) for step in steps]
        yield [strategy, *shares, *[shares[-1]] * (len(STEPS) - len(shares))]


def _share(data: bytes, request: ViewRequest) -> str:
    total, kept = hold_prefixes(data, request, views_max=VIEWS_MAX)
    return f"{100 * kept / total:.1f} %" if total else "-"


if __name__ == "__main__":
    main(sys.argv[1], [Path(each) for each in sys.argv[2:]])
