"""The facts of JSON that is no session: what it consists of, its biggest values, and what it names."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castore.api import fold_bytes
from castore.errors import DocumentInvalid, SessionInvalid
from castore.report.measure import measure
from castore.report.model import DocumentFacts, SessionFacts, to_json
from castore.report.values import Composition, biggest
from castore.store import Store
from castore.transcript.view import ViewRequest, plan_view
from tests.transcript.sessions import pi_session

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)
ROWS = [{"id": number, "status": 200, "note": f"row {number} of the table"} for number in range(200)]
DOCUMENT = {"question": "why?", "rows": ROWS, "log": "a line of the log\n" * 90}


def facts_of(data: bytes) -> DocumentFacts:
    facts = measure(data, "it")
    assert isinstance(facts, DocumentFacts)
    return facts


def counted(value: Any) -> Counter[str]:
    """Values and names of a Python value, by kind."""
    if isinstance(value, dict):
        inner = sum(map(counted, value.values()), Counter(name=len(value)))
        return inner + Counter(object=1)
    if isinstance(value, list):
        return sum(map(counted, value), Counter(array=1))
    if value is None or isinstance(value, bool):
        return Counter(literal=1)
    return Counter(string=1) if isinstance(value, str) else Counter(number=1)


class TestComposition:
    @settings(max_examples=100, deadline=None)
    @given(st.lists(VALUES, max_size=4), st.booleans(), st.sampled_from((None, 0, 2)), st.integers(1, 40))
    def test_every_value_and_byte_once(
        self, values: list[Any], is_ascii: bool, indent: int | None, window: int
    ) -> None:
        texts = [json.dumps(each, ensure_ascii=is_ascii, indent=indent) for each in values]
        data = "\n".join(texts).encode("utf-8", "surrogatepass")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("castore.report.values._WINDOW_BYTES", window)
            found = Composition.of(data)
        assert sum(each.size for each in found.facts()) == len(data)
        expected = sum(map(counted, values), Counter())
        assert {each.kind: each.count for each in found.facts() if each.count} == dict(expected)
        assert found.top_level == len(values)

    def test_numbers_of_every_spelling(self) -> None:
        data = b"\xef\xbb\xbf[1e5, -0, 1E+5, 0.5e-3, true, [ ], {}, {\n}] 7 8"
        found = {each.kind: (each.count, each.size) for each in Composition.of(data).facts()}
        assert found["number"] == (6, 3 + 2 + 4 + 6 + 1 + 1)
        assert found["literal"] == (1, 4)
        assert Composition.of(data).top_level == 3


class TestBiggest:
    def test_none_inside_another_the_biggest_first(self) -> None:
        data = json.dumps(DOCUMENT).encode()
        found = biggest(data)
        assert [each.path for each in found.shown] == ["$.rows", "$.log"]
        for each in found.shown:
            literal = data[each.offset : each.offset + each.size]
            assert json.loads(literal) == DOCUMENT[each.path[2:]]
        spans = sorted((each.offset, each.offset + each.size) for each in found.shown)
        assert all(one[1] <= other[0] for one, other in pairwise(spans))

    @settings(max_examples=50, deadline=None)
    @given(VALUES)
    def test_of_any_value(self, value: Any) -> None:
        data = json.dumps(value, indent=1).encode()
        found = biggest(data).shown
        spans = sorted((each.offset, each.offset + each.size) for each in found)
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
        for each in found:
            json.loads(data[each.offset : each.offset + each.size])

    def test_it_is_bounded(self) -> None:
        data = b"\n".join(json.dumps({"log": "x" * 300}).encode() for _ in range(400))
        found = biggest(data)
        assert (len(found.shown), found.total) == (100, 400)


class TestReferences:
    def test_of_a_folded_document(self, fast_path: Path) -> None:
        store = Store.init(fast_path / "s")
        folded = fold_bytes(store, json.dumps([DOCUMENT, DOCUMENT]).encode())
        facts = facts_of(folded)
        by_kind = {each.kind: each for each in facts.references.shown}
        assert (by_kind["array"].references, by_kind["array"].objects) == (2, 1)
        assert by_kind["array"].size == len(json.dumps(ROWS))
        assert by_kind["text"].missing is None

        def is_present(digits: str) -> bool:
            return next(store.digests(digits), None) is not None

        asked = measure(folded, "it", is_present=is_present)
        assert [each.missing for each in asked.references.shown] == [0, 0]
        nowhere = measure(folded, "it", is_present=lambda digits: False)
        assert [each.missing for each in nowhere.references.shown] == [1, 1]
        store.close()

    def test_of_a_view(self) -> None:
        view = plan_view(pi_session(12), ViewRequest())
        facts = measure(view.to_bytes(), "it", is_present=lambda digits: len(digits) == 16)
        assert isinstance(facts, SessionFacts)
        (markers,) = facts.references.shown
        assert (markers.kind, markers.missing) == ("marker", 0)
        assert markers.references == len(view.rendered.splices)
        assert markers.size == sum(each.descriptor.size for each in view.rendered.splices)

    def test_what_looks_like_one_is_none(self) -> None:
        for like in ({"$ctx": 1}, {"$ctx": {"kind": "array"}}, {"$$ctx": {"kind": "text"}}):
            assert facts_of(json.dumps([like] * 3).encode()).references.total == 0


class TestWhatIsNoSession:
    def test_json_that_looks_like_none_needs_no_words(self) -> None:
        assert facts_of(json.dumps(DOCUMENT).encode()).why_no_session == ""

    def test_what_looked_like_one_is_told(self) -> None:
        mixed = (
            pi_session(1)
            + b'{"type":"session_meta","payload":{"id":"x"},"timestamp":"2026-01-05T10:00:01Z"}\n'
        )
        assert "mixes session formats" in facts_of(mixed).why_no_session

    def test_a_format_that_is_named_must_be_it(self) -> None:
        with pytest.raises(SessionInvalid):
            measure(b"[]\n{}", "it", ViewRequest(format="anthropic"))

    @pytest.mark.parametrize("data", [b"{", b"hello", b"[1,]", b"\xff", b'{"a":1}}'])
    def test_what_is_no_json_is_refused(self, data: bytes) -> None:
        with pytest.raises(DocumentInvalid):
            measure(data, "it")

    @pytest.mark.parametrize("data", [b"", b" \n", b"1 2 3", b"null", b'"a"', b"[]\n{}"])
    def test_the_least_documents(self, data: bytes) -> None:
        facts = facts_of(data)
        assert facts.size == sum(each.size for each in facts.kinds) == len(data)
        json.dumps(to_json(facts))

    def test_a_session_with_a_cut_line_has_no_fold(self) -> None:
        facts = measure(pi_session(3)[:-40], "it")
        assert isinstance(facts, SessionFacts)
        assert facts.fold is None
        assert facts.oddities.shown[-1].code == "not-json"


class TestLongDocuments:
    def test_tokens_are_told_from_a_part(self, monkeypatch: pytest.MonkeyPatch) -> None:
        data = json.dumps(ROWS * 40).encode()
        whole = facts_of(data).tokens
        monkeypatch.setattr("castore.report.measure._COUNTED_BYTES", 1 << 16)
        monkeypatch.setattr("castore.report.measure._PIECE_BYTES", 1 << 12)
        facts = facts_of(data)
        assert facts.is_estimated
        assert facts.tokens == pytest.approx(whole, rel=0.05)
