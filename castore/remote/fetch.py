"""Fetch: objects that roots here name, and that are at a remote, come here.

Laws: only what a root that the caller sees names is asked for. Each object is digested again, and published
under the roots that name it already: after a crash it is here whole, or at the remote as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from castore.digest import Digest
from castore.errors import NotFound, RemoteError
from castore.remote.bucket import Bucket
from castore.remote.connecting import connect
from castore.remote.pull import PullReport, bring, pull, remote_database
from castore.remote.remotes import get
from castore.store import Store

__all__ = ["FetchReport", "Fetcher", "fetch"]


class Fetcher:
    """What a store calls for objects that a root promises; a connection to each remote is kept."""

    def __init__(self) -> None:
        self._buckets: dict[tuple[str, str], Bucket] = {}

    def __call__(self, store: Store, remote: str, digests: Sequence[Digest]) -> None:
        """These objects are here, each named by a root that is. Raises RemoteError, InvalidOption."""
        key = store.folder, remote
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = connect(remote, get(store, remote))
        with store.importing() as importing:
            lost: RemoteError | None = None
            for _, found in bring(importing, remote_database(bucket, store), bucket, digests):
                if isinstance(found, RemoteError):
                    lost = lost or found
            importing.commit_objects()
        if lost is not None:
            # One that is damaged there keeps no other from coming.
            raise lost


@dataclass(slots=True)
class FetchReport:
    """objects: that were asked for and not here, and are by now. here: that were here already. pulled: of
    texts that meant nothing here, what came from the remote."""

    objects: int = 0
    here: int = 0
    pulled: PullReport | None = None


def fetch(store: Store, texts: Sequence[str], bucket: Bucket | None = None) -> FetchReport:
    """All objects that `texts` mean are here. What means nothing here is pulled from `bucket`, if given.

    texts: FILE, or what `Store.find` takes. Raises NotFound, RemoteError, and what a pull raises.
    """
    report = FetchReport()
    unknown: list[str] = []
    wanted: dict[Digest, None] = {}
    for text in texts:
        digests = _meant(store, text)
        if digests is None:
            unknown.append(text)
        else:
            wanted.update(dict.fromkeys(digests))
    if unknown and bucket is None:
        # Said in the words of what was looked for here.
        store.find(unknown[0])
    if unknown and bucket is not None:
        report.pulled = pull(store, bucket, unknown)
    absent = store.want(list(wanted))
    report.objects = absent
    report.here = len(wanted) - absent
    return report


def _meant(store: Store, text: str) -> Sequence[Digest] | None:
    """The objects that a text means by what is known here; None if that says nothing of one of them."""
    from castore.fold.check import may_hold_references
    from castore.fold.documents import document_digest, references_in
    from castore.fold.targets import is_file

    if is_file(store, text):
        digests = {each for root in store.document_roots(document_digest(text)) for each in root.objects}
        with open(text, "rb") as source:
            if not digests and may_hold_references(source):
                source.seek(0)
                digests = set(references_in(source)[1])
        known = [each for each in digests if not isinstance(_absence(store, each), NotFound)]
        return sorted(digests) if digests and len(known) == len(digests) else None
    try:
        return store.keep_draft(text).objects
    except NotFound:
        return None


def _absence(store: Store, digest: Digest) -> NotFound | None:
    """None if a root that the caller sees names the object."""
    return None if store.roots_naming(digest) else store.absence(digest)
