"""Cloud: keys and bytes in object storage, through obstore. The only module that speaks to a server.

Laws: a request is tried again with backoff while what failed may pass, for about the remote's `retry`; then
it is a RemoteError in few words. What a server sends of a key is bounded before it is held; what it lists,
or says of an error, is bounded in time alone, as the client library holds that whole.

obstore tries again by itself, a few times, what it knows to be harmless. A conditional write whose connection
broke it does not: that is tried again here, and what the first try wrote may then be in its own way.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from castore.errors import RemoteDamaged, RemoteUnavailable, RemoteUnconditional
from castore.remote import clock, crew
from castore.remote.failures import (
    NOWHERE,
    Spot,
    is_beyond_end,
    is_no_bucket,
    is_no_range,
    is_panic,
    read_failure,
)
from castore.remote.keys import FORMAT
from castore.remote.service import Entry

if TYPE_CHECKING:
    from obstore import GetResult, ObjectMeta
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

__all__ = ["Cloud", "client_options", "retry_options"]

T = TypeVar("T")

_RETRIES_MAX = 5
"""Of the client library's own. Few: it tries as often to get credentials where there is nobody to ask."""

_BACKOFF_SECONDS = 0.1
_BACKOFF_SECONDS_MAX = 5.0
_PART_BYTES = 8 << 20
"""What is longer is sent in parts of so many bytes, four at once."""

_PARTS_MAX = 9_000
_PAGE_ENTRIES = 1000
_PIECE_BYTES = 1 << 18


def client_options(timeout_seconds: int, *, is_plain_http: bool) -> ClientConfig:
    return {
        "allow_http": is_plain_http,
        "timeout": f"{timeout_seconds}s",
        "connect_timeout": "5s",
        "pool_idle_timeout": "30s",
    }


def retry_options(retry_seconds: int) -> RetryConfig:
    return {
        "max_retries": _RETRIES_MAX,
        "retry_timeout": timedelta(seconds=retry_seconds),
        "backoff": {
            "init_backoff": timedelta(seconds=_BACKOFF_SECONDS),
            "max_backoff": timedelta(seconds=_BACKOFF_SECONDS_MAX),
            "base": 2,
        },
    }


