"""Commands that share, as scenarios: with a bucket in a folder beside the store, and what must hold there.

Whatever happens to a command: each root in the bucket has all its objects there and whole, and each name's
record a root. Once it was run again, it has done what it is for; and one gc there, after all that was left
is over its time, leaves nothing that no root names.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from castore import api
from castore.errors import CastoreError
from castore.remote.bucket import Bucket
from castore.remote.choosing import choose
from castore.remote.connecting import connect
from castore.remote.forgetting import forget
from castore.remote.gc import collect
from castore.remote.keys import INTENTS, OBJECTS, SWEEPS, digest_of
from castore.remote.pull import pull
from castore.remote.push import push
from castore.remote.remotes import add
from castore.remote.roots import RemoteRoots
from castore.settings import RemoteSettings
from castore.store import Store
from tests.durability.scenario import Scenario
from tests.durability.shell import Shell, document
from tests.remote.laws import hold_bucket

__all__ = ["SHARING", "Sharing"]

_BUCKET, _BUNDLE = "bucket", "x.tar"
_MOVED_NAME = "doomed"
"""A name that a document of the store has, too."""
_OVER = 2 * 86_400
"""Seconds after which nothing is waited for any more."""


class Sharing(Scenario):
    """there: names of documents that another store has pushed. gone: those that are forgotten there at once,
    before or by the command. bundled: what is in x.tar. is_lazy: the roots were pulled. is_shared: what this
    store has was pushed. is_damaged: an object's file is, and a root's.
    """

    beside = frozenset({_BUCKET, _BUNDLE})
    # 3: roots whose objects can't be read are refused, and the others are pushed.
    exit_codes = frozenset({3, 16})

    def places(self, shell: Shell) -> tuple[str, ...]:
        return (str(shell.folder / _BUCKET),)

    def wrong(self, shell: Shell, *, is_done: bool) -> list[str]:
        bucket = _bucket(shell)
        with _another(shell) as other:
            try:
                hold_bucket(bucket, other)
                if is_done:
                    self._expect_there(bucket, other)
                    self._expect_here(shell)
                    _expect_clean(bucket, other)
            except (AssertionError, CastoreError) as error:
                return [f"{type(error).__name__}: {error}"]
        return []

    # --- What is expected ---

    def _expect_there(self, bucket: Bucket, other: Store) -> None:
        """Anybody can pull what is to be there, exact; and no more."""
        if not Path(bucket.settings.url.removeprefix("file://"), "format").exists():
            assert self.arguments[0] == "bundle"
            return
        pull(other, bucket, everything=True)
        expected = {self._folded[each]: _source(each) for each in self._there if each not in self._gone}
        if self.arguments[0] == "push":
            expected = self.kept | {folded: source for folded, source in expected.items() if source != _MOVED}
        for folded, source in expected.items():
            assert api.unfold_bytes(other, folded) == source
        documents = {str(root.document.digest) for root in other.roots() if root.document is not None}
        assert documents == {str(api.Digest.of(folded)) for folded in expected}, "all of it came, and no more"

    def _expect_here(self, shell: Shell) -> None:
        """What came is here, exact."""
        if self.arguments[0] not in ("pull", "bundle", "fetch", "repair"):
            return
        came = self._bundled if self.arguments[0] == "bundle" else self._there
        store = Store.open(shell.store)
        try:
            for folded, source in self.kept.items():
                assert api.unfold_bytes(store, folded) == source
            for each in came:
                digest = self._folded[each]
                assert store.document_roots(api.Digest.of(digest)), f"the root of '{each}' is here"
                assert api.unfold_bytes(store, digest) == _source(each)
        finally:
            store.close()

    # --- What is there before ---

    def _fill(self, shell: Shell) -> None:
        self._there: tuple[str, ...] = self.options.get("there", ())
        self._gone: tuple[str, ...] = self.options.get("gone", ())
        self._bundled: tuple[str, ...] = self.options.get("bundled", ())
        self._folded: dict[str, bytes] = {}
        super()._fill(shell)
        bucket = _bucket(shell)
        with _another(shell) as other:
            for each in self._there:
                self._folded[each] = api.fold_bytes(other, _source(each), name=each)
            if self._there:
                push(other, bucket, choose(other, (), everything=True))
            if self._gone and self.arguments[1] != "forget":
                forget(other, bucket, self._gone, at_once=True)
            if self._bundled:
                self._bundle(other, shell)
        store = Store.open(shell.store)
        try:
            add(store, "origin", bucket.settings)
            if self.options.get("is_shared"):
                push(store, bucket, choose(store, (), everything=True))
            if self.options.get("is_lazy"):
                pull(store, bucket, self._there, lazily=True)
            if self.options.get("is_damaged"):
                _damage(store)
        finally:
            store.close()

    def _bundle(self, other: Store, shell: Shell) -> None:
        for each in self._bundled:
            self._folded[each] = api.fold_bytes(other, _source(each), name=each)
        with open(shell.folder / _BUNDLE, "wb") as target:
            api.create_bundle(other, target, everything=True)


def _source(name: str) -> bytes:
    return document(f"{name} of another store")


_MOVED = _source(_MOVED_NAME)


def _bucket(shell: Shell) -> Bucket:
    # One request after another: then a call has the same number in each run.
    return connect("origin", RemoteSettings(url=f"file://{shell.folder / _BUCKET}", workers=1))


@contextmanager
def _another(shell: Shell) -> Iterator[Store]:
    """A store somewhere else, for as long as it is needed."""
    with tempfile.TemporaryDirectory(dir=shell.folder.parent) as folder:
        store = Store.init(Path(folder) / "store")
        try:
            yield store
        finally:
            store.close()


def _damage(store: Store) -> None:
    """An object's file is cut off, and a root's has another byte."""
    digest = next(iter(store.roots()[0].objects))
    for path, length in ((store.parts.layout.object_file(digest.hex), 40), (_root_file(store), 80)):
        os.chmod(path, 0o600)
        os.truncate(path, length)


def _root_file(store: Store) -> str:
    return store.parts.layout.root_file(store.roots()[-1].id)


def _expect_clean(bucket: Bucket, other: Store) -> None:
    """One gc, once what was left is over its time, leaves what roots name."""
    folder = Path(bucket.settings.url.removeprefix("file://"))
    if not (folder / "format").exists():
        return
    then = time.time() - _OVER
    for name in ("intents", "sweeps", "tmp"):
        for path in folder.glob(f"{name}/*"):
            os.utime(path, (then, then))
    collect(connect("origin", bucket.settings), tmp=other.parts.layout.tmp, grace_seconds=0)
    named = {digest for found in RemoteRoots(bucket).all() for digest in found.root.objects}
    assert {digest_of(entry.key) for entry in bucket.entries(OBJECTS)} == named, "no more is there"
    left = [entry.key for prefix in (INTENTS, SWEEPS) for entry in bucket.entries(prefix)]
    assert left == [], "nothing is left"
    assert list(folder.glob("tmp/*")) == [], "nothing is left in tmp/"
    hold_bucket(bucket, other)


SHARING = [
    Sharing("push", "push", "--all"),
    Sharing("push of a moved name", "push", "--all", "--move", there=(_MOVED_NAME, "there")),
    Sharing("pull", "pull", "--all", there=("there", "more")),
    Sharing("pull by name", "pull", "there", there=("there",)),
    Sharing("fetch", "fetch", "there", there=("there",), is_lazy=True),
    Sharing("bundle import", "bundle", "import", _BUNDLE, bundled=("bundled",)),
    Sharing(
        *("remote forget", "remote", "forget", "origin", "there", "--now"),
        there=("there", "stays"),
        gone=("there",),
    ),
    Sharing("remote gc", "remote", "gc", "origin", "--grace", "0s", there=("there", "left"), gone=("left",)),
]
"""All of them are of several transactions, or none, so that no order of syncs is asked of them."""
