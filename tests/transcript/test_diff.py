"""What is folded in one of two files and not in the other.

Laws: a view against its session tells each thing that left, once, with its turn and whose it was; a document
against its source each reference, by its path; two of one source what only one of them folded; and equal
files, or files that say the same, nothing. Without a record, markers and references are told all the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from castore.api import fold_bytes, open_store
from castore.digest import Digest
from castore.errors import DigestAmbiguous, DocumentInvalid
from castore.fold.policy import FoldPolicy
from castore.store import Store, StoreHandle
from castore.transcript.collapse.opening import open_coordinator
from castore.transcript.collapse.spans import Messages
from castore.transcript.collapse.staging import span_of_turns, stage_span
from castore.transcript.collapse.summarizer import GivenText
from castore.transcript.decision import ViewOptions
from castore.transcript.diff import Change, FoldedSpan, differences, rest_of
from castore.transcript.sides import Compared, compare
from castore.transcript.view import View, ViewRequest, make_view
from tests.transcript.growing import claude_code_turns, pi_turns
from tests.transcript.reading_back import FORMATS, Call, session_of
from tests.transcript.sessions import pi_session

STEP_ONE = ViewRequest(options=ViewOptions(step=1))
NOWHERE = StoreHandle(Path("/nowhere/at/all"), may_create=False)
ROWS = [{"id": number, "note": f"row {number} of the table"} for number in range(60)]
DOCUMENT = json.dumps({"rows": ROWS, "log": "a line of the log\n" * 90}).encode()
POLICY = FoldPolicy(bytes_over=500)


@pytest.fixture
def store(fast_path: Path) -> Iterator[Store]:
    opened = open_store(fast_path / "store", create=True)
    yield opened
    opened.close()


def viewed(store: Store, session: bytes, request: ViewRequest = STEP_ONE) -> View:
    return make_view(session, StoreHandle.of(store), request)


def compared(store: Store, first: bytes, second: bytes) -> Compared:
    return compare(first, second, StoreHandle.of(store))


def changes(found: Compared) -> list[tuple[str, str]]:
    return [(str(each.change), each.span.digest) for each in found.spans]


class TestViewAndSession:
    @pytest.mark.parametrize("format", FORMATS)
    def test_tells_each_part_that_left(self, store: Store, format: str) -> None:
        calls = [Call("bash", {"command": f"make {n}"}, f"result {n} says much\n" * 60) for n in range(12)]
        session = session_of(format, calls)
        view = viewed(store, session)
        found = compared(store, view.to_bytes(), session)
        left = [splice.descriptor.digest.hex for splice in view.rendered.splices]
        assert len(left) > 9
        assert changes(found) == [("<", digest) for digest in left]
        parts = [view.transcript.parts[splice.part or 0] for splice in view.rendered.splices]
        assert [each.span.turn for each in found.spans] == [part.turn for part in parts]
        assert {each.span.kind for each in found.spans} == {"result"}
        assert [each.span.excerpt[:20] for each in found.spans] == [
            f"result {n} says much r"[:20] for n in range(len(left))
        ]
        assert all(each.span.size == len(store.read(Digest(each.span.digest))) for each in found.spans)
        assert (found.rest, found.unknown, found.is_same) == (None, None, False)

    def test_the_other_way_round(self, store: Store) -> None:
        session = pi_session(9)
        view = viewed(store, session).to_bytes()
        one, other = compared(store, view, session), compared(store, session, view)
        assert [each.span for each in one.spans] == [each.span for each in other.spans]
        assert {str(each.change) for each in other.spans} == {">"}

    def test_whose_it_was(self, store: Store) -> None:
        session = pi_session(9)
        found = compared(store, viewed(store, session).to_bytes(), session)
        assert {each.span.role for each in found.spans} == {"result"}

    def test_a_session_that_went_on(self, store: Store) -> None:
        session = pi_session(9)
        view = viewed(store, pi_session(5)).to_bytes()
        found = compared(store, view, session)
        assert found.rest is not None
        assert found.rest.change is Change.SECOND
        assert found.rest.size == len(session) - len(pi_session(5))
        assert f"after line {pi_session(5).count(b'}' + bytes([10]))}" in found.rest.words

    def test_another_session(self, store: Store) -> None:
        view = viewed(store, pi_session(9)).to_bytes()
        found = compared(store, view, pi_session(9).replace(b"prompt 3", b"prompt 8"))
        assert found.rest is not None
        assert found.rest.words.startswith("the sources differ from line 14 on")
        assert found.spans

    def test_what_a_session_quotes_is_no_difference(self, store: Store) -> None:
        quoted = b"[ctx 3f9ac01b77de5a10: tool result, 48213 bytes]"
        session = pi_session(9).replace(b"it went well 3", quoted)
        session = session.replace(b'{"command": "make 0"}', b'{"$ctx": {"kind": "text"}}')
        view = viewed(store, session).to_bytes()
        assert quoted in view
        assert {change for change, _ in changes(compared(store, view, session))} == {"<"}
        assert "3f9ac01b77de5a10" not in str(compared(store, view, session).spans)

    @pytest.mark.parametrize("turns", [pi_turns, claude_code_turns])
    def test_of_thinking_the_thought_is_told(
        self, store: Store, turns: Callable[[], Iterator[bytes]]
    ) -> None:
        session = b"".join(islice(turns(), 60))
        found = compared(store, viewed(store, session).to_bytes(), session)
        thoughts = [each.span.excerpt for each in found.spans if each.span.kind == "thinking"]
        assert len(thoughts) > 3
        assert all(re.match(r"[A-Z][\w' ]+", each) for each in thoughts), thoughts

    def test_turns_that_are_hidden_and_records_that_left(self, store: Store) -> None:
        calls = [Call("bash", {"command": "x"}, "text " * 100)] * 3
        session = session_of("pi", calls)
        lines = session.splitlines(keepends=True)
        forked = b"".join(
            [*lines[:5], *lines[5:9], lines[9].replace(b'"00000008"', b'"00000004"'), *lines[10:]]
        )
        view = viewed(store, forked)
        kinds = {each.span.kind for each in compared(store, view.to_bytes(), forked).spans}
        assert "records" in kinds


class TestTwoViews:
    def test_of_one_session(self, store: Store) -> None:
        session = pi_session(9)
        one = viewed(store, session).to_bytes()
        other = viewed(store, session, ViewRequest(options=ViewOptions(step=8))).to_bytes()
        found = compared(store, one, other)
        assert {change for change, _ in changes(found)} == {"<"}
        assert found.rest is None
        clipped = viewed(store, session, ViewRequest(("clip",), ViewOptions(clip_characters=200))).to_bytes()
        words = [each.words for each in compared(store, one, clipped).spans if each.change is Change.BOTH]
        assert set(words) == {"tool_result -> clipped"}

    def test_what_the_other_has_folded_with_more_around_it_is_no_difference(self, store: Store) -> None:
        session = pi_session(9)
        coordinator = open_coordinator(session, StoreHandle.of(store))
        messages = Messages(coordinator.transcript)
        stage_span(coordinator, messages, span_of_turns(messages, slice(2, 6)), GivenText("It went well."))
        coordinator.commit(coordinator.transcript)
        collapsed = viewed(store, session, ViewRequest(("collapse", "transparent"), ViewOptions(step=1)))
        plain = viewed(store, session)
        assert len(collapsed.transcript.collapsed) == 1
        found = compared(store, collapsed.to_bytes(), plain.to_bytes())
        assert {(str(each.change), each.span.kind) for each in found.spans} == {("<", "turn")}
        assert {each.span.turn for each in found.spans} == {2, 3, 4, 5}
        back = compared(store, plain.to_bytes(), collapsed.to_bytes())
        assert [each.span for each in back.spans] == [each.span for each in found.spans]

    def test_of_a_session_that_grew(self, store: Store) -> None:
        one, other = (viewed(store, pi_session(turns)).to_bytes() for turns in (5, 9))
        found = compared(store, one, other)
        assert {change for change, _ in changes(found)} == {">"}
        assert min(each.span.turn or 0 for each in found.spans) > 5
        assert found.rest is not None
        assert found.rest.change is Change.SECOND

    def test_with_other_markers(self, store: Store) -> None:
        session = pi_session(9)
        options = ViewOptions(step=1, retrieve_with="ctx cat")
        one = viewed(store, session).to_bytes()
        other = viewed(store, session, ViewRequest(options=options)).to_bytes()
        assert {each.words for each in compared(store, one, other).spans} == {"another marker"}

    def test_of_two_sessions_that_it_can_be(self, store: Store) -> None:
        one = pi_session(5).replace(
            b'"isError": false', b'"details": {"a": "%b"}, "isError": false' % (b"x" * 400)
        )
        two = one.replace(b"x" * 400, b"y" * 400)
        view, again = (viewed(store, each).to_bytes() for each in (one, two))
        assert view == again
        assert compared(store, view, one).rest is None
        assert compared(store, two, view).rest is None
        with pytest.raises(DigestAmbiguous) as raised:
            compared(store, view, pi_session(3))
        assert "the session that is meant" in (raised.value.hint or "")

    def test_an_edited_one_is_told_by_its_markers(self, store: Store) -> None:
        session = pi_session(9)
        view = viewed(store, session).to_bytes()
        found = compared(store, view, view.replace(b"prompt 7", b"prompt 8"))
        assert found.unknown is not None
        assert not found.is_same


class TestDocuments:
    def test_a_document_and_its_source(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT, POLICY)
        found = compared(store, folded, DOCUMENT)
        assert [each.span.path for each in found.spans] == ["$.rows", "$.log"]
        assert {each.change for each in found.spans} == {Change.FIRST}
        assert (found.rest, found.unknown) == (None, None)
        assert {str(each.change) for each in compared(store, DOCUMENT, folded).spans} == {">"}

    def test_two_documents(self, store: Store) -> None:
        changed = DOCUMENT.replace(b"row 7 of", b"row 7 OF")
        folded, other = fold_bytes(store, DOCUMENT, POLICY), fold_bytes(store, changed, POLICY)
        found = compared(store, folded, other)
        (rows,) = found.spans
        assert (rows.change, rows.span.path, rows.words) == (Change.BOTH, "$.rows", "another object")
        assert found.rest is not None
        assert found.rest.words == "the sources differ"

    def test_folded_in_other_ways(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT, POLICY)
        less = fold_bytes(store, DOCUMENT, FoldPolicy(bytes_over=2000))
        found = compared(store, folded, less)
        assert [(str(each.change), each.span.path) for each in found.spans] == [("<", "$.log")]
        assert found.rest is None
        without = fold_bytes(store, DOCUMENT, FoldPolicy(bytes_over=500, preview="none"))
        assert {each.words for each in compared(store, folded, without).spans} == {"another reference"}

    def test_many_values_and_a_member_twice(self, store: Store) -> None:
        long = json.dumps("word " * 200)
        document = "\n".join(['{"a":1}', f'{{"x":{long},"x":{long}}}', f'{{"x":{long}}}']).encode()
        folded = fold_bytes(store, document, POLICY)
        found = compared(store, folded, document)
        assert [(each.span.value, each.span.path) for each in found.spans] == [
            (1, "$.x"),
            (1, "$.x"),
            (2, "$.x"),
        ]

    def test_without_a_store_references_are_told(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT, POLICY)
        found = compare(folded, DOCUMENT, NOWHERE)
        assert [each.span.path for each in found.spans] == ["$.rows", "$.log"]
        assert found.unknown is not None
        view = viewed(store, pi_session(9)).to_bytes()
        marked = compare(view, pi_session(9), NOWHERE)
        assert [each.span.digest for each in marked.spans] == [
            each.span.digest[:16] for each in compared(store, view, pi_session(9)).spans
        ]
        assert {each.span.kind for each in marked.spans} == {"tool result"}
        assert [each.span.line for each in marked.spans] == sorted(
            each.span.line or 0 for each in marked.spans
        )

    def test_without_a_store_what_stands_beside_references_is_held_together(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT[:-1] + b',"why":1}', POLICY)
        found = compare(folded, folded.replace(b'"why":1', b'"why":2'), NOWHERE)
        assert list(found.spans) == []
        assert found.rest is not None
        assert "differ from line 1 on" in found.rest.words

    def test_an_edited_one_that_unfolds(self, store: Store) -> None:
        folded = fold_bytes(store, DOCUMENT, POLICY)
        edited = folded.replace(b'{"rows"', b'{"why":1,"rows"')
        found = compared(store, folded, edited)
        assert (list(found.spans), found.rest is not None) == ([], True)

    def test_what_is_no_reference_is_refused(self, store: Store) -> None:
        with pytest.raises(DocumentInvalid, match="not a well-formed reference"):
            compared(store, b'{"$ctx": 1}', b"{}")


class TestNothing:
    @given(data=some.binary(max_size=40))
    def test_is_different_of_equal_files(self, data: bytes) -> None:
        assert compare(data, data, NOWHERE).is_same

    @given(one=some.binary(max_size=40), other=some.binary(max_size=40))
    def test_is_said_exactly_of_equal_files(self, one: bytes, other: bytes) -> None:
        found = compare(one, other, NOWHERE)
        assert found.is_same is (one == other)


class TestPure:
    SPANS = some.lists(some.sampled_from("abcdef"), max_size=8, unique=True)

    @given(first=SPANS, second=SPANS)
    def test_each_is_told_once_in_both_orders(self, first: list[str], second: list[str]) -> None:
        spans = [
            [FoldedSpan(each * 16, "array", b"", path=f"$.{each}", value=0) for each in names]
            for names in (first, second)
        ]
        found = list(differences(*spans, is_one_source=False))
        assert sorted(each.span.path or "" for each in found) == sorted(
            f"$.{each}" for each in set(first) ^ set(second)
        )
        for names, change in ((first, Change.FIRST), (second, Change.SECOND)):
            told = [each.span.path for each in found if each.change is change]
            assert told == [f"$.{each}" for each in names if f"$.{each}" in told]

    @given(one=some.binary(max_size=30), other=some.binary(max_size=30))
    def test_where_two_sources_differ(self, one: bytes, other: bytes) -> None:
        rest = rest_of(one, other)
        if rest is None:
            assert one == other
            return
        assert rest.offset is not None
        assert one[: rest.offset] == other[: rest.offset]
        assert one[rest.offset : rest.offset + 1] != other[rest.offset : rest.offset + 1]
