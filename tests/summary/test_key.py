"""castore.summary.key: two keys are the same if all is that a summary depends on, and else they are not."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.config import SUMMARY_KEY_BYTES_MAX, SUMMARY_OPTIONS_MAX
from castore.digest import Digest
from castore.errors import InvalidOption, LimitExceeded
from castore.summary.key import SummaryKey, parse_strategy

SOURCE = Digest.of(b"a source")
NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,39}", fullmatch=True)
VALUES = st.one_of(
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20).filter(lambda text: not any("\ud800" <= each <= "\udfff" for each in text)),
    st.lists(st.text('ab,"\\é漢\n', max_size=5), max_size=3),
)


def key(**changed: Any) -> SummaryKey:
    said: dict[str, Any] = {
        "source": SOURCE,
        "scope": "team/a",
        "strategy": "extract",
        "version": 1,
        "options": {"question": "why", "characters": 2000},
    }
    return SummaryKey(**{**said, **changed})


class TestTheSameOrNot:
    """Whatever a summary depends on makes another key; nothing else does."""

    @pytest.mark.parametrize(
        "changed",
        [
            {"source": Digest.of(b"a source, with 14 days")},
            {"scope": "team/b"},
            {"strategy": "fields"},
            {"version": 2},
            {"options": {"question": "why", "characters": 2001}},
            {"options": {"question": "why"}},
            {"options": {"question": "why", "characters": 2000, "more": False}},
            {"options": {"question": "why", "characters": "2000"}},
            {"options": {"question": "why", "characters": 2000.0}},
            {"options": {"question": ["why"], "characters": 2000}},
        ],
    )
    def test_another(self, changed: dict[str, Any]) -> None:
        assert key(**changed) != key()
        assert key(**changed).hex != key().hex

    @pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0, False), ("1", 1), ((), "")])
    def test_what_python_takes_for_equal_is_not(self, one: Any, other: Any) -> None:
        assert key(options={"at": one}) != key(options={"at": other})

    def test_the_order_of_options_is_nothing(self) -> None:
        other = key(options={"characters": 2000, "question": "why"})
        assert other == key()
        assert hash(other) == hash(key())
        assert {other, key()} == {key()}

    def test_a_list_may_be_a_tuple(self) -> None:
        assert key(options={"fields": ["a", "b"]}) == key(options={"fields": ("a", "b")})

    @given(st.dictionaries(NAMES, VALUES, max_size=4), st.dictionaries(NAMES, VALUES, max_size=4))
    def test_any_options(self, one: dict[str, Any], other: dict[str, Any]) -> None:
        assert (key(options=one) == key(options=other)) == (spelt(one) == spelt(other))


class TestForStrangers:
    def test_is_the_digest_of_canonical_json(self) -> None:
        text = (
            '{"options":{"characters":2000,"question":"\\u4e3a\\u4ec0\\u4e48"},"scope":"team/a",'
            f'"source":"sha256:{SOURCE.hex}","strategy":"extract","version":1}}'
        )
        assert (
            key(options={"question": "为什么", "characters": 2000}).hex == sha256(text.encode()).hexdigest()
        )

    def test_nobody_changes_the_options_of_a_key(self) -> None:
        given_options = {"question": ["a"]}
        made = key(options=given_options)
        before = made.hex
        given_options["question"].append("b")
        assert made.options == {"question": ("a",)}
        with pytest.raises(TypeError):
            made.options["question"] = "b"  # type: ignore[index]
        assert made.hex == before


class TestWhatCanBeNoKey:
    @pytest.mark.parametrize(
        "changed",
        [
            {"scope": "No Scope"},
            {"strategy": "Extract"},
            {"strategy": ""},
            {"strategy": "e" * 41},
            {"strategy": "-e"},
            {"version": 0},
            {"version": 2**31 + 1},
            {"version": True},
            {"version": "1"},
            {"options": {"Question": 1}},
            {"options": {"": 1}},
            {"options": {1: 1}},
            {"options": {"at": None}},
            {"options": {"at": float("nan")}},
            {"options": {"at": float("inf")}},
            {"options": {"at": 2**53 + 1}},
            {"options": {"at": 10**5000}},
            {"options": {"at": "\ud800"}},
            {"options": {"at": ["a", 1]}},
            {"options": {"at": ["\udfff"]}},
            {"options": {"at": {"a": "b"}}},
            {"options": {"at": b"bytes"}},
            {"options": {f"o{each}": each for each in range(SUMMARY_OPTIONS_MAX + 1)}},
        ],
    )
    def test_is_refused(self, changed: dict[str, Any]) -> None:
        with pytest.raises(InvalidOption):
            key(**changed)

    def test_too_long(self) -> None:
        with pytest.raises(LimitExceeded) as caught:
            key(options={"at": "x" * SUMMARY_KEY_BYTES_MAX})
        assert caught.value.fields["limit"] == "SUMMARY_KEY_BYTES_MAX"
        key(options={"at": "x" * (SUMMARY_KEY_BYTES_MAX - 1000)})


class TestNamesOfStrategies:
    def test_with_and_without_a_version(self) -> None:
        assert parse_strategy("extract@12") == ("extract", 12)
        assert parse_strategy("extract") == ("extract", None)
        assert key(version=12).maker == "extract@12"

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "@1",
            "extract@",
            "extract@0",
            "extract@01",
            "extract@1.5",
            "extract@-1",
            "Extract@1",
            "a@1@2",
            "extract@2147483649",
            "extract@" + "9" * 5000,
        ],
    )
    def test_anything_else(self, text: str) -> None:
        with pytest.raises(InvalidOption):
            parse_strategy(text)


def spelt(options: dict[str, Any]) -> str:
    return json.dumps(options, sort_keys=True)
