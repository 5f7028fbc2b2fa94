"""What is there to save time and memory changes nothing of what is read."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator

import pytest

from castore.errors import CastoreError
from castore.transcript import records as records_module
from castore.transcript.formats import _UNTYPED, find_format, read_session
from castore.transcript.records import collector_off, read_records
from castore.transcript.values import Source, Value
from tests.transcript.growing import session

LINE = b'{"type":"message","id":"a","message":{"role":"user","content":[{"type":"text","text":"x"}]}}\n'
ODD = {
    "glued": LINE[:-1] + LINE + LINE,
    "blank lines": b"\n \r\n" + LINE + b"\r\n\n" + LINE[:-1],
    "a mark at its beginning": b"\xef\xbb\xbf" + LINE + LINE,
    "a cut line": LINE + LINE[:40] + b"\n" + LINE,
    "a lone surrogate": LINE + b'{"a":"\\ud800"}\n',
    "bad UTF-8": LINE + b'{"a":"\xff"}\n' + LINE,
    "UTF-8 that is cut": LINE + b'{"a":"\xe2\x82',
    "scalars side by side": LINE + b'1"a"\n' + LINE,
    "scalars with white space": LINE + b'1 "a"\n' + LINE,
    "another space": LINE + b"\x0b" + LINE,
    "nesting at its limit": LINE + b"[" * 512 + b"]" * 512 + b"\n",
    "nesting over its limit": LINE + b"[" * 513 + b"]" * 513 + b"\n" + LINE,
    "much that is nested little": LINE + b"[" + b"[[[]]]," * 600 + b"1]\n",
    "a name twice": b'{"type":"a","type":"session","x":{"y":1,"y":[1]}}\n',
}


def told(data: bytes) -> object:
    """All that records say; or the error with its place."""
    try:
        found = read_records(data)
    except CastoreError as error:
        return type(error), error.message, error.fields
    return [(each.start, each.end, each.line, each.why, each.is_object) for each in found.records]


class TestTheFasterReader:
    @pytest.mark.parametrize("name", ODD)
    def test_reads_and_refuses_what_the_grammar_does(
        self, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        by_grammar = told(ODD[name])
        monkeypatch.setattr(records_module, "_GRAMMAR_BYTES_MAX", 0)
        assert told(ODD[name]) == by_grammar


class TestValues:
    @pytest.mark.parametrize("depth", [1, 7, 8, 9, 40])
    def test_are_what_a_parser_has_however_deep(self, depth: int) -> None:
        inner: object = 'a "quoted" ]} text'
        for at in range(depth):
            inner = {"content": inner, "n": [at, {}]} if at % 2 else [inner, {"message": at}, "x"]
        document = {"a": inner, "content": inner, "": None, "b\n": -1.5e3}
        for spelt in (
            json.dumps(document),
            json.dumps(document, indent=1),
            json.dumps(document, separators=(",", ":")),
        ):
            assert _python(_value(spelt)) == document

    def test_are_the_same_when_they_were_let_go_of(self) -> None:
        value = _value('{"message":{"content":[{"text":"x"}]},"n":1}')
        before = _python(value)
        value.release()
        assert _python(value) == before

    def test_that_are_large_are_known_by_their_size(self) -> None:
        value = _value(json.dumps({"short": "x", "long": "y" * 62, "content": ["z" * 90]}))
        assert [name for name, _ in value.large_members(64)] == ["long", "content"]
        value.get("content")
        assert [name for name, _ in value.large_members(94)] == ["content"]


class TestTypedRecords:
    @pytest.mark.parametrize("name", sorted(_UNTYPED))
    @pytest.mark.parametrize("type", ['"message"', "null", "1"])
    def test_are_of_none_of_the_formats_that_are_not_asked(self, name: str, type: str) -> None:
        message = '{"role":"user","content":"x","parts":[{"text":"x"}]}'
        body = (
            f'{{"type":{type},"model":"claude","system":"s","messages":[{message}],"contents":[{message}]}}'
        )
        record = read_records(body.encode()).records[0]
        assert not find_format(name).recognizes(record)


class TestTheCollector:
    @pytest.fixture(autouse=True)
    def _as_it_was(self) -> Iterator[None]:
        was_on = gc.isenabled()
        yield
        (gc.enable if was_on else gc.disable)()

    @pytest.mark.parametrize("is_on", [True, False])
    def test_is_as_it_was_found(self, is_on: bool) -> None:
        (gc.enable if is_on else gc.disable)()
        read_session(session(5))
        assert gc.isenabled() is is_on
        with pytest.raises(CastoreError):
            read_session(b"no session")
        assert gc.isenabled() is is_on

    def test_is_off_within(self) -> None:
        gc.enable()
        with collector_off(), collector_off():
            assert not gc.isenabled()
        assert gc.isenabled()


def _value(text: str) -> Value:
    data = text.encode()
    return Value(Source(data), 0, len(data))


def _python(value: Value) -> object:
    """All of it by way of members and items."""
    if value.is_object:
        return {name: _python(member) for name, member in value.members.items()}
    return [_python(item) for item in value.items()] if value.is_array else value.python()