class Cloud:
    """A Service over one of obstore's stores. Safe from several threads.

    has_generations: conditions are on a key's generation, which listings don't tell, and not on its e-tag.
    """

    def __init__(
        self,
        remote: str,
        store: ObjectStore,
        *,
        retry_seconds: int,
        deletes_max: int,
        is_far: bool = True,
        has_generations: bool = False,
        timeout_seconds: int = 60,
        spot: Spot = NOWHERE,
    ) -> None:
        self.is_far = is_far
        self.deletes_max = deletes_max
        self._remote = remote
        self._store: Any = store
        self._retry_seconds = retry_seconds
        self._has_generations = has_generations
        self._spot = spot._replace(retry_seconds=retry_seconds)
        self._page_seconds = timeout_seconds + retry_seconds
        self._has_listed = False

    def get(
        self, key: str, start: int, length: int | None, bytes_max: int | None
    ) -> tuple[bytes, Entry] | None:
        options: Any = None
        if length is not None:
            options = {"range": (start, start + length)}
        elif start:
            options = {"range": {"offset": start}}

        def got() -> tuple[bytes, Entry]:
            result = self._store.get(key, options=options)
            entry = _entry(key, result.meta)
            if bytes_max is not None and entry.size > bytes_max:
                raise RemoteDamaged(self._remote, key, f"it is longer than {bytes_max:,} bytes")
            expected = _expected(entry.size, start, length)
            # The client holds a whole to its declared length, but would take a part of any.
            data = bytes(result.bytes()) if options is None else _cut(result, 0, expected)
            if len(data) != expected:
                raise OSError("the answer ended early")
            return data, entry

        def cut() -> tuple[bytes, Entry]:
            result = self._store.get(key)
            entry = _entry(key, result.meta)
            return _cut(result, start, _expected(entry.size, start, length)), entry

        try:
            return self._tried("get", key, got)
        except FileNotFoundError:
            return None
        except _BeyondEnd:
            entry = self.head(key)
            return None if entry is None else (b"", entry)
        except _NoRanges:
            return self._tried("get", key, cut)

    def head(self, key: str) -> Entry | None:
        try:
            return self._tried("head", key, lambda: _entry(key, self._store.head(key)))
        except FileNotFoundError:
            return None

    def put(self, key: str, data: bytes | Path) -> None:
        size = data.stat().st_size if isinstance(data, Path) else len(data)
        part = max(_PART_BYTES, -(-size // _PARTS_MAX))
        self._tried(
            "put",
            key,
            lambda: self._store.put(key, data, use_multipart=size > part, chunk_size=part, max_concurrency=4),
        )

    def create(self, key: str, data: bytes) -> bool:
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        try:
            self._tried("create", key, lambda: self._store.put(key, data, mode="create"))
        except (AlreadyExistsError, PreconditionError):
            return False
        return True

    def replace(self, key: str, data: bytes, entry: Entry) -> bool:
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        tag = entry.version
        if not tag:
            raise RemoteUnconditional(self._remote, f"remote '{self._remote}' gives no e-tags")
        mode = {"e_tag": tag if tag.startswith("W/") else f'"{tag}"'}
        try:
            if self._has_generations:
                found = self._tried("head", key, lambda: self._store.head(key))
                if _tag(found) != tag:
                    return False
                mode["version"] = found["version"] or ""
            self._tried("replace", key, lambda: self._store.put(key, data, mode=mode))
        except (AlreadyExistsError, PreconditionError, FileNotFoundError):
            return False
        return True

    def delete(self, keys: Sequence[str]) -> None:
        try:
            self._tried("delete", keys[0], lambda: self._store.delete(list(keys)))
        except FileNotFoundError:
            return

    def pages(self, prefix: str) -> Iterator[Sequence[Entry]]:
        """A page that fails for a moment is asked for anew, from behind the last key that was given.

        None takes longer than a request and its tries may, though a server may answer many times for it.
        """
        from obstore.exceptions import BaseError

        last = ""

        def begun() -> tuple[Iterator[Sequence[ObjectMeta]], Sequence[ObjectMeta] | None]:
            # A stream that failed may end as if it were complete: each try has one of its own.
            stream = iter(self._store.list(prefix or None, offset=last or None, chunk_size=_PAGE_ENTRIES))
            return stream, self._next(stream)

        while True:
            stream, page = self._tried("list", prefix, begun)
            try:
                while page:
                    entries = [_entry(each["path"], each) for each in page]
                    yield entries
                    last = entries[-1].key
                    page = self._next(stream)
                if last:
                    self._has_listed = True
                elif self.is_far and not self._has_listed:
                    self._require_listing()
                return
            except (BaseError, OSError):
                continue  # What is wrong is told by the next try, if it does not pass.

    def settle(self) -> None:
        return

    # --- Helpers ---

    def _next(self, stream: Any) -> Sequence[ObjectMeta] | None:
        """The stream's next page; None: it has ended. Raises TimeoutError, and then sends no more."""
        if not self.is_far:
            page: Sequence[ObjectMeta] | None = next(stream, None)
            return page

        async def timed() -> Sequence[ObjectMeta] | None:
            async with asyncio.timeout(self._page_seconds):
                return await anext(stream, None)

        import asyncio

        # In a thread of its own, as the caller's may have an event loop already.
        return crew.apart(lambda: asyncio.run(timed()))

    def _require_listing(self) -> None:
        """The server does list. Raises RemoteUnavailable.

        The client library takes whatever else comes with a status of 200 for the end of a listing: so what
        lists nothing must list the one key that is in each bucket.
        """
        if self.head(FORMAT) is None:
            return
        # What comes behind this is the key itself.
        before = FORMAT[:-1]

        def listed() -> Sequence[ObjectMeta] | None:
            return self._next(iter(self._store.list(None, offset=before, chunk_size=1)))

        page = self._tried("list", "", listed)
        if not page or page[0]["path"] != FORMAT:
            words = f"remote '{self._remote}' does not list what is there"
            raise RemoteUnavailable(self._remote, words, hint="is it object storage? see 'ctx remote list'")
        self._has_listed = True

    def _tried(self, operation: str, key: str, call: Callable[[], T]) -> T:
        """What `call` gives. Raises RemoteError; as they are, FileNotFoundError and refused conditions."""
        from obstore import exceptions

        # By a clock that counts while the machine sleeps: a delete must not be tried again hours later.
        begun, pause = clock.elapsed(), _BACKOFF_SECONDS
        while True:
            try:
                return call()
            except (exceptions.AlreadyExistsError, exceptions.PreconditionError):
                raise
            except FileNotFoundError as error:
                if is_no_bucket(str(error)):
                    raise self._failed(operation, key, error) from None
                raise
            except (exceptions.BaseError, NotImplementedError, OSError) as error:
                if operation == "get" and is_beyond_end(str(error)):
                    raise _BeyondEnd from None
                if operation == "get" and is_no_range(str(error)):
                    raise _NoRanges from None
                failure = read_failure(type(error).__name__, str(error), operation=operation)
                elapsed = clock.elapsed() - begun
                if not failure.is_passing or elapsed + pause > self._retry_seconds:
                    raise failure.error(self._remote, operation, key, self._spot) from None
            except BaseException as error:
                if not is_panic(error):
                    raise
                words = f"the client library of remote '{self._remote}' failed to {operation} '{key}'"
                hint = "is it object storage? is its endpoint right, and what the environment says of one?"
                raise RemoteUnavailable(self._remote, words, hint=hint) from None
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, _BACKOFF_SECONDS_MAX)

    def _failed(self, operation: str, key: str, error: Exception) -> Exception:
        failure = read_failure(type(error).__name__, str(error), operation=operation)
        return failure.error(self._remote, operation, key, self._spot)


class _BeyondEnd(Exception):
    """The range begins at the end, or behind it."""


class _NoRanges(Exception):
    """The server sends the whole, whatever part of it is asked for."""


def _cut(result: GetResult, start: int, length: int) -> bytes:
    """Bytes of a stream that begins before them. What comes after them is not waited for."""
    held, at = bytearray(), 0
    for piece in result.stream(min_chunk_size=_PIECE_BYTES):
        held += memoryview(piece)[max(0, start - at) : max(0, start + length - at)]
        at += len(piece)
        if len(held) == length:
            break  # Nobody waits for more, however much would come.
    if len(held) != length:
        raise OSError("the stream ended early")
    return bytes(held)


def _expected(size: int, start: int, length: int | None) -> int:
    left = max(0, size - start)
    return left if length is None else min(left, length)


def _entry(key: str, found: ObjectMeta) -> Entry:
    return Entry(key, found["size"], _tag(found), found["last_modified"].timestamp())


def _tag(found: ObjectMeta) -> str:
    """The e-tag alone: versions, where buckets keep them, are in answers and not in listings."""
    tag = found["e_tag"] or ""
    # Some servers quote it in an answer, and not in a listing.
    return tag[1:-1] if len(tag) > 1 and tag[0] == tag[-1] == '"' else tag
