"""log --remote: the roots that are at a remote."""

from __future__ import annotations

import time

from castore.cli import output
from castore.cli.failure import report
from castore.cli.offline import require_online
from castore.cli.roots import root_record
from castore.store import Store

__all__ = ["log_of_remote"]

_PARTLY = 3


def log_of_remote(opened: Store, remote: str, *, limit: int | None, as_json: bool) -> int:
    """stdout lists them as `log` does. What can't be read is told (3), and the others are listed."""
    from castore import api

    require_online(remote)
    now = time.time()
    with output.working(f"listing {remote}"):
        records, damaged = api.roots_at_remote(
            opened, lambda root: root_record(root, now), remote=remote, limit=limit
        )
    output.table(records, as_json)
    for error in damaged:
        report(error, as_json=as_json)
    if not damaged:
        return 0
    return _PARTLY if records else damaged[0].exit_code
