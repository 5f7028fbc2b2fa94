"""Sweeps: a gc says which keys it may delete, and a push waits for those that it needs.

Laws:
- A key is only deleted while a sweep that lists it stands. What a push needs is not looked for before every
  sweep that lists it, and that its gc may have written before the push's intent, is gone or over its time.
- A gc sends no delete later than SWEEP_DELETES_SECONDS after it began to write the sweep, by a clock of its
  own that counts while the machine sleeps. A sweep is over its time SWEEP_SECONDS after the server took it,
  by the server's clock, or after a push first saw it, by the push's own: no request can take so long.
- A sweep that can't be read is waited for as if it listed every key. One that is dated in the future holds a
  push no longer than any other, and the next gc dates it anew.
- A delete that may still be under way at the server (it failed, or took so long that it may have been tried
  twice) leaves its sweep there until that is over its time. So does a gc that was killed.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from types import TracebackType

from castore.errors import RemoteBusy, RemoteDamaged, RemoteError, RemoteMissing, RemoteUnavailable
from castore.remote.bucket import Bucket, Entry
from castore.remote.clock import elapsed
from castore.remote.keys import SWEEPS, is_own, sweep_key
from castore.remote.records import (
    RECORD_BYTES_MAX,
    SWEEP_DELETES_SECONDS,
    SWEEP_SECONDS,
    Sweep,
    decode_sweep,
    encode,
)

__all__ = ["SWEEPS_MAX", "Sweeping", "date_anew", "heed", "remove_over"]

SWEEPS_MAX = 1000
"""So many gcs at once, or killed since the last one, are taken for a bucket that somebody tampers with."""

_DOUBT_SECONDS = 5.0
"""A delete that took longer may have been tried twice, and its first try be done later."""

_PAUSE_SECONDS = 0.25
_PAUSE_SECONDS_MAX = 5.0


class Sweeping:
    """A sweep that stands while this is entered. modified: when the server took it, by its clock."""

    def __init__(
        self,
        bucket: Bucket,
        keys: Collection[str],
        *,
        clock: Callable[[], float] = elapsed,
        new_id: Callable[[], str] = lambda: secrets.token_hex(16),
    ) -> None:
        self.modified = 0.0
        self._bucket = bucket
        self._record = encode(Sweep(tuple(sorted(keys))))
        self.key = sweep_key(new_id())
        self._clock = clock
        self._begun = 0.0
        self._is_in_doubt = False

    def __enter__(self) -> Sweeping:
        self._begun = self._clock()
        self._bucket.put(self.key, self._record)
        self._bucket.settle()
        entry = self._bucket.head(self.key)
        if entry is None:
            words = f"'{self.key}' is gone from remote '{self._bucket.remote}' as soon as it was written"
            raise RemoteMissing(self._bucket.remote, words, hint="nothing was deleted; run it again")
        self.modified = entry.modified
        return self

    @property
    def has_time(self) -> bool:
        """A delete may be sent now."""
        return self._clock() - self._begun <= SWEEP_DELETES_SECONDS

    def delete(self, keys: Sequence[str]) -> int:
        """The first so many of `keys`, which it lists, are gone; all of them unless time was over."""
        # As many as are sent at once: none waits for another while time goes on.
        size = self._bucket.service.deletes_max * self._bucket.workers
        done = 0
        while done < len(keys):
            begun = self._clock()
            if begun - self._begun > SWEEP_DELETES_SECONDS:
                break
            group = keys[done : done + size]
            was_in_doubt, self._is_in_doubt = self._is_in_doubt, True
            self._bucket.delete(group)
            self._is_in_doubt = was_in_doubt or self._clock() - begun > _DOUBT_SECONDS
            done += len(group)
        return done

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # What interrupts (KeyboardInterrupt, a kill) ends without another request.
        if self._is_in_doubt or not (error is None or isinstance(error, Exception)):
            return
        try:
            self._bucket.delete([self.key])
        except RemoteError:
            # It must not hide the first error; the sweep is over in its time.
            if error is None:
                raise


def heed(
    bucket: Bucket,
    keys: Collection[str],
    own: Callable[[], Entry | None],
    *,
    clock: Callable[[], float] = elapsed,
    sleep: Callable[[float], None] = time.sleep,
    on_wait: Callable[[], None] = lambda: None,
) -> bool:
    """No sweep that may not have seen the caller's intent, which was written, lists any of `keys` any more.

    own: reads the entry of the intent, for when the server took it. False: it is gone, so that gcs do not
    heed it. Waits for SWEEP_SECONDS at most. Raises RemoteBusy, RemoteError.
    """
    wanted = keys if isinstance(keys, set | frozenset) else frozenset(keys)
    # Later ones find the intent: it was there before this listing began.
    found = list(islice(_entries(bucket), SWEEPS_MAX + 1))
    if len(found) > SWEEPS_MAX:
        raise RemoteBusy(
            bucket.remote,
            f"over {SWEEPS_MAX:,} gcs are under way at remote '{bucket.remote}'",
            hint="'ctx remote gc' removes what killed ones left",
        )
    seen = clock()
    waited = [each for each in bucket.map(lambda entry: _listing(bucket, entry, wanted), found) if each]
    if not waited:
        return True
    intent = own()
    if intent is None:
        return False
    for sweep in waited:
        age = max(0.0, intent.modified - sweep.modified)
        pause = _PAUSE_SECONDS
        while clock() - seen <= SWEEP_SECONDS - age and bucket.head(sweep.key) is not None:
            on_wait()
            sleep(pause)
            pause = min(2 * pause, _PAUSE_SECONDS_MAX)
    return True


def remove_over(bucket: Bucket, sweep: Sweeping, *, dry_run: bool = False) -> int:
    """Sweeps that are over their time are gone; how many those were. One that is dated in the future is dated
    anew: a server's clock was wrong, or somebody tampers.

    sweep: one that stands now. Raises RemoteUnavailable if it is not listed: then nothing can be told by what
    the server lists.
    """
    listed = list(_entries(bucket))
    if all(entry.key != sweep.key for entry in listed):
        words = f"remote '{bucket.remote}' does not list what was just written there"
        raise RemoteUnavailable(bucket.remote, words, hint="such a server can't be used for a gc")
    over = [entry.key for entry in listed if sweep.modified - entry.modified > SWEEP_SECONDS]
    if over and not dry_run:
        bucket.delete(over)
    for entry in listed if not dry_run else ():
        if entry.modified - sweep.modified > SWEEP_SECONDS:
            date_anew(bucket, entry)
    return len(over)


def date_anew(bucket: Bucket, entry: Entry) -> None:
    """A record that was dated in the future, which else would never be over its time, is as old as it is now
    found to be. It says what it said: whoever heeds it does so for that much longer, and no more.

    One that is deleted meanwhile stays so: a push takes its intent that is still there for one that was
    heeded. Without conditions that can't be made sure, so there it keeps its date.
    """
    if bucket.settings.conditions == "none":
        return
    try:
        found = bucket.get(entry.key, RECORD_BYTES_MAX)
    except RemoteDamaged:
        # What can't be read is heeded whatever it says.
        found = b"", entry
    if found is not None and bucket.replace(entry.key, *found):
        bucket.settle()


# --- Helpers ---------------------------------------------------------------------------------------


def _entries(bucket: Bucket) -> Iterator[Entry]:
    """What lies beside sweeps under other keys is none."""
    return (entry for entry in bucket.entries(SWEEPS) if is_own(entry.key))


def _listing(bucket: Bucket, entry: Entry, wanted: Collection[str]) -> Entry | None:
    """The sweep, if it lists a key of `wanted`, or what it lists can't be told."""
    try:
        found = bucket.get(entry.key, RECORD_BYTES_MAX)
        if found is None:
            return None
        sweep = decode_sweep(found[0], bucket.remote, entry.key)
    except RemoteDamaged:
        return entry
    return entry if any(key in wanted for key in sweep.keys) else None
