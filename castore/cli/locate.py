"""Which store a command works on.

Law: `--store`, then CTX_STORE (both name the .ctxstore folder itself), then the nearest .ctxstore upwards
from the current folder, then the user's own store; using the last one is said on stderr. A .ctxstore that
another user owns is refused when it was merely found, as git refuses such a repository: whoever owns a store
decides what is in it. Nothing is created here: a write creates the store that --store, CTX_STORE or the
default names, and a read never does.
"""

from __future__ import annotations

import os
import stat

from castore.cli.offline import is_offline, offline_hint
from castore.cli.output import at_end, note
from castore.config import parse_grants
from castore.errors import InvalidOption, StoreUnavailable
from castore.remote.on_demand import OnDemand
from castore.store import Access, Store, StoreHandle

__all__ = ["FOLDER_NAME", "find_store", "user_store_folder"]

FOLDER_NAME = ".ctxstore"


def find_store(option: str | None, scope: str | None = None) -> StoreHandle:
    """The place of the store, opened on first need, and closed when the command has ended.

    scope: the one to look at alone, within what CTX_SCOPE grants. Raises StoreUnavailable for another
    user's store, InvalidOption for a CTX_SCOPE that grants nothing.
    """
    handle = _handle(option)
    handle.access = Access(_granted(), scope)
    handle.fetcher = OnDemand(offline=is_offline(), hint=offline_hint())
    at_end(handle.conclude)
    return handle


def _handle(option: str | None) -> _Handle:
    named = option if option is not None else os.environ.get("CTX_STORE") or None
    if named is not None:
        if not named:
            raise InvalidOption("--store names no folder", hint="name a .ctxstore folder")
        return _Handle(os.path.abspath(named), may_create=True)
    found = _nearest_upwards()
    if found is not None:
        return _Handle(found, may_create=False)
    return _UserStore(user_store_folder(), may_create=True)


def _granted() -> tuple[str, ...] | None:
    """What whoever started this process grants it; None: nothing is said, and the store decides."""
    text = os.environ.get("CTX_SCOPE")
    if text is None:
        return None
    grants = parse_grants(text)
    if not grants:
        raise InvalidOption("CTX_SCOPE is set and grants nothing", hint="unset it, or name scopes in it")
    return grants


def user_store_folder() -> str:
    """The user's own store in the platform's data folder; it may not exist."""
    from platformdirs import user_data_dir

    return os.path.join(user_data_dir("castore", appauthor=False), FOLDER_NAME)


class _Handle(StoreHandle):
    """What the store has to say is said when the command has ended."""

    _opened: Store | None = None
    _is_making_said = False

    def get(self) -> Store:
        self._opened = super().get()
        return self._opened

    def get_or_create(self) -> Store:
        store = super().get_or_create()
        if store.parts.is_made_here and not self._is_making_said:
            self._is_making_said = True
            note(f"made the store '{store.folder}'")
        return store

    def conclude(self) -> None:
        if self._opened is not None:
            for words in self._opened.notes:
                note(words)
        self.close()


class _UserStore(_Handle):
    """The user's own store: its first use is said, because nobody named it."""

    _is_said = False

    def get(self) -> Store:
        store = super().get()
        if not self._is_said:
            self._is_said = True
            note("using the user store; 'ctx init' makes one here")
        return store


def _nearest_upwards() -> str | None:
    try:
        folder = os.getcwd()
    except FileNotFoundError:
        return None  # The current folder was removed: nothing is above it.
    while True:
        candidate = os.path.join(folder, FOLDER_NAME)
        try:
            facts = os.stat(candidate)
        except OSError:
            facts = None
        if facts is not None and stat.S_ISDIR(facts.st_mode):
            _check_owner(candidate, facts.st_uid)
            return candidate
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _check_owner(folder: str, owner: int) -> None:
    if not hasattr(os, "geteuid"):
        return  # Windows: access lists decide, and a uid says nothing.
    trusted = {os.geteuid()}
    sudo_user = os.environ.get("SUDO_UID", "")
    if os.geteuid() == 0 and sudo_user.isdigit():
        trusted.add(int(sudo_user))  # Who ran sudo is working in their own folder.
    if owner not in trusted:
        raise StoreUnavailable(
            f"store '{folder}' belongs to another user",
            hint=f"if you trust it, name it: --store {folder}, or CTX_STORE={folder}",
            folder=folder,
        )
