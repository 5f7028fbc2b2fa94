"""Logs, as whoever is on call pastes them."""

from __future__ import annotations

import json
from datetime import timedelta
from random import Random

from tests.retrieve.needles.needle import BEGINNING, Needle, iso, needle, sentence, spot, text


def _when(seconds: float, form: str) -> str:
    return (BEGINNING + timedelta(seconds=seconds)).strftime(form)


def _ip(rng: Random) -> str:
    return f"10.{rng.randrange(4)}.{rng.randrange(256)}.{rng.randrange(1, 255)}"


@needle(500, 20_000)
def syslog_killed(rng: Random, count: int) -> Needle:
    def line(n: int) -> str:
        unit, pid = rng.choice(("sshd", "cron", "systemd", "dhclient")), rng.randrange(300, 30_000)
        told = rng.choice(
            (
                f"Accepted publickey for deploy from {_ip(rng)} port {rng.randrange(30_000, 60_000)} ssh2",
                "pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)",
                f"DHCPREQUEST for {_ip(rng)} on eth0 to 10.0.0.1 port 67",
                f"Started Session {n} of User deploy.",
            )
        )
        return f"{_when(n * 11, '%b %e %H:%M:%S')} db-3 {unit}[{pid}]: {told}"

    lines = [line(n) for n in range(count)]
    at = spot(rng, count, "any")
    lines[at] = (
        f"{_when(at * 11, '%b %e %H:%M:%S')} db-3 kernel: Out of memory: Killed process 4121 (postgres)"
    )
    return Needle(text(lines), "Killed process 4121 (postgres)", "Out of memory")


def _access(rng: Random, n: int, status: int, agent: str) -> str:
    path = (
        rng.choice(("/", "/cart", "/api/items", "/static/app.js", "/img/logo.png"))
        + f"?v={rng.randrange(99)}"
    )
    size = rng.randrange(200, 90_000)
    when = _when(n, "%d/%b/%Y:%H:%M:%S +0000")
    return f'{_ip(rng)} - - [{when}] "GET {path} HTTP/1.1" {status} {size} "-" "{agent}"'


_BROWSERS = (
    "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/138.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_4) AppleWebKit/605.1.15 Safari/605.1.15",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/136.0.0.0 Safari/537.36",
)


