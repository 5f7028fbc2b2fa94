"""How fast facts are found: `python -m tests.benchmarks.summary [BYTES]`, alone in a process.

The text is that of the pairs of tests/summary/pairs, again and again, with other numbers. Prints its
bytes, the processor seconds for its facts and for those of each extractor, and the seconds of one pass of a
regular expression for words, which is what it is measured against.
"""

from __future__ import annotations

import json
import re
import sys
import time

from castore.summary.fidelity.kinds import EXTRACTORS, facts_of
from castore.summary.fidelity.model import Text
from tests.summary.fidelity.pairs import here, read_pairs

_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"[0-9]+")


def prose(size: int) -> str:
    """So many bytes of text in two languages, or a little more."""
    sources = [pair.source for pair in read_pairs(here())]
    written, pieces, at = 0, [], 0
    while written < size:
        more = at // len(sources)
        piece = _DIGITS.sub(lambda match: str(int(match[0]) + more), sources[at % len(sources)])  # noqa: B023
        pieces.append(piece)
        written += len(piece.encode()) + 2
        at += 1
    return "\n\n".join(pieces)


def main(size: int) -> None:
    text = prose(size)
    facts_of(text[:10_000])  # What is loaded and compiled once is not of the text.
    begin = time.process_time()
    words = sum(1 for _ in _WORD.finditer(text))
    taken = {"floor": time.process_time() - begin}
    begin = time.process_time()
    count = sum(1 for _ in facts_of(text))
    taken["facts"] = time.process_time() - begin
    looked = Text(text)
    for extract in EXTRACTORS:
        begin = time.process_time()
        for _ in extract(looked):
            pass
        taken[extract.__module__.split(".")[3]] = time.process_time() - begin
    print(json.dumps({"bytes": len(text.encode()), "facts": count, "words": words, "seconds": taken}))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000)
