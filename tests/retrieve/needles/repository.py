"""What version control, databases and file systems list."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.retrieve.needles.needle import Needle, compact, day, iso, needle, pretty, sentence, spot, text

_WORDS = [
    "parser",
    "cache",
    "ledger",
    "router",
    "widget",
    "mailer",
    "queue",
    "token",
    "index",
    "buffer",
    "worker",
    "view",
]
_PEOPLE = ["Ada Brandt", "Luis Prieto", "Mina Okafor", "Tom Reyes"]


def _word(rng: Random) -> str:
    return rng.choice(_WORDS)


@needle(90, 2500)
def renaming_with_a_stowaway(rng: Random, count: int) -> Needle:
    """A change by rule all over, and one line that is none of it."""
    lines = []
    for n in range(count):
        path, name = f"src/{_word(rng)}/{_word(rng)}_{n}.py", _word(rng).title()
        lines += [
            f"diff --git a/{path} b/{path}",
            f"index {rng.getrandbits(28):07x}..{rng.getrandbits(28):07x} 100644",
            f"--- a/{path}",
            f"+++ b/{path}",
            "@@ -1,3 +1,3 @@",
            " from __future__ import annotations",
            f"-from oldpkg.{_word(rng)} import {name}",
            f"+from newpkg.{_word(rng)} import {name}",
            " ",
        ]
    at = 9 * spot(rng, count, "any") + 8
    lines.insert(at, "+session.verify = False  # until the proxy at Dover is fixed")
    return Needle(text(lines), "until the proxy at Dover is fixed")


@needle(120, 3000)
def reverted(rng: Random, count: int) -> Needle:
    lines = []
    at = spot(rng, count, "any")
    for n in range(count):
        lines += [
            f"commit {rng.getrandbits(160):040x}",
            f"Author: {rng.choice(_PEOPLE)} <dev{n % 4}@example.org>",
            f"Date:   {iso(-n * 4000)}",
            "",
            f"    {_word(rng)}: {sentence(rng)}",
            "",
        ]
        if n == at:
            lines[-2] = "    Revert the widget change: it froze the lift in Oslo"
    return Needle(text(lines), "it froze the lift in Oslo", "Revert")


@needle(700, 12_000)
def one_line_a_commit(rng: Random, count: int) -> Needle:
    lines = [f"{rng.getrandbits(36):09x} {_word(rng)}: {sentence(rng)}" for _ in range(count)]
    lines[spot(rng, count, "last")] = "0c5e1d9aa buffer: bound the length read from peers (CVE-2031-40404)"
    return Needle(text(lines), "CVE-2031-40404", "CVE-")


@needle(350, 10_000)
def dump_with_a_role(rng: Random, count: int) -> Needle:
    """One role comes once; the fact is the login."""
    lines = [
        f"INSERT INTO users VALUES ({n}, 'u{rng.getrandbits(28):07x}', "
        f"'{rng.choice(('viewer', 'viewer', 'editor'))}', '{day(-rng.randrange(900))}', NULL);"
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    lines[at] = f"INSERT INTO users VALUES ({at}, 'svc_lantern', 'superuser', '{day(-12)}', NULL);"
    return Needle(text(["BEGIN;", *lines, "COMMIT;"]), "svc_lantern")


@needle(500, 15_000)
def dump_in_one_line(rng: Random, count: int) -> Needle:
    """All rows in a single statement: no line to point at."""
    rows = [
        f"({n},'{rng.getrandbits(32):08x}','{sentence(rng)}',{rng.randrange(10**5)})" for n in range(count)
    ]
    at = spot(rng, count, "any")
    rows[at] = f"({at},'9d11c0de','dispute opened by the harbour of Split',81)"
    return Needle(
        text(["SET NAMES utf8;", f"INSERT INTO `notes` VALUES {','.join(rows)};", "UNLOCK TABLES;"]),
        "opened by the harbour of Split",
        "dispute",
    )


@needle(450, 12_000)
def listing_with_another_owner(rng: Random, count: int) -> Needle:
    lines = [
        f"-rw-r--r-- 1 deploy deploy {rng.randrange(100, 90_000):>8} "
        f"{day(-rng.randrange(30))} {_word(rng)}_{n}.dat"
        for n in range(count)
    ]
    lines[spot(rng, count, "any")] = f"-rwsr-xr-x 1 root   wheel  {16_384:>8} {day(-1)} tmp_sh_of_egon"
    return Needle(text(lines), "tmp_sh_of_egon")


@needle(450, 9000)
def search_of_a_tree(rng: Random, count: int) -> Needle:
    lines = [
        f"src/{_word(rng)}/{_word(rng)}.py:{rng.randrange(1, 900)}:    "
        f"log.debug('{_word(rng)} %s', {_word(rng)})"
        for _ in range(count)
    ]
    lines[spot(rng, count, "first")] = "src/queue/lane.py:88:    # FIXME(ruth): drops every 1024th letter"
    return Needle(text(lines), "drops every 1024th letter", r"FIXME\(")


@needle(500, 9000)
def backups_left(rng: Random, count: int) -> Needle:
    lines = [
        f"{rng.randrange(4, 9000)}K\t./srv/{_word(rng)}/{_word(rng)}/"
        f"{rng.getrandbits(32):08x}.{rng.choice(('js', 'css', 'map'))}"
        for _ in range(count)
    ]
    lines[spot(rng, count, "any")] = "12K\t./srv/token/prod-keys-of-march.tar.bak"
    return Needle(text(lines), "prod-keys-of-march", r"\.bak$")


@needle(350, 6000)
def licences(rng: Random, count: int) -> Needle:
    """A table; one licence comes once."""
    lines = ["| name | version | licence | by |", "|---|---|---|---|"]
    for n in range(count):
        licence = rng.choice(("MIT", "MIT", "MIT", "BSD-3-Clause", "Apache-2.0"))
        lines.append(
            f"| {_word(rng)}-{n} | {rng.randrange(9)}.{rng.randrange(30)} | {licence} "
            f"| {rng.choice(_PEOPLE)} |"
        )
    lines[spot(rng, count, "any")] = "| glyph-9 | 2.1 | SSPL-1.0 | Foundry Nine of Trieste |"
    return Needle(text(lines), "Foundry Nine of Trieste")


@needle(150, 4000)
def requests_to_merge(rng: Random, count: int) -> Needle:
    rows: list[dict[str, Any]] = [
        {
            "number": 900 + n,
            "title": f"{_word(rng)}: {sentence(rng)}",
            "author": {"login": f"dev{rng.randrange(12)}", "is_bot": False},
            "mergeable": "MERGEABLE",
            "labels": [{"name": rng.choice(("bug", "docs", "chore"))}],
            "reviewDecision": "APPROVED",
        }
        for n in range(count)
    ]
    rows[spot(rng, count, "any")] |= {"mergeable": "CONFLICTING", "title": "view: restore the Sami keyboard"}
    return Needle(pretty(rows), "restore the Sami keyboard")


@needle(300, 9000)
def rows_of_a_query(rng: Random, count: int) -> Needle:
    """As psql prints them."""
    lines = [
        "  id   |   state   | tries |         updated         ",
        "-------+-----------+-------+-----------------------",
    ]
    lines += [f" {n + 2000:5} | shipped   | {rng.choice((1, 1, 2)):5} | {iso(n * 100)}" for n in range(count)]
    at = spot(rng, count, "any")
    lines[at] = f" {at + 1998:5} | impounded |     1 | 2019-02-29T00:00:00Z"
    return Needle(text([*lines, f"({count} rows)"]), "2019-02-29")


@needle(300, 9000)
def changes_in_one_object(rng: Random, count: int) -> Needle:
    """Migrations by name; one is not applied."""
    migrations = {
        f"{n:05}_{_word(rng)}_{_word(rng)}": {"applied": iso(n * 9000), "ms": rng.randrange(5, 400)}
        for n in range(count)
    }
    name = list(migrations)[spot(rng, count, "any")]
    migrations[name] = {"applied": None, "ms": 0, "why": "lock held by the report of Quint"}
    return Needle(compact(migrations), "lock held by the report of Quint")
