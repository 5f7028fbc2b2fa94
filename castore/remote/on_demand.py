"""OnDemand: what a store calls for objects that are promised, so that a remote is loaded only for them.

Laws: nothing of object storage is imported until an object is fetched. Offline, no request is sent: what is
wanted is RemoteForbidden, which says where it lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from castore.digest import Digest
from castore.errors import RemoteForbidden
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
        """These objects are here. Raises RemoteForbidden, RemoteError; InvalidOption for no such remote."""
        if self._is_offline:
            shown = f"object '{digests[0].abbreviated}'"
            words = shown if len(digests) == 1 else f"{shown}, and {len(digests) - 1:,} more"
            verb = "lies" if len(digests) == 1 else "lie"
            raise RemoteForbidden(
                remote,
                f"{words} {verb} at remote '{remote}', and is not to be fetched",
                hint=self._hint,
                digest=str(digests[0]),
            )
        if self._fetcher is None:
            from castore.remote.fetch import Fetcher

            self._fetcher = Fetcher()
        self._fetcher(store, remote, digests)
