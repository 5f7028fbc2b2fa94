"""OnDemand: what a store calls for objects that are promised, so that a remote is loaded only for them.

Laws: nothing of object storage is imported until an object is fetched. Offline, no request is sent: what is
wanted is RemoteForbidden, which says where it lies; so does RemoteMissing, where the remote was removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from castore.digest import Digest
from castore.errors import RemoteForbidden, RemoteMissing
from castore.store import Store

if TYPE_CHECKING:
    from castore.remote.fetch import Fetcher

__all__ = ["OnDemand"]


class OnDemand:
    """offline: nothing is fetched. hint: what to do about that; None: that of the error."""

    def __init__(self, *, offline: bool = False, hint: str | None = None) -> None:
        self._is_offline = offline
        self._hint = hint
        self._fetcher: Fetcher | None = None

    def __call__(self, store: Store, remote: str, digests: Sequence[Digest]) -> None:
        """These objects are here. Raises RemoteError: RemoteForbidden, RemoteMissing for a remote that the
        store has no more; InvalidConfig."""
        if remote not in store.config.remotes:
            raise RemoteMissing(
                remote,
                f"{_where(remote, digests)}, which this store has no more",
                hint=f"'ctx remote add {remote} URL' adds it again, and what is read is fetched",
                digest=str(digests[0]),
            )
        if self._is_offline:
            is_are = "is" if len(digests) == 1 else "are"
            raise RemoteForbidden(
                remote,
                f"{_where(remote, digests)}, and {is_are} not to be fetched",
                hint=self._hint,
                digest=str(digests[0]),
            )
        if self._fetcher is None:
            from castore.remote.fetch import Fetcher

            self._fetcher = Fetcher()
        self._fetcher(store, remote, digests)


def _where(remote: str, digests: Sequence[Digest]) -> str:
    shown = f"object '{digests[0].abbreviated}'"
    if len(digests) == 1:
        return f"{shown} lies at remote '{remote}'"
    return f"{shown}, and {len(digests) - 1:,} more, lie at remote '{remote}'"
