"""Laws: the lists that a transcript counts on stay where they are, and what is in them folds; what only looks
like one folds as a whole; and whether it does follows from the value itself, however it is spelled."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from castore.api import FoldPolicy, StoreHandle, fold_stream, init_store, unfold_bytes
from castore.store import Store

LONG = "what the tool said " * 90

LISTS: dict[str, list[dict[str, Any]]] = {
    "Anthropic blocks": [
        {"type": "text", "text": LONG},
        {"type": "thinking", "thinking": LONG, "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "c2ln"},
        {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "a.py"}},
        {"type": "tool_result", "tool_use_id": "a", "content": LONG},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}},
        {"type": "document", "source": {"type": "text", "data": LONG}},
    ],
    "Pi blocks": [
        {"type": "text", "text": LONG},
        {"type": "toolCall", "id": "a", "name": "read", "arguments": {"path": "a.py"}},
        {"type": "image", "mimeType": "image/png", "data": "iVBORw0K"},
    ],
    "Chat blocks": [
        {"type": "text", "text": LONG},
        {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}},
    ],
    "Chat calls": [{"id": "a", "type": "function", "function": {"name": "write", "arguments": LONG}}],
    "Responses items": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": LONG}]},
        {"type": "reasoning", "summary": [], "encrypted_content": LONG},
        {"type": "function_call", "call_id": "a", "name": "shell", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": LONG},
        {"type": "custom_tool_call", "call_id": "b", "name": "apply_patch", "input": LONG},
        {"type": "custom_tool_call_output", "call_id": "b", "output": "ok"},
    ],
    "Responses blocks": [
        {"type": "input_text", "text": LONG},
        {"type": "output_text", "text": LONG},
        {"type": "input_image", "image_url": "https://a.example/b.png"},
    ],
    "Gemini contents": [
        {"role": "user", "parts": [{"text": LONG}]},
        {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]},
    ],
    "Gemini parts": [
        {"text": LONG, "thought": True},
        {"functionCall": {"name": "read", "args": {}}, "thoughtSignature": "c2ln"},
        {"functionResponse": {"name": "read", "response": {"output": LONG}}},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0K"}},
    ],
}

ROWS: dict[str, dict[str, Any]] = {
    "GeoJSON": {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}},
    "a folder's files": {"type": "file", "name": "a.py", "size": 12},
    "declared tools": {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}},
    "texts": {"text": "a sentence"},
    "texts with ids": {"id": 1, "text": "a sentence", "functionCall": None},
    "a type that is no string": {"type": 3, "text": "a sentence"},
    "thoughts": {"type": "reasoning", "effort": "high"},
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = init_store(tmp_path / "s")
    yield opened
    opened.close()


def folded_bytes(store: Store, source: bytes) -> bytes:
    target = io.BytesIO()
    fold_stream(io.BytesIO(source), target, StoreHandle.of(store), FoldPolicy())
    return target.getvalue()


def fold(store: Store, source: bytes) -> Any:
    """The folded document, which gives its source back."""
    folded = folded_bytes(store, source)
    assert unfold_bytes(store, folded) == source
    return json.loads(folded)


def longer(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [items[at % len(items)] for at in range(12 * len(items))]


class TestPositionsStand:
    @pytest.mark.parametrize("name", LISTS)
    def test_every_item_stands_and_what_is_long_in_it_folds(self, store: Store, name: str) -> None:
        items = longer(LISTS[name])
        folded = fold(store, json.dumps({"list": items}).encode())["list"]
        assert [item.keys() for item in folded] == [item.keys() for item in items]
        assert [item.get("type") for item in folded] == [item.get("type") for item in items]
        assert LONG not in json.dumps(folded)

    @pytest.mark.parametrize("name", LISTS)
    def test_a_long_list_is_told_like_a_short_one(self, store: Store, name: str) -> None:
        items = longer(LISTS[name]) * (1 + 90_000 // len(json.dumps(longer(LISTS[name]))))
        folded = fold(store, json.dumps(items).encode())
        assert [item.keys() for item in folded] == [item.keys() for item in items]

    def test_however_it_is_spelled(self, store: Store) -> None:
        block = b'{ "t\\u0079pe" : "te\\u0078t" , "te\\u0078t":"%s"}' % (b"x" * 2000)
        part = b'{"function\\u0043all":{"a":"%s"}}' % (b"x" * 2000)
        for source in (block, part):
            assert len(fold(store, b"[" + b" , ".join([source] * 40) + b"]")) == 40
        texts = b'{"text":"%s"}' % (b"x" * 2000)
        assert len(fold(store, b"[" + b",".join([texts] * 20 + [part]) + b"]")) == 21


class TestRowsFold:
    @pytest.mark.parametrize("name", ROWS)
    @pytest.mark.parametrize("count", [60, 3000])
    def test_what_only_looks_like_one_folds_as_a_whole(self, store: Store, name: str, count: int) -> None:
        folded = fold(store, json.dumps({"rows": [ROWS[name]] * count}).encode())["rows"]
        assert folded["$ctx"]["kind"] == "array"

    @pytest.mark.parametrize("name", LISTS)
    @pytest.mark.parametrize("odd", [{"type": "Feature"}, {"a": 1}, {}, 1, {"type": "text", "role": 1}])
    @pytest.mark.parametrize("times", [1, 9])
    def test_one_item_that_is_none_decides(self, store: Store, name: str, odd: Any, times: int) -> None:
        for items in ([*(longer(LISTS[name]) * times), odd], [odd, *(longer(LISTS[name]) * times)]):
            assert fold(store, json.dumps([items]).encode())[0].keys() == {"$ctx"}

    def test_of_a_name_given_twice_the_last_counts(self, store: Store) -> None:
        for size in (50, 5000):
            text = b"x" * size
            rows = b'{"type":"text","text":"%s","type":"Feature"}' % text
            blocks = b'{"type":"Feature","text":"%s","type":"text"}' % text
            assert "$ctx" in fold(store, b"[[" + b",".join([rows] * 60) + b"]]")[0]
            assert len(fold(store, b"[[" + b",".join([blocks] * 60) + b"]]")[0]) == 60


class TestAppending:
    def test_what_stands_before_folds_as_it_did(self, store: Store) -> None:
        records = [
            {"payload": {"replacement_history": longer(LISTS["Responses items"])}},
            {"rows": [ROWS["texts"]] * 90},
        ]
        lines = [json.dumps(record).encode() + b"\n" for record in records]
        first = folded_bytes(store, lines[0])
        assert folded_bytes(store, b"".join(lines)).startswith(first)
        assert first.count(b'"type": "function_call_output"') == 12
