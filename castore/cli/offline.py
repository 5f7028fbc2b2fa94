"""--offline and CTX_OFFLINE: whether what this process runs may ask a remote for anything.

Law: offline, no request is sent to a remote, and what would need one says so (RemoteForbidden, 16).
"""

from __future__ import annotations

import os
from typing import Any

from castore.errors import RemoteForbidden

__all__ = ["forbid", "is_offline", "offline_hint", "require_online"]

_VARIABLE = "CTX_OFFLINE"
_GIVEN = "--offline was given"
_LEAVE_OUT = "leave out --offline"
_WITHOUT = f"unset {_VARIABLE}, or set it to 0"
_mode: dict[str, bool] = {"offline": False}


def forbid(wanted: Any) -> None:
    """What follows is offline, if that is wanted."""
    _mode["offline"] = bool(wanted)


def is_offline() -> bool:
    return _mode["offline"] or os.environ.get(_VARIABLE, "") not in ("", "0")


def offline_hint() -> str | None:
    """What lets it be fetched, where that is not the option."""
    return None if _mode["offline"] or not is_offline() else _WITHOUT


def require_online(remote: str | None) -> None:
    """Raises RemoteForbidden where the process is offline. remote: None: any."""
    if is_offline():
        which = "no remote is" if remote is None else f"remote '{remote}' is not"
        why, hint = (_GIVEN, _LEAVE_OUT) if _mode["offline"] else (f"{_VARIABLE} is set", _WITHOUT)
        raise RemoteForbidden(remote or "", f"{which} to be asked: {why}", hint=hint)
