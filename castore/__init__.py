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
        clip_text,
        fold_bytes,
        fold_value,
        get,
        init_store,
        open_store,
        put,
        stat,
        unfold_bytes,
        unfold_value,
        view_bytes,
    )
    from castore.errors import (
        BaseMissing,
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
        RootDamaged,
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
    "BaseMissing",
    "Budget",
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
    "NameMissing",
    "NameMoved",
    "NameTaken",
    "NotFound",
    "NotRestored",
    "ObjectDamaged",
    "ObjectMissing",
    "ObjectPurged",
    "RepeatGuard",
    "RootDamaged",
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
    "TranscriptFile",
    "UnfoldMismatch",
    "UnknownStoreFormat",
    "ValueNotFoldable",
    "ViewMissing",
    "ViewOptions",
    "ViewRequest",
    "clip_text",
    "fold_bytes",
    "fold_value",
    "get",
    "init_store",
    "is_overflow",
    "make_view",
    "open_store",
    "overflow_of",
    "plan_view",
    "put",
    "read_session",
    "stat",
    "unfold_bytes",
    "unfold_value",
    "view_bytes",
]

_OF_TRANSCRIPTS = {
    "Budget": "budget",
    "CollapseCoordinator": "collapse.coordinator",
    "Command": "collapse.command",
    "EntryLog": "collapse.entries",
    "Extract": "collapse.extract",
    "GivenText": "collapse.summarizer",
    "RepeatGuard": "guard",
    "Span": "collapse.model",
    "StoreLog": "collapse.store_log",
    "TranscriptFile": "collapse.transcript_file",
    "is_overflow": "collapse.overflow",
    "ViewOptions": "decision",
    "ViewRequest": "view",
    "make_view": "view",
    "overflow_of": "collapse.overflow",
    "plan_view": "view",
    "read_session": "formats",
}
"""Name -> module of castore.transcript."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        from castore import errors

        if name in errors.__all__:
            return getattr(errors, name)
        if name in _OF_TRANSCRIPTS:
            from importlib import import_module

            return getattr(import_module(f"castore.transcript.{_OF_TRANSCRIPTS[name]}"), name)
        from castore import api

        return getattr(api, name)
    raise AttributeError(f"module 'castore' has no attribute '{name}'")
