"""Bad input: a typed error with its line, or a view that keeps every law. Nothing else, whatever is given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from castore.config import SESSION_RECORD_BYTES_MAX
from castore.errors import CastoreError, DocumentInvalid, InvalidOption, LimitExceeded, SessionInvalid
from castore.transcript.checking import check_view
from castore.transcript.decision import ViewOptions
from castore.transcript.formats import FORMAT_NAMES
from castore.transcript.view import View, ViewRequest, plan_view
from tests.access.sessions import pi_session
from tests.transcript.laws import hold_shape

FIXTURES = Path(__file__).parent / "fixtures"
STEP_ONE = ViewRequest(options=ViewOptions(step=1, fold_arguments=0, mark_thinking=False))
OTHERS: list[Any] = [
    None,
    True,
    -1.5,
    10**30,
    "",
    "words " * 60,
    [],
    ["words"],
    {},
    {"type": "text", "text": 7},
]
SESSION = pi_session("apples")
ONE_IN = 8


def outcome(data: bytes, request: ViewRequest = STEP_ONE) -> View | CastoreError:
    """A view, which keeps the laws; or an error, which says where."""
    try:
        view = plan_view(data, request)
    except CastoreError as error:
        hold_error(error)
        return error
    assert view.rendered.size <= len(data)
    hold_shape(view, prose_stands=True)
    new, _ = check_view(view)
    assert not new, f"the view breaks rules that the session keeps: {new[:3]}"
    return view


def hold_error(error: CastoreError) -> None:
    """It has its type and its line, unless it is about the whole."""
    if isinstance(error, InvalidOption):
        assert "--sidechain" in f"{error.hint}", "a file of sub-agents alone: one is to be chosen"
        return
    assert isinstance(error, DocumentInvalid | LimitExceeded), error
    is_unknown = error.message.startswith("no known session format")
    assert is_unknown or error.fields.get("line"), f"no line: {error.message}"


def places(value: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every container with a key or index of it, and the way there without indices."""
    if isinstance(value, dict):
        kind = value.get("type") if isinstance(value.get("type"), str) else value.get("role")
        for key in list(value):
            yield f"{path}<{kind}>.{key}", value, key
            yield from places(value[key], f"{path}<{kind}>.{key}")
    elif isinstance(value, list):
        for index in range(len(value)):
            yield f"{path}[]", value, index
            yield from places(value[index], f"{path}[]")


