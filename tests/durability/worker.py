"""A process that folds, puts, moves names and forgets in a loop, and writes down what it was told is done.

`python worker.py STORE LOG NAME FIRST`: runs until it is killed, or the store fails. The log is where no
power cut reaches; a line in it is a claim that the store must keep, or says that one is given up *before*
it is. Other names do other work, in a loop: `gc` collects garbage, `reader-…` unfolds what the others say
they folded, `mover` gives their documents names and moves them.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Any

__all__ = ["Claims", "source_of"]

_POOL = 10
"""Few enough values that documents share them, and that what one forgets another is just folding."""

_KEPT = 3
"""Documents that a worker keeps; it forgets the oldest of more."""

_TAGS = 2

_PUT_EVERY = 3

_DEAD_DISK = "Input/output error"
"""What a worker reads on a disk whose power is cut says nothing of what is on it."""


def source_of(name: str, number: int) -> bytes:
    """The document that a worker folds as its `number`-th."""
    chosen = random.Random(f"{name} {number}")
    values = [random.Random(each).randbytes(900).hex() for each in chosen.sample(range(_POOL), 3)]
    return json.dumps({"by": name, "number": number, "values": values}).encode()


def put_of(name: str, number: int) -> bytes:
    """What a worker puts beside its `number`-th document, if it puts something then."""
    return f"what {name} put as {number}, ".encode() * 60


class Claims:
    """What the logs of all workers say that the store must hold."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.documents: dict[tuple[str, int], bytes] = {}
        self.puts: set[tuple[str, int]] = set()
        self.tags: dict[str, set[tuple[str, int]]] = {}
        """What a tag means, or meant last and was being moved to."""
        self.tagged: set[str] = set()
        self.lost: list[str] = []
        self.done = self.read = 0
        folded: dict[tuple[str, int], bytes] = {}
        for line in lines:
            record = json.loads(line)
            key = (record["name"], record["number"])
            if record["act"] == "folded":
                folded[key] = self.documents[key] = b64decode(record["folded"])
                self.done += 1
            elif record["act"] == "read":
                self.read += 1
            elif record["act"] == "forgetting":
                self.documents.pop(key, None)
            elif record["act"] == "put":
                self.puts.add(key)
                self.done += 1
            elif record["act"] == "forgetting put":
                self.puts.discard(key)
            elif record["act"] == "tagging":
                self.tags.setdefault(record["tag"], set()).add(key)
            elif record["act"] == "tagged":
                self.tags[record["tag"]] = {key}
                self.tagged.add(record["tag"])
            elif record["act"] == "lost" and _DEAD_DISK not in record["error"]:
                self.lost.append(f"{key}: {record['error']}")
        self.folded = folded

    def broken(self, store: Any) -> list[str]:
        """The claims that the store does not keep."""
        from castore import api

        found = list(self.lost)
        for (name, number), folded in self.documents.items():
            found += _unless_unfolds(api, store, folded, name, number)
        for name, number in self.puts:
            found += _unless_reads(api, store, name, number)
        for tag, keys in self.tags.items():
            documents = {root.document.digest for root in store.named_roots(tag) if root.document}
            meant = [
                key for key in keys if key in self.folded and api.Digest.of(self.folded[key]) in documents
            ]
            # One that was being set for the first time when its worker was killed may not be there.
            if not meant and tag in self.tagged:
                found.append(f"tag {tag} means none of {keys}")
            for name, number in meant:
                found += _unless_unfolds(api, store, self.folded[name, number], name, number)
        return found


def _unless_unfolds(api: Any, store: Any, folded: bytes, name: str, number: int) -> list[str]:
    from castore.errors import CastoreError

    try:
        if api.unfold_bytes(store, folded) == source_of(name, number):
            return []
        return [f"{name} {number} unfolds to other bytes"]
    except CastoreError as error:
        return [f"{name} {number}: {error}"]


def _unless_reads(api: Any, store: Any, name: str, number: int) -> list[str]:
    from castore.errors import CastoreError

    data = put_of(name, number)
    try:
        if api.get(store, api.Digest.of(data)) == data:
            return []
        return [f"what {name} put as {number} reads as other bytes"]
    except CastoreError as error:
        return [f"what {name} put as {number}: {error}"]


