"""Arguments that leave: short members stand, long ones are the marker, and what stands is an object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from castore.api import open_store, unfold_bytes
from castore.store import Store, StoreHandle
from castore.transcript.arguments import shorter_arguments
from castore.transcript.decision import ViewOptions
from castore.transcript.model import PartKind
from castore.transcript.view import ViewRequest, make_view, plan_view

MARKER = b'"[ctx 3f9ac01b77de5a10: arguments, 4821 bytes]"'
SHOWN = json.loads(MARKER)
LONG = "x" * 400
FOLDED = ViewRequest(options=ViewOptions(step=1, fold_arguments=300))

JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=60),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


class TestShorter:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({"path": "a.py", "text": LONG}, {"path": "a.py", "text": SHOWN}),
            ({"text": LONG, "path": "a.py"}, {"text": SHOWN, "path": "a.py"}),
            (
                {"a": LONG, "n": 1.50, "b": [LONG], "c": {"d": LONG}},
                {"a": SHOWN, "n": 1.5, "b": SHOWN, "c": SHOWN},
            ),
            ({str(number): number for number in range(99)}, {"ctx": SHOWN}),
            ({}, {"ctx": SHOWN}),
            ([LONG], {"ctx": SHOWN}),
            (LONG, {"ctx": SHOWN}),
        ],
        ids=["first", "last", "several", "many short", "none", "array", "text"],
    )
    def test_members(self, given: Any, expected: Any) -> None:
        assert json.loads(shorter_arguments(json.dumps(given).encode(), MARKER, 240)) == expected

    def test_what_stands_is_as_it_was(self) -> None:
        written = b'{ "n" : 1.50e0 ,\n "p\\u0061th":"\\u0061.py", "text" :"%b" , "\xc3\xa9" : [ ] }' % (
            b"x" * 300
        )
        assert shorter_arguments(written, MARKER, 240) == written.replace(b'"%b"' % (b"x" * 300), MARKER)

    @pytest.mark.parametrize("at", [239, 240, 241])
    def test_the_limit_is_of_the_literal(self, at: int) -> None:
        written = b'{"a":"%b"}' % (b"x" * (at - 2))
        assert (b"[ctx" in shorter_arguments(written, MARKER, 240).partition(b'"a":')[2]) == (at > 240)

    @pytest.mark.parametrize("second", [b"1", b'"%b"' % (b"z" * 300)])
    def test_of_a_name_that_is_there_twice_the_last_counts(self, second: bytes) -> None:
        written = b'{"a":"%b","b":"%b","a":%b}' % (b"x" * 300, b"y" * 300, second)
        shown = shorter_arguments(written, MARKER, 240)
        assert json.loads(shown) == {"a": 1 if second == b"1" else SHOWN, "b": SHOWN}

    @pytest.mark.parametrize(
        "written", [b"", b"{", b'{"a":', b'{"a":1} {}', b"not", b'{"a":"\xff"}', b"[" * 9999]
    )
    def test_what_is_no_object(self, written: bytes) -> None:
        assert shorter_arguments(written, MARKER, 1) == b'{"ctx":' + MARKER + b"}"

    @given(some.dictionaries(some.text(max_size=9), JSON, max_size=6), some.integers(4, 90))
    def test_any_object(self, value: dict[str, Any], least: int) -> None:
        written = json.dumps(value).encode()
        shown = json.loads(shorter_arguments(written, MARKER, least))
        long = {name for name, each in value.items() if len(json.dumps(each)) > least}
        if not long:
            assert shown == {"ctx": SHOWN}
        else:
            assert shown == {name: SHOWN if name in long else each for name, each in value.items()}


def anthropic(arguments: dict[str, Any]) -> bytes:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "edit", "input": arguments}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "done"}]},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "thanks"},
        {"role": "assistant", "content": "welcome"},
    ]
    return json.dumps({"model": "m", "max_tokens": 9, "system": "be brief", "messages": messages}).encode()


def chat(arguments: str) -> bytes:
    call = {"id": "t", "type": "function", "function": {"name": "edit", "arguments": arguments}}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t", "content": "done"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "thanks"},
        {"role": "assistant", "content": "welcome"},
    ]
    return json.dumps({"model": "m", "messages": messages}).encode()


@pytest.fixture
def store(fast_path: Path) -> Iterator[Store]:
    opened = open_store(fast_path / "store", create=True)
    yield opened
    opened.close()


class TestInAView:
    def test_an_object_shows_which_file(self, store: Store) -> None:
        arguments = {"path": "src/app.py", "old": "y" * 500, "new": "z" * 700, "all": False}
        view = make_view(anthropic(arguments), StoreHandle.of(store), FOLDED)
        (splice,) = view.rendered.splices
        shown = json.loads(splice.replacement)
        assert (shown["path"], shown["all"]) == ("src/app.py", False)
        assert shown["old"] == shown["new"] != arguments["new"]
        assert shown["new"].startswith(f"[ctx {splice.descriptor.digest.hex[:16]}: ")
        assert json.loads(store.read(splice.descriptor.digest)) == arguments, (
            "the object is the whole of them"
        )
        assert unfold_bytes(store, view.to_bytes()) == anthropic(arguments)

    def test_a_string_that_holds_one_does_too(self, store: Store) -> None:
        arguments = json.dumps({"path": "ä \U0001f600.py", "text": LONG}, ensure_ascii=False)
        view = make_view(chat(arguments), StoreHandle.of(store), FOLDED)
        (splice,) = view.rendered.splices
        shown = json.loads(json.loads(splice.replacement))
        assert shown["path"] == json.loads(arguments)["path"]
        assert shown["text"].startswith(f"[ctx {splice.descriptor.digest.hex[:16]}: ")
        assert unfold_bytes(store, view.to_bytes()) == chat(arguments)

    @pytest.mark.parametrize("arguments", ["x" * 500, '{"a":"' + LONG, json.dumps([LONG]), " {} " * 200])
    def test_a_string_that_holds_none_stays(self, store: Store, arguments: str) -> None:
        view = make_view(chat(arguments), StoreHandle.of(store), FOLDED)
        assert view.to_bytes() == chat(arguments)

    def test_half_a_character_is_no_obstacle(self, store: Store) -> None:
        arguments = '{"\ud800":"\udc00","text":"' + LONG + '\udfff"}'
        view = make_view(chat(arguments), StoreHandle.of(store), FOLDED)
        (splice,) = view.rendered.splices
        shown = json.loads(json.loads(splice.replacement))
        assert shown.pop("text").startswith("[ctx ")
        assert shown == {"\ud800": "\udc00"}
        assert unfold_bytes(store, view.to_bytes()) == chat(arguments)

    def test_half_a_character_in_what_is_read(self, store: Store) -> None:
        for arguments in ('{"path":"\ud800"}', '{"\ud800":1,"command":"\udfff"}'):
            body = chat(arguments).replace(b'"edit"', b'"read"')
            assert make_view(body, StoreHandle.of(store), FOLDED).to_bytes() == body

    def test_what_would_be_no_shorter_stays(self) -> None:
        """Of verbs so long that the markers outweigh what they stand for."""
        words = "w" * 100
        arguments = {str(number): "x" * 300 for number in range(2)}
        request = ViewRequest(options=ViewOptions(step=1, fold_arguments=0, retrieve_with=words))
        view = plan_view(anthropic(arguments), request)
        assert view.rendered.size <= len(anthropic(arguments))
        parts = [part for part in view.transcript.parts if part.kind is PartKind.CALL]
        for splice in view.rendered.splices:
            assert len(splice.replacement) < parts[0].size
