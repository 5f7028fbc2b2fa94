"""ctx_put and ctx_fold: what adds to a store, as `ctx put` and `ctx fold` do.

Law: what an answer names is durable, and a root keeps it. Where the answer would be too long nothing is
stored.
"""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Mapping
from typing import Any

from castore import api
from castore.config import parse_duration
from castore.errors import DocumentInvalid, InvalidOption, LimitExceeded
from castore.mcp.answers import Answer
from castore.mcp.tools import ANSWER_BYTES_MAX
from castore.roots.model import Content, RootDraft, RootKind
from castore.settings import FoldDefaults
from castore.store import StoreHandle

__all__ = ["fold", "put"]

_REFS_MAX = 20
"""Objects that an answer of ctx_fold names: the document names all."""


def put(handle: StoreHandle, arguments: Mapping[str, Any]) -> Answer:
    """The bytes are an object that a root keeps. Raises NameTaken, ObjectPurged, ScopeDenied, LimitExceeded,
    InvalidOption."""
    data = _bytes(arguments)
    with handle.get_or_create().batch() as batch:
        staged = batch.stage(data)
        draft = RootDraft(
            RootKind.PUT,
            (staged.digest,),
            name=arguments.get("name"),
            keep_seconds=_keep_seconds(arguments),
            source=Content(staged.digest, staged.size),
        )
        batch.commit(draft)
    digest = staged.digest
    told = {"ref": digest.short, "digest": str(digest), "size": staged.size, "is_new": staged.is_new}
    return Answer(told, f"stored {staged.size:,} bytes as {digest.short}")


def fold(handle: StoreHandle, arguments: Mapping[str, Any]) -> Answer:
    """The folded document; what it names is stored. Raises DocumentInvalid, LimitExceeded, NameTaken,
    ObjectPurged, ScopeDenied, InvalidOption."""
    document = _encoded(arguments["document"], "document")
    policy = _policy(handle, arguments.get("bytes_over"))
    keep_seconds, bytes_max = _keep_seconds(arguments), arguments["max_bytes"]
    if len(document) > bytes_max:
        planned = api.plan_stream(io.BytesIO(document), policy)
        _check_length(planned.document.size, bytes_max)
    target = io.BytesIO()
    report = api.fold_stream(
        io.BytesIO(document),
        target,
        handle,
        policy,
        name=arguments.get("name"),
        keep_seconds=keep_seconds,
        is_private=True,
    )
    text = target.getvalue().decode()
    objects = () if report.root is None else report.root.objects
    told = {
        "text": text,
        "size": report.source.size,
        "folded_size": report.document.size,
        "folded": report.folded_count,
        "refs": [each.short for each in objects[:_REFS_MAX]],
    }
    return Answer(told, text)


# --- Helpers ---------------------------------------------------------------------------------------


def _bytes(arguments: Mapping[str, Any]) -> bytes:
    text, encoded = arguments.get("text"), arguments.get("base64")
    if (text is None) == (encoded is None):
        raise InvalidOption("ctx_put takes 'text' or 'base64', one of the two", option="text")
    if text is not None:
        return _encoded(text, "text")
    assert encoded is not None
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidOption(f"'base64' is no base64: {error}", option="base64") from error


def _encoded(text: str, name: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise DocumentInvalid(
            f"character {error.start} of '{name}' is a lone surrogate, which UTF-8 can't hold",
            hint="leave it out, or give the bytes as base64 to ctx_put",
        ) from error


def _keep_seconds(arguments: Mapping[str, Any]) -> int | None:
    text = arguments.get("keep_for")
    return None if text is None else parse_duration(text)


def _policy(handle: StoreHandle, bytes_over: int | None) -> api.FoldPolicy:
    """As the store's settings say, but for what the call says."""
    defaults = handle.get().config.fold if handle.exists else FoldDefaults()
    return api.FoldPolicy(
        bytes_over=defaults.bytes_over if bytes_over is None else bytes_over,
        items_over=defaults.items_over,
        min_saving=defaults.min_saving,
        preview=defaults.preview,
    )


def _check_length(size: int, bytes_max: int) -> None:
    if size <= bytes_max:
        return
    hint = (
        f"ask for max_bytes {size + size // 4}, or fold more: bytes_over"
        if size <= ANSWER_BYTES_MAX // 2
        else "fold more with a lower bytes_over, or put the document as it is: ctx_put"
    )
    raise LimitExceeded(
        f"the folded document has {size:,} bytes, over the {bytes_max:,} of an answer; nothing was stored",
        hint=hint,
        limit="max_bytes",
    )
