"""What an error is to a client: a code that programs branch on, words, a hint, and fields, all of them
bounded.

Law: what is told of an object that the caller may not see is told, word for word, of one that is not there.
"""

from __future__ import annotations

import os
from typing import Any

from castore.config import FIELD_CHARACTERS_MAX, MESSAGE_CHARACTERS_MAX
from castore.errors import (
    CastoreError,
    Conflict,
    Damaged,
    DigestAmbiguous,
    DocumentInvalid,
    InvalidOption,
    LimitExceeded,
    NameMissing,
    NotFound,
    ObjectMissing,
    ObjectPurged,
    RemoteError,
    RemoteForbidden,
    ScopeDenied,
    StoreLocked,
    StoreMissing,
    StoreUnavailable,
)
from castore.mcp import wording

__all__ = ["BUG", "CODES", "described", "limit", "text_of"]

BUG = 70
"""As the exit code of the commands."""

CODES: dict[type[CastoreError], str] = {
    ObjectPurged: "purged",
    DigestAmbiguous: "ambiguous",
    NotFound: "not_found",
    StoreMissing: "not_found",
    Damaged: "damaged",
    ScopeDenied: "denied",
    Conflict: "conflict",
    LimitExceeded: "limit",
    DocumentInvalid: "invalid",
    InvalidOption: "invalid",
    RemoteError: "remote",
    StoreLocked: "locked",
    StoreUnavailable: "unavailable",
}
"""The first class that an error is of says its code; of none of them: `failed`. And `internal`, of a bug."""

_LISTED_MAX = 10
_HINTS: dict[type[CastoreError], str] = {
    ObjectMissing: "copy the digits from the marker or reference; ctx_list says what is stored",
    ObjectPurged: "it was removed on purpose, and no tool brings it back: go on without it",
    NameMissing: "ctx_list says what is stored, and by which names",
    StoreMissing: "nothing was stored here yet: ctx_put or ctx_fold make the store",
    Damaged: "no tool can heal it: tell the user that the store is damaged",
    RemoteForbidden: "it lies at a remote, which the server was told not to ask: tell the user",
    RemoteError: "it lies at a remote that does not give it: ask again later, or tell the user",
    ScopeDenied: "the server was started without it: tell the user, if it is needed",
    DocumentInvalid: "ctx_fold takes JSON values one after another; ctx_put stores any text",
    LimitExceeded: "ask for less, or tell the user of the limit",
}
"""In place of what such an error says by itself, and of hints of which no tool can do anything."""


def described(error: BaseException) -> dict[str, Any]:
    """What the structured content of a failed call holds."""
    if isinstance(error, CastoreError):
        code = next((code for each, code in CODES.items() if isinstance(error, each)), "failed")
        message = wording.message(error.message)
        if error.place is not None:
            message = f"{message} (at {error.place})"
        fields = {name: _bounded(value) for name, value in error.fields.items()}
        if isinstance(option := fields.get("option"), str):
            fields["option"] = wording.argument(option)
        return _failure(code, message, _hint(error), error.exit_code, fields)
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        place = "" if error.filename is None else f"can't use '{os.fsdecode(error.filename)}': "
        return _failure("failed", place + reason, None, 1, {})
    if isinstance(error, MemoryError):
        return _failure("failed", "out of memory", "ask for a smaller part", 1, {})
    if isinstance(error, RecursionError):
        return _failure("invalid", "it is nested too deeply", None, DocumentInvalid.exit_code, {})
    name = type(error).__name__
    return _failure("internal", f"unexpected {name}", "this is a bug in castore; please report it", BUG, {})


def limit(message: str, hint: str) -> dict[str, Any]:
    """Of a limit of the server itself."""
    return _failure("limit", message, hint, LimitExceeded.exit_code, {})


def text_of(failure: dict[str, Any]) -> str:
    """The same for a model that reads text."""
    hint = f"\nhint: {failure['hint']}" if failure.get("hint") else ""
    return f"error ({failure['error']}): {failure['message']}{hint}"


def _hint(error: CastoreError) -> str | None:
    """What a client can do: what the error advises, in the words of tools, or what is said of its class."""
    own = None
    if error.hint is not None and error.hint not in (error.default_hint, error.others_hint):
        own = wording.hint(error.hint)
    known = next((hint for each, hint in _HINTS.items() if isinstance(error, each)), None)
    if own is not None or known is not None:
        return own or known
    return None if error.hint is None else wording.hint(error.hint)


def _failure(
    code: str, message: str, hint: str | None, exit_code: int, fields: dict[str, Any]
) -> dict[str, Any]:
    found: dict[str, Any] = {"error": code, "message": _clipped(message, MESSAGE_CHARACTERS_MAX)}
    if hint is not None:
        found["hint"] = _clipped(hint, MESSAGE_CHARACTERS_MAX)
    return {**found, "exit_code": exit_code, "fields": fields}


def _bounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_bounded(each) for each in value[:_LISTED_MAX]]
    return _clipped(value, FIELD_CHARACTERS_MAX // 4) if isinstance(value, str) else value


def _clipped(text: str, characters_max: int) -> str:
    half = characters_max // 2
    return text if len(text) <= characters_max else f"{text[:half]}…{text[-half:]}"
