"""Laws: a selected value is given as it stands; a range of it is one of what it says."""

from __future__ import annotations

import json
from typing import Any

import jsonpath_rfc9535
import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore import config
from castore.errors import DocumentInvalid, InvalidOption, LimitExceeded, NotFound
from castore.retrieve.address import Address, Range, Unit
from castore.retrieve.pages import page_of
from castore.retrieve.readable import Held
from castore.retrieve.reading import pieces_of
from castore.retrieve.selecting import select
from tests.retrieve.pieced import Pieced
from tests.retrieve.test_slicing import VALUES


def chosen(data: bytes, *selects: str, **ranges: str) -> bytes:
    return b"".join(pieces_of(Held(data), Address.parse(selects, **ranges)))


class TestAsTheyStand:
    @given(
        VALUES, st.sampled_from(["$", "$.*", "$..*", "$[0]", "$[-1]", "$[::2]", "$..a", "$[?@.a]", "$['']"])
    )
    def test_the_values_that_the_library_finds(self, value: Any, path: str) -> None:
        """RFC 9535 says which; the bytes say how."""
        data = json.dumps(value, indent=1).encode()
        wanted = [node.value for node in jsonpath_rfc9535.find(path, value)]
        if isinstance(value, str):
            return  # What a string says is read as JSON: TestJsonInStrings.
        query = jsonpath_rfc9535.compile(path)
        if query.singular_query() and not wanted:
            with pytest.raises(NotFound):
                select(Held(data), path)
            return
        found = select(Held(data), path)
        assert [json.loads(each) for each in found.literals] == wanted
        assert all(each in data for each in found.literals)

    @pytest.mark.parametrize(
        "number", ["1.0", "1.00", "-0", "1E5", "123456789012345678901234567890", "0.1e-7", "1e999"]
    )
    def test_a_number_keeps_its_spelling(self, number: str) -> None:
        assert chosen(b'{"a": [%b , 2]}' % number.encode(), "$.a[0]") == number.encode() + b"\n"

    def test_of_members_with_one_name_the_last_counts(self) -> None:
        assert chosen(b'{"a":1,"b":2,"a":[3]}', "$.a[0]") == b"3\n"
        assert chosen(b'{"a":"\\ud800","b":2,"a":[3]}', "$.a[0]") == b"3\n"

    def test_half_a_character_stands(self) -> None:
        assert chosen(b'{"a":["\\ud800",{"b":"\\udfff"}]}', "$..b") == b'"\\udfff"\n'
        assert chosen(b'{"\\ud800":{"b":1.50}}', "$.*.b") == b"1.50\n"

    def test_an_item_of_a_large_array_is_taken_first(self) -> None:
        data = json.dumps([{"id": n, "text": "x" * 40} for n in range(2000)]).encode()
        source = Pieced(data, 1000)

        class Stored:
            """As an object of a store: nothing that is held."""

            size, is_array = source.size, True
            read, pieces, marks = source.read, source.pieces, source.marks

        assert b"".join(pieces_of(Stored(), Address(("$[1999].id",)))) == b"1999\n"
        assert source.read_bytes < 10_000


class TestRangesOfWhatWasSelected:
    DATA = json.dumps({"log": "one\ntwo\n订单\n", "rows": [1, [2], {"a": 3}], "n": 5}).encode()

    def test_a_string_is_what_it_says(self) -> None:
        assert chosen(self.DATA, "$.log", lines="2").decode() == "订单\n"
        assert chosen(self.DATA, "$.log", chars=":") == b"one\ntwo\n" + "订单\n".encode()
        assert chosen(self.DATA, "$.log", bytes="0:3") == b"one"
        assert json.loads(chosen(self.DATA, "$.log")) == "one\ntwo\n订单\n"

    def test_items(self) -> None:
        assert chosen(self.DATA, "$.rows", items="1:") == b'[2]\n{"a": 3}\n'
        assert chosen(self.DATA, "$.rows[*]", items="-1") == b'{"a": 3}\n'
        assert chosen(self.DATA, "$.rows[*]", items="0:2", bytes="1:4") == b"\n[2"

    def test_lines_of_several_values(self) -> None:
        with pytest.raises(InvalidOption, match="--items"):
            chosen(self.DATA, "$.rows[*]", lines="0")

    def test_none_of_several_is_nothing(self) -> None:
        assert chosen(self.DATA, "$.rows[?@.zz]") == b""
        assert page_of(Held(self.DATA), Address(("$..zz",))).data == b""

    def test_pages_of_values(self) -> None:
        data = json.dumps([{"id": n} for n in range(100)]).encode()
        found, left = b"", [Address(("$[*].id",))]
        while left:
            shown = page_of(Held(data), left.pop(0), 64)
            found, left = found + shown.data, [*shown.next, *left]
        assert found == b"".join(b"%d\n" % n for n in range(100))

    def test_a_page_of_a_long_string_is_what_it_says(self) -> None:
        data = json.dumps({"s": '"quoted"\n' * 100}).encode()
        shown = page_of(Held(data), Address(("$.s",)), 64)
        assert shown.data == b'"quoted"\n' * 7
        assert shown.next == (Address(("$.s",), Range(Unit.LINES, 7, 100)),)
        assert chosen(data, *shown.next[0].selects, lines=str(shown.next[0].range)) == b'"quoted"\n' * 93

    def test_a_cut_does_not_make_lines_of_several_values(self) -> None:
        for most in (64, 500):
            with pytest.raises(InvalidOption, match="--items"):
                page_of(Held(self.DATA), Address.parse(["$.rows[*]"], lines="0", bytes="0:9"), most)


