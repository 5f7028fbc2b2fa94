"""remote add, list, remove, check: which remotes there are, and what they hold to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from castore.cli import output
from castore.cli.locate import find_store
from castore.cli.offline import require_online
from castore.cli.output import Record, plural
from castore.cli.parameters import Json, StoreFolder
from castore.config import parse_grants
from castore.errors import InvalidOption
from castore.roots.model import REMOTE
from castore.settings import RemoteSettings

if TYPE_CHECKING:
    from castore.remote.bucket import Bucket
    from castore.remote.checking import Check
    from castore.store import Store
    from castore.store.access import Granted

__all__ = ["RemoteName", "connected", "remote_add", "remote_check", "remote_list", "remote_remove"]

_FINDINGS = 3

RemoteName = Annotated[
    str, typer.Argument(metavar="NAME", help="Of a remote: a letter, then letters, digits and . _ -")
]


def remote_add(
    name: RemoteName,
    url: Annotated[
        str,
        typer.Argument(metavar="URL", help="s3://BUCKET/PREFIX, gs://…, az://… or file:///FOLDER."),
    ],
    endpoint: Annotated[
        str | None,
        typer.Option("--endpoint", metavar="URL", help="Of a server that is not the provider's own."),
    ] = None,
    region: Annotated[
        str | None, typer.Option("--region", metavar="REGION", help="Where the bucket lies.")
    ] = None,
    path_style: Annotated[
        bool,
        typer.Option("--path-style", help="The bucket stands in the path (default with --endpoint)."),
    ] = False,
    virtual_host: Annotated[
        bool, typer.Option("--virtual-host", help="The bucket stands in the host's name (else the default).")
    ] = False,
    fetch: Annotated[
        str | None,
        typer.Option(
            "--fetch",
            metavar="whole|on-demand",
            help="A pull brings objects (default), or roots alone, and reads bring what they need.",
        ),
    ] = None,
    conditions: Annotated[
        str | None,
        typer.Option(
            "--conditions",
            metavar="required|none",
            help="'none': the server has no conditional writes, and one store alone pushes at a time.",
        ),
    ] = None,
    granted: Annotated[
        list[str] | None,
        typer.Option(
            "--granted",
            metavar="SCOPES",
            help="Use these scopes of it alone, or globs such as 'team/*'; may be given again.",
        ),
    ] = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """config.toml has the remote, and no request was sent. Credentials are never given here, nor stored."""
    from castore.remote import remotes

    if path_style and virtual_host:
        raise InvalidOption("--path-style and --virtual-host contradict each other")
    if "://" not in url:
        right = "a bucket is s3://BUCKET/PREFIX, a folder file:///srv/folder"
        if url.startswith(("/", ".", "~")):
            from urllib.parse import quote

            right = f"as a remote the folder is file://{quote(os.path.abspath(os.path.expanduser(url)))}"
        raise InvalidOption(f"'{url}' is not a URL", hint=right)
    grants = tuple(each for text in granted or () for each in parse_grants(text))
    said: dict[str, Any] = {"fetch": fetch, "conditions": conditions, "granted": grants or None}
    settings = RemoteSettings(
        url,
        endpoint=endpoint,
        region=region,
        path_style=True if path_style else False if virtual_host else None,
        **{key: value for key, value in said.items() if value is not None},
    )
    opened = find_store(store).get_or_create()
    remotes.add(opened, name, settings)
    if as_json:
        output.block((), _facts(name, settings, opened.granted), as_json)
    elif output.is_attended():
        output.summary(f"added the remote '{name}'; next: ctx remote check {name}")


def remote_list(as_json: Json = False, store: StoreFolder = None) -> None:
    """stdout lists the remotes by their names. No request is sent."""
    from castore.remote import remotes

    opened = find_store(store).get()
    found = remotes.listed(opened)
    output.table((_record(name, settings, opened.granted) for name, settings in found.items()), as_json)


def remote_remove(name: RemoteName, as_json: Json = False, store: StoreFolder = None) -> None:
    """config.toml does not have the remote any more; what lies there stays."""
    from castore.remote import remotes

    opened = find_store(store).get()
    settings = remotes.listed(opened).get(name)
    remotes.remove(opened, name)
    promised = sum(root.details.get(REMOTE) == name for root in opened.roots())
    if promised:
        words = f"objects of {plural(promised, 'root')} here may lie there alone"
        output.note(f"{words}: a remote of the same name, added again, has them")
    if as_json and settings is not None:
        output.block((), _facts(name, settings, opened.granted), as_json)
    elif output.is_attended():
        output.summary(f"removed the remote '{name}'; what lies there stays")


def remote_check(name: RemoteName, as_json: Json = False, store: StoreFolder = None) -> int:
    """stdout says what the remote does as it must, and what not (3): an object of its own is written, read,
    created twice, replaced where that must be refused, and deleted."""
    from castore.remote.checking import check

    bucket = connected(find_store(store).get(), name)
    with output.working("checking"):
        checks = check(bucket)
    output.table(map(_check_record, checks), as_json)
    failed = sum(not each.is_held for each in checks)
    if failed or as_json or output.is_attended():
        words = f"{plural(failed, 'property', 'properties')} not held" if failed else "all is held"
        output.summary(f"{words} by '{name}'", remote=name, failed=failed)
    return _FINDINGS if failed else 0


def connected(opened: Store, name: str) -> Bucket:
    """The bucket of the remote; no request is sent. Raises InvalidOption for a remote that is unknown."""
    from castore.remote import remotes
    from castore.remote.connecting import connect

    settings = remotes.get(opened, name)
    require_online(name)
    return connect(name, settings)


# --- Helpers ---


def _record(name: str, settings: RemoteSettings, granted: Granted) -> Record:
    """Name, url, endpoint, how objects are fetched, which conditions, what is granted of it."""
    facts = _facts(name, settings, granted)
    grants = facts["granted"]
    cells = (
        name,
        settings.url,
        settings.endpoint,
        settings.fetch,
        settings.conditions,
        None if grants is None else " ".join(grants),
    )
    return Record(cells, facts)


def _facts(name: str, settings: RemoteSettings, granted: Granted) -> Mapping[str, Any]:
    """granted: as far as the caller was granted it here."""
    grants = settings.granted
    return {
        "remote": name,
        "url": settings.url,
        "endpoint": settings.endpoint,
        "region": settings.region,
        "path_style": settings.path_style,
        "fetch": settings.fetch,
        "conditions": settings.conditions,
        "granted": None if grants is None else [each for each in grants if granted.covers(each)],
        "timeout_seconds": settings.timeout_seconds,
        "retry_seconds": settings.retry_seconds,
        "workers": settings.workers,
    }


def _check_record(check: Check) -> Record:
    facts = {"check": check.what, "is_held": check.is_held, "words": check.words}
    return Record((check.what, check.is_held, check.words), facts)
