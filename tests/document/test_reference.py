"""A user's data is never mistaken for ours, and ours is never passed through when it is malformed (L3)."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.config import PREVIEW_BYTES_MAX
from castore.descriptor import Descriptor, Encoding, Escape, Kind
from castore.digest import Digest
from castore.document.reference import Reference, bare_length, members, write_reference
from castore.document.splice import escape_members, fold_parts, unfold_parts
from castore.errors import DocumentInvalid
from tests.document.strategies import SEQUENCES

DIGEST = Digest.of(b"x")
GOOD = write_reference(Descriptor(Kind.ARRAY, DIGEST, 10, items=3, preview='["a"]'), 10_000) or b""


def unfolded(document: bytes) -> bytes:
    parts = list(unfold_parts(document))
    assert not [part for part in parts if isinstance(part, Reference)]
    return b"".join(bytes(part) for part in parts if not isinstance(part, Reference))


class TestEscape:
    @given(SEQUENCES)
    def test_is_taken_off_exactly_once(self, document: bytes) -> None:
        escaped = b"".join(escape_members(document))
        assert unfolded(escaped) == document
        again = b"".join(escape_members(escaped))
        assert unfolded(again) == escaped

    def test_brute_force_over_small_documents(self) -> None:
        """Every object, array and string made of a few look-alikes, two levels deep."""
        names = ['"$ctx"', '"$$ctx"', '"\\u0024ctx"', '"$\\u0063tx"', '"x\\"$ctx"', '"ctx"', '"$ctx "']
        leaves = [*names, "1", "{}", '{"kind":"array"}', GOOD.decode()]
        small = [f"[{a}]" for a in leaves]
        small += [f"{{{n} : {a}}}" for n, a in itertools.product(names, leaves)]
        small += [f'{{{n}:1,"b":{a}}}' for n, a in itertools.product(names, leaves)]
        small += [f'{{"b":1, {n}:{a}}}' for n, a in itertools.product(names, leaves)]
        documents = small + [f"{{{n}:{a}}}" for n, a in itertools.product(names, small)]
        documents += [f"[{a}{b}]" for a in ("",) for b in small]
        for text in documents:
            document = text.encode()
            escaped = b"".join(escape_members(document))
            json.loads(escaped)
            assert unfolded(escaped) == document
            # One `$` a member: nothing else has changed.
            assert len(escaped) - len(document) == sum(1 for _ in members(document))

    @given(SEQUENCES)
    def test_members_are_those_a_parser_sees(self, document: bytes) -> None:
        seen = 0

        def count(pairs: list[tuple[str, object]]) -> None:
            nonlocal seen
            seen += sum(1 for name, _ in pairs if name.lstrip("$") == "ctx" and name.startswith("$"))

        decoder = json.JSONDecoder(object_pairs_hook=count)
        text = document.decode("utf-8-sig")
        at = 0
        while (at := at + len(text[at:]) - len(text[at:].lstrip())) < len(text):
            _, at = decoder.raw_decode(text, at)
        assert sum(1 for _ in members(document)) == seen


class TestWrittenReferences:
    @given(
        st.sampled_from(
            [
                Descriptor(Kind.ARRAY, DIGEST, 5, items=12),
                Descriptor(Kind.OBJECT, DIGEST, 1 << 40),
                Descriptor(Kind.STRING, DIGEST, 0),
                Descriptor(Kind.TEXT, DIGEST, 7, escape=Escape.GO, lines=3),
                Descriptor(Kind.BYTES, DIGEST, 7, encoding=Encoding.BASE64),
                Descriptor(Kind.BYTES, DIGEST, 7, encoding=Encoding.DATA_URI, media_type="a/b;c=d"),
            ]
        ),
        st.one_of(st.none(), st.text(st.characters(blacklist_categories=("Cs",)), max_size=40)),
        SEQUENCES,
    )
    def test_are_read_back_in_their_places(
        self, descriptor: Descriptor, preview: str | None, around: bytes
    ) -> None:
        from dataclasses import replace

        descriptor = replace(descriptor, preview=preview)
        written = write_reference(descriptor, 10_000)
        assert written is not None
        json.loads(written)
        source = b"[7," + around.removeprefix(b"\xef\xbb\xbf").strip() + b"]"
        try:
            json.loads(source)
        except ValueError:
            source = b"[7,{}]"
        folded = b"".join(fold_parts(source, [(1, 2, written)]))
        parts = list(unfold_parts(folded))
        found = [part for part in parts if isinstance(part, Reference)]
        assert [each.descriptor for each in found] == [descriptor]
        assert folded[found[0].start : found[0].end] == written
        assert b"".join(b"7" if isinstance(part, Reference) else bytes(part) for part in parts) == source

    def test_give_up_the_preview_and_then_the_counts(self) -> None:
        descriptor = Descriptor(Kind.ARRAY, DIGEST, 5000, items=12, preview="x" * 50)
        whole = write_reference(descriptor, 10_000) or b""
        counts = write_reference(descriptor, len(whole) - 1) or b""
        bare = write_reference(descriptor, len(counts) - 1) or b""
        assert b"preview" in whole
        assert b"preview" not in counts
        assert b"items" in counts
        assert b"items" not in bare
        assert len(bare) == bare_length(Kind.ARRAY, 5000)
        assert write_reference(descriptor, len(bare) - 1) is None

    def test_stay_short(self) -> None:
        longest = Descriptor(
            Kind.BYTES,
            DIGEST,
            1 << 40,
            encoding=Encoding.DATA_URI,
            media_type="x" * 200,
            preview="é" * (PREVIEW_BYTES_MAX // 2),
        )
        assert len(write_reference(longest, 10_000) or b"") < 600


def reference(**changes: object) -> bytes:
    value: dict[str, object] = {"kind": "array", "digest": str(DIGEST), "size": 5, **changes}
    return json.dumps({"$ctx": {k: v for k, v in value.items() if v is not None}}).encode()


class TestMalformedReferences:
    @pytest.mark.parametrize(
        "document",
        [
            b'{"$ctx":1}',
            b'{"$ctx":null}',
            b'{"$ctx":[]}',
            b'{"$ctx":{}}',
            b'{"\\u0024ctx":"x"}',
            GOOD[:-1] + b',"a":1}',
            b'{"a":1,' + GOOD[1:],
            b'{"$ctx":1,"$ctx":2}',
            reference(kind="blob"),
            reference(kind=None),
            reference(kind=["array"]),
            reference(digest=None),
            reference(digest=DIGEST.hex),
            reference(digest="sha256:" + DIGEST.hex.upper()),
            reference(digest="sha256:../../etc/passwd"),
            reference(digest=5),
            reference(size=None),
            reference(size=-1),
            reference(size=True),
            reference(size=5.0),
            reference(size="5"),
            reference(kind="text"),
            reference(kind="text", escape="rust"),
            reference(kind="bytes"),
            reference(kind="bytes", encoding="base32"),
            reference(kind="bytes", encoding="data-uri"),
            reference(kind="bytes", encoding="data-uri", media_type="a,b"),
            reference(kind="bytes", encoding="data-uri", media_type="a\n"),
            GOOD.replace(b'"size":10', b'"size":10,"size":11'),
            reference(preview="x" * 5000),
        ],
    )
    def test_are_refused_with_their_place(self, document: bytes) -> None:
        with pytest.raises(DocumentInvalid) as caught:
            list(unfold_parts(b'{"pad":[' + document + b"]}"))
        assert isinstance(caught.value.fields["offset"], int)

    @pytest.mark.parametrize(
        "document",
        [
            reference(items="x", lines=-3, preview=7, future={"$ctx": {"$$ctx": 1}}),
            GOOD.replace(b'"$ctx":', b'"\\u0024c\\u0074x" : '),
            b" {\n" + GOOD[1:-1] + b"\n}",
        ],
    )
    def test_what_only_the_reader_sees_or_nobody_knows_is_no_error(self, document: bytes) -> None:
        parts = list(unfold_parts(b"[" + document + b"]"))
        assert len([part for part in parts if isinstance(part, Reference)]) == 1