class TestRegularExpressions:
    """RFC 9485 is told from what the engine takes: as the library's own functions do."""

    @pytest.mark.parametrize(
        "pattern",
        ["a.c", "a[.]c", r"a\.c", "[^.]+", "", "a|b", "(", "a{2}", r"\p{Lu}.*", ".*\u8ba2.", "^a", "a$"],
    )
    @pytest.mark.parametrize("function", ["match", "search"])
    def test_the_library_says_the_same(self, pattern: str, function: str) -> None:
        values = ["abc", "a.c", "a\nc", "a\rc", "", "aa", "A1", "订单", "x订单", "ac", None, 7]
        path = f"$[?{function}(@, {json.dumps(pattern, ensure_ascii=False)})]"
        wanted = [node.value for node in jsonpath_rfc9535.find(path, values)]
        found = select(Held(json.dumps(values).encode()), path)
        assert [json.loads(each) for each in found.literals] == wanted


class TestJsonLines:
    DATA = b'{"a": 1.50, "ts": "x"}\n\n {"a": [2]}\r\n"text"\n'

    def test_are_the_array_that_they_would_be(self) -> None:
        assert chosen(self.DATA, "$[0].a") == b"1.50\n"
        assert chosen(self.DATA, "$[*].a") == b"1.50\n[2]\n"
        assert chosen(self.DATA, "$[?@.ts == 'x']") == b'{"a": 1.50, "ts": "x"}\n'
        assert chosen(self.DATA, "$[-1]") == b'"text"\n'

    @pytest.mark.parametrize(
        "data", [b'{"a":1}\n{"a":', b'{"a":1}\nplain', b'{"a":1} {"a":2}\n3', b"1,2\n3\n"]
    )
    def test_lines_of_which_one_is_no_value_are_none(self, data: bytes) -> None:
        with pytest.raises(DocumentInvalid):
            chosen(data, "$[0]")


class TestJsonInStrings:
    TWICE = json.dumps({"content": json.dumps({"rows": [{"a": json.dumps([7, "x"])}]})}).encode()

    def test_one_after_the_other(self) -> None:
        assert chosen(self.TWICE, "$.content", "$.rows[0].a", "$[1]") == b'"x"\n'
        assert chosen(self.TWICE, "$.content", "$.rows", items="0") == b'{"a": "[7, \\"x\\"]"}\n'

    def test_a_whole_string(self) -> None:
        literal = json.dumps(json.dumps({"a": [1]})).encode()
        assert chosen(literal, "$.a[0]") == b"1\n"
        assert chosen(literal, "$") == literal + b"\n"

    def test_a_string_that_is_none(self) -> None:
        with pytest.raises(NotFound):
            chosen(b'{"a":"text"}', "$.a", "$.b")

    def test_of_several_values_there_is_no_next(self) -> None:
        with pytest.raises(InvalidOption, match="several"):
            chosen(b'[{"a":"[1]"}]', "$[*].a", "$[0]")


class TestWhatCantBeSelected:
    @pytest.mark.parametrize(
        "path", ["", "a", "$.", "$[", "$[?", "$..", "$.a b", "$[1:2:3:4]", "$" * 9, "$[?@ ==]"]
    )
    def test_no_path(self, path: str) -> None:
        with pytest.raises(InvalidOption, match="no JSONPath"):
            chosen(b"{}", path)

    @pytest.mark.parametrize("data", [b"", b"text", b"{", b"[1,]", b"{} {}", b"\xff", b"NaN", b'{"a":NaN}'])
    def test_no_json(self, data: bytes) -> None:
        with pytest.raises(DocumentInvalid):
            chosen(data, "$.a")

    def test_too_deep(self) -> None:
        with pytest.raises((LimitExceeded, DocumentInvalid)):
            chosen(b"[" * 100_000 + b"]" * 100_000, "$..a")

    @pytest.mark.parametrize(
        "path", ["$[?" + "(" * 500 + "@.a" + ")" * 500 + "]", "$[?" + "!" * 2000 + "@.a]"]
    )
    def test_a_path_that_is_nested_too_deep(self, path: str) -> None:
        with pytest.raises(InvalidOption, match="nested too deep"):
            chosen(b"[{}]", path)

    @pytest.mark.parametrize("function", ["search", "match"])
    def test_an_expression_without_end(self, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("castore.retrieve.jsonpath.SELECT_SECONDS_MAX", 0.2)
        data = json.dumps([{"n": "a" * 60 + "!"}]).encode()
        with pytest.raises(LimitExceeded, match="regular expressions"):
            chosen(
                data,
                f'$[?{function}(@.n, "(a|aa)+")]' if function == "match" else '$[?search(@.n,"(a|aa)+$")]',
            )

    def test_too_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("castore.retrieve.selecting.SELECT_BYTES_MAX", 100)
        assert config.SELECT_BYTES_MAX > 1 << 20
        with pytest.raises(LimitExceeded, match="100 bytes"):
            chosen(b'{"a":"%b"}' % (b"x" * 200), "$.a")
