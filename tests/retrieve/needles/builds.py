"""What build servers, compilers and test runners print."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.retrieve.needles.needle import Needle, compact, iso, needle, spot, text

_PARTS = [
    "ledger",
    "mail",
    "cart",
    "auth",
    "search",
    "stock",
    "price",
    "route",
    "audit",
    "label",
    "depot",
    "quota",
]


def _module(rng: Random) -> str:
    return f"{rng.choice(_PARTS)}/{rng.choice(_PARTS)}_{rng.choice(('core', 'util', 'api', 'model'))}"


@needle(700, 12_000)
def pytest_single_failure(rng: Random, count: int) -> Needle:
    lines = [
        f"tests/test_{_module(rng)}.py::test_case_{n} PASSED [{n * 100 // count:3}%]" for n in range(count)
    ]
    at = spot(rng, count, "any")
    lines[at] = f"tests/test_ledger/close.py::test_leap_day_of_2028 FAILED [{at * 100 // count:3}%]"
    head = ["=" * 30 + " test session starts " + "=" * 30, "platform linux -- Python 3.12.3, pytest-8.3.4"]
    return Needle(text([*head, *lines]), "test_leap_day_of_2028")


@needle(600, 9000)
def pytest_reason_below(rng: Random, count: int) -> Needle:
    lines = [f"tests/test_{_module(rng)}.py {'.' * rng.randrange(4, 60)}" for _ in range(count)]
    told = [
        "    def test_total():",
        ">       assert total(book) == 42",
        "E       AssertionError: 41.5 came back",
    ]
    return Needle(text([*lines, *told, *lines[:40]]), "41.5 came back", "AssertionError")


@needle(500, 9000)
def compiler_error(rng: Random, count: int) -> Needle:
    lines = []
    for n in range(count):
        lines.append(f"   Compiling {rng.choice(_PARTS)}-{rng.choice(_PARTS)} v{n % 4}.{rng.randrange(20)}.0")
        if rng.random() < 0.05:
            lines += [f"warning: unused variable: `x{n}`", f"  --> src/{_module(rng)}.rs:{n}:9"]
    told = ["error[E0382]: borrow of moved value: `quire`", "  --> src/depot/bind.rs:611:23"]
    lines[count // 2 : count // 2] = told
    return Needle(text(lines), "borrow of moved value: `quire`", r"^error")


@needle(450, 9000)
def linker_line(rng: Random, count: int) -> Needle:
    lines = [
        f"[{n * 100 // count:3}%] Building CXX object src/CMakeFiles/app.dir/{_module(rng)}.cpp.o"
        for n in range(count)
    ]
    at = spot(rng, count, "last")
    lines[at] = "/usr/bin/ld: libdepot.a(bind.o): undefined reference to `seal_v2'"
    return Needle(text(lines), "undefined reference to `seal_v2'")


@needle(350, 9000)
def go_test_events(rng: Random, count: int) -> Needle:
    events: list[dict[str, Any]] = [
        {
            "Time": iso(n / 5),
            "Action": ("run", "output", "pass")[n % 3],
            "Package": f"example.org/app/{rng.choice(_PARTS)}",
            "Test": f"Test{rng.choice(_PARTS).title()}{n // 3}",
            "Elapsed": round(rng.uniform(0, 2), 2),
        }
        for n in range(count)
    ]
    events[spot(rng, count, "any")] |= {"Action": "fail", "Test": "TestTideTable/Brest"}
    return Needle(text([compact(each).decode() for each in events]), "TestTideTable/Brest")


@needle(350, 8000)
def junit_file(rng: Random, count: int) -> Needle:
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f'<testsuites><testsuite name="all" tests="{count}">']
    lines += [
        f'  <testcase classname="{_module(rng).replace("/", ".")}" name="case_{n}" '
        f'time="{rng.uniform(0, 1):.3f}"/>'
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    lines[at] = (
        '  <testcase classname="depot.scale" name="case_tare" time="0.2">'
        '<failure message="expected 12 kg, scale says 21 kg"/></testcase>'
    )
    return Needle(text([*lines, "</testsuite></testsuites>"]), "scale says 21 kg", "<failure")


@needle(400, 6000)
def plan_that_replaces(rng: Random, count: int) -> Needle:
    lines = [
        f'module.{rng.choice(_PARTS)}.aws_instance.node["{n}"]: Refreshing state... '
        f"[id=i-{rng.getrandbits(68):017x}]"
        for n in range(count)
    ]
    lines += ["", "Terraform will perform the following actions:", ""]
    lines += ["  # aws_db_instance.ledger must be replaced (snapshot final-0503 is off)"]
    lines += ["-/+ resource", "", "Plan: 1 to add, 0 to change, 1 to destroy."]
    return Needle(text(lines), "snapshot final-0503 is off", "must be replaced")


@needle(450, 9000)
def image_built(rng: Random, count: int) -> Needle:
    """A line that is neither a step nor progress."""
    lines = [
        f"#{n // 30 + 4} {n % 30 / 10:.3f} Get:{n} mirror bookworm/main amd64 {rng.choice(_PARTS)}-dev "
        f"[{rng.randrange(10, 900)} kB]"
        for n in range(count)
    ]
    lines[spot(rng, count, "middle")] = "signature of mirror made by key 7F2A on a revoked card"
    return Needle(text(lines), "key 7F2A on a revoked card")


@needle(250, 5000)
def linter_as_json(rng: Random, count: int) -> Needle:
    """Files without messages, and one with."""
    rows: list[dict[str, Any]] = [
        {
            "filePath": f"/repo/src/{_module(rng)}_{n}.ts",
            "messages": [],
            "errorCount": 0,
            "warningCount": 0,
            "usedDeprecatedRules": [],
        }
        for n in range(count)
    ]
    told = {"ruleId": "no-restricted-syntax", "severity": 2, "message": "Hard-coded rate 0.0771", "line": 40}
    rows[spot(rng, count, "any")] |= {"messages": [told], "errorCount": 1}
    return Needle(json.dumps(rows).encode(), "Hard-coded rate 0.0771")


@needle(400, 5000)
def coverage_table(rng: Random, count: int) -> Needle:
    """Almost all is covered; the fact is which lines of one file are not."""
    lines = ["Name                                   Stmts   Miss  Cover   Missing", "-" * 72]
    for n in range(count):
        total = rng.randrange(40, 400)
        miss = rng.randrange(0, total // 12)
        told = f"{rng.randrange(10, 40)}-{rng.randrange(41, 70)}" if miss else ""
        lines.append(
            f"src/{_module(rng) + f'_{n}.py':<34} {total:>5} {miss:>6} "
            f"{100 - miss * 100 // total:>5}%   {told}"
        )
    at = spot(rng, count, "any")
    lines[at] = f"src/{'depot/tide.py':<34} {212:>5} {206:>6} {3:>5}%   7-1141"
    return Needle(text(lines), "7-1141")


@needle(350, 9000)
def npm_refuses(rng: Random, count: int) -> Needle:
    lines = [
        f"npm http fetch GET 200 registry/{rng.choice(_PARTS)}-{rng.choice(_PARTS)} "
        f"{rng.randrange(20, 900)}ms (cache hit)"
        for _ in range(count)
    ]
    lines += ["npm ERR! code ERESOLVE", "npm ERR! Found: quill@1.3.7 (wanted by editor@9 of Lund)"]
    return Needle(text(lines), "quill@1.3.7 (wanted by editor@9 of Lund)", "ERR!")
