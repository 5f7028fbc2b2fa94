"""ctx show: what it prints is bounded and can be followed; of a large object places are exact."""

from __future__ import annotations

import json
import random
import re
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

    @pytest.mark.parametrize("kind", OBJECTS)
    @pytest.mark.parametrize("bytes_max", [900, 1200, 3000])
    def test_so_is_json(self, shell: Shell, digests: dict[str, str], kind: str, bytes_max: int) -> None:
        said = shell.run(["show", "--json", "--max-bytes", str(bytes_max), digests[kind]])
        assert len(said.encode()) <= bytes_max
        (best, *_) = json.loads(said)["outliers"]
        assert best["address"][0] == digests[kind]
        if bytes_max >= 1200:
            assert FACT in best["excerpt"]

    def test_json_has_a_bound_without_being_asked(self, shell: Shell, digests: dict[str, str]) -> None:
        for digest in digests.values():
            assert len(shell.run(["show", "--json", digest]).encode()) <= 1200

    def test_the_best_comes_before_what_names_it(self, shell: Shell, digests: dict[str, str]) -> None:
        said = shell.run(["show", "--max-bytes", "100", digests["array"]])
        assert "--items 431" in said
        assert "more" in said
        assert "named by" not in said


def many_outliers() -> bytes:
    rng = random.Random(5)
    made = [requests(rng, at) for at in range(2000)]
    for at in range(12):
        made[150 * at + 7][f"extra {at}"] = f"{FACT} {at} 订单" + " reset" * at
    return json.dumps({"deep": {"of": made, "other": list(range(30))}}).encode()


class TestOnwards:
    """Who follows what is said to come next has all of it in the end."""

    def test_as_text(self, shell: Shell) -> None:
        (digest,) = shell.put([many_outliers()])
        said = shell.run(["show", "--max-bytes", "100", digest])
        calls = 0
        while found := re.search(r"^more\t.*?(?:ctx show (\S+) )?--max-bytes (\d+)$", said, re.MULTILINE):
            said = shell.run(["show", "--max-bytes", found[2], found[1] or digest])
            calls += 1
            assert calls < 7
        assert len(re.findall("^outlier\t", said, re.MULTILINE)) == 12
        assert "named by" in said

    def test_as_json(self, shell: Shell) -> None:
        (digest,) = shell.put([many_outliers()])
        told = json.loads(shell.run(["show", "--json", "--max-bytes", "100", digest]))
        calls = 0
        while told["next"]:
            assert told["left_out"]
            assert told["more_outliers"] == 12 - len(told["outliers"])
            said = shell.run(told["next"])
            assert len(said.encode()) <= int(told["next"][-1])
            told = json.loads(said)
            calls += 1
            assert calls < 7
        assert told["left_out"] is None
        assert told == json.loads(shell.run(["show", "--json", "--max-bytes", "0", digest]))
        assert len(told["outliers"]) == 12

    def test_the_scope_goes_with_it(self, shell: Shell) -> None:
        (digest,) = shell.put([many_outliers()])
        told = json.loads(shell.run(["show", "--json", "--scope", "default", digest]))
        assert told["next"][2:4] == ["--scope", "default"]
        assert " --scope default --max-bytes " in shell.run(["show", "--scope", "default", digest])


class TestNamedBy:
    def test_a_name_is_not_hidden_by_what_has_none(self, shell: Shell, digests: dict[str, str]) -> None:
        digest = digests["text"]
        shell.run(["tag", "the-night-log", digest])
        for copy in range(6):
            shell.run(["keep", digest, "--for", f"{copy + 2}d"])
        said = shell.run(["show", digest])
        assert "named by\tthe-night-log" in said


class TestWhatNobodySees:
    """What is odd is seen: a blank at the end, a blank that is none of the keyboard's, a hidden character."""

    @pytest.mark.parametrize(
        ("odd", "seen"), [("web-1 ", "'web-1 '"), ("web\xa01", r"web\xa01"), ("web-1\u200b", r"web-1\u200b")]
    )
    def test_in_reasons_and_excerpts(self, fast_path: Path, odd: str, seen: str) -> None:
        rows = [{"host": f"web-{at % 3}", "n": at} for at in range(300)]
        rows[200]["host"] = odd
        store = Store.init(fast_path / "s")
        text = show(store, put(store, json.dumps(rows).encode())).text
        store.close()
        (line,) = (line for line in text.splitlines() if line.startswith("outlier"))
        assert line.count(seen.strip("'")) == 2, line
        assert seen in line


class TestDeepRows:
    def test_the_object_inside_is_addressed(self, shell: Shell) -> None:
        rng = random.Random(9)
        orgs = [
            {
                "org": f"o{at}",
                "teams": [
                    {"team": f"t{n}", "members": [member(rng) for _ in range(rng.randint(6, 9))]}
                    for n in range(rng.randint(2, 5))
                ],
            }
            for at in range(80)
        ]
        orgs[44]["teams"][1]["members"][2] = {"login": FACT, "mfa": False, "joined": "2026-01-01", "seats": 2}  # type: ignore[index]
        (digest,) = shell.put([json.dumps({"data": {"orgs": orgs}}).encode()])
        assert FACT in shell.run(["show", digest])
        (best, *_) = json.loads(shell.run(["show", "--json", digest]))["outliers"]
        assert best["address"][1:] == ["--select", "$.data.orgs[44].teams[1].members[2]"]
        assert json.loads(shell.run(["cat", *best["address"]]))["login"] == FACT


def member(rng: random.Random) -> dict[str, object]:
    return {
        "login": f"{rng.choice(['ada', 'ben', 'cleo'])}{rng.randrange(10**6)}",
        "mfa": True,
        "joined": f"2026-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
        "seats": rng.randint(1, 5),
    }


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
