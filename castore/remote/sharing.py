"""Push, pull, fetch and bundles as calls of one store: what castore.api gives to front ends.

Law: nothing of object storage is loaded before a call needs it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from castore.errors import InvalidOption, RemoteDamaged
from castore.objects.finding import Finding
from castore.roots.model import Root
from castore.store import Store

if TYPE_CHECKING:
    from castore.remote.bucket import Bucket
    from castore.remote.bundle import BundleFacts
    from castore.remote.bundle_import import BundleImport
    from castore.remote.checking import Check
    from castore.remote.fetch import FetchReport
    from castore.remote.gc import GcReport
    from castore.remote.pull import PullReport
    from castore.remote.push import PushReport
    from castore.remote.survey import BucketSurvey
    from castore.settings import RemoteSettings

__all__ = [
    "add_remote",
    "check_remote",
    "collect_remote",
    "connect",
    "create_bundle",
    "fetch",
    "forget_at_remote",
    "import_bundle",
    "list_remotes",
    "pull",
    "push",
    "remove_remote",
    "roots_at_remote",
    "verify_at_remote",
]

T = TypeVar("T")

Reference = str | os.PathLike[str]
"""What is meant: a name, a digest, the id of a root, the path of a file; a path object is always a file's."""

Progress = Callable[[int, int], None]
"""Is told how many objects are done, and of how many, from any thread."""


def add_remote(store: Store, name: str, url: str, **options: Any) -> None:
    """config.toml has the remote; no request is sent. options: of castore.settings.RemoteSettings.

    Raises ScopeDenied unless the caller is the operator; InvalidOption, InvalidConfig.
    """
    from castore.remote import remotes
    from castore.settings import RemoteSettings

    remotes.add(store, name, RemoteSettings(url, **options))


def list_remotes(store: Store) -> Mapping[str, RemoteSettings]:
    """The remotes of the store by their names, sorted, each as it is set; no request is sent.

    granted: as far as the caller was granted it here. Raises InvalidConfig.
    """
    from castore.remote import remotes

    def shown(settings: RemoteSettings) -> RemoteSettings:
        if settings.granted is None:
            return settings
        return replace(settings, granted=tuple(filter(store.granted.covers, settings.granted)))

    return {name: shown(settings) for name, settings in remotes.listed(store).items()}


def remove_remote(store: Store, name: str) -> None:
    """config.toml does not have the remote any more; what lies there stays, and no request is sent.

    Raises ScopeDenied unless the caller is the operator; InvalidOption for a remote that is unknown.
    """
    from castore.remote import remotes

    remotes.remove(store, name)


def check_remote(store: Store, remote: str | None = None) -> list[Check]:
    """For each property that a remote must have whether it is held, and what was seen, by a small object of
    its own, which is gone then. remote: as of `connect`. Raises RemoteError where nothing can be told."""
    from castore.remote.checking import check

    return check(connect(store, remote))


def connect(store: Store, remote: str | None = None) -> Bucket:
    """The bucket of a remote of the store; None: of the only one, or of `origin`. No request is sent.

    Credentials come from the environment or the provider's own chain. Raises InvalidOption for a remote that
    is unknown, CastoreError where `castore[remote]` is not installed.
    """
    from castore.remote import remotes
    from castore.remote.connecting import connect

    name = remotes.default(store) if remote is None else remote
    return connect(name, remotes.get(store, name))


def push(
    store: Store,
    *references: Reference,
    remote: str | None = None,
    everything: bool = False,
    move: bool = False,
    anew: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
    on_wait: Callable[[], None] | None = None,
) -> PushReport:
    """What `references` mean is at the remote, with all objects, durably; what was refused is in the report.

    references: files of folded documents or recorded views, as text or paths, names, digests, ids of roots;
    what has no root gets one, as `keep` makes it. everything: all live roots of scopes that are granted, here
    and there; those that were forgotten there are left. Neither is InvalidOption. move: a name is taken from
    whatever has it there. anew: objects that are there are sent, too. on_wait: is called before it waits for
    a gc there. remote: as of `connect`.
    Raises RemoteError, ScopeDenied, what `keep` raises; then a part may have been pushed, and no root there
    lacks anything.
    """
    from castore.remote.choosing import choose
    from castore.remote.push import push
    from castore.remote.roots import Grants

    texts = _texts(references, everything=everything)
    bucket = connect(store, remote)
    chosen = choose(store, texts, dry_run=dry_run)
    if everything:
        grants = Grants(store.granted, bucket.settings.granted)
        known = {root.id for root in chosen}
        others = (root for root in choose(store, (), everything=True) if root.id not in known)
        chosen += [root for root in others if grants.covers(root.scope)]
    return push(
        store,
        bucket,
        chosen,
        move=move,
        anew=anew,
        restore=not everything,
        dry_run=dry_run,
        progress=progress,
        on_wait=on_wait,
    )


def pull(
    store: Store,
    *references: Reference,
    remote: str | None = None,
    everything: bool = False,
    move: bool = False,
    lazily: bool | None = None,
    progress: Progress | None = None,
) -> PullReport:
    """What `references` mean at the remote is here, with all objects, each digested again, durably.

    references, move, remote: as of `push`, there and here. everything: all that is granted, there and here;
    what was forgotten or purged here stays so. lazily: roots come, and objects when they are read; None: as
    the remote's settings say. Raises RemoteError, ScopeDenied, NotFound, LimitExceeded; then a part may have
    come, and no root here lacks anything.
    """
    from castore.remote.pull import pull

    texts = _texts(references, everything=everything)
    bucket = connect(store, remote)
    return pull(
        store,
        bucket,
        texts,
        everything=everything,
        move=move,
        lazily=bucket.settings.fetch == "on-demand" if lazily is None else lazily,
        progress=progress,
    )


