"""The table of tools: what a model is told, and what is taken of what it gives."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.errors import InvalidOption
from castore.mcp.arguments import Number, Text, Texts, checked, schema
from castore.mcp.tools import INSTRUCTIONS, TOOLS

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from(["3:9", "-20:", "7", "$.a", "30d", "stored"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from([*{name for tool in TOOLS.values() for name in tool.arguments}, "other", ""])


class TestWords:
    @pytest.mark.parametrize("name", TOOLS)
    def test_are_short(self, name: str) -> None:
        tool = TOOLS[name]
        assert 40 < len(tool.description) < 300
        for each in tool.arguments.values():
            assert 10 < len(each.description) < 120

    def test_instructions_are_three_lines(self) -> None:
        assert len(INSTRUCTIONS.split("\n")) == 3
        assert len(INSTRUCTIONS) < 800

    def test_all_that_a_model_pays_for(self) -> None:
        """Names, descriptions and arguments of all tools: what stands in its context in every turn."""
        told = [[tool.name, tool.description, schema(tool.arguments)] for tool in TOOLS.values()]
        assert len(json.dumps(told)) < 7000


class TestSchemas:
    @pytest.mark.parametrize("name", TOOLS)
    def test_are_schemas(self, name: str) -> None:
        for each in (schema(TOOLS[name].arguments), TOOLS[name].output):
            jsonschema.Draft202012Validator.check_schema(each)
            assert each["type"] == "object"
            assert each["additionalProperties"] is False

    @pytest.mark.parametrize("name", TOOLS)
    @given(st.data())
    def test_what_fits_the_schema_has_the_right_types(self, name: str, data: Any) -> None:
        """It is taken; or refused for a limit that a schema does not say."""
        tool = TOOLS[name]
        validator = jsonschema.Draft202012Validator(schema(tool.arguments))
        given_ = data.draw(st.dictionaries(NAMES, JSON, max_size=4))
        fits = validator.is_valid(given_)
        problem = None
        try:
            values = checked(name, tool.arguments, given_)
        except InvalidOption as error:
            problem, values = error.message, {}
        if problem is not None:
            assert not fits or "must be" not in problem or "from" in problem
            assert len(problem) < 300
            return
        for key, value in values.items():
            kind = type(tool.arguments[key])
            assert isinstance(value, {Text: str, Texts: tuple, Number: int}.get(kind, bool)), key
        assert {each for each in tool.arguments if tool.arguments[each].is_required} <= values.keys()

    def test_models_err_without_harm(self) -> None:
        tool = TOOLS["ctx_read"]
        given_ = {"ref": "abc", "items": 7, "select": "$.a", "max_bytes": "900.", "lines": None}
        with pytest.raises(InvalidOption):
            checked("ctx_read", tool.arguments, given_)
        found = checked("ctx_read", tool.arguments, {**given_, "max_bytes": 10**9})
        assert found == {"ref": "abc", "items": "7", "select": ("$.a",), "max_bytes": 64 << 10}

    @pytest.mark.parametrize(
        ("given_", "words"),
        [
            ({}, "needs the argument 'ref'"),
            ({"ref": None}, "needs the argument 'ref'"),
            ({"ref": "a", "foo": 1}, "takes no argument 'foo'"),
            ({"ref": ["a"]}, "'ref' must be a text, not a list"),
            ({"ref": {"a": 1}}, "'ref' must be a text, not an object"),
            ({"ref": True}, "'ref' must be a text, not true"),
            ({"ref": "a" * 5000}, "over 4,096"),
            ({"ref": "a", "items": 10**4000}, "'items' must be a text, not a number of many digits"),
            ({"ref": "a", "max_bytes": -1}, "from 700"),
            ({"ref": "a", "max_bytes": True}, "a whole number, not true"),
            ({"ref": "a", "max_bytes": 1.5}, "a whole number, not 1.5"),
            ({"ref": "a", "select": ["$"] * 9}, "over 8"),
            ({"ref": "a", "select": [1, {}]}, "'select' must be a text, not an object"),
        ],
    )
    def test_what_is_wrong_is_named(self, given_: dict[str, Any], words: str) -> None:
        with pytest.raises(InvalidOption) as caught:
            checked("ctx_read", TOOLS["ctx_read"].arguments, given_)
        assert words in caught.value.message
