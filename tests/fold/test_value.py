"""fold_value takes exactly what JSON has, names the path of anything else, and gives an equal value back."""

from __future__ import annotations

import enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore import FoldPolicy, Store, fold_value, put, unfold_value
from castore.errors import LimitExceeded, NameTaken, ValueNotFoldable
from castore.fold.value import from_json, to_json

VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
    ),
    lambda children: st.one_of(st.lists(children), st.dictionaries(st.text(), children)),
)


def same(a: Any, b: Any) -> bool:
    """Equal, and of the same types all the way down (True is not 1, 1 is not 1.0)."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return bool(a == b) and repr(a) == repr(b)


class TestValues:
    @given(VALUES)
    def test_come_back_from_json(self, value: Any) -> None:
        assert same(from_json(to_json(value)), value)

    def test_come_back_from_the_store(self, store: Store) -> None:
        value = {
            "rows": list(range(2000)),
            "log": "é\ud800" * 900,
            "$ctx": {"a": 1.5},
            "n": -0.0,
            "big": 10**400,
        }
        folded = fold_value(store, value)
        assert folded["rows"]["$ctx"]["items"] == 2000
        assert same(unfold_value(store, folded), value)

    def test_a_string_is_a_value(self, store: Store) -> None:
        assert (
            unfold_value(store, fold_value(store, '{"a": 1}', FoldPolicy(bytes_over=0, grow=True)))
            == '{"a": 1}'
        )


class TestPut:
    def test_a_name_is_its_roots(self, store: Store) -> None:
        digest = put(store, b"a poem", name="poem", keep_seconds=60)
        (root,) = store.named_roots("poem")
        assert root.objects == (digest,)
        assert put(store, b"a poem", name="poem") == digest
        with pytest.raises(NameTaken):
            put(store, b"another", name="poem")


class Colour(enum.IntEnum):
    RED = 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("value", "path"),
        [
            ({"a": [1, {2}]}, "$.a[1]"),
            ({"a": float("nan")}, "$.a"),
            ([float("-inf")], "$[0]"),
            ({"a": {1: 2}}, "$.a"),
            ([(1, 2)], "$[0]"),
            ([b"x"], "$[0]"),
            ([Colour.RED], "$[0]"),
            ({"odd name": [object()]}, "$['odd name'][0]"),
        ],
    )
    def test_name_the_path(self, store: Store, value: Any, path: str) -> None:
        with pytest.raises(ValueNotFoldable) as caught:
            fold_value(store, value)
        assert caught.value.fields["path"] == caught.value.place == path
        assert caught.value.message.endswith(f" at {path}")
        assert list(store.digests()) == []

    def test_circles_and_depth(self, store: Store) -> None:
        circle: list[Any] = []
        circle.append(circle)
        with pytest.raises(LimitExceeded):
            fold_value(store, circle)

    def test_an_integer_too_long_to_write(self, store: Store) -> None:
        with pytest.raises(ValueNotFoldable):
            fold_value(store, [10**5000])
