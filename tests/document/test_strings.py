"""String literals and what they say: every encoder is fixed to the byte (docs/format.md)."""

from __future__ import annotations

import base64
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.descriptor import Encoding, Escape
from castore.document import strings
from castore.document.strings import (
    choose_escape,
    decode_base64,
    decode_data_uri,
    decode_literal,
    encode_base64,
    encode_text,
)
from tests.document.strategies import STRINGS

TEXTS = st.text(st.characters(blacklist_categories=("Cs",)))


def by_the_page(text: str, escape: Escape) -> str:
    """The encoders once more, character by character, as docs/format.md words them."""
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
    written = []
    for character in text:
        number = ord(character)
        if character in short:
            written.append(short[character])
        elif number < 0x20 or (escape is Escape.GO and character in "<>&\u2028\u2029"):
            written.append(f"\\u{number:04x}")
        elif escape is Escape.ASCII and number > 0x7E:
            units = character.encode("utf-16-be")
            written.extend(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
        else:
            written.append(character)
    return '"' + "".join(written) + '"'


class TestEncoders:
    @given(TEXTS, st.sampled_from(Escape))
    def test_are_as_the_page_says(self, text: str, escape: Escape) -> None:
        assert encode_text(text, escape) == by_the_page(text, escape).encode()

    @pytest.mark.parametrize("escape", Escape)
    def test_every_character(self, escape: Escape) -> None:
        for block in range(0, 0x110000, 0x1000):
            text = "".join(chr(c) for c in range(block, block + 0x1000) if not 0xD800 <= c < 0xE000)
            assert encode_text(text, escape) == by_the_page(text, escape).encode()
            assert decode_literal(encode_text(text, escape)) == text

    def test_the_fast_and_the_plain_one_write_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for block in range(0, 0x110000, 0x1000):
            text = "".join(chr(c) for c in range(block, block + 0x1000) if not 0xD800 <= c < 0xE000)
            assert msgspec.json.encode(text) == by_the_page(text, Escape.MINIMAL).encode()
        text = 'é"\\\n\x1f<' * 1000
        fast = encode_text(text, Escape.GO), decode_literal(encode_text(text, Escape.ASCII))
        monkeypatch.setattr(strings, "_SHORT_BYTES_MAX", 1 << 40)
        assert fast == (encode_text(text, Escape.GO), decode_literal(encode_text(text, Escape.ASCII)))


class TestChoosing:
    @given(STRINGS)
    def test_the_chosen_encoder_gives_the_literal_back(self, literal: str) -> None:
        text = json.loads(literal)
        assert decode_literal(literal.encode()) == text
        if any(0xD800 <= ord(character) < 0xE000 for character in text):
            return
        escape = choose_escape(literal.encode(), text)
        fitting = [each for each in Escape if by_the_page(text, each) == literal]
        assert escape == (fitting[0] if fitting else None)

    @pytest.mark.parametrize("literal", [b'"\\/"', b'"\\u00E9"', b'"\\u0041"', b'"\\u0022"', b'"\\u000A"'])
    def test_other_spellings_have_none(self, literal: bytes) -> None:
        assert choose_escape(literal, decode_literal(literal)) is None

    def test_lone_surrogates_are_decoded_as_such(self) -> None:
        assert decode_literal(b'"\\ud800x"') == "\ud800x"
        assert decode_literal(b'"' + b"\\ud800" * 1000 + b'"') == "\ud800" * 1000


class TestBase64:
    @given(st.binary(max_size=80), st.sampled_from(["image/png", "text/plain;charset=utf-8", "", "a/b;x=y"]))
    def test_rebuilds_what_it_takes(self, data: bytes, media_type: str) -> None:
        content = base64.b64encode(data)
        assert decode_base64(content) == data
        assert encode_base64(data, Encoding.BASE64, None) == b'"' + content + b'"'
        uri = b"data:" + media_type.encode() + b";base64," + content
        assert decode_data_uri(uri) == (media_type, data)
        assert encode_base64(data, Encoding.DATA_URI, media_type) == b'"' + uri + b'"'

    @pytest.mark.parametrize("content", [b"QQ", b"QR==", b"QQ==\n", b"Q Q=", b"QQ==QQ==", b"-_-_", b"=QQ="])
    def test_refuses_what_it_would_write_otherwise(self, content: bytes) -> None:
        assert decode_base64(content) is None

    def test_a_data_uri_without_base64_is_none(self) -> None:
        assert decode_data_uri(b"data:text/plain,hello") is None
        assert decode_data_uri(b"data:" + b"x" * 201 + b";base64,QQ==") is None