def fetch(store: Store, *references: Reference, remote: str | None = None) -> FetchReport:
    """All objects that `references` mean are here, from the remotes that their roots name.

    remote: what means nothing here is pulled from this one. Raises NotFound, RemoteError, and what `pull`
    raises.
    """
    from castore.remote.fetch import fetch

    return fetch(store, _texts(references), None if remote is None else connect(store, remote))


def roots_at_remote(
    store: Store, of: Callable[[Root], T], *, remote: str | None = None, limit: int | None = None
) -> tuple[list[T], list[RemoteDamaged]]:
    """What `of` makes of each root there that the caller may use, the latest first, `limit` of them; and, for
    who sees all, what could not be read. Nothing is written. Raises RemoteError."""
    from castore.remote.listing import roots_there

    return roots_there(store, connect(store, remote), of, limit=limit)


def verify_at_remote(
    store: Store,
    documents: Iterable[tuple[str, BinaryIO]] | None = None,
    *,
    remote: str | None = None,
    full: bool = False,
    told: BucketSurvey | None = None,
    progress: Progress | None = None,
) -> Iterator[Finding]:
    """What is wrong at the remote with the references of these documents, which are open at their beginning,
    each with its name in findings. None: with all that is there: roots, names, what they need; `told` gets
    what that was, and `progress` is told of shards, or of objects.

    full: objects are read and digested. Else those of a document are so too, but for larger ones than
    1 MiB, of which there must be the size and the table of frames; and of all that is there they must be in
    a listing. Raises RemoteError; ScopeDenied for None, unless the caller is the operator, and the remote
    grants all.
    """
    from castore.remote.survey import survey
    from castore.remote.verifying import verify_at_remote

    if documents is None:
        store.require_operator("verify of a whole remote")
        return survey(store, connect(store, remote), whole=full, told=told, progress=progress)
    return verify_at_remote(store, connect(store, remote), documents, whole=full)


def forget_at_remote(
    store: Store,
    *references: Reference,
    remote: str | None = None,
    at_once: bool = False,
    dry_run: bool = False,
) -> list[Root]:
    """The roots there that `references` mean, as of `pull`, expire after this store's grace, or at once.

    As they are then. What is based on none of them stays. Raises ScopeDenied, NotFound, RemoteError.
    """
    from castore.remote.forgetting import forget

    return forget(store, connect(store, remote), _texts(references), at_once=at_once, dry_run=dry_run)


def collect_remote(
    store: Store,
    *,
    remote: str | None = None,
    grace_seconds: int = 86_400,
    wait: bool = False,
    shard: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> GcReport:
    """What no root there named for the grace is gone, and so are roots that have expired; pushes go on.

    wait: also what is found unnamed now, once the grace is over. shard: the objects alone whose digests begin
    with these two hex digits. progress: is told of shards. Raises ScopeDenied unless the caller is the
    operator; RemoteError, and then nothing that is there lacks anything.
    """
    from castore.remote.gc import collect

    store.require_operator("remote gc")
    return collect(
        connect(store, remote),
        tmp=store.parts.layout.tmp,
        grace_seconds=grace_seconds,
        wait=wait,
        dry_run=dry_run,
        shard=shard,
        progress=progress,
    )


# --- Bundles ---------------------------------------------------------------------------------------


def create_bundle(
    store: Store,
    target: BinaryIO,
    *references: Reference,
    everything: bool = False,
    progress: Progress | None = None,
) -> BundleFacts:
    """`target` holds a tar of what `references` mean, with all objects, each read and checked.

    references, everything: as of `push`; no remote is needed. Raises ObjectMissing, ObjectDamaged,
    LimitExceeded, what `keep` raises; then what was written is no bundle.
    """
    from castore.remote.bundle import create_bundle
    from castore.remote.choosing import choose

    texts = _texts(references, everything=everything)
    return create_bundle(store, target, choose(store, texts, everything=everything), progress=progress)


def import_bundle(
    store: Store, source: BinaryIO, *, move: bool = False, progress: Progress | None = None
) -> BundleImport:
    """All that is in the bundle is here, each object digested again, durably; or nothing of it is.

    move: a name is taken from whatever has it here. Raises BundleDamaged, ObjectMissing, BaseMissing,
    ObjectPurged, NameTaken, RootsDiverged, ScopeDenied, LimitExceeded.
    """
    from castore.remote.bundle_import import import_bundle

    return import_bundle(store, source, move=move, progress=progress)


# --- Helpers ---------------------------------------------------------------------------------------


def _texts(references: Sequence[Reference], *, everything: bool = False) -> list[str]:
    """References as texts. Raises InvalidOption where nothing is named, and for what is no reference."""
    if not references and not everything:
        raise InvalidOption("nothing says what is meant", hint="name something, or say everything=True")
    return [_text(each) for each in references]


def _text(reference: Reference) -> str:
    """A path has a separator in it then, so that it is not taken for a name."""
    if isinstance(reference, str):
        return reference
    if not isinstance(reference, os.PathLike):
        kind = type(reference).__name__
        raise InvalidOption(f"{kind} is no reference", hint="a reference is a str or a path, each by itself")
    path = os.fsdecode(reference)
    return path if os.path.dirname(path) else os.path.join(os.curdir, path)
