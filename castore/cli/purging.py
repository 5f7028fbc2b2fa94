"""purge: an object goes although something names it."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.locate import find_store
from castore.cli.output import Record, plural, size_text
from castore.cli.parameters import DryRun, Json, StoreFolder
from castore.cli.roots import root_facts, root_words
from castore.digest import DIGEST_HEX, Digest, parse_prefix
from castore.errors import InvalidOption, ObjectDamaged

if TYPE_CHECKING:
    from castore.gc.copies import Copy
    from castore.store import Store

__all__ = ["purge"]


def purge(
    digest: Annotated[
        str, typer.Argument(metavar="DIGEST", help="The object's digest, or its first six digits or more.")
    ],
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why: those who could see it are told.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """The object is gone. stdout lists where else its bytes are, before anything is asked or done."""
    from castore.gc.copies import copies
    from castore.store.purging import check_reason

    opened = find_store(store).get()
    opened.require_operator("purge")
    check_reason(reason)
    asks = not (yes or dry_run)
    if asks and (as_json or not output.is_terminal(sys.stdin) or not output.is_attended()):
        raise InvalidOption(
            "a purge can't be undone, and nobody is there to be asked",
            hint="--dry-run shows what would go; --yes does it",
        )
    target = _target(opened, digest)
    with output.working("looking for copies"):
        found = list(copies(opened, target))
    # What has the bytes first: what only names the object is none of them.
    found.sort(key=lambda copy: not copy.holds_bytes)
    if not as_json:
        output.table(map(_copy_record, found), as_json=False)
    if asks and not _is_confirmed(opened, target):
        output.summary("nothing was purged")
        return 1
    _purge(opened, target, reason, found, dry_run=dry_run, as_json=as_json)
    return 0


def _purge(
    opened: Store, target: Digest, reason: str, found: list[Copy], *, dry_run: bool, as_json: bool
) -> None:
    if dry_run:
        roots, stored_bytes = opened.roots_naming(target), _stored_bytes(opened, target)
        over = opened.bound_to(target)
    else:
        done = opened.purge(target, reason)
        roots, stored_bytes, over = list(done.roots), done.stored_bytes, list(done.over)
    if as_json:
        facts = {
            "digest": target,
            "stored_bytes": stored_bytes,
            "roots": [root_facts(root) for root in roots],
            "copies": [_copy_record(each).facts for each in found if each.holds_bytes],
            "reason": reason,
            "summaries": [root_facts(root) for root in over],
            "dry_run": dry_run,
            "named_by": [_copy_record(each).facts for each in found if not each.holds_bytes],
        }
        output.block((), facts, as_json)
        return
    verb = "would purge" if dry_run else "purged"
    words = f"{verb} {target}: {size_text(stored_bytes)}, named by {plural(len(roots), 'root')}"
    if over:
        words += f"; {plural(len(over), 'summary', 'summaries')} {'would go' if dry_run else 'went'} with it"
    output.line(words)
    holding = sum(copy.holds_bytes for copy in found)
    if holding:
        output.note(f"{plural(holding, 'other place')} may hold the same bytes, listed above")
    if len(found) > holding:
        places = plural(len(found) - holding, "place names it and does", "places name it and do")
        output.note(f"{places} not hold its bytes, listed {'last' if holding else 'above'}")


def _target(opened: Store, text: str) -> Digest:
    """The object, or what is left of it: a purge that did not end is run again with the whole digest."""
    from castore.store.lookup import pasted

    prefix = parse_prefix(pasted(text))
    if prefix is None:
        raise InvalidOption(
            f"'{text[:80]}' is not a digest", hint="a purge takes a digest, not a name", subject=text[:80]
        )
    if len(prefix) < DIGEST_HEX:
        return opened.resolve(prefix)
    target = Digest(prefix)
    is_known = _is_there(opened, target) or opened.roots_naming(target)
    if not is_known and opened.parts.tombstones.get(target) is None:
        raise opened.absence(target)
    return target


def _is_there(opened: Store, target: Digest) -> bool:
    try:
        return opened.stat(target) is not None
    except ObjectDamaged:
        return True


def _stored_bytes(opened: Store, target: Digest) -> int:
    found = opened.parts.source.stat(target)
    return 0 if found is None else found.stored_bytes


def _is_confirmed(opened: Store, target: Digest) -> bool:
    now = time.time()
    for root in opened.roots_naming(target):
        output.summary(f"named by {root_words(root, now)}")
    sys.stderr.write(f"purge {target}? this can't be undone [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _copy_record(copy: Copy) -> Record:
    """Where, which, and what is there."""
    facts = {"place": str(copy.place), "subject": copy.subject, "words": copy.words}
    return Record((str(copy.place), copy.subject, copy.words), facts)
