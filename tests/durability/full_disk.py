"""What ctx does on a disk that is full: `python -m tests.durability.full_disk OPTIONS FOLDER HOME`.

It runs in a mount namespace of its own (`unshare -Urm`), mounts a tmpfs with these options over FOLDER, and
prints a line for everything that is not as it should be.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from castore import api
from tests.durability.shell import Done, Shell, document

__all__ = ["complaints"]


def complaints(ctx: Shell) -> list[str]:
    """Filled up, written to, swept, and given room again: what went wrong. The folder is empty before."""
    found: list[str] = []
    kept = ctx("fold", stdin=document("kept", 1))
    doomed = ctx("put", "-", stdin=b"doomed " * 100)
    forgotten = ctx("forget", "--now", doomed.out.decode().strip())
    put = _put_until_full(ctx, found)
    _fill(ctx.folder)
    found += [f"at first: {done}" for done in (kept, doomed, forgotten) if done.code]

    tasks = {
        "put": (["put", "-"], b"more"),
        "fold": (["fold"], document("more", 1)),
        "fold -o": (["fold", "-o", "out.json"], document("more", 1)),
        "tag": (["tag", "again", "DIGEST"], b""),
        "forget": (["forget", "DIGEST"], b""),
    }
    digest = str(api.Digest.of(kept.out))
    for name, (arguments, stdin) in tasks.items():
        done = ctx(*[digest if each == "DIGEST" else each for each in arguments], stdin=stdin)
        if not _is_clear(done) and done.code != 0:
            found.append(f"{name} on the full disk: {done}")
    found += _lost(ctx, kept.out, put, "on the full disk")

    swept = ctx("gc")
    if swept.code != 0:
        found.append(f"gc on the full disk: {swept}")
    if ctx("cat", doomed.out.decode().strip()).code != 12:
        found.append("gc freed nothing")
    found += _lost(ctx, kept.out, put, "after gc")

    for each in ctx.folder.glob("ballast*"):
        each.unlink()
    _mount("remount,size=1m,nr_inodes=100", ctx.folder)
    for name, (arguments, stdin) in tasks.items():
        done = ctx(*[digest if each == "DIGEST" else each for each in arguments], stdin=stdin)
        if done.code != 0:
            found.append(f"{name} with room again: {done}")
    swept = ctx("gc")
    if swept.code != 0:
        found.append(f"gc with room again: {swept}")
    found += _lost(ctx, kept.out, put, "with room again")
    verified = ctx("verify")
    if verified.code != 0:
        found.append(f"verify at the end: {verified}")
    left = sorted(each.name for each in ctx.folder.iterdir())
    if left != [".ctxstore", "out.json"]:
        found.append(f"left beside the store: {left}")
    return found


def _is_clear(done: Done) -> bool:
    lines = done.err.splitlines()
    says = any(line.startswith("error:") and ("full" in line or "No space" in line) for line in lines)
    return done.code == 1 and says and any("free some space" in line for line in lines) and not done.out


def _put_until_full(ctx: Shell, found: list[str]) -> dict[str, bytes]:
    """What was acknowledged, by its digest."""
    put: dict[str, bytes] = {}
    for _ in range(50):
        data = os.urandom(30_000)
        done = ctx("put", "-", stdin=data)
        if done.code != 0:
            if not _is_clear(done):
                found.append(f"the put that filled it: {done}")
            return put
        put[done.out.decode().strip()] = data
    found.append("it was never full")
    return put


def _fill(folder: Path) -> None:
    """Not a byte more, nor a file, can be written."""
    for number in range(10_000):
        try:
            with open(folder / f"ballast-{number}", "wb", buffering=0) as file:
                while file.write(bytes(4096)) and os.statvfs(folder).f_files == 0:
                    pass
        except OSError:
            return


def _lost(ctx: Shell, kept: bytes, put: dict[str, bytes], when: str) -> list[str]:
    found = []
    if ctx("unfold", stdin=kept).out != document("kept", 1):
        found.append(f"{when}: the document does not unfold")
    found += [f"{when}: {digest} is lost" for digest, data in put.items() if ctx("cat", digest).out != data]
    findings = ctx("verify").out.decode().splitlines()
    found += [f"{when}: {each}" for each in findings if each.split()[0] not in ("unnamed", "stray")]
    return found


def _mount(options: str, folder: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)


def main() -> None:
    options, folder, home = sys.argv[1:]
    _mount(options, Path(folder))
    for each in complaints(Shell(Path(folder), Path(home))):
        sys.stdout.write(each + "\n")


if __name__ == "__main__":
    main()
