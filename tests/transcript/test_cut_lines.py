"""Lines that a killed harness left: at whatever byte one is cut, it is one line that is none, and no more."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from castore.api import init_store, unfold_bytes
from castore.errors import CastoreError, DocumentInvalid, LimitExceeded
from castore.store import StoreHandle
from castore.transcript import records as records_module
from castore.transcript.formats import read_session
from castore.transcript.model import Reason, Transcript
from castore.transcript.records import Record, read_records
from castore.transcript.view import ViewRequest, make_view
from tests.transcript.collapse.talks import TALKS

TOOLS = ("pi", "claude-code", "codex")
RECORD = (
    json.dumps(
        {
            "type": "message",
            "n": [{}, [1.5, -2e3], [], [[[[[[[[[[{"a": None}]]]]]]]]]], True],
            "": {"ü \n": {"content": 'say "x"', "b": [{"c": {"d": "\\"}}]}},
        },
        ensure_ascii=False,
    ).encode()
    + b"\n"
)


@cache
def talk(tool: str) -> bytes:
    session = TALKS[tool]()
    for at in range(3):
        session.turn(prompt=True, call=at < 2)
    return session.source()


MESSAGES = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": [{"type": "text", "text": "x"}]},
]
BODY = {"model": "gpt-x", "messages": MESSAGES}
SPELLED = {
    "indented": json.dumps(BODY, indent=1),
    "indented by tabs": json.dumps(BODY, indent="\t"),
    "not indented": json.dumps(BODY, indent=0),
    "brackets on lines of their own": json.dumps(BODY, indent=2).replace(": [", ":\n["),
    "a message a line": '{"model":"gpt-x","messages":[\n'
    + ",\n".join(json.dumps(each) for each in MESSAGES)
    + "\n]}",
}


def whole(records: list[Record]) -> list[tuple[int, int]]:
    return [(each.start, each.end) for each in records if each.value is not None]


def refused(data: bytes) -> CastoreError:
    with pytest.raises(CastoreError) as caught:
        read_session(data)
    return caught.value


class TestACutLine:
    @pytest.mark.parametrize(("before", "after"), [(0, 1), (0, 4), (1, 0), (1, 1), (2, 4)])
    @pytest.mark.parametrize("between", [b"\n", b"\r\n", b"\n\n \n"], ids=["LF", "CRLF", "blank lines"])
    @pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "BOM"])
    def test_is_one_line_wherever_it_is_cut(
        self, mark: bytes, between: bytes, before: int, after: int
    ) -> None:
        for cut in range(1, len(RECORD) - 1):
            data = mark + RECORD * before + RECORD[:cut] + between + RECORD * after
            found = read_records(data).records
            assert len(found) == before + 1 + after, RECORD[:cut]
            bad = found[before]
            line = data[bad.start : bad.end]
            assert (bad.value, line) == (None, RECORD[:cut].rstrip(b" ")), RECORD[:cut]
            assert len(whole(found)) == len(found) - 1
            assert [each.index for each in found] == list(range(len(found)))
            assert all(each.line == data.count(b"\n", 0, each.start) + 1 for each in found)

    def test_is_one_line_with_what_was_written_right_behind_it(self) -> None:
        """A harness that goes on without a line feed: the line is lost, the next ones are not."""
        for cut in range(1, len(RECORD) - 1):
            data = RECORD + RECORD[:cut] + RECORD * 3
            found = read_records(data).records
            assert [each.value is not None for each in found] == [True, False, True, True], RECORD[:cut]

    def test_may_follow_on_others(self) -> None:
        """Killed, and killed again at once."""
        cuts = [RECORD[:cut] for cut in range(1, len(RECORD) - 1, 3)]
        for first in cuts:
            for second in cuts[::4]:
                data = RECORD + first + b"\n" + second + b"\n" + RECORD * 2
                found = read_records(data).records
                assert [each.value is not None for each in found] == [True, False, False, True, True]

    @pytest.mark.parametrize("cut", [b'{"a":', b"[", b'{"a":"x'])
    def test_is_one_line_however_many_there_are(self, cut: bytes) -> None:
        data = RECORD + (cut + b"\n") * 2_000 + RECORD
        found = read_records(data).records
        assert [each.value is None for each in found] == [False, *[True] * 2_000, False]

    def test_is_the_same_to_the_faster_reader(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for cut in range(1, len(RECORD) - 1):
            data = RECORD + RECORD[:cut] + b"\n" + RECORD * 2
            by_grammar = read_records(data).records
            with monkeypatch.context() as patch:
                patch.setattr(records_module, "_GRAMMAR_BYTES_MAX", 0)
                assert whole(read_records(data).records) == whole(by_grammar)

    def test_is_told_apart_from_a_record_that_is_too_deep(self) -> None:
        for begin in (b"", b'{"a":\n'):
            deep = RECORD + begin + b'{"b":' + b"[" * 600 + b"]" * 600 + b"}\n" + RECORD
            with pytest.raises(LimitExceeded):
                read_records(deep)


class TestSessionsWithACutLine:
    @pytest.mark.parametrize("tool", TOOLS)
    def test_say_all_that_is_said_after_it(self, tool: str) -> None:
        """Each record but the header is cut, where it matters at every third byte, and written again."""
        lines = talk(tool).splitlines(keepends=True)
        said = _said(read_session(talk(tool)))
        assert len(said) > 6
        for at in range(1, len(lines)):
            for cut in range(1 + at % 3, len(lines[at]) - 1, 3):
                if 60 < cut < len(lines[at]) - 60 and lines[at][cut : cut + 1] not in b'",:{}[]':
                    continue  # Inside of words one byte is as any other.
                torn = lines[at][:cut] + b"\n"
                transcript = read_session(b"".join([*lines[:at], torn, *lines[at:]]))
                assert _said(transcript) == said, torn
                assert [leave.reason for leave in transcript.leaves].count(Reason.CUT) == 1

    @pytest.mark.parametrize("tool", TOOLS)
    def test_are_viewed_and_given_back(self, fast_path: Path, tool: str) -> None:
        lines = talk(tool).splitlines(keepends=True)
        ends = {
            lines[4][cut - 3 : cut]: cut for cut in range(3, len(lines[4])) if lines[4][cut - 1] in b'",:{['
        }
        for cut in list(ends.values())[::6]:
            data = b"".join([*lines[:4], lines[4][:cut], b"\n", *lines[4:]])
            # In one store they would be several sessions with one view.
            store = init_store(fast_path / str(cut))
            view = make_view(data, StoreHandle.of(store), ViewRequest())
            assert unfold_bytes(store, view.to_bytes()) == data


class TestWhatIsNotOfLines:
    """A value over several lines that is cut or wrong is refused with its place, as if no line were cut."""

    @pytest.mark.parametrize("spelled", SPELLED)
    def test_is_refused_wherever_it_is_cut(self, spelled: str) -> None:
        body = SPELLED[spelled].encode()
        assert read_session(body).messages
        for cut in range(1, len(body)):
            refused(body[:cut])
            refused(body[:cut] + b"\n")

    @pytest.mark.parametrize("spelled", SPELLED)
    def test_is_refused_with_the_place_where_it_is_wrong(self, spelled: str) -> None:
        body = SPELLED[spelled].encode()
        for at in (at for at in range(body.index(b"\n"), len(body) - 1) if body[at] in b'",:{}[]'):
            wrong = body[:at] + body[at + 1 :]
            try:
                json.loads(wrong)
            except json.JSONDecodeError:
                error = refused(wrong)
                assert isinstance(error, DocumentInvalid)
                assert error.fields["line"] is not None, wrong

    def test_is_a_record_where_it_is_whole(self) -> None:
        pretty = (json.dumps(json.loads(RECORD), indent=1) + "\n").encode()
        found = read_records(pretty * 3 + RECORD + RECORD[:9] + b"\n" + RECORD).records
        assert [each.value is not None for each in found] == [True] * 4 + [False, True]
        refused(pretty[:-1] + b'{"a":\n' + RECORD)


def _said(transcript: Transcript) -> list[tuple[str, ...]]:
    """What each message says, by the bytes of its parts."""
    data, parts = transcript.source, transcript.parts
    return [
        (message.role.value, *(data[parts[at].start : parts[at].end].decode() for at in message.parts))
        for message in transcript.messages
    ]
