"""SummaryCache: summaries by all that they depend on, in one scope of a store. docs/summary.md.

Laws:
- A hit is the summary that was stored for the same source, scope, strategy, version and options, digested
  again, of a live root whose source is there too. Nothing else is served, and nothing of another scope.
- A hit writes nothing but a note of its use; the store may be read-only. Tying it to a name that it was not
  tied to, or that had another content, writes.
- A key that several want at once is made once, as long as its maker lives (castore.summary.making). Of two
  texts for one key, one is stored.
- What is made or put is on the disk before it is returned: source, summary and root, or nothing at all,
  whenever the process is killed.
- A derived source is refused, or its chain is recorded and kept (castore.summary.derivation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from castore.config import SUMMARY_BYTES_MAX
from castore.digest import SHORT_HEX, Digest
from castore.errors import InvalidOption, KeyTaken, LimitExceeded, NotFound
from castore.roots.model import RootKind, keyed_root_id
from castore.settings import SummaryPolicy
from castore.summary.derivation import refused
from castore.summary.entry import BY_GET, BY_PUT, Entry, checked_name
from castore.summary.eviction import Evicted
from castore.summary.key import SummaryKey
from castore.summary.listing import Listed, forgotten, gone, listed, policy_of
from castore.summary.making import alone
from castore.summary.stored import TRIES_MAX, There, find, look, store_entry, text_of, tie
from castore.summary.strategy import Maker, SummaryStrategy

if TYPE_CHECKING:
    from castore.store import Store, StoreHandle
    from castore.store.keeping import Forgotten, RootChoice

__all__ = ["Made", "SummaryCache"]


@dataclass(frozen=True, slots=True)
class Made:
    """A summary as it was asked for. is_hit: it was there. evicted: entries that went to make room for it."""

    entry: Entry
    text: str
    is_hit: bool
    evicted: tuple[Evicted, ...] = ()


class SummaryCache:
    """The cache of one scope. scope: None: the one that the caller writes in.

    on_wait: is called once when somebody else makes what is asked for. wait_seconds_max: how long that is
    waited for; None: as long as it takes.
    The store is made by the first summary of bytes, if the handle may make one.
    """

    def __init__(
        self,
        handle: StoreHandle,
        scope: str | None = None,
        *,
        on_wait: Callable[[], None] | None = None,
        wait_seconds_max: float | None = None,
    ) -> None:
        self._handle = handle
        self._asked_scope = scope
        self._on_wait = on_wait
        self._wait_seconds_max = wait_seconds_max

    # --- Asking ---

    def key(self, source: bytes | Digest, maker: Maker) -> SummaryKey:
        """The key of what this maker makes of the source, in this scope. Raises ScopeDenied, StoreMissing,
        InvalidOption, LimitExceeded."""
        _check_types(source, maker)
        digest = source if isinstance(source, Digest) else Digest.of(source)
        return SummaryKey(digest, self.scope, maker.name, maker.version, maker.options)

    @property
    def scope(self) -> str:
        """Raises ScopeDenied, StoreMissing."""
        return self._handle.get().granted.writing_scope(self._asked_scope)

    def find(self, key: SummaryKey) -> Entry | None:
        """The entry that a hit would serve; None if there is none.

        Raises ScopeDenied for the key of a scope that was not granted; ObjectDamaged, InvalidConfig.
        """
        return find(self._handle.get(), key)

    def text(self, entry: Entry) -> str:
        """The summary, digested again. Raises ObjectMissing, ObjectPurged, ObjectDamaged."""
        return text_of(self._handle.get(), entry)

    def look_up(
        self, source: bytes | Digest, maker: Maker, *, names: Sequence[str] = (), allow_derived: bool = False
    ) -> Made | None:
        """As `get` for what is there; None for what would have to be made."""
        store = self._handle.get()
        key = self.key(source, maker)
        self._check_source(store, key, source, allow_derived=allow_derived)
        entry = self.find(key)
        return None if entry is None else _served(store, entry, self.text(entry), _checked(names))

    def get(
        self,
        source: bytes | Digest,
        strategy: SummaryStrategy,
        *,
        names: Sequence[str] = (),
        allow_derived: bool = False,
        source_name: str | None = None,
    ) -> Made:
        """The summary that the strategy makes of the source: the stored one, or it is made and stored.

        source: its bytes, or the digest of an object that the caller sees. names: of named sources, whose
        content it now is. source_name: what people know it by, if it has no such name. Raises ScopeDenied,
        ObjectMissing, ObjectPurged, ObjectDamaged (of the source), DerivedSource, InvalidOption,
        LimitExceeded, StoreMissing, StoreLocked, RootDamaged, and what the strategy raises; then nothing was
        stored.
        """
        _check_types(source, strategy, "summarize")
        store = self._store(source)
        key = self.key(source, strategy)
        names = _checked(names)
        self._check_source(store, key, source, allow_derived=allow_derived)
        there = look(store, key)
        if there.hit is None:
            _check_storable(store, key)
            with alone(store, key.hex, on_wait=self._on_wait, wait_seconds_max=self._wait_seconds_max):
                there = look(store, key)
                if there.hit is None:
                    return self._make(store, key, source, strategy, names, source_name, there)
        return _served(store, *there.hit, names)

    # --- Storing ---

    def put(
        self,
        source: bytes | Digest,
        text: str,
        maker: Maker,
        *,
        names: Sequence[str] = (),
        allow_derived: bool = False,
        can_replace: bool = False,
        source_name: str | None = None,
    ) -> Made:
        """The text is the summary that this maker made of the source; a hit if it was so already.

        can_replace: it may be stored in place of another text. Else, and where somebody else stores another
        one just now, KeyTaken. Raises as `get`, and InvalidOption for a text that says nothing.
        """
        _check_types(source, maker)
        data = _encoded(text)
        store = self._store(source)
        key = self.key(source, maker)
        names = _checked(names)
        self._check_source(store, key, source, allow_derived=allow_derived)
        tries = 0
        while True:
            tries += 1
            there = look(store, key)
            if there.hit is not None and there.hit[1] == text:
                return _served(store, *there.hit, names, is_used=False)
            if there.hit is not None and not can_replace:
                raise _other_text(key)
            try:
                entry = store_entry(
                    store,
                    key,
                    source,
                    data,
                    made_by=BY_PUT,
                    names=names,
                    source_name=source_name,
                    old=there.root,
                )
            except KeyTaken:
                if tries == TRIES_MAX:
                    raise
            else:
                return Made(entry, text, is_hit=False, evicted=self._make_room(store, key))

    # --- Keeping ---

    def entries(self, *, strategy: str | None = None, name: str | None = None) -> list[Listed]:
        """The live entries, the latest first: of this cache's scope if one was asked for, else of all that
        the caller sees. name: tied to this one. Raises ScopeDenied, RootDamaged, InvalidConfig."""
        store = self._handle.get()
        return [
            each
            for each in listed(store, self._asked_scope)
            if strategy in (None, each.entry.key.strategy) and (name is None or name in each.entry.names)
        ]

    def forget(
        self, keys: Iterable[SummaryKey], *, at_once: bool = False, dry_run: bool = False
    ) -> Forgotten:
        """The entries with these keys are forgotten: they are not served, and gone after the grace, or at the
        next gc. Until then `remember` has them back. Raises NotFound for one that never was."""
        return self._handle.get().forget(_choice(keys), at_once=at_once, dry_run=dry_run)

    def forgotten(self) -> list[Listed]:
        """The entries that `remember` would have back, the latest first, of the same scopes as `entries`."""
        return forgotten(self._handle.get(), self._asked_scope)

    def remember(self, keys: Iterable[SummaryKey], *, dry_run: bool = False) -> Forgotten:
        """The entries with these keys are served again, as before they were forgotten; `roots` are those that
        were. Raises NotFound for one that gc has collected, or whose source was purged."""
        return self._handle.get().remember(_choice(keys), dry_run=dry_run)

    def evict(self, *, dry_run: bool = False) -> list[Evicted]:
        """What the policies of all strategies do not hold in this scope is forgotten, with the grace."""
        store = self._handle.get()

        def choose() -> list[Evicted]:
            entries = listed(store, self.scope)
            strategies = sorted({each.entry.key.strategy for each in entries})
            return [each for strategy in strategies for each in gone(store, entries, strategy)]

        return choose() if dry_run else self._evict(choose)

    # --- Helpers ---

    def _store(self, source: bytes | Digest) -> Store:
        if isinstance(source, Digest):
            return self._handle.get()
        if not self._handle.exists:
            self._handle.require_writable(self._asked_scope)
        return self._handle.get_or_create()

    def _check_source(
        self, store: Store, key: SummaryKey, source: bytes | Digest, *, allow_derived: bool
    ) -> None:
        """It is there, and may be summarised."""
        if isinstance(source, Digest):
            store.want([source])
            if store.stat(source) is None:
                raise store.absence(source)
        if not allow_derived and (error := refused(store, source, key.scope)) is not None:
            raise error

    def _make(
        self,
        store: Store,
        key: SummaryKey,
        source: bytes | Digest,
        strategy: SummaryStrategy,
        names: Sequence[str],
        source_name: str | None,
        there: There,
    ) -> Made:
        """there: what had the key when it was found that the summary has to be made."""
        from castore.transcript.collapse.summarizer import checked_summary

        data = store.read(source) if isinstance(source, Digest) else source
        text = checked_summary(strategy.summarize(data), by=key.maker)
        tries = 0
        while True:
            tries += 1
            try:
                entry = store_entry(
                    store,
                    key,
                    source,
                    text.encode(),
                    made_by=BY_GET,
                    names=names,
                    source_name=source_name,
                    old=there.root,
                )
            except KeyTaken:
                # Somebody put it meanwhile, or the lock was lost: what is stored counts.
                there = look(store, key)
                if there.hit is not None:
                    return _served(store, *there.hit, names)
                if tries == TRIES_MAX:
                    raise
            else:
                return Made(entry, text, is_hit=False, evicted=self._make_room(store, key))

    def _make_room(self, store: Store, key: SummaryKey) -> tuple[Evicted, ...]:
        if policy_of(store, key.strategy) == SummaryPolicy():
            return ()
        return tuple(
            self._evict(lambda: gone(store, listed(store, key.scope), key.strategy, just_made=key.hex))
        )

    def _evict(self, choose: Callable[[], list[Evicted]]) -> list[Evicted]:
        """Those chosen are forgotten; the others are chosen anew where gc just took one of them."""
        tries = 0
        while evicted := choose():
            tries += 1
            try:
                self.forget([each.entry.key for each in evicted])
                break
            except NotFound:
                if tries == TRIES_MAX:
                    raise
        return evicted


def _check_storable(store: Store, key: SummaryKey) -> None:
    """Found out before something is made for nothing. Raises ObjectPurged; as `Store.require_writable`."""
    store.require_writable(key.scope)
    tombstone = store.parts.tombstones.get(key.source)
    if tombstone is not None and key.scope in tombstone.scopes:
        raise tombstone.error()


def _check_types(source: object, maker: object, *more: str) -> None:
    """What a caller who is not typed gave. more: what the maker must have besides."""
    if not isinstance(source, bytes | Digest):
        kind = type(source).__name__
        raise InvalidOption(f"a source is bytes or a Digest, not a {kind}", hint="encode a str first")
    if isinstance(maker, type) or not all(
        hasattr(maker, each) for each in ("name", "version", "options", *more)
    ):
        kind = maker.__name__ if isinstance(maker, type) else type(maker).__name__
        hint = "make_strategy gives one; NamedMaker is for what is put and looked up"
        raise InvalidOption(f"a {kind} makes no summaries here", hint=hint)


def _served(store: Store, entry: Entry, text: str, names: Sequence[str], *, is_used: bool = True) -> Made:
    made = Made(tie(store, entry, names), text, is_hit=True)
    if is_used:
        store.reads.note_use(entry.key.hex, entry.summary.size)
    return made


def _other_text(key: SummaryKey) -> KeyTaken:
    short = key.hex[:SHORT_HEX]
    return KeyTaken(
        key.hex,
        key.scope,
        message=f"another summary of it by '{key.maker}' with these options is stored",
        hint=f"'ctx summary show {short}' shows it; --replace stores this one in its place",
    )


def _choice(keys: Iterable[SummaryKey]) -> RootChoice:
    from castore.store.keeping import RootChoice

    ids = tuple(keyed_root_id(RootKind.SUMMARY, key.scope, key.hex) for key in keys)
    if not ids:
        raise InvalidOption("nothing says which summaries are meant")
    return RootChoice(roots=ids)


def _checked(names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise InvalidOption("names are several: a list, not one str")
    return tuple(dict.fromkeys(checked_name(name) for name in names))


def _encoded(text: str) -> bytes:
    """The text as it is stored: verbatim, so that its digest is the one that everybody gets of it."""
    if not isinstance(text, str):
        raise InvalidOption(f"a summary is a str, not a {type(text).__name__}", hint="decode bytes first")
    if not text.strip():
        raise InvalidOption("a summary must say something", hint="is it an empty file?")
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise InvalidOption("a summary must be Unicode") from error
    if len(data) > SUMMARY_BYTES_MAX:
        raise LimitExceeded(
            f"a summary has over {SUMMARY_BYTES_MAX:,} bytes",
            limit="SUMMARY_BYTES_MAX",
            hint="what is as long as its source can be stored with 'ctx put'",
        )
    return data
