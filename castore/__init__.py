"""castore: a content-addressed store for the context of LLM agents.

The names below are the whole public interface; each is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from castore.api import (
        Digest,
        FoldPolicy,
        Store,
        fold_bytes,
        fold_value,
        get,
        init_store,
        open_store,
        put,
        stat,
        unfold_bytes,
        unfold_value,
    )
    from castore.errors import (
        BaseMissing,
        CastoreError,
        Conflict,
        Damaged,
        DigestAmbiguous,
        DocumentInvalid,
        IndexDamaged,
        InvalidConfig,
        InvalidOption,
        LimitExceeded,
        NameMissing,
        NameMoved,
        NameTaken,
        NotFound,
        ObjectDamaged,
        ObjectMissing,
        ObjectPurged,
        RootDamaged,
        ScopeDenied,
        SessionInvalid,
        StoreExists,
        StoreLocked,
        StoreMissing,
        StoreUnavailable,
        UnfoldMismatch,
        UnknownStoreFormat,
        ValueNotFoldable,
    )

__all__ = [
    "BaseMissing",
    "CastoreError",
    "Conflict",
    "Damaged",
    "Digest",
    "DigestAmbiguous",
    "DocumentInvalid",
    "FoldPolicy",
    "IndexDamaged",
    "InvalidConfig",
    "InvalidOption",
    "LimitExceeded",
    "NameMissing",
    "NameMoved",
    "NameTaken",
    "NotFound",
    "ObjectDamaged",
    "ObjectMissing",
    "ObjectPurged",
    "RootDamaged",
    "ScopeDenied",
    "SessionInvalid",
    "Store",
    "StoreExists",
    "StoreLocked",
    "StoreMissing",
    "StoreUnavailable",
    "UnfoldMismatch",
    "UnknownStoreFormat",
    "ValueNotFoldable",
    "fold_bytes",
    "fold_value",
    "get",
    "init_store",
    "open_store",
    "put",
    "stat",
    "unfold_bytes",
    "unfold_value",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from castore import errors

        if name in errors.__all__:
            return getattr(errors, name)
        from castore import api

        return getattr(api, name)
    raise AttributeError(f"module 'castore' has no attribute '{name}'")
