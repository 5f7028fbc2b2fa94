"""What puts right what verify found: words for its summary."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from castore.objects.finding import FindingName
    from castore.store import StoreHandle

__all__ = ["remedy"]


def remedy(handle: StoreHandle, names: Set[FindingName], *, is_whole: bool) -> str | None:
    """What puts right some of what was found; None if nothing does. is_whole: in the whole store."""
    from castore.objects.finding import FindingName

    are_lost = not names.isdisjoint((FindingName.MISSING, FindingName.DAMAGED))
    if is_whole and names:
        if names == {FindingName.UNNAMED}:
            return "'ctx repair' keeps what is unnamed, 'ctx gc' frees it"
        option, what = _healing(handle)
        healing = f", and with {option} heals {what}" if are_lost else ""
        return f"'ctx repair' puts right what can be{healing}"
    if not are_lost:
        return None
    option, what = _healing(handle)
    if not handle.get().granted.is_operator:
        return f"the store's operator can heal objects with 'ctx repair {option}'"
    return f"'ctx repair {option}' heals {what}"


def _healing(handle: StoreHandle) -> tuple[str, str]:
    """An option of repair, and which objects it heals."""
    from castore.store.remedies import remote_to_name

    remote = remote_to_name(handle.get().parts)
    if remote is None:
        return "--from FILE", "objects whose bytes FILE has"
    return f"--remote {remote}", "objects that were pushed, --from FILE those whose bytes FILE has"