@needle(500, 20_000)
def nginx_single_502(rng: Random, count: int) -> Needle:
    """One status that comes once; the fact is who asked."""
    lines = [
        _access(rng, n, rng.choices((200, 304, 404), (90, 7, 3))[0], rng.choice(_BROWSERS))
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    lines[at] = _access(rng, at, 502, "probe-of-lena/0.3")
    return Needle(text(lines), "probe-of-lena/0.3")


@needle(400, 14_000)
def nginx_asked_by_address(rng: Random, count: int) -> Needle:
    lines = [_access(rng, n, 200, rng.choice(_BROWSERS)) for n in range(count)]
    at = spot(rng, count, "last")
    lines[at] = _access(rng, at, 200, "Wget/1.21 (mirror of Ostrava)").replace("10.", "192.168.", 1)
    return Needle(text(lines), "mirror of Ostrava", r"^192\.168\.")


@needle(350, 12_000)
def lines_of_json_one_fatal(rng: Random, count: int) -> Needle:
    records = [
        {
            "ts": iso(n * 3),
            "level": rng.choices(("info", "debug", "warn"), (80, 18, 2))[0],
            "logger": rng.choice(("api.auth", "api.cart", "jobs.mail")),
            "msg": sentence(rng),
            "trace": f"{rng.getrandbits(64):016x}",
        }
        for n in range(count)
    ]
    records[spot(rng, count, "middle")] |= {"level": "fatal", "msg": "upstream reset at 10.2.3.4"}
    return Needle(text([json.dumps(each) for each in records]), "upstream reset at 10.2.3.4")


@needle(450, 16_000)
def logfmt_lease_lost(rng: Random, count: int) -> Needle:
    lines = [
        f"ts={iso(n)} level=info caller=store.go:{rng.randrange(20, 400)} shard={rng.randrange(32)} "
        f'msg="compaction done" took={rng.randrange(2, 900)}ms'
        for n in range(count)
    ]
    at = spot(rng, count, "first")
    lines[at] = f'ts={iso(at)} level=error caller=lease.go:88 shard=9 msg="lease lost" to=node-7 after=41s'
    return Needle(text(lines), "to=node-7 after=41s", "level=error")


def _traceback(*, last: str) -> list[str]:
    return [
        "Traceback (most recent call last):",
        '  File "/srv/app/worker.py", line 211, in run',
        "    self.handle(job)",
        '  File "/srv/app/ledger.py", line 88, in close',
        "    raise failure",
        last,
    ]


def _worker_lines(rng: Random, count: int) -> list[str]:
    return [
        f"{_when(n * 2, '%Y-%m-%d %H:%M:%S')},{rng.randrange(1000):03} INFO worker.{n % 6} job "
        f"{rng.getrandbits(40):010x} done in {rng.uniform(0.1, 4):.2f}s"
        for n in range(count)
    ]


@needle(500, 18_000)
def traceback_searched(rng: Random, count: int) -> Needle:
    lines = _worker_lines(rng, count)
    at = spot(rng, count, "any")
    lines[at:at] = _traceback(last="LedgerError: book 88 is out of balance by 41.17")
    return Needle(text(lines), "book 88 is out of balance by 41.17", "Error")


@needle(500, 18_000)
def traceback_unasked(rng: Random, count: int) -> Needle:
    """Six odd lines together; the last says what it was."""
    lines = _worker_lines(rng, count)
    at = spot(rng, count, "middle")
    lines[at:at] = _traceback(last="KeyError: 'tenant_eu_17'")
    return Needle(text(lines), "tenant_eu_17")


@needle(300, 9000)
def kubernetes_events(rng: Random, count: int) -> Needle:
    """A table as kubectl prints it; one is a warning."""

    def row(kind: str, reason: str, pod: str, told: str) -> str:
        return f"{rng.randrange(2, 58)}m    {kind:<9} {reason:<18} pod/{pod:<28} {told}"

    lines = ["LAST   TYPE      REASON             OBJECT                           MESSAGE"]
    for _ in range(count):
        pod = f"{rng.choice(('cart', 'mail', 'auth'))}-{rng.getrandbits(36):09x}"
        reason, told = rng.choice(
            (
                ("Pulled", f"Container image already present on machine ({rng.randrange(20, 400)}ms)"),
                ("Created", "Created container main"),
                ("Started", "Started container main"),
                ("Scheduled", f"Successfully assigned prod/{pod} to node-{rng.randrange(12)}"),
            )
        )
        lines.append(row("Normal", reason, pod, told))
    at = spot(rng, count, "any")
    lines[at] = row("Warning", "FailedMount", "ledger-0", "secret vault-2024-q3 not found")
    return Needle(text(lines), "secret vault-2024-q3 not found")


@needle(400, 12_000)
def journal_in_a_string(rng: Random, count: int) -> Needle:
    """The text of a log as a JSON string, as a folded document has it."""
    lines = [
        f"{_when(n, '%b %d %H:%M:%S')} edge-{n % 4} audit[{rng.randrange(900)}]: USER_ACCT "
        f"pid={rng.randrange(9999)} "
        f"uid=0 auid=1000 ses={rng.randrange(400)} res=success"
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    lines[at] += ' denied  { write } for comm="backupd" path="/srv/vault/k2"'
    return Needle(json.dumps("\n".join(lines)).encode(), "/srv/vault/k2", "denied")


@needle(400, 10_000)
def one_line_is_a_letter(rng: Random, count: int) -> Needle:
    """Errors are common here; the odd one is a line that is much longer, with the fact in its middle."""
    lines = [
        f"[{iso(n * 5)}] {rng.choice(('ERROR', 'WARN', 'INFO'))} mailer: "
        f"{rng.choice(('bounce', 'retry', 'sent'))} queue={rng.randrange(9)} id={rng.getrandbits(32):08x}"
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    told = (
        [sentence(rng) for _ in range(4)] + ["call Benedikt on 0170-5512"] + [sentence(rng) for _ in range(5)]
    )
    lines[at] = f"[{iso(at * 5)}] INFO mailer: body kept: " + ", ".join(told)
    return Needle(text(lines), "call Benedikt on 0170-5512")


@needle(400, 9000)
def lines_of_another_system(rng: Random, count: int) -> Needle:
    """CR and LF end the lines."""
    lines = [
        f"{_when(n * 9, '%d.%m.%Y %H:%M:%S')};Information;Service Control Manager;{rng.choice((7036, 7040))};"
        f"The {rng.choice(('Spooler', 'Update', 'Time', 'Audio'))} service entered the running state."
        for n in range(count)
    ]
    at = spot(rng, count, "last")
    lines[at] = (
        f"{_when(at * 9, '%d.%m.%Y %H:%M:%S')};Critical;Disk;153;"
        "The IO operation at block 0x5d21f was retried."
    )
    return Needle(text(lines, "\r\n"), "block 0x5d21f", "Critical")


@needle(350, 9000)
def coloured(rng: Random, count: int) -> Needle:
    """Several services in one terminal, in colours."""

    def line(n: int, level: str, told: str) -> str:
        service = ("web", "db", "queue")[n % 3]
        return f"\x1b[3{2 + n % 3}m{service:<6}|\x1b[0m {_when(n, '%H:%M:%S')} {level} {told}"

    lines = [
        line(n, "\x1b[32mINFO\x1b[0m", f"{rng.choice(('GET', 'PUT'))} /v2/things/{rng.randrange(9999)} ok")
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    lines[at] = line(at, "\x1b[31mPANIC\x1b[0m", "page 771 of wal-09 has checksum of page 770")
    return Needle(text(lines), "page 771 of wal-09")
