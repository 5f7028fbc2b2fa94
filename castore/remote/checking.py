"""Checking: whether a bucket does what a remote must, by a small object of its own, which is gone afterwards.

Law: nothing that lies in the bucket is changed or relied on. A property that does not hold is a finding, not
an error; a bucket that can't be spoken to at all is a RemoteError.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from castore.errors import RemoteDenied, RemoteError, RemoteMissing
from castore.remote.bucket import Bucket
from castore.remote.connecting import connect

__all__ = ["Check", "check"]

What = Literal["list", "write", "read", "create", "replace", "delete"]

_RETRY_SECONDS_MAX = 5
_FIRST = b"castore check\n"
_SECOND = b"castore check, another one\n"


@dataclass(frozen=True, slots=True)
class Check:
    """One property. words: what was seen, for people."""

    what: What
    is_held: bool
    words: str


def check(bucket: Bucket) -> list[Check]:
    """A Check for each property, in the order in which they build on each other.

    Whether conditions hold is asked of the server, whatever the settings say of it. Raises RemoteUnavailable,
    RemoteMissing; RemoteDenied if all is denied.
    """
    settings = replace(bucket.settings, conditions="required")
    asked = Bucket(bucket.remote, settings, bucket.service)
    if bucket.service.is_far:
        # Who checks waits for an answer; none is one too.
        seconds = min(settings.retry_seconds, _RETRY_SECONDS_MAX)
        asked = connect(bucket.remote, replace(settings, retry_seconds=seconds))
    probe = _Probe(asked, f"checks/{os.urandom(16).hex()}")
    steps: list[tuple[What, Callable[[], str | None], str]] = [
        ("list", probe.listed, "keys are listed in their order"),
        ("write", probe.written, "an object was written"),
        ("read", probe.read, "it was read, whole and in part, as it was written"),
        ("create", probe.created, "of two creates of one key the second was refused"),
        ("replace", probe.replaced, "a replace was done, and one that came too late was refused"),
        ("delete", probe.deleted, "it was deleted, and so was what is not there"),
    ]
    checks: list[Check] = []
    denied: list[RemoteDenied] = []
    for what, step, words in steps:
        try:
            failed = step()
        except RemoteError as error:
            if isinstance(error, RemoteMissing) or _is_unreachable(error):
                raise
            if isinstance(error, RemoteDenied):
                denied.append(error)
            failed = error.message
        checks.append(Check(what, failed is None, failed or words))
    if len(denied) == len(steps):
        raise denied[0]
    return checks


class _Probe:
    """Each step returns what is wrong, or None."""

    def __init__(self, bucket: Bucket, key: str) -> None:
        self._bucket = bucket
        self._key = key
        self._other = key + "-created"

    def listed(self) -> str | None:
        for number, _ in enumerate(self._bucket.entries("roots/")):
            if number == 2000:
                break
        return None

    def written(self) -> str | None:
        self._bucket.put(self._key, _FIRST)
        self._bucket.settle()
        return None

    def read(self) -> str | None:
        found = self._bucket.get(self._key, 1 << 10)
        if found is None:
            return "what was written is not there"
        if found[0] != _FIRST or self._bucket.read(self._key, 8, 5) != _FIRST[8:13]:
            return "other bytes came back than were written"
        keys = [each.key for each in self._bucket.entries("checks/")]
        return None if self._key in keys else "what was written is not in a list"

    def created(self) -> str | None:
        if not self._bucket.create(self._other, _FIRST):
            return "a create of what is not there was refused"
        if self._bucket.create(self._other, _SECOND):
            return "a create of what is there was not refused: the server has no conditional writes"
        return None

    def replaced(self) -> str | None:
        entry = self._bucket.head(self._key)
        if entry is None:
            return "there is nothing to replace"
        if not self._bucket.replace(self._key, _SECOND, entry):
            return "a replace of what is there was refused"
        if self._bucket.replace(self._key, _FIRST, entry):
            return "a replace that came too late was not refused: the server has no conditional writes"
        return None

    def deleted(self) -> str | None:
        self._bucket.delete([self._key, self._other, self._key + "-absent"])
        self._bucket.settle()
        left = [each for each in (self._key, self._other) if self._bucket.head(each) is not None]
        return f"'{left[0]}' is still there" if left else None


def _is_unreachable(error: RemoteError) -> bool:
    return "cause" in error.fields
