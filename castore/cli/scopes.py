"""scope list, scope create, scope show: who may see what, and how much each scope holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from castore.cli import output
from castore.cli.locate import find_store
from castore.cli.output import Count, Record, Size
from castore.cli.parameters import Json, StoreFolder

if TYPE_CHECKING:
    from castore.store.scopes import ScopeFacts

__all__ = ["scope_create", "scope_list", "scope_show"]

_ScopeName = Annotated[
    str, typer.Argument(metavar="NAME", help="Words of a-z 0-9 . _ - joined by '/', as in team/a.")
]


def scope_list(as_json: Json = False, store: StoreFolder = None) -> None:
    """stdout lists the scopes that are granted and there, and what each holds."""
    output.table((_record(each) for each in find_store(store).get().scopes()), as_json)


def scope_create(
    name: _ScopeName,
    quota: Annotated[
        str | None,
        typer.Option(
            "--quota", metavar="SIZE", help="The most bytes that its objects may have, as in 10GB, or none."
        ),
    ] = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """config.toml declares the scope; one that is declared keeps its quota unless another is given."""
    made = find_store(store).get_or_create().create_scope(name, quota=quota)
    if as_json:
        output.block((), _facts(made), as_json)
    elif output.is_attended():
        output.summary(f"declared the scope '{name}'")


def scope_show(name: _ScopeName, as_json: Json = False, store: StoreFolder = None) -> None:
    """stdout says what the scope holds; one that is not granted is 14, whether or not it is there."""
    found = find_store(store).get().scope(name)
    lines = [
        ("scope", found.name),
        ("roots", Count(found.roots)),
        ("objects", Count(found.objects)),
        ("bytes", Size(found.bytes)),
        ("quota", "none" if found.quota_bytes is None else Size(found.quota_bytes)),
        ("declared", found.is_declared),
    ]
    output.block(lines, _facts(found), as_json)


def _record(found: ScopeFacts) -> Record:
    """Name, roots, objects, their full size, the quota."""
    cells = (
        found.name,
        Count(found.roots, "root"),
        Count(found.objects, "object"),
        Size(found.bytes),
        _quota(found),
    )
    return Record(cells, _facts(found))


def _facts(found: ScopeFacts) -> Mapping[str, Any]:
    return {
        "scope": found.name,
        "roots": found.roots,
        "objects": found.objects,
        "bytes": found.bytes,
        "quota_bytes": found.quota_bytes,
        "is_declared": found.is_declared,
    }


def _quota(found: ScopeFacts) -> Size | None:
    return None if found.quota_bytes is None else Size(found.quota_bytes)
