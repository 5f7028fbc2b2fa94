"""ctx show: what it prints is bounded and can be followed; of a large object places are exact."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from castore.api import put
from castore.overview import overview as overviews
from castore.retrieve import sampling, showing
from castore.retrieve.showing import show
from castore.store import Store
from tests.retrieve.anomalies import requests
from tests.retrieve.needles.shell import Shell
from tests.retrieve.texts import app

FACT = "upstream reset by the heron"


def rows() -> list[dict[str, object]]:
    rng = random.Random(1)
    made = [requests(rng, at) for at in range(600)]
    made[431].update(status=500, note=FACT)
    return made


def lines() -> str:
    rng = random.Random(1)
    made = [app(rng, at) for at in range(600)]
    made[77] = f"2026-03-01T00:00:00Z ERROR {FACT}"
    return "\n".join(made)


OBJECTS: dict[str, bytes] = {
    "array": json.dumps(rows()).encode(),
    "pretty": json.dumps(rows(), indent=1).encode(),
    "object": json.dumps({"next": None, "rows": rows()}).encode(),
    "map": json.dumps({f"k {at}'s": row for at, row in enumerate(rows())}).encode(),
    "string of JSON": json.dumps(json.dumps(rows())).encode(),
    "text in a string": json.dumps(lines()).encode(),
    "text in an object": json.dumps({"log": lines()}).encode(),
    "JSON in an object": json.dumps({"out": json.dumps({"rows": rows()})}).encode(),
    "text": lines().encode(),
    "JSON Lines": "\n".join(map(json.dumps, rows())).encode(),
    "many strings of JSON": json.dumps([json.dumps(row) for row in rows()]).encode(),
}


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(tmp_path_factory.mktemp("show"))


@pytest.fixture(scope="module")
def digests(shell: Shell) -> dict[str, str]:
    return dict(zip(OBJECTS, shell.put(list(OBJECTS.values())), strict=True))


class TestAddresses:
    """The words of an outlier read it."""

    @pytest.mark.parametrize("kind", OBJECTS)
    def test_cat_reads_what_stands_apart(self, shell: Shell, digests: dict[str, str], kind: str) -> None:
        digest = digests[kind]
        (shown,) = (json.loads(line) for line in shell.run(["show", "--json", digest]).splitlines())
        address = shown["outliers"][0]["address"]
        said = shell.run(["cat", *address])
        assert FACT in said
        assert len(said) < 600


class TestBounds:
    @pytest.mark.parametrize("kind", OBJECTS)
    def test_it_is_short_and_has_the_fact(self, shell: Shell, digests: dict[str, str], kind: str) -> None:
        digest = digests[kind]
        said = shell.run(["show", digest])
        assert FACT in said
        assert len(said.encode()) <= 700
        assert len(shell.run(["show", "--max-bytes", "160", digest]).encode()) <= 160


class TestLargeObjects:
    """Of what is too large the head, the tail and frames in between are looked at: places are exact."""

    @pytest.fixture
    def store(self, fast_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
        monkeypatch.setattr(showing, "LOOKED_BYTES_MAX", 1 << 20)
        made = Store.init(fast_path / "s")
        yield made
        made.close()

    @pytest.mark.parametrize("kind", ["array", "text"])
    def test_places_are_those_of_the_whole(self, store: Store, kind: str) -> None:
        rng = random.Random(3)
        made = [requests(rng, at) for at in range(40_000)]
        for at in (3, 20_111, 39_999):
            made[at].update(status=500 + at % 7, note=f"{FACT} {at}")
        texts = list(map(json.dumps, made))
        data = f"[{','.join(texts)}]" if kind == "array" else "\n".join(texts)
        digest = put(store, data.encode())
        shown = show(store, digest)
        whole = overviews.overview(data.encode())
        assert shown.overview.items == whole.items
        assert shown.overview.lines == whole.lines
        places = {place for each in shown.overview.outliers for place in (each.place, *each.alike)}
        if kind == "array":
            assert {place.item for place in places} >= {3, 20_111, 39_999}
        else:
            assert {place.lines[0] for place in places if place.lines} >= {3, 20_111, 39_999}

    def test_it_says_how_much_it_looked_at(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sampling, "SECTIONS_MAX", 3)
        monkeypatch.setattr(sampling, "_EDGE_SECTIONS", 1)
        rng = random.Random(3)
        data = json.dumps([requests(rng, at) for at in range(50_000)]).encode()
        shown = show(store, put(store, data))
        assert shown.overview.items == 50_000
        assert 0.2 < shown.overview.share < 0.8
        assert "% of it" in shown.text
        assert shown.overview.outliers == ()  # What was left out in between is no gap.
