"""How the fixed agent fares: `python -m tests.retrieve.needles.score [-v] [--long] [FAMILY or NAME]...`

A line a needle: what found it, the bytes of all answers, and what was misses in full with -v.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.retrieve.needles import needle as needles
from tests.retrieve.needles.agent import BYTES_MAX, Outcome, search
from tests.retrieve.needles.shell import Shell

_SAID_MAX = 1600


def main() -> int:
    parser = argparse.ArgumentParser(description="Score the fixed agent on the needles.")
    parser.add_argument("which", nargs="*", help="families, names, or files of others of the kind")
    parser.add_argument("-v", "--verbose", action="store_true", help="what was said where it missed")
    parser.add_argument("--long", action="store_true", help="the large ones")
    parser.add_argument("--seed", type=int, default=0, help="others of the same makers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="needles-") as folder:
        _score(Shell(Path(folder)), options)
    return 0


def _score(shell: Shell, options: argparse.Namespace) -> None:
    counted: Counter[str] = Counter()
    chosen = _chosen(options.which)
    for each in chosen:
        made = each.made(is_large=options.long, seed=options.seed)
        outcome = search(shell.run, shell.put([made.data])[0], made)
        word = outcome.by or "MISSED"
        if outcome.by and not outcome.is_found:
            word = f"{outcome.by}, TOO LONG"
        counted[word] += 1
        kind = "pattern" if made.pattern else "outlier"
        _say(f"{each.name:<44} {len(made.data):>9,} {kind:<8} {word:<20} {outcome.size:>6,}")
        if options.verbose and not outcome.is_found:
            _tell(outcome, made)
    _say(f"\n{len(chosen)} needles, at most {BYTES_MAX:,} bytes each")
    for word, count in counted.most_common():
        _say(f"{count:>4}  {word}")


def _chosen(which: list[str]) -> list[needles.Maker]:
    files = [each for each in which if each.endswith(".py")]
    for file in files:
        found = importlib.util.spec_from_file_location(Path(file).stem, file)
        assert found is not None
        assert found.loader is not None
        found.loader.exec_module(importlib.util.module_from_spec(found))
    names = {Path(each).stem if each in files else each for each in which}
    return [each for each in needles.makers() if not names or each.family in names or each.name in names]


def _tell(outcome: Outcome, made: needles.Needle) -> None:
    _say(f"    fact {made.fact!r}, pattern {made.pattern!r}")
    for call in outcome.calls:
        _say(f"    $ ctx {' '.join(call.arguments)}   ({len(call.said)} characters)")
        _say("".join(f"      {line}\n" for line in call.said[:_SAID_MAX].splitlines()))


def _say(told: str) -> None:
    sys.stdout.write(f"{told}\n")


if __name__ == "__main__":
    sys.exit(main())