class _Worker:
    def __init__(self, folder: str, log: str, name: str) -> None:
        from castore import api

        self.api = api
        self.store = api.open_store(folder, create=True)
        self.name = name
        self.log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.kept: list[tuple[int, bytes]] = []
        self.put: list[int] = []

    def say(self, act: str, number: int, **facts: object) -> None:
        """One line; of a document that another made, `name` says whose it is."""
        record = {"act": act, "name": self.name, "number": number, **facts}
        os.write(self.log, json.dumps(record).encode() + b"\n")

    def step(self, number: int) -> None:
        from castore.store.keeping import RootChoice

        source = source_of(self.name, number)
        folded = self.api.fold_bytes(self.store, source, source_name=self.name)
        self.say("folded", number, folded=b64encode(folded).decode())
        self.kept.append((number, folded))
        if number % 4 == 0:
            tag = f"{self.name}-{number // 4 % _TAGS}"
            self.say("tagging", number, tag=tag)
            self.store.tag(tag, str(self.api.Digest.of(folded)), move=True)
            self.say("tagged", number, tag=tag)
        if number % _PUT_EVERY == 0:
            self.step_of_put(number)
        if len(self.kept) > _KEPT:
            oldest, document = self.kept.pop(0)
            self.say("forgetting", oldest)
            choice = RootChoice(references=(str(self.api.Digest.of(document)),))
            self.store.forget(choice, at_once=True)
        for kept, document in self.kept:
            for error in _unless_unfolds(self.api, self.store, document, self.name, kept):
                self.say("lost", kept, error=error)

    def step_of_put(self, number: int) -> None:
        from castore.store.keeping import RootChoice

        self.api.put(self.store, put_of(self.name, number))
        self.say("put", number)
        self.put.append(number)
        if len(self.put) > _KEPT:
            oldest = self.put.pop(0)
            self.say("forgetting put", oldest)
            digest = self.api.Digest.of(put_of(self.name, oldest))
            self.store.forget(RootChoice(references=(str(digest),)), at_once=True)


class _Heard:
    """What the others' logs say, read on from where it was read before."""

    def __init__(self, log: str) -> None:
        self._folder = os.path.dirname(log)
        self._read: dict[str, int] = {}
        self.documents: dict[tuple[str, int], bytes] = {}
        """What is folded, and not given up as far as was heard."""

    def listen(self) -> None:
        for each in os.scandir(self._folder):
            with open(each.path, "rb") as file:
                file.seek(self._read.get(each.path, 0))
                data = file.read()
            # The last line may still be written.
            whole = data[: data.rfind(b"\n") + 1]
            self._read[each.path] = self._read.get(each.path, 0) + len(whole)
            for line in whole.splitlines():
                record = json.loads(line)
                key = (record["name"], record["number"])
                if record["act"] == "folded":
                    self.documents[key] = b64decode(record["folded"])
                elif record["act"] == "forgetting":
                    self.documents.pop(key, None)

    def any_document(self) -> tuple[str, int] | None:
        return random.choice(list(self.documents)) if self.documents else None


def _collect(worker: _Worker, heard: _Heard) -> None:
    from castore.gc.sweep import sweep

    sweep(worker.store, forgotten_now=True)
    time.sleep(0.02)


def _read(worker: _Worker, heard: _Heard) -> None:
    """A document unfolds to its source, or was given up before that failed."""
    heard.listen()
    key = heard.any_document()
    if key is None:
        time.sleep(0.02)
        return
    found = _unless_unfolds(worker.api, worker.store, heard.documents[key], *key)
    heard.listen()
    for error in found:
        if key in heard.documents or "other bytes" in error:
            worker.say("lost", key[1], error=error)
    worker.say("missed" if found else "read", key[1])


def _move(worker: _Worker, heard: _Heard) -> None:
    """A name means another document, unless that one is gone by now."""
    from castore.errors import NotFound

    heard.listen()
    key = heard.any_document()
    if key is None:
        time.sleep(0.02)
        return
    name, number = key
    tag, document = f"moved-{random.randrange(_TAGS)}", heard.documents[key]
    worker.say("tagging", number, name=name, tag=tag)
    try:
        worker.store.tag(tag, str(worker.api.Digest.of(document)), move=True)
    except NotFound as error:
        heard.listen()
        if key in heard.documents:
            worker.say("lost", number, error=f"{key} can't be tagged: {error}")
        return
    worker.say("tagged", number, name=name, tag=tag)
    for error in _unless_unfolds(worker.api, worker.store, document, name, number):
        worker.say("lost", number, error=error)


def main() -> None:
    folder, log, name, first = sys.argv[1:]
    worker = _Worker(folder, log, name)
    act = {"gc": _collect, "reader": _read, "mover": _move}.get(name.partition("-")[0])
    if act is not None:
        heard = _Heard(log)
        while True:
            act(worker, heard)
    number = int(first)
    while True:
        worker.step(number)
        number += 1


if __name__ == "__main__":
    main()
