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
        add_remote,
        check_remote,
        clip_text,
        collect_remote,
        create_bundle,
        fetch,
        fold_bytes,
        fold_value,
        forget_at_remote,
        get,
        import_bundle,
        init_store,
        list_remotes,
        open_store,
        page,
        pull,
        push,
        put,
        read,
        remove_remote,
        roots_at_remote,
        stat,
        unfold_bytes,
        unfold_value,
        verify_at_remote,
        view_bytes,
    )
    from castore.errors import (
        BaseMissing,
        BundleDamaged,
        CastoreError,
        Conflict,
        Damaged,
        DerivedSource,
        DigestAmbiguous,
        DocumentInvalid,
        FidelityShort,
        IndexDamaged,
        InvalidConfig,
        InvalidOption,
        KeyTaken,
        LimitExceeded,
        LogDamaged,
        LogMoved,
        NameMissing,
        NameMoved,
        NameTaken,
        NotFound,
        NotRestored,
        ObjectDamaged,
        ObjectMissing,
        ObjectPurged,
        RemoteBusy,
        RemoteDamaged,
        RemoteDenied,
        RemoteError,
        RemoteForbidden,
        RemoteMissing,
        RemoteUnavailable,
        RemoteUnconditional,
        RootDamaged,
        RootsDiverged,
        ScopeDenied,
        SessionInvalid,
        SpanConflict,
        StoreExists,
        StoreLocked,
        StoreMissing,
        StoreUnavailable,
        SummarizerFailed,
        UnfoldMismatch,
        UnknownStoreFormat,
        ValueNotFoldable,
        ViewMissing,
    )
    from castore.retrieve.address import Address
    from castore.summary.cache import Made, SummaryCache
    from castore.summary.fidelity.check import check_text
    from castore.summary.fidelity.requirements import fidelity_check
    from castore.summary.fidelity.structured import check_fields
    from castore.summary.key import SummaryKey
    from castore.summary.strategies.registry import make_strategy
    from castore.summary.strategy import NamedMaker
    from castore.transcript.budget import Budget
    from castore.transcript.collapse.command import Command
    from castore.transcript.collapse.coordinator import CollapseCoordinator
    from castore.transcript.collapse.entries import EntryLog
    from castore.transcript.collapse.extract import Extract
    from castore.transcript.collapse.model import Span
    from castore.transcript.collapse.overflow import is_overflow, overflow_of
    from castore.transcript.collapse.store_log import StoreLog
    from castore.transcript.collapse.summarizer import GivenText
    from castore.transcript.collapse.transcript_file import TranscriptFile
    from castore.transcript.decision import ViewOptions
    from castore.transcript.formats import read_session
    from castore.transcript.guard import RepeatGuard
    from castore.transcript.view import ViewRequest, make_view, plan_view

__all__ = [
    "Address",
    "BaseMissing",
    "Budget",
    "BundleDamaged",
    "CastoreError",
    "CollapseCoordinator",
    "Command",
    "Conflict",
    "Damaged",
    "DerivedSource",
    "Digest",
    "DigestAmbiguous",
    "DocumentInvalid",
    "EntryLog",
    "Extract",
    "FidelityShort",
    "FoldPolicy",
    "GivenText",
    "IndexDamaged",
    "InvalidConfig",
    "InvalidOption",
    "KeyTaken",
    "LimitExceeded",
    "LogDamaged",
    "LogMoved",
    "Made",
    "NameMissing",
    "NameMoved",
    "NameTaken",
    "NamedMaker",
    "NotFound",
    "NotRestored",
    "ObjectDamaged",
    "ObjectMissing",
    "ObjectPurged",
    "RemoteBusy",
    "RemoteDamaged",
    "RemoteDenied",
    "RemoteError",
    "RemoteForbidden",
    "RemoteMissing",
    "RemoteUnavailable",
    "RemoteUnconditional",
    "RepeatGuard",
    "RootDamaged",
    "RootsDiverged",
    "ScopeDenied",
    "SessionInvalid",
    "Span",
    "SpanConflict",
    "Store",
    "StoreExists",
    "StoreLocked",
    "StoreLog",
    "StoreMissing",
    "StoreUnavailable",
    "SummarizerFailed",
    "SummaryCache",
    "SummaryKey",
    "TranscriptFile",
    "UnfoldMismatch",
    "UnknownStoreFormat",
    "ValueNotFoldable",
    "ViewMissing",
    "ViewOptions",
    "ViewRequest",
    "add_remote",
    "check_fields",
    "check_remote",
    "check_text",
    "clip_text",
    "collect_remote",
    "create_bundle",
    "fetch",
    "fidelity_check",
    "fold_bytes",
    "fold_value",
    "forget_at_remote",
    "get",
    "import_bundle",
    "init_store",
    "is_overflow",
    "list_remotes",
    "make_strategy",
    "make_view",
    "open_store",
    "overflow_of",
    "page",
    "plan_view",
    "pull",
    "push",
    "put",
    "read",
    "read_session",
    "remove_remote",
    "roots_at_remote",
    "stat",
    "unfold_bytes",
    "unfold_value",
    "verify_at_remote",
    "view_bytes",
]

_MODULES = {
    "Address": "retrieve.address",
    "Budget": "transcript.budget",
    "CollapseCoordinator": "transcript.collapse.coordinator",
    "Command": "transcript.collapse.command",
    "EntryLog": "transcript.collapse.entries",
    "Extract": "transcript.collapse.extract",
    "GivenText": "transcript.collapse.summarizer",
    "Made": "summary.cache",
    "NamedMaker": "summary.strategy",
    "RepeatGuard": "transcript.guard",
    "Span": "transcript.collapse.model",
    "StoreLog": "transcript.collapse.store_log",
    "SummaryCache": "summary.cache",
    "SummaryKey": "summary.key",
    "TranscriptFile": "transcript.collapse.transcript_file",
    "ViewOptions": "transcript.decision",
    "ViewRequest": "transcript.view",
    "check_fields": "summary.fidelity.structured",
    "check_text": "summary.fidelity.check",
    "fidelity_check": "summary.fidelity.requirements",
    "is_overflow": "transcript.collapse.overflow",
    "make_strategy": "summary.strategies.registry",
    "make_view": "transcript.view",
    "overflow_of": "transcript.collapse.overflow",
    "plan_view": "transcript.view",
    "read_session": "transcript.formats",
}
"""Name -> module of castore, of those that are neither in castore.api nor errors."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        from castore import errors

        if name in errors.__all__:
            return getattr(errors, name)
        if name in _MODULES:
            from importlib import import_module

            return getattr(import_module(f"castore.{_MODULES[name]}"), name)
        from castore import api

        return getattr(api, name)
    raise AttributeError(f"module 'castore' has no attribute '{name}'")
