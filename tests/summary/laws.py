"""The laws of the check, on the prose of real sessions, and how fast facts are found there.

    python -m tests.summary.laws FOLDER…       each file below FOLDER: a line; all of them together at the end

What a law finds wrong is raised as AssertionError with the law in its words. What is no session is text.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from castore.errors import CastoreError
from castore.summary.fidelity.check import check_facts, check_text
from castore.summary.fidelity.kinds import EXTRACTORS, facts_of
from castore.summary.fidelity.model import Text
from castore.transcript.formats import read_session
from castore.transcript.model import PartKind

__all__ = ["hold_all", "prose_of"]


def prose_of(data: bytes) -> str:
    """What the messages of a session say; of anything else the text. Raises CastoreError."""
    transcript = read_session(data)
    said = []
    for part in transcript.parts_of(PartKind.PROSE):
        value = json.loads(transcript.literal(part))
        text = value.get("text") if isinstance(value, dict) else value
        if isinstance(text, str):
            said.append(text)
    return "\n\n".join(said)


def hold_all(text: str) -> int:
    """Every law of one text. Returns how many facts it has."""
    facts = facts_of(text)
    count = 0
    for fact in facts:
        count += 1
        assert 0 <= fact.start < fact.end <= len(text), "a fact is a span of its text"
    itself = check_text(text, text)
    assert not itself.findings, f"a text against itself has no finding: {itself.findings[:3]}"
    nothing = check_facts(facts_of(""), facts)
    assert {each.change for each in nothing.findings} <= {"lost"}, "against nothing, facts are lost"
    assert len(nothing.findings) == count, "against nothing, each fact is lost"
    assert sum(each.total for each in nothing.counts.values()) == count, "each fact is counted once"
    return count


def _files(folders: list[str]) -> Iterator[Path]:
    for folder in folders:
        for path, _, names in os.walk(folder):
            yield from (Path(path, name) for name in sorted(names))


def _speed(text: str) -> dict[str, float]:
    """Seconds of each extractor."""
    taken = {}
    begin = time.process_time()
    whole = Text(text)
    assert len(whole.lower) == len(text)
    taken["plain forms"] = time.process_time() - begin
    for extract in EXTRACTORS:
        begin = time.process_time()
        for _ in extract(whole):
            pass
        taken[extract.__module__.split(".")[3]] = time.process_time() - begin
    return taken


def main(folders: list[str]) -> None:
    everything = []
    count = 0
    for path in _files(folders):
        data = path.read_bytes()
        try:
            text = prose_of(data)
        except CastoreError:
            text = data.decode("utf-8", "replace")
        else:
            everything.append(text)
        facts = hold_all(text)
        count += 1
        print(f"{path.name}: {len(text.encode('utf-8', 'replace')):,} bytes, {facts:,} facts: held")
    prose = "\n\n".join(everything)
    size = len(prose.encode("utf-8", "replace"))
    prose *= max(1, 4_000_000 // max(size, 1))
    size = len(prose.encode("utf-8", "replace"))
    taken = _speed(prose)
    begin = time.process_time()
    facts_of(prose)
    whole = time.process_time() - begin
    told = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in taken.items())
    print(f"{count} files held; prose of {size:,} bytes: {size / whole / 1e6:.1f} MB/s ({told})")


if __name__ == "__main__":
    main(sys.argv[1:])
