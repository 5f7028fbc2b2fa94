"""Intents: a push says which keys it relies on or writes, so that no gc deletes them.

Laws:
- While an intent stands and is not over its time, no gc that wrote its sweep after it deletes a key of it;
  and `hold` waits for those that wrote theirs before (castore.remote.sweeps).
- An intent is over its time INTENT_SECONDS after the server took it, by the server's clock alone. Its push
  stops to rely on it after half of that, by a clock of its own that counts while the machine sleeps.
- A gc deletes an intent that is over its time before it reads the roots that it goes by. So a push that finds
  its intent still there after its roots were written knows, whatever clocks say, that they were heeded.
- An intent stays where its push was interrupted, or was left in doubt whether what it sent was done.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterator
from types import TracebackType

from castore.errors import RemoteDamaged, RemoteError, RemoteUnavailable
from castore.remote.bucket import Bucket, Entry
from castore.remote.clock import elapsed
from castore.remote.keys import INTENTS, intent_key, is_own
from castore.remote.records import INTENT_SECONDS, RECORD_BYTES_MAX, Intent, decode_intent, encode
from castore.remote.sweeps import date_anew, heed

__all__ = ["INTENT_KEYS_MAX", "Held", "IntentOver", "hold", "standing_intents"]

INTENT_KEYS_MAX = 50_000
"""In one record; a push of more keys writes several."""


class IntentOver(Exception):
    """The intent is over its time, or soon will be: the batch begins anew, with another. Never gets out."""


def hold(
    bucket: Bucket,
    keys: Collection[str],
    *,
    clock: Callable[[], float] = elapsed,
    sleep: Callable[[float], None] = time.sleep,
    new_id: Callable[[], str] = lambda: secrets.token_hex(16),
    on_wait: Callable[[], None] = lambda: None,
) -> Held:
    """What, while it is entered, keeps gcs away from `keys`. See Held. on_wait: before each pause."""
    return Held(bucket, keys, clock=clock, sleep=sleep, new_id=new_id, on_wait=on_wait)


class Held:
    """Once entered: the intent is there, durably, and no gc deletes any of its keys. What is there now stays.

    Entering raises RemoteBusy, RemoteError, IntentOver, and waits for SWEEP_SECONDS at most. Leaving without
    an error raises IntentOver if the intent has been deleted meanwhile, by a gc that found it over its time:
    then what was there at the beginning may be gone, and roots that were written may lack it.
    """

    def __init__(
        self,
        bucket: Bucket,
        keys: Collection[str],
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        new_id: Callable[[], str],
        on_wait: Callable[[], None],
    ) -> None:
        self._bucket = bucket
        self._wanted = frozenset(keys)
        self._clock = clock
        self._sleep = sleep
        self._new_id = new_id
        self._on_wait = on_wait
        self._records: list[str] = []
        self._begun = 0.0

    def __enter__(self) -> Held:
        self._begun = self._clock()
        try:
            self._write()
            is_there = heed(
                self._bucket,
                self._wanted,
                lambda: self._bucket.head(self._records[0]),
                clock=self._clock,
                sleep=self._sleep,
                on_wait=self._on_wait,
            )
            if not is_there:
                raise IntentOver
        except BaseException as error:
            self._abandon(error)
            raise
        return self

    def require_time(self) -> None:
        """Raises IntentOver with less than half of INTENT_SECONDS left, since before it was written.

        To be asked before roots are written, and before names are.
        """
        if self._clock() - self._begun > INTENT_SECONDS / 2:
            raise IntentOver

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self._abandon(error)
            return
        there = [entry is not None for entry in self._bucket.map(self._bucket.head, self._records)]
        self._bucket.delete(self._records)
        if not all(there):
            raise IntentOver

    # --- Helpers ---

    def _write(self) -> None:
        keys = sorted(self._wanted)
        groups = [keys[at : at + INTENT_KEYS_MAX] for at in range(0, max(1, len(keys)), INTENT_KEYS_MAX)]
        self._records = [intent_key(self._new_id()) for _ in groups]

        def write(one: tuple[str, list[str]]) -> None:
            self._bucket.put(one[0], encode(Intent(tuple(one[1]))))

        for _ in self._bucket.map(write, zip(self._records, groups, strict=True)):
            pass
        self._bucket.settle()

    def _abandon(self, error: BaseException) -> None:
        """The intent is gone, as far as can be, unless a write may still be done after it."""
        if isinstance(error, RemoteUnavailable) or not isinstance(error, Exception):
            return
        try:
            self._bucket.delete(self._records)
        except RemoteError:
            # It must not hide the first error; a gc deletes what is over its time.
            return


def standing_intents(bucket: Bucket, *, now: float, dry_run: bool = False) -> Iterator[Intent]:
    """Every intent that is there and not over its time. The others are deleted before the first is given, and
    what is dated in the future is dated anew.

    What lies beside them under other keys is none, and stays. now: by the server's clock. dry_run: nothing
    is deleted. Raises RemoteDamaged for one that can't be read: what it names is not known.
    """
    standing: list[Entry] = []
    over: list[str] = []
    for entry in bucket.entries(INTENTS):
        if not is_own(entry.key):
            continue
        if now - entry.modified > INTENT_SECONDS:
            over.append(entry.key)
            continue
        standing.append(entry)
        if entry.modified - now > INTENT_SECONDS and not dry_run:
            date_anew(bucket, entry)
    if over and not dry_run:
        bucket.delete(over)
        bucket.settle()
    for intent in bucket.map(lambda entry: _intent(bucket, entry), standing):
        if intent is not None:
            yield intent


def _intent(bucket: Bucket, entry: Entry) -> Intent | None:
    """None: its push has ended meanwhile, and its roots are read after this."""
    try:
        found = bucket.get(entry.key, RECORD_BYTES_MAX)
        if found is None:
            return None
        return decode_intent(found[0], bucket.remote, entry.key)
    except RemoteDamaged as error:
        error.hint = "nothing is deleted until it is over its time, an hour after it was written"
        raise
