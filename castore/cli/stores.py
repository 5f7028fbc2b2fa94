"""init, stats, config: the store as a whole."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from castore.cli import output
from castore.cli.files import unreadable
from castore.cli.locate import FOLDER_NAME, find_store
from castore.cli.output import Count, Record, Size
from castore.cli.parameters import Json, StoreFolder
from castore.errors import InvalidConfig
from castore.settings import change_setting, config_values

__all__ = ["config", "init", "stats"]


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


def stats(as_json: Json = False, store: StoreFolder = None) -> None:
    """stdout says what the store holds; nothing is changed."""
    opened = find_store(store).get()
    held = opened.stats()
    ratio = f"{held.bytes / held.stored_bytes:.1f}x" if held.stored_bytes else "-"
    biggest = [
        {"digest": each.digest, "size": each.size, "stored_bytes": each.stored_bytes} for each in held.biggest
    ]
    lines = [
        ("store", opened.folder),
        ("objects", Count(held.objects)),
        ("roots", Count(held.roots)),
        ("bytes", Size(held.bytes)),
        ("stored", Size(held.stored_bytes)),
        ("ratio", ratio),
    ]
    facts = {
        "store": opened.folder,
        "objects": held.objects,
        "roots": held.roots,
        "bytes": held.bytes,
        "stored_bytes": held.stored_bytes,
        "ratio": round(held.bytes / held.stored_bytes, 3) if held.stored_bytes else None,
        "biggest": biggest,
    }
    output.block(lines, facts, as_json)
    if not as_json:
        output.table(
            (Record(("biggest", each.digest, Size(each.size)), {}) for each in held.biggest), as_json
        )


def config(
    key: Annotated[str | None, typer.Argument(metavar="KEY", help="Show only this setting.")] = None,
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="Set it to this.")] = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """Every setting with its origin is listed; with VALUE, config.toml says so, durably, and is valid."""
    opened = find_store(store).get()
    settings = config_values(opened.config)  # Invalid ones are an error that names the file.
    path = os.path.join(opened.folder, "config.toml")
    text = _read(path)
    if key is not None and value is not None:
        from castore.durable import replacing

        with replacing(path) as target:
            target.write(change_setting(text, key, value).encode())
        return
    written = _written_keys(text)
    if key is not None and key not in settings:
        raise InvalidConfig(f"unknown config key '{key}'", key=key, hint="'ctx config' lists the keys")
    shown = [
        Record(
            (name, setting, "config.toml" if name in written else "default"),
            {"key": name, "value": setting, "origin": "config.toml" if name in written else "default"},
        )
        for name, setting in settings.items()
        if key in (None, name)
    ]
    if key is not None and not as_json:
        output.line(str(settings[key]))
    else:
        output.table(shown, as_json)


def _read(path: str) -> str:
    """config.toml's text; a store without one has every default."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise unreadable(path, error) from error


def _written_keys(text: str) -> set[str]:
    import tomllib

    return {f"{table}.{name}" for table, names in tomllib.loads(text).items() for name in names}
