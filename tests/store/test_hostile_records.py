"""L10: root files, rows, settings and words that nobody honest wrote: an error, soon, and within memory."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any

import pytest

from castore import api
from castore.config import COUNT_MAX, SOURCE_NAME_BYTES_MAX, TIME_MAX
from castore.errors import CastoreError
from castore.roots.model import RootDraft, RootKind
from castore.store import Store
from tests.store.hostile import PUT_DIGEST, ROOT_ID, Place

SLOW = ("deep keys", "deep tables", "millions of values", "long details", "a source of 10 MB")
"""The seconds that they take are bounded, and many."""


def slow_ones_long(names: Iterable[str]) -> list[Any]:
    return [pytest.param(each, marks=pytest.mark.long) if each in SLOW else each for each in names]


# --- Root files ------------------------------------------------------------------------------------


def canonical(members: dict[str, Any]) -> bytes:
    return json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def rewritten(**changes: Any) -> Callable[[bytes], bytes]:
    """The root with these members changed and a check that fits: what a forger would write."""

    def rewrite(data: bytes) -> bytes:
        members = {**json.loads(data), **changes}
        del members["check"]
        members["check"] = sha256(canonical(members)).hexdigest()
        return canonical(members) + b"\n"

    return rewrite


def with_text(old: str, new: str) -> Callable[[bytes], bytes]:
    """For what `json` would not write."""

    def rewrite(data: bytes) -> bytes:
        members = json.loads(rewritten(source_name=old)(data))
        del members["check"]
        text = canonical(members).replace(json.dumps(old).encode(), new.encode())
        return text[:-1] + b',"check":"' + sha256(text).hexdigest().encode() + b'"}\n'

    return rewrite


def nested(depth: int) -> Any:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def digests(count: int) -> list[str]:
    return sorted("sha256:" + sha256(b"%d" % at).hexdigest() for at in range(count))


MOMENT = {"time": 1_700_000_000.0, "sequence": 5}

DAMAGED_ROOTS: dict[str, Callable[[bytes], bytes]] = {
    "deep": lambda data: b"[" * 1_000_000,
    "deep details": lambda data: rewritten(details={"a": 1})(data).replace(
        b'"a":1', b'"a":' + b"[" * 100_000 + b"]" * 100_000
    ),
    "millions of values": lambda data: b'{"details":[' + b"[]," * 20_000_000 + b"1]}",
    "a number of a million digits": with_text("@", "1" * 1_000_000),
    "not a number": rewritten(created={**MOMENT, "time": float("nan")}),
    "endless": rewritten(expires=float("inf")),
    "the year 10^12": rewritten(created={**MOMENT, "time": 10**12 * 31_557_600}),
    "an integer of 4,000 digits as a time": rewritten(expires=10**4000),
    "before 1970": rewritten(created={**MOMENT, "time": -1.0}),
    "just too late": rewritten(expires=TIME_MAX + 1),
    "a sequence over what a column holds": rewritten(created={**MOMENT, "sequence": 1 << 63}),
    "a sequence too large": rewritten(created={**MOMENT, "sequence": COUNT_MAX + 1}),
    "a size over what a column holds": rewritten(source={"digest": str(PUT_DIGEST), "size": 1 << 70}),
    "a path as a scope": rewritten(scope="../../outside"),
    "a path as a name": rewritten(name="../../outside/file"),
    "nothing in a name": rewritten(name="a\0b"),
    "a name of 10 kB": rewritten(name="a" * 10_000),
    "a scope of 10 kB": rewritten(scope="a/" * 5_000 + "a"),
    "a source of 10 MB": rewritten(source_name="x" * 10_000_000),
    "half a character": rewritten(source_name="\ud800"),
    "a path as a digest": rewritten(objects=["sha256:../../../outside/file"]),
    "a path as an id": rewritten(id="../../outside/file"),
}

STRANGE_ROOTS: dict[str, Callable[[bytes], bytes]] = {
    "the last moment and number": rewritten(
        created={"time": 1_700_000_000.0, "sequence": COUNT_MAX}, expires=TIME_MAX
    ),
    "a source with control characters": rewritten(source_name="\x1b]0;owned\x07\r\n\0../x"),
    "a long source": rewritten(source_name="x" * SOURCE_NAME_BYTES_MAX),
    "2,000 digests of what is not there": rewritten(objects=digests(2_000)),
    "details 400 deep": rewritten(details={"a": nested(400)}),
}


def plant_root(place: Place, write: Callable[[bytes], bytes]) -> None:
    path = place.store / f"roots/{ROOT_ID[:2]}/{ROOT_ID}.json"
    data = write(path.read_bytes())
    path.chmod(0o600)
    path.unlink()
    path.write_bytes(data)


class TestRootFiles:
    @pytest.mark.parametrize("what", slow_ones_long(DAMAGED_ROOTS))
    def test_one_that_no_root_has_is_damaged_and_nothing_is_removed(self, place: Place, what: str) -> None:
        plant_root(place, DAMAGED_ROOTS[what])
        done = place.use_all()
        assert done["gc"].code == 13
        assert b"damaged - " in done["verify"].out
        assert done[f"unfold {place.folded}"].code == 0
        assert done[f"cat {PUT_DIGEST}"].code == 0

    @pytest.mark.parametrize("what", STRANGE_ROOTS)
    def test_a_strange_one_is_a_root(self, place: Place, what: str) -> None:
        plant_root(place, STRANGE_ROOTS[what])
        done = place.use_all()
        assert done["log"].code == 0
        assert b"\x1b" not in done["log"].out
        assert b"damaged" not in done["verify"].out

    def test_a_gigabyte_of_nothing(self, place: Place) -> None:
        path = place.store / f"roots/{ROOT_ID[:2]}/{ROOT_ID}.json"
        path.chmod(0o600)
        os.truncate(path, 1 << 30)
        assert place.use_all()["gc"].code == 13

    @pytest.mark.long
    def test_very_many_digests(self, place: Place) -> None:
        plant_root(place, rewritten(objects=digests(400_000)))
        assert place("log").code == 0
        assert place("gc", "--dry-run").code in (0, 1)
        assert place("verify").code in (1, 3)
        assert place("unfold", str(place.folded)).out == place.source.read_bytes()


# --- The index -------------------------------------------------------------------------------------


def change_index(*statements: str) -> Callable[[sqlite3.Connection], None]:
    def change(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return change


INDEXES: dict[str, Callable[[sqlite3.Connection], None]] = {
    "a newer version": change_index("PRAGMA user_version=99"),
    "a trigger": change_index(
        "CREATE TRIGGER owned AFTER INSERT ON roots BEGIN DELETE FROM root_objects; END"
    ),
    "a view without an end": change_index(
        "DROP TABLE roots",
        "CREATE VIEW roots AS WITH RECURSIVE n(number) AS (SELECT 1 UNION ALL SELECT number+1 FROM n)"
        " SELECT number, 'x' AS id, 'default' AS scope FROM n",
    ),
    "no tables": change_index("DROP TABLE root_objects"),
    "a kind there is not": change_index("UPDATE roots SET kind='x'"),
    "a path as a scope": change_index("UPDATE roots SET scope='../../outside', name='../x'"),
    "times no calendar has": change_index("UPDATE roots SET created=1e300, expires=-1e300"),
    "numbers no file has": change_index("UPDATE roots SET sequence=9223372036854775807"),
    "details that are no JSON": change_index("UPDATE roots SET details='{'"),
    "deep details": change_index("UPDATE roots SET details=replace(hex(zeroblob(50000)),'0','[')"),
    "long details": change_index("UPDATE roots SET details=hex(zeroblob(200000000))"),
    "digests of no bytes": change_index(
        "INSERT INTO root_objects SELECT x'', number FROM roots",
        "INSERT OR REPLACE INTO objects VALUES (x'', 0, 9000000000, x'')",
    ),
    "a shard of digests too short": change_index(
        "INSERT INTO objects VALUES (x'ab00000000000000000000000000000000000000000000000000000000000000ff',"
        " -5, -5, x'')"
    ),
    "sizes no file has": change_index("UPDATE objects SET size=-1, stored_bytes=9223372036854775807"),
    "a root naming everything": change_index(
        "INSERT OR IGNORE INTO root_objects SELECT digest, 1 FROM objects"
    ),
    "no root naming anything": change_index("DELETE FROM root_objects"),
}


class TestIndex:
    @pytest.mark.parametrize("what", slow_ones_long(INDEXES))
    def test_whatever_it_says(self, place: Place, what: str) -> None:
        connection = sqlite3.connect(place.store / "index.sqlite", isolation_level=None)
        INDEXES[what](connection)
        connection.close()
        done = place.use_all()
        assert done[f"unfold {place.folded}"].code == 0


# --- Settings --------------------------------------------------------------------------------------

SETTINGS: dict[str, bytes] = {
    "an unknown key": b"[store]\nkey = 1\n",
    "an unknown table": b"[x]\n",
    "deep": b"x = " + b"[" * 8_000 + b"]" * 8_000,
    "deep keys": b"x." * 8_000 + b"x = 1",
    "deep tables": b"[" + b"x." * 8_000 + b"x]",
    "a number of 16,000 digits": b"[fold]\nbytes-over = " + b"1" * 16_000,
    "a number too large": b"[fold]\nbytes-over = " + b"9" * 4_000,
    "not a number": b"[fold]\nmin-saving = nan",
    "a path as a scope": b'[store]\nscope = "../../outside"',
    "a grace of ages": b'[store]\ngrace = "999999999w"',
    "not UTF-8": b"\xff" * 100,
    "nothing": bytes(16_000),
    "long": b"#" * 10_000_000,
    "very many keys": b"".join(b"k%d = 1\n" % at for at in range(1_500)),
}


class TestSettings:
    @pytest.mark.parametrize("what", slow_ones_long(SETTINGS))
    def test_that_nobody_may_set(self, place: Place, what: str) -> None:
        (place.store / "config.toml").write_bytes(SETTINGS[what])
        done = place.use_all()
        assert (done["config"].code, done["gc"].code) in ((2, 0), (2, 2))
        assert done[f"put {place.other}"].code == 2
        assert done[f"unfold {place.folded}"].code == 0


# --- Words -----------------------------------------------------------------------------------------

WORDS = {
    "up": "../../outside/file",
    "absolute": "/etc/passwd",
    "long": "a" * 10_000,
    "long path": "a/" * 5_000,
    "deep": "[" * 10_000,
    "deep object": '{"$ctx":' * 5_000,
    "a marker": "[ctx " + "0" * 10_000,
    "stars": "*a" * 2_000 + "b",
    "dots": "$" + "..a" * 3_000,
    "escapes": "\x1b]0;owned\x07",
    "half a character": "\udcff",
    "dashes": "-",
    "digits": "9" * 5_000,
}

COMMANDS: dict[str, Callable[[str, Place], tuple[str, ...]]] = {
    "put --name": lambda word, place: ("put", str(place.other), "--name", word),
    "put --scope": lambda word, place: ("put", str(place.other), "--scope", word),
    "put --for": lambda word, place: ("put", str(place.other), "--for", word),
    "put": lambda word, place: ("put", "--", word),
    "fold --name": lambda word, place: ("fold", str(place.other), "--name", word),
    "fold --scope": lambda word, place: ("fold", str(place.other), "--scope", word),
    "fold --fold": lambda word, place: ("fold", str(place.other), "--fold", word),
    "fold --keep": lambda word, place: ("fold", str(place.other), "--keep", word),
    "fold --bytes-over": lambda word, place: ("fold", str(place.other), "--bytes-over", word),
    "unfold --only": lambda word, place: ("unfold", str(place.folded), "--only", word),
    "tag": lambda word, place: ("tag", "--", word, str(PUT_DIGEST)),
    "tag REF": lambda word, place: ("tag", "a-name", "--", word),
    "cat": lambda word, place: ("cat", "--", word),
    "show": lambda word, place: ("show", "--", word),
    "forget": lambda word, place: ("forget", "--", word),
    "forget --source": lambda word, place: ("forget", "--source", word),
    "forget --scope": lambda word, place: ("forget", "x", "--scope", word),
    "forget --older-than": lambda word, place: ("forget", "--older-than", word),
    "config": lambda word, place: ("config", "--", word),
    "config scope": lambda word, place: ("config", "store.scope", "--", word),
    "log -n": lambda word, place: ("log", "-n", word),
}


class TestWords:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_on_the_command_line(self, place: Place, command: str) -> None:
        for word in WORDS.values():
            done = place(*COMMANDS[command](word, place))
            assert b"root:" not in done.out
            assert len(done.err) < 2_000 + 4 * len(word)
            assert "\x1b" not in done.err
        place.check_outside()
        assert place("unfold", str(place.folded)).out == place.source.read_bytes()

    @pytest.mark.parametrize(
        "word", [*WORDS.values(), "a\0b", "\0", "", " ", "..", "*", "A", "a//b", "a/../b"]
    )
    def test_in_python(self, place: Place, word: str) -> None:
        store = Store.open(place.store)
        with pytest.raises(CastoreError):
            api.put(store, b"x", scope=word)
        if word != "A":
            with pytest.raises(CastoreError):
                api.put(store, b"x", name=word)
            with pytest.raises(CastoreError):
                store.tag(word, str(PUT_DIGEST))
        with pytest.raises(CastoreError):
            store.resolve(word)
        if word == "\udcff":
            with pytest.raises(CastoreError):
                api.fold_bytes(store, place.source.read_bytes(), source_name=word)
        else:
            folded = api.fold_bytes(store, place.source.read_bytes(), source_name=word)
            assert api.unfold_bytes(store, folded) == place.source.read_bytes()
            assert any(root.source_name == word for root in store.roots())
        store.close()
        place.check_outside()

    @pytest.mark.parametrize("seconds", [-(10**30), 10**30])
    def test_times_no_calendar_has(self, place: Place, seconds: int) -> None:
        store = Store.open(place.store)
        with pytest.raises(CastoreError):
            api.put(store, b"some bytes", keep_seconds=seconds)
        assert api.put(store, b"some bytes")
        store.close()


# --- Documents -------------------------------------------------------------------------------------


def reference_to(digest: str, size: int) -> dict[str, Any]:
    return {"$ctx": {"kind": "text", "digest": digest, "size": size, "escape": "minimal"}}


class TestFoldedDocuments:
    @pytest.mark.parametrize("count", [20_000, pytest.param(100_000, marks=pytest.mark.long)])
    def test_that_names_very_many_objects(self, place: Place, count: int) -> None:
        """Every one another, and there."""
        store = Store.open(place.store)
        pieces = [b"object %d of very many " % at for at in range(count)]
        with store.batch() as batch:
            staged = [batch.stage(piece) for piece in pieces]
            batch.commit(RootDraft(RootKind.PUT, tuple(each.digest for each in staged)))
        store.close()
        references = [reference_to(str(each.digest), each.size) for each in staged]
        folded = place.folder / "many.json"
        folded.write_text(json.dumps(references))
        back = place.folder / "back.json"
        done = place("unfold", str(folded), "-o", str(back))
        assert done.code == 0, done.err
        assert json.loads(back.read_bytes()) == [piece.decode() for piece in pieces]
        assert place("verify", str(folded)).out == b""

    @pytest.mark.parametrize("depth", [10_000, 1_000_000])
    @pytest.mark.parametrize("opening", ["[", '{"a":', '[{"$ctx":{"kind":', '{"$ctx":'])
    def test_that_are_deep(self, place: Place, depth: int, opening: str) -> None:
        path = place.folder / "deep.json"
        path.write_text(opening * depth)
        for command in ("unfold", "fold", "verify"):
            done = place(command, str(path))
            # Where no member is a reference there is nothing to verify.
            assert done.code in (3, 17, 18) or (command == "verify" and "$ctx" not in opening)
            assert command == "verify" or done.out == b""
