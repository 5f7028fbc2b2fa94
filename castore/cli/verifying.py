"""verify FILES --remote: what is wrong with what a remote has of them."""

from __future__ import annotations

from collections.abc import Sequence

from castore.cli import output
from castore.cli.files import readable, rereadable
from castore.cli.fold import finding_record
from castore.cli.locate import find_store
from castore.cli.offline import require_online
from castore.cli.output import plural
from castore.errors import InvalidOption

__all__ = ["verify_at_remote"]

_FINDINGS = 3


def verify_at_remote(
    files: Sequence[str] | None,
    remote: str | None,
    *,
    full: bool,
    scope: str | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Findings a line, as of verify; 3 if there is one. Nothing is written."""
    from castore import api

    if remote is None:
        raise InvalidOption("--full is about a remote", hint="say --remote NAME", option="--full")
    if not files:
        raise InvalidOption(
            "--remote looks at files", hint="name a FILE, or '-' for stdin", option="--remote"
        )
    opened = find_store(store, scope).get()
    require_online(remote)
    checked = readable(files, as_json=as_json)
    if not checked:
        return 1
    found = 0
    with output.working("verifying"):
        findings = api.verify_at_remote(opened, rereadable(checked), remote=remote, full=full)
        for found, finding in enumerate(findings, start=1):  # noqa: B007
            output.table([finding_record(finding)], as_json)
    if found or as_json or output.is_attended():
        words = f"{plural(found, 'finding') if found else 'no findings'} in {plural(len(checked), 'file')}"
        hint = "'ctx push --anew' from a store that has the objects sends them" if found else None
        said = f"{words} at '{remote}'" if hint is None else f"{words} at '{remote}': {hint}"
        output.summary(said, findings=found, files=len(checked), hint=hint)
    return _FINDINGS if found or len(checked) < len(files) else 0
