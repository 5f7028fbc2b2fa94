"""The laws of sharing, as functions over a bucket and files: run on fixtures, and on any folder of files.

    python -m tests.remote.laws FOLDER…       each file is folded, pushed to SeaweedFS, pulled into another
                                              store and unfolded there; one line a file

What a law finds wrong is raised as AssertionError with the law in its words.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

from castore.api import fold_bytes, unfold_bytes
from castore.digest import Digest
from castore.errors import CastoreError
from castore.gc.verify import verify
from castore.remote.bucket import Bucket
from castore.remote.choosing import choose
from castore.remote.connecting import connect
from castore.remote.keys import NAMES, name_key
from castore.remote.pull import pull, remote_database
from castore.remote.push import PushReport, push
from castore.remote.records import decode_name
from castore.remote.roots import RemoteRoots
from castore.store import Store


def hold_bucket(bucket: Bucket, store: Store) -> int:
    """Each root's objects are there and whole, what it is based on is there, and each name's root. How many
    roots there are. store: any; its folder for what is unfinished is used."""
    roots = {found.root.id: found.root for found in RemoteRoots(bucket).all()}
    database = remote_database(bucket, store)
    whole: set[Digest] = set()
    for root in roots.values():
        assert root.base is None or root.base in roots, f"what root {root.id} is based on is there"
        for digest in set(root.objects) - whole:
            data = database.read(digest)
            assert sha256(data).hexdigest() == digest.hex, f"{digest} of root {root.id} is whole"
            whole.add(digest)
    for entry in bucket.entries(NAMES):
        found = bucket.get(entry.key)
        assert found is not None
        record = decode_name(found[0], bucket.remote, entry.key)
        assert name_key(record.scope, record.name) == entry.key, f"the record of '{record.name}' is its own"
        assert record.root in roots, f"the root that '{record.name}' names is there"
    return len(roots)


def hold_store(store: Store) -> None:
    """The store has no damage, and nothing unfinished is left in it."""
    assert [str(each) for each in verify(store)] == [], "verify is clean"
    assert list(Path(store.folder, "tmp").iterdir()) == [], "nothing unfinished is left"


def hold_exact(here: Store, there: Store, bucket: Bucket, data: bytes) -> PushReport:
    """The bytes, folded here and pushed, pulled there by the digest of the folded document and unfolded."""
    folded = fold_bytes(here, data)
    digest = f"sha256:{sha256(folded).hexdigest()}"
    if not here.document_roots(Digest(digest[7:])):
        assert unfold_bytes(there, folded) == data, "what has no references needs no store"
        return PushReport()
    roots = choose(here, [digest])
    report = push(here, bucket, roots)
    assert not report.refused, "nothing of it is refused"
    again = push(here, bucket, roots)
    assert again.objects_sent == 0, "a second push sends no object"
    pulled = pull(there, bucket, [digest])
    assert not pulled.lost, "nothing of it is lost"
    assert unfold_bytes(there, folded) == data, "unfold there is what was folded here"
    return report


def main(folders: list[str]) -> int:
    """Every file of these folders; prints what was held, what was refused and what failed."""
    from tests.remote.servers import KEY, SECRET, running_seaweed

    failed = held = refused = objects = 0
    os.environ.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET)
    with tempfile.TemporaryDirectory() as work, running_seaweed() as server:
        here, there = Store.init(f"{work}/here"), Store.init(f"{work}/there")
        bucket = connect("origin", server.settings())
        for path in sorted(each for folder in folders for each in Path(folder).rglob("*") if each.is_file()):
            data, started = path.read_bytes(), time.perf_counter()
            try:
                report = hold_exact(here, there, bucket, data)
                held += 1
                objects += report.objects_sent
                print(
                    f"held     {path.name} {len(data)} bytes, {report.objects_sent} objects sent,"
                    f" {report.objects_there} there, {time.perf_counter() - started:.2f}s"
                )
            except CastoreError as error:
                if error.exit_code not in (17, 18):
                    failed += 1
                    print(f"FAILED   {path.name} {type(error).__name__}: {error.message[:300]}")
                    continue
                refused += 1
                print(f"refused  {path.name}: {error.message[:100]}")
            except AssertionError as error:
                failed += 1
                print(f"FAILED   {path.name} {error}")
        roots = hold_bucket(bucket, here)
        for store in (here, there):
            hold_store(store)
            store.close()
    print(f"{held} held ({objects} objects, {roots} roots), {refused} refused, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
