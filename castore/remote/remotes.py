"""Which remotes a store has: tables of its config.toml, by their names.

Laws: adding and removing one is the operator's, sends no request, and is on the disk when it returns. What
lies in a bucket does not change by it. A credential is in no table: settings refuse a URL that holds one.
"""

from __future__ import annotations

from collections.abc import Mapping

from castore.config import parse_name
from castore.errors import InvalidOption
from castore.remote.connecting import require_no_store
from castore.settings import RemoteSettings, declare_remote, parse_config, places, remove_remote
from castore.store import Store
from castore.store.remedies import DEFAULT_REMOTE, default_remote
from castore.store.scopes import change_config

__all__ = ["add", "default", "get", "listed", "remove"]


def add(store: Store, name: str, settings: RemoteSettings) -> None:
    """config.toml has the remote.

    Raises ScopeDenied, InvalidOption (a name in use, a place that can't be one, a folder in or around a
    store), LimitExceeded.
    """
    store.require_operator("adding a remote")
    parse_name(name)
    places.url(f"remote.{name}.url", settings.url)
    if settings.url.startswith("file:"):
        require_no_store(name, settings, store.folder)

    def change(text: str) -> str:
        if name in parse_config(text).remotes:
            raise InvalidOption(
                f"there is a remote '{name}' already",
                hint=f"'ctx config remote.{name}.KEY VALUE' changes it; 'ctx remote remove' takes it out",
            )
        return declare_remote(text, name, settings)

    change_config(store.parts, change)


def remove(store: Store, name: str) -> None:
    """config.toml does not have the remote any more. Raises ScopeDenied, InvalidOption."""
    store.require_operator("removing a remote")

    def change(text: str) -> str:
        if name not in parse_config(text).remotes:
            raise _unknown(name)
        return remove_remote(text, name)

    change_config(store.parts, change)


def listed(store: Store) -> Mapping[str, RemoteSettings]:
    """All remotes, sorted by their names. Raises InvalidConfig."""
    return dict(sorted(store.parts.config.remotes.items()))


def get(store: Store, name: str) -> RemoteSettings:
    """Raises InvalidOption if there is no such remote, InvalidConfig."""
    settings = store.parts.config.remotes.get(name)
    if settings is None:
        raise _unknown(name)
    return settings


def default(store: Store) -> str:
    """The only remote's name, or `origin`. Raises InvalidOption where that is none."""
    names = list(listed(store))
    meant = default_remote(names)
    if meant is not None:
        return meant
    if not names:
        raise InvalidOption("the store has no remote", hint="'ctx remote add NAME URL' adds one")
    raise InvalidOption(
        f"which remote is meant? there are {len(names)}, and none is '{DEFAULT_REMOTE}'",
        hint="name one; 'ctx remote list' lists them",
    )


def _unknown(name: str) -> InvalidOption:
    return InvalidOption(f"no remote '{name[:80]}'", hint="'ctx remote list' lists them")
