"""init, stats, config: the store as a whole."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from castore.cli import output
from castore.cli.locate import FOLDER_NAME, find_store
from castore.cli.output import Count, Moment, Record, Size, date_text
from castore.cli.parameters import Json, ReadScope, StoreFolder
from castore.errors import InvalidConfig, InvalidOption
from castore.settings import config_values, keys_hint
from castore.store.folder import read_config_text

if TYPE_CHECKING:
    from castore.store.access import Granted
    from castore.store.stats import DocumentUse, Freeable

__all__ = ["config", "init", "stats"]

Setting = str | int | float | list[str]


def init(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Make DIR/.ctxstore (default: the current folder).")
    ] = ".",
    shared: Annotated[bool, typer.Option("--shared", help="Let the folder's group read and write.")] = False,
    tracked: Annotated[
        bool, typer.Option("--tracked", help="Let git track objects and roots, so that a clone has them.")
    ] = False,
    as_json: Json = False,
) -> None:
    """There is a store in DIR; one that was there is left alone (10)."""
    from castore.store import Store

    made = os.path.join(os.path.abspath(folder), FOLDER_NAME)
    Store.init(made, shared=shared, tracked=tracked).close()
    if as_json:
        output.block((), {"folder": made}, as_json)
    elif output.is_attended():
        output.summary(f"made the store '{made}'")


def stats(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Of these sessions or JSON files; '-' is stdin, none the store."),
    ] = None,
    limit: Annotated[
        str | None, typer.Option("-n", metavar="N", help="Print at most N lines of each list (default: 10).")
    ] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option("--strategy", metavar="NAME[,NAME]", help="Compare what these do together, too."),
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="Read each as a session of this format.")
    ] = None,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """stdout says what the store holds, as far as it is seen; or where the context of sessions went, and what
    strategies and a fold would save. Nothing is changed or stored."""
    if files:
        from castore.cli.session_stats import stats_of_files

        stats_of_files(
            files,
            limit=limit,
            format=format,
            strategies=strategy,
            as_json=as_json,
            scope=scope,
            store=store,
        )
        return
    for option, value in (("-n", limit), ("--strategy", strategy), ("--format", format)):
        if value:
            raise InvalidOption(
                f"{option} is about files", option=option, hint="name a FILE, or '-' for stdin"
            )
    _stats_of_store(scope, as_json, store)


def _stats_of_store(scope: str | None, as_json: bool, store: str | None) -> None:
    from castore.summary.stats import summary_stats

    opened = find_store(store, scope).get()
    held, summaries = opened.stats(), summary_stats(opened)
    ratio = f"{held.bytes / held.stored_bytes:.1f}x" if held.stored_bytes else "-"
    biggest = [
        {"digest": each.digest, "size": each.size, "stored_bytes": each.stored_bytes} for each in held.biggest
    ]
    lines = [
        ("store", opened.folder),
        ("objects", Count(held.objects)),
        ("at remotes", Count(sum(held.at_remotes.values()))),
        ("roots", Count(held.roots)),
        ("bytes", Size(held.bytes)),
        ("stored", Size(held.stored_bytes)),
        ("ratio", ratio),
        ("free now", Size(held.free_now.stored_bytes)),
        ("free later", Size(held.free_later.stored_bytes)),
        ("free by", None if held.free_later_date is None else date_text(held.free_later_date)),
        ("documents", Count(held.documents)),
        ("file gone", Count(held.documents_gone)),
        ("read back", Size(held.read_bytes)),
        ("summaries", Count(summaries.entries)),
        ("of bytes", Size(summaries.bytes)),
        ("superseded", Count(summaries.superseded)),
        ("past age", Count(summaries.old)),
        ("hits", Count(summaries.hits)),
    ]
    facts = {
        "store": opened.folder,
        "objects": held.objects,
        "at_remotes": dict(held.at_remotes),
        "roots": held.roots,
        "bytes": held.bytes,
        "stored_bytes": held.stored_bytes,
        "ratio": round(held.bytes / held.stored_bytes, 3) if held.stored_bytes else None,
        "free_now": _freeable(held.free_now),
        "free_later": _freeable(held.free_later),
        "free_later_date": None if held.free_later_date is None else Moment(held.free_later_date),
        "documents": held.documents,
        "documents_gone": held.documents_gone,
        "read_bytes": held.read_bytes,
        "summaries": {
            "entries": summaries.entries,
            "bytes": summaries.bytes,
            "superseded": summaries.superseded,
            "old": summaries.old,
            "hits": summaries.hits,
        },
        "biggest": biggest,
        "biggest_documents": [_document_facts(each) for each in held.biggest_documents],
    }
    output.block(lines, facts, as_json)
    if not as_json:
        output.table(
            (Record(("biggest", each.digest, Size(each.size)), {}) for each in held.biggest), as_json
        )
        output.table(map(_document_record, held.biggest_documents), as_json)


def _document_record(use: DocumentUse) -> Record:
    """Which document, how much shorter folding made it, and what was read back of it, the last time when."""
    cells = (
        "document",
        use.document,
        use.source_name,
        None if use.saved_bytes is None else Size(use.saved_bytes),
        Size(use.read_bytes),
        use.last_read,
    )
    return Record(cells, _document_facts(use))


def _document_facts(use: DocumentUse) -> dict[str, Any]:
    return {
        "document": use.document,
        "source_name": use.source_name,
        "file": use.file,
        "is_gone": use.is_gone,
        "object_bytes": use.object_bytes,
        "saved_bytes": use.saved_bytes,
        "read_bytes": use.read_bytes,
        "last_read": use.last_read,
    }


def _freeable(free: Freeable) -> dict[str, int]:
    return {"objects": free.objects, "stored_bytes": free.stored_bytes}


def config(
    key: Annotated[str | None, typer.Argument(metavar="KEY", help="Show only this setting.")] = None,
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="Set it to this.")] = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """Every setting with its origin is listed; with VALUE, config.toml says so, durably, and is valid."""
    opened = find_store(store).get()
    if key is not None and value is not None:
        opened.change_setting(key, value)
        return
    settings = _visible(config_values(opened.config, key), opened.granted)
    written = _written_keys(read_config_text(opened.parts.layout))
    if key is not None and key not in settings:
        raise InvalidConfig(f"unknown config key '{key}'", key=key, hint=keys_hint(key))
    shown = [
        Record(
            (name, _words(setting), "config.toml" if name in written else "default"),
            {"key": name, "value": setting, "origin": "config.toml" if name in written else "default"},
        )
        for name, setting in settings.items()
        if key in (None, name)
    ]
    if key is not None and not as_json:
        output.line(_words(settings[key]))
    else:
        output.table(shown, as_json)


def _visible(settings: dict[str, Setting], granted: Granted) -> dict[str, Setting]:
    """What names a scope is shown as far as the caller was granted it."""
    shown = dict(settings)
    for key, setting in settings.items():
        if isinstance(setting, list):
            shown[key] = [each for each in setting if granted.covers(each)]
    if not granted.covers(str(settings["store.scope"])):
        del shown["store.scope"]
    return shown


def _words(setting: Setting) -> str:
    """A setting as it can be given: a list as words apart."""
    return " ".join(setting) if isinstance(setting, list) else str(setting)


def _written_keys(text: str) -> set[str]:
    import tomllib

    found: set[str] = set()
    for table, names in tomllib.loads(text).items():
        for name, value in names.items():
            found.add(f"{table}.{name}")
            if isinstance(value, dict):
                found.update(f"{table}.{name}.{each}" for each in value)
    return found
