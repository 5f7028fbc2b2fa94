"""What stands in a session, whatever it is, is read or refused with a typed error."""

from __future__ import annotations

import json
import math

import pytest

from castore.errors import InvalidOption
from castore.transcript.checking import check_view
from castore.transcript.model import Api
from castore.transcript.validate import check
from castore.transcript.values import read_json
from castore.transcript.view import ViewRequest, plan_view

MANY_DIGITS = "1" * 5000


class TestNumbers:
    @pytest.mark.parametrize("sign", ["", "-"])
    def test_of_too_many_digits_are_floats(self, sign: str) -> None:
        value = read_json(f"[1, {sign}{MANY_DIGITS}, {10**40}]")
        assert value[0] == 1
        assert value[1] == float(f"{sign}inf")
        assert value[2] == 10**40
        assert math.isinf(value[1])

    @pytest.mark.parametrize("text", ["[1,", f"[{MANY_DIGITS},", "", "[NaN]x"])
    def test_do_not_hide_what_is_no_json(self, text: str) -> None:
        with pytest.raises(ValueError, match=r".") as raised:
            read_json(text)
        assert isinstance(raised.value, json.JSONDecodeError)

    @pytest.mark.parametrize("place", ["arguments", "usage"])
    def test_of_too_many_digits_are_no_error_of_a_check(self, place: str) -> None:
        arguments = f'{{"n":{MANY_DIGITS}}}' if place == "arguments" else "{}"
        call = {
            "id": "c1",
            "type": "function",
            "function": {"name": "f", "arguments": arguments},
        }
        body = {
            "model": "gpt",
            "messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": None, "tool_calls": [call], "usage": "USAGE"},
                {"role": "tool", "tool_call_id": "c1", "content": "x"},
            ],
        }
        data = json.dumps(body).replace('"USAGE"', MANY_DIGITS).encode()
        assert check_view(plan_view(data, ViewRequest())) == ([], [])


class TestMessages:
    @pytest.mark.parametrize("api", list(Api))
    @pytest.mark.parametrize("messages", [None, {}, "x", 1, iter([])])
    def test_that_are_no_list_are_refused(self, api: Api, messages: object) -> None:
        with pytest.raises(InvalidOption):
            check(api, messages)  # type: ignore[arg-type]
