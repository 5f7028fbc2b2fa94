"""summary show, list, forget, evict: the entries of a cache."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from castore.cli import output
from castore.cli.locate import find_store
from castore.cli.output import Count, Identity, Moment, Record, Size, plural
from castore.cli.parameters import (
    DryRun,
    Json,
    Limit,
    ReadScope,
    Scope,
    StoreFolder,
    parse_count,
)
from castore.cli.summary_sources import one_of
from castore.config import parse_duration
from castore.digest import SHORT_HEX
from castore.errors import InvalidOption

if TYPE_CHECKING:
    from castore.store import Store, StoreHandle
    from castore.summary.cache import SummaryCache
    from castore.summary.entry import Entry
    from castore.summary.fidelity.model import Report
    from castore.summary.listing import Listed

__all__ = ["entry_facts", "summary_evict", "summary_forget", "summary_list", "summary_show"]

_OPTIONS_CHARACTERS_MAX = 80
"""Of all options, in a list; `show` and --json have them whole."""

_CHECKED_BYTES_MAX = 16 << 20
"""A longer source is not held against its summary by the way."""

Key = Annotated[
    str, typer.Argument(metavar="KEY", help="The first digits of its key, or of the summary's digest.")
]
OfStrategy = Annotated[
    str | None, typer.Option("--strategy", metavar="NAME[@V]", help="Only those that this made.")
]
OfName = Annotated[
    str | None, typer.Option("--source-name", metavar="NAME", help="Only those tied to this name.")
]
Superseded = Annotated[
    bool, typer.Option("--superseded", help="Only those of contents that their sources had once.")
]


def summary_show(key: Key, scope: ReadScope = None, as_json: Json = False, store: StoreFolder = None) -> None:
    """What a summary is of, what made it and when, how often it served, what it kept of its source; then its
    text."""
    handle = find_store(store, scope)
    cache = _cache(handle)
    listed = one_of(cache.entries(), key)
    entry = listed.entry
    text = cache.text(entry)
    report = _report(handle.get(), entry, text)
    facts = {**_listed_facts(listed), "fidelity": _fidelity_facts(report), "text": text}
    if as_json:
        output.block((), facts, as_json=True)
        return
    output.block(_lines(listed, report), facts, as_json=False)
    output.line("")
    for line in text.split("\n"):
        output.line(output.printable(line.replace("\t", "    ")))


def summary_list(
    strategy: OfStrategy = None,
    source_name: OfName = None,
    superseded: Superseded = False,
    limit: Limit = None,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """stdout lists the summaries, the latest first: key, age, what made it, size, hits, whether it is
    superseded or past its age, what it is of, its options."""
    cache = _cache(find_store(store, scope))
    found = _chosen(cache.entries(), strategy, source_name, is_superseded=superseded)
    output.table([_record(each) for each in found[: parse_count("-n", limit)]], as_json)


def summary_forget(
    keys: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY", help="The first digits of keys, or of summaries' digests."),
    ] = None,
    strategy: OfStrategy = None,
    source_name: OfName = None,
    superseded: Superseded = False,
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="DUR", help="Only those that were made longer ago.")
    ] = None,
    dry_run: DryRun = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Serve them again, while gc has not freed them.")
    ] = False,
    now: Annotated[bool, typer.Option("--now", help="Skip the grace time: the next gc frees it.")] = False,
    scope: Scope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """The summaries are not served any more, and gone when gc runs after the grace time; --undo has them back
    until then. stdout lists them. None being chosen is no error."""
    if undo and (now or superseded):
        raise InvalidOption("--undo goes with no --now and no --superseded", option="--undo")
    if not (keys or strategy or source_name or superseded or older_than is not None):
        hint = "name a KEY, or say --strategy, --source-name, --superseded or --older-than"
        raise InvalidOption("nothing says which summaries to forget", hint=hint)
    seconds = None if older_than is None else parse_duration(older_than)
    handle = find_store(store)
    # What is changed lies in one scope, as everything that is written does.
    cache = _cache(handle, handle.get().granted.writing_scope(scope))
    entries = cache.forgotten() if undo else cache.entries()
    if keys:
        entries = list({each.entry.root_id: each for each in (one_of(entries, key) for key in keys)}.values())
    found = _chosen(entries, strategy, source_name, is_superseded=superseded)
    if seconds is not None:
        found = [each for each in found if each.entry.made < time.time() - seconds]
    if undo:
        found = _remember(cache, found, dry_run=dry_run)
    elif found:
        cache.forget([each.entry.key for each in found], at_once=now, dry_run=dry_run)
    output.table([_record(each) for each in found], as_json)
    counts = {"forgotten": 0 if undo else len(found), "remembered": len(found) if undo else 0}
    _sum_up(len(found), "remembered" if undo else "forgotten", as_json=as_json, dry_run=dry_run, **counts)


def summary_evict(
    dry_run: DryRun = False, scope: Scope = None, as_json: Json = False, store: StoreFolder = None
) -> None:
    """What the policies 'summary.NAME.entries-max', 'bytes-max' and 'age-max' do not hold is forgotten now,
    and not when the next summary is made. stdout lists key, policy and maker."""
    evicted = _cache(find_store(store), scope).evict(dry_run=dry_run)
    output.table(
        [
            Record(
                (Identity(each.entry.key.hex), each.policy, each.entry.key.maker),
                {"policy": each.policy, **entry_facts(each.entry)},
            )
            for each in evicted
        ],
        as_json,
    )
    _sum_up(len(evicted), "forgotten", as_json=as_json, dry_run=dry_run, evicted=len(evicted))


def entry_facts(entry: Entry) -> dict[str, Any]:
    """What an entry says of itself."""
    return {
        "key": entry.key.hex,
        "root": entry.root_id,
        "scope": entry.scope,
        "strategy": entry.key.strategy,
        "version": entry.key.version,
        "options": {
            name: list(each) if isinstance(each, tuple) else each for name, each in entry.key.options.items()
        },
        "source": entry.source.digest,
        "source_size": entry.source.size,
        "source_name": entry.source_name,
        "summary": entry.summary.digest,
        "size": entry.summary.size,
        "names": sorted(entry.names),
        "chain": [step.to_json() for step in entry.chain],
        "made_by": entry.made_by,
        "made": Moment(entry.made),
    }


# --- Helpers ---------------------------------------------------------------------------------------


def _remember(cache: SummaryCache, found: list[Listed], *, dry_run: bool) -> list[Listed]:
    """Those that are served again, as they stand then."""
    if not found:
        return []
    ids = {root.id for root in cache.remember([each.entry.key for each in found], dry_run=dry_run).roots}
    return [each for each in (found if dry_run else cache.entries()) if each.entry.root_id in ids]


def _sum_up(count: int, verb: str, *, as_json: bool, dry_run: bool, **counts: int) -> None:
    """How many it were, to who looks on and to programs; in a pipe the lines say it."""
    if as_json or output.is_attended():
        words = f"{plural(count, 'summary', 'summaries')} {'would be ' * dry_run}{verb}"
        output.summary(words, **counts, dry_run=dry_run)


def _cache(handle: StoreHandle, scope: str | None = None) -> SummaryCache:
    from castore.summary.cache import SummaryCache

    return SummaryCache(handle, scope)


def _chosen(
    entries: Sequence[Listed], strategy: str | None, source_name: str | None, *, is_superseded: bool
) -> list[Listed]:
    from castore.summary.key import parse_strategy

    name, version = (None, None) if strategy is None else parse_strategy(strategy)
    return [
        each
        for each in entries
        if name in (None, each.entry.key.strategy)
        and version in (None, each.entry.key.version)
        and (source_name is None or source_name in each.entry.names)
        and (each.is_superseded or not is_superseded)
    ]


def _state(listed: Listed) -> str:
    if not listed.is_whole:
        return "incomplete"
    return "superseded" if listed.is_superseded else "past its age" if listed.is_old else "current"


def _title(entry: Entry) -> str:
    return ", ".join(sorted(entry.names)) or entry.source_name or entry.source.digest.short


def _record(listed: Listed) -> Record:
    entry = listed.entry
    cells = (
        Identity(entry.key.hex),
        Moment(entry.made),
        entry.key.maker,
        Size(entry.summary.size),
        Count(listed.hits, "hit"),
        _state(listed),
        _title(entry),
        None if not entry.key.options else output.clipped(_options_words(entry), _OPTIONS_CHARACTERS_MAX),
    )
    return Record(cells, _listed_facts(listed))


def _listed_facts(listed: Listed) -> dict[str, Any]:
    return {
        **entry_facts(listed.entry),
        "hits": listed.hits,
        "last_used": Moment(listed.last_used),
        "is_superseded": listed.is_superseded,
        "is_old": listed.is_old,
        "is_whole": listed.is_whole,
    }


def _lines(listed: Listed, report: Report | None) -> list[tuple[str, Any]]:
    entry = listed.entry
    lines: list[tuple[str, Any]] = [
        ("key", entry.key.hex),
        ("scope", entry.scope),
        ("strategy", entry.key.maker),
        ("options", _options_words(entry) or None),
        ("source", entry.source.digest),
        ("source name", entry.source_name),
        ("source size", Size(entry.source.size)),
        ("summary", entry.summary.digest),
        ("size", Size(entry.summary.size)),
        *(("tied to", name) for name in sorted(entry.names)),
        *(
            ("derived", f"by {step.by} from {step.digest.short if step.digest else step.name or 'turns'}")
            for step in entry.chain
        ),
        ("made", Moment(entry.made)),
        ("made by", "castore" if entry.made_by == "get" else "others, and put"),
        ("hits", Count(listed.hits)),
        ("last used", Moment(listed.last_used)),
        ("state", _state(listed)),
        ("fidelity", _fidelity_words(report)),
        ("root", entry.root_id[:SHORT_HEX]),
    ]
    return [(label, value) for label, value in lines if value is not None]


def _options_words(entry: Entry) -> str:
    """`characters=200 question=when?`, on one line."""
    words = (
        f"{name}={' '.join(map(str, value)) if isinstance(value, tuple) else value}"
        for name, value in entry.key.options.items()
    )
    return " ".join(" ".join(words).split())


def _report(store: Store, entry: Entry, text: str) -> Report | None:
    """What the summary kept; None for a source that is no text, or too long to be checked by the way."""
    if entry.source.size > _CHECKED_BYTES_MAX:
        return None
    try:
        source = store.read(entry.source.digest).decode()
    except UnicodeDecodeError:
        return None
    from castore.summary.fidelity.structured import are_structured, check_fields

    if are_structured(text, source):
        return check_fields(text, source)
    from castore.summary.fidelity.check import check_text

    return check_text(text, source)


def _fidelity_words(report: Report | None) -> str:
    if report is None:
        return "not checked"
    kept = sum(each.kept for each in report.counts.values())
    total = sum(each.total for each in report.counts.values())
    invented = sum(each.invented for each in report.counts.values())
    kinds = ", ".join(
        f"{kind} {each.kept}/{each.total}" for kind, each in report.counts.items() if each.total
    )
    words = f"kept {kept:,} of {plural(total, 'fact')}" + (f" ({kinds})" if kinds else "")
    return words + (f", {invented:,} invented" if invented else "")


def _fidelity_facts(report: Report | None) -> dict[str, Any] | None:
    if report is None:
        return None
    return {kind: each.record() for kind, each in report.counts.items()}