def records_of(path: Path) -> list[Any] | None:
    """The file's values, if each has a line, or it is one value."""
    try:
        if path.suffix == ".json":
            return [json.loads(path.read_bytes())]
        return [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    except ValueError:
        return None


def spoilt(format: str) -> Iterator[tuple[str, bytes]]:
    """Each place of a kind once in all the format's fixtures, with each other value in it."""
    met: set[str] = set()
    for path in sorted((FIXTURES / format).iterdir()):
        records = records_of(path)
        if records is None:
            continue
        literals = [json.dumps(record).encode() for record in records]
        for number, record in enumerate(records):
            for way, holder, key in places(record):
                if way in met:
                    continue
                met.add(way)
                original = holder[key]
                for other in OTHERS:
                    if type(other) is type(original) and other:
                        continue
                    holder[key] = other
                    lines = [*literals[:number], json.dumps(record).encode(), *literals[number + 1 :]]
                    yield f"{path.name}: {way} = {other!r:.20}", b"\n".join(lines) + b"\n"
                holder[key] = original


class TestWrongTypes:
    """One in ONE_IN of them: all take five minutes."""

    @pytest.mark.parametrize("format", FORMAT_NAMES)
    def test_in_every_known_place(self, format: str) -> None:
        tried = 0
        for number, (where, data) in enumerate(spoilt(format)):
            if number % ONE_IN:
                continue
            tried += 1
            try:
                outcome(data)
            except Exception as error:
                raise AssertionError(f"{where}: {type(error).__name__}: {error}") from error
        assert tried > 20


def lines(*changes: tuple[bytes, bytes], data: bytes = SESSION) -> bytes:
    for old, new in changes:
        assert old in data
        data = data.replace(old, new, 1)
    return data


def claude(*parents: str | None) -> bytes:
    """Lines of Claude Code, each named by its number, with these parents."""
    return b"".join(
        json.dumps(
            {
                "type": "user" if number % 2 == 0 else "assistant",
                "uuid": str(number),
                "parentUuid": parent,
                "sessionId": "s",
                "message": {"role": "user" if number % 2 == 0 else "assistant", "content": f"word {number}"},
            }
        ).encode()
        + b"\n"
        for number, parent in enumerate(parents)
    )


REFUSED = {
    "a cycle of Pi": (lines((b'"parentId": "00000001"', b'"parentId": "00000005"')), 3),
    "a record that is its own parent": (lines((b'"parentId": "00000004"', b'"parentId": "00000005"')), 6),
    "an id given twice": (lines((b'"id": "00000005"', b'"id": "00000004"')), 6),
    "a cycle of Claude Code": (claude("1", "0", "1"), 1),
    "two formats in one file": (SESSION + claude(None, "0"), 24),
    "an id that is a number": (lines((b'"id": "00000004"', b'"id": 4')), 5),
}
"""Data, and the line that the error names."""

READ = {
    "a missing parent": lines((b'"parentId": "00000004"', b'"parentId": "ffffffff"')),
    "CRLF": SESSION.replace(b"\n", b"\r\n"),
    "a BOM": b"\xef\xbb\xbf" + SESSION,
    "no last line end": SESSION[:-1],
    "blank lines": SESSION.replace(b"\n", b"\n \n\t\n"),
    "all records glued": SESSION.replace(b"\n", b""),
    "a cut last line": SESSION[:-40],
    "a NUL in a line": lines((b'"00000009"', b'"0000\x0009"')),
    "a NUL in words": SESSION.replace(b"row 3", b"row \\u0000 3"),
    "escapes in names": SESSION.replace(b'"type"', b'"\\u0074ype"').replace(b'"content"', b'"c\\u006fntent"'),
    "names given twice": SESSION.replace(b'"isError": false', b'"isError": true, "isError": false'),
    "lone surrogates": SESSION.replace(b"row 3", b"row \\ud800 3").replace(b"Count", b"\\udc00Count"),
    "huge numbers": SESSION.replace(b'"isError": false', b'"isError": false, "n": ' + b"9" * 5000 + b"e999"),
    "a deep value": SESSION.replace(
        b'"isError": false', b'"isError": false, "n": ' + b"[" * 400 + b"]" * 400
    ),
    "a bad byte": lines((b"row 3", b"row \xff3")),
}


class TestBadRecords:
    @pytest.mark.parametrize("name", REFUSED)
    def test_are_refused_with_their_line(self, name: str) -> None:
        data, line = REFUSED[name]
        error = outcome(data)
        assert isinstance(error, SessionInvalid)
        assert error.fields["line"] == line, error.message

    @pytest.mark.parametrize("name", READ)
    def test_are_read_and_given_back(self, name: str) -> None:
        found = outcome(READ[name])
        assert isinstance(found, View), found.message
        assert found.transcript.messages
        assert found.rendered.splices

    def test_too_deep(self) -> None:
        deep = SESSION.replace(b'"isError": false', b'"isError": ' + b"[" * 100_000 + b"]" * 100_000, 1)
        error = outcome(deep)
        assert isinstance(error, LimitExceeded)
        assert error.fields["line"] == 4


class TestLongLines:
    """Longer than any record of a session: told before anything of it is read."""

    @pytest.mark.parametrize("begin", [b'{"a":"', b"[", b"", b'{"a":' * 9])
    def test_are_a_limit_with_the_line(self, begin: bytes) -> None:
        data = SESSION + begin + b"x" * (100 << 20)
        error = outcome(data)
        assert isinstance(error, LimitExceeded)
        assert error.exit_code == 17
        assert (error.fields["limit"], error.fields["line"]) == ("SESSION_RECORD_BYTES_MAX", 24)

    def test_of_many_records_glued(self) -> None:
        record = SESSION.splitlines()[3]
        data = SESSION + record * (SESSION_RECORD_BYTES_MAX // len(record) + 1)
        assert isinstance(outcome(data), LimitExceeded)
