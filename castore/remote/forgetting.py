"""Forgetting roots of a bucket: they expire after the grace, or at once, and a gc there takes them.

Law: a root that is pushed again, asked for by name, is live again; nothing is deleted here.
"""

from __future__ import annotations

from collections.abc import Sequence

from castore.remote.bucket import Bucket
from castore.remote.finding import find
from castore.remote.intents import IntentOver, hold
from castore.remote.keys import root_key
from castore.remote.names import Names
from castore.remote.roots import Grants, RemoteRoots
from castore.remote.tracking import Tracking
from castore.roots.model import Root, forgotten
from castore.store import Store

__all__ = ["forget"]


def forget(
    store: Store, bucket: Bucket, texts: Sequence[str], *, at_once: bool = False, dry_run: bool = False
) -> list[Root]:
    """The roots there that `texts` mean are forgotten; what they are based on is not. As they are then.

    Those that were forgotten already expire no later than they did.

    texts: see castore.remote.finding. Raises ScopeDenied, NotFound, RemoteError.
    """
    bucket.require_format()
    roots = RemoteRoots(bucket)
    names = Names(bucket, roots, Tracking(store, bucket.remote))
    found = find(store, bucket, names, texts, chains=False, is_to_forget=True)
    grants = Grants(store.granted, bucket.settings.granted)
    for scope in {root.scope for root in found.roots}:
        grants.require(scope)
    now = store.parts.clock()
    grace_seconds = 0 if at_once else store.parts.config.grace_seconds

    def of(root: Root) -> Root:
        return forgotten(root, now=now, grace_seconds=grace_seconds)

    if dry_run:
        return [of(root) for root in found.roots]
    keys = [root_key(root.id) for root in found.roots]
    while True:
        try:
            # No gc removes one between the halves of a change, which matters where there are no conditions.
            with hold(bucket, keys):
                done = list(bucket.map(lambda root: roots.change(root.id, of), found.roots))
                bucket.settle()
        except IntentOver:
            continue
        break
    return [root for root in done if root is not None]
