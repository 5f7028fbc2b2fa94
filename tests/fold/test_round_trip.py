"""L1: unfold(fold(x)) == x, byte for byte; and what fold is told to do it does, the same every time (L8)."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castore import FoldPolicy, Store, fold_bytes, open_store, put, unfold_bytes
from castore.api import StoreHandle, fold_stream, plan_stream, unfold_stream
from castore.document import scan, structure
from castore.errors import DocumentInvalid, InvalidOption, LimitExceeded
from tests.document.strategies import NEAR_MISSES, SEQUENCES

POLICIES = st.builds(
    FoldPolicy,
    bytes_over=st.integers(0, 80),
    items_over=st.integers(0, 3),
    min_saving=st.sampled_from([0.0, 0.5, 0.75]),
    grow=st.booleans(),
    objects=st.booleans(),
    preview=st.sampled_from(["edges", "none"]),
    fold=st.lists(st.sampled_from(["$..*", "$.a", "$[*]", "$..role", "$..[1]"]), max_size=2).map(tuple),
    keep=st.lists(st.sampled_from(["$.a", "$[0]", "$..data", "$..[1]"]), max_size=1).map(tuple),
)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for many examples: what it holds must not matter."""
    opened = open_store(tmp_path_factory.mktemp("shared") / ".ctxstore", create=True)
    yield opened
    opened.close()


def large_document(lines: int = 3000) -> bytes:
    """Some 2 MB of records of every kind: above the size where the fast scan begins."""
    records = []
    for at in range(lines):
        records.append(
            json.dumps(
                {
                    "role": "tool",
                    "text": f"line {at} of a log\n" * (at % 90),
                    "rows": list(range(at % 40)),
                    "名": "é" * (at % 300),
                },
                ensure_ascii=at % 2 == 0,
            )
        )
    return ("\n".join(records) + "\n").encode()


class TestRoundTrip:
    @settings(max_examples=80)
    @given(SEQUENCES, POLICIES)
    def test_any_sequence_under_any_policy(
        self, shared_store: Store, document: bytes, policy: FoldPolicy
    ) -> None:
        folded = fold_bytes(shared_store, document, policy)
        assert unfold_bytes(shared_store, folded) == document
        again = fold_bytes(shared_store, folded, policy)
        assert unfold_bytes(shared_store, again) == folded

    @settings(max_examples=60)
    @given(SEQUENCES, POLICIES)
    def test_the_fast_scan_folds_alike(
        self, shared_store: Store, document: bytes, policy: FoldPolicy
    ) -> None:
        folded = fold_bytes(shared_store, document, policy)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scan.segments, "__kwdefaults__", {"small_bytes_max": 0, "watch": None})
            patch.setattr(structure, "_CHUNK_BYTES", 13)
            assert fold_bytes(shared_store, document, policy) == folded
            assert unfold_bytes(shared_store, folded) == document

    @settings(max_examples=80)
    @given(st.one_of(NEAR_MISSES, st.binary(max_size=80)), POLICIES)
    def test_other_bytes_are_refused_or_come_back(
        self, shared_store: Store, document: bytes, policy: FoldPolicy
    ) -> None:
        try:
            folded = fold_bytes(shared_store, document, policy)
        except (DocumentInvalid, LimitExceeded):
            return
        assert unfold_bytes(shared_store, folded) == document

    @settings(max_examples=80)
    @given(st.one_of(NEAR_MISSES, st.binary(max_size=80)))
    def test_unfold_takes_any_bytes_without_a_bug(self, shared_store: Store, document: bytes) -> None:
        with suppress(DocumentInvalid, LimitExceeded):
            unfold_bytes(shared_store, document)

    def test_large_documents_of_every_kind(self, store: Store) -> None:
        document = large_document()
        folded = fold_bytes(store, document)
        assert len(folded) < len(document) * 0.6
        assert unfold_bytes(store, folded) == document
        whole = b"[" + b",".join(document.splitlines()) + b"]"
        assert unfold_bytes(store, fold_bytes(store, whole)) == whole

    def test_an_edit_outside_the_references_survives(self, store: Store) -> None:
        document = json.dumps({"a": "before", "rows": list(range(2000))}).encode()
        folded = fold_bytes(store, document)
        edited = folded.replace(b"before", b"after!!")
        assert unfold_bytes(store, edited) == document.replace(b"before", b"after!!")


class TestTheSourceExample:
    DOCUMENT = b'{"rows": [0,1,2,3,4,5,6,7,8,9,10,11], "ref": {"reference": "user data"}}'

    def test_stores_one_array_of_twelve(self, store: Store) -> None:
        folded = fold_bytes(store, self.DOCUMENT, FoldPolicy(fold=("$.rows",), grow=True))
        reference = json.loads(folded)["rows"]["$ctx"]
        assert (reference["kind"], reference["items"]) == ("array", 12)
        assert len(list(store.digests())) == 1
        assert unfold_bytes(store, folded) == self.DOCUMENT


class TestDeterminism:
    def test_records_fold_alike_whatever_follows(self, store: Store) -> None:
        records = large_document(400).splitlines(keepends=True)
        for cut in (1, 57, 200, 399):
            first, second = b"".join(records[:cut]), b"".join(records[cut:])
            assert fold_bytes(store, first + second) == fold_bytes(store, first) + fold_bytes(store, second)

    @settings(max_examples=60)
    @given(SEQUENCES, SEQUENCES, POLICIES)
    def test_at_record_boundaries(self, shared_store: Store, a: bytes, b: bytes, policy: FoldPolicy) -> None:
        a = a + b"\n"
        b = b.removeprefix(b"\xef\xbb\xbf")
        whole = fold_bytes(shared_store, a + b, policy)
        assert whole == fold_bytes(shared_store, a, policy) + fold_bytes(shared_store, b, policy)

    def test_an_empty_and_a_full_store_one_and_eight_threads(self, store: Store, tmp_path: Path) -> None:
        document = large_document()
        outputs = set()
        for workers, handle in (
            (1, StoreHandle(tmp_path / "one", may_create=True)),
            (8, StoreHandle(tmp_path / "eight", may_create=True)),
            (8, StoreHandle(tmp_path / "one", may_create=False)),
        ):
            target = io.BytesIO()
            fold_stream(io.BytesIO(document), target, handle, FoldPolicy(), processes=workers)
            back = io.BytesIO()
            unfold_stream(io.BytesIO(target.getvalue()), back, handle)
            assert back.getvalue() == document
            outputs.add(target.getvalue())
        assert len(outputs) == 1

    def test_another_hash_seed(self, tmp_path: Path) -> None:
        (tmp_path / "in.json").write_bytes(large_document(300))
        outputs = set()
        for seed in ("0", "12345"):
            environment = {**os.environ, "PYTHONHASHSEED": seed, "CTX_STORE": str(tmp_path / seed)}
            run = subprocess.run(
                [sys.executable, "-m", "castore", "fold", str(tmp_path / "in.json"), "--objects"],
                env=environment,
                capture_output=True,
                check=True,
            )
            outputs.add(run.stdout)
        assert len(outputs) == 1


class TestTheSaving:
    @settings(max_examples=100)
    @given(SEQUENCES, st.sampled_from([0.0, 0.3, 0.75, 0.9]), st.integers(0, 60))
    def test_no_reference_is_longer_than_it_may_be(
        self, shared_store: Store, document: bytes, saving: float, bytes_over: int
    ) -> None:
        policy = FoldPolicy(bytes_over=bytes_over, items_over=0, min_saving=saving, objects=True)
        for span in plan_stream(io.BytesIO(document), policy).spans:
            assert span.reference_bytes <= span.literal_bytes * (1 - saving) + 1e-6
            assert span.literal_bytes > bytes_over

    def test_the_preview_gives_way_before_the_fold_does(self, store: Store) -> None:
        for size in range(400, 1400, 7):
            document = json.dumps([[0] * (size // 3)]).encode()
            folded = fold_bytes(store, document, FoldPolicy(bytes_over=64, items_over=2))
            bare = 119
            literal = len(document) - 2
            assert (b"$ctx" in folded) == (bare <= literal / 4)
            assert len(folded) <= len(document)


class TestPolicy:
    def kinds(self, document: object, policy: FoldPolicy) -> dict[str, str]:
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        return {span.path: str(span.kind) for span in plan_stream(io.BytesIO(data), policy).spans}

    def test_the_outermost_wins(self) -> None:
        rows = [{"text": "x" * 2000}] * 20
        assert self.kinds({"rows": rows}, FoldPolicy()) == {"$.rows": "array"}
        assert self.kinds(rows, FoldPolicy()) == {"$": "array"}

    def test_few_items_are_looked_into(self) -> None:
        assert self.kinds([["x" * 2000] * 8], FoldPolicy()) == {f"$[0][{at}]": "text" for at in range(8)}
        assert self.kinds([["x" * 2000] * 9], FoldPolicy()) == {"$[0]": "array"}

    def test_over_means_strictly_more(self) -> None:
        assert self.kinds(["x" * 1022], FoldPolicy()) == {}
        assert self.kinds(["x" * 1023], FoldPolicy()) == {"$[0]": "text"}

    def test_message_lists_are_spared_and_looked_into(self) -> None:
        messages = [{"role": "tool", "content": "x" * 2000}] * 12
        assert len(self.kinds({"messages": messages}, FoldPolicy())) == 12
        odd = [*messages, {"content": "x"}]
        assert self.kinds({"messages": odd}, FoldPolicy()) == {"$.messages": "array"}
        twice = b"[" + b",".join([b'{"role":1,"role":"x","content":"' + b"y" * 2000 + b'"}'] * 12) + b"]"
        assert len(self.kinds(twice, FoldPolicy())) == 12
        large = (
            b"[" + b",".join([b'{"role":1,"r\\u006fle":"x","content":"' + b"y" * 20_000 + b'"}'] * 30) + b"]"
        )
        assert len(self.kinds(large, FoldPolicy())) == 30
        assert self.kinds(
            b"[" + b",".join([b'{"role":"x","role":1,"c":"' + b"y" * 20_000 + b'"}'] * 30) + b"]",
            FoldPolicy(),
        ) == {"$": "array"}

    def test_objects_fold_if_asked(self) -> None:
        document = [{"a": {"b": "x" * 900, "c": "y" * 900}}]
        assert self.kinds(document, FoldPolicy()) == {}
        assert self.kinds(document, FoldPolicy(objects=True)) == {"$[0]": "object"}

    def test_fold_patterns_lift_floors_and_sparing_but_not_the_saving(self) -> None:
        document = {"small": ["x" * 600], "tiny": [1], "messages": [{"role": "user", "content": "x" * 900}]}
        policy = FoldPolicy(fold=("$.small", "$.tiny", "$.messages"))
        assert self.kinds(document, policy) == {"$.small": "array", "$.messages": "array"}
        assert self.kinds({"a": {"b": "x" * 700}}, FoldPolicy(fold=("$.a",))) == {"$.a": "object"}
        assert self.kinds([["x" * 600], ["y" * 600]], FoldPolicy(fold=("$[1]",))) == {"$[1]": "array"}

    def test_keep_beats_fold_and_spares_what_is_around_it(self) -> None:
        rows = [{"id": at, "log": "x" * 2000} for at in range(10)]
        assert self.kinds({"rows": rows}, FoldPolicy(keep=("$.rows[3].id",))) == {
            f"$.rows[{at}].log": "text" for at in range(10)
        }
        assert self.kinds({"rows": rows}, FoldPolicy(keep=("$..log",), fold=("$..log",))) == {}

    def test_members_names_never_fold(self) -> None:
        assert self.kinds({"n" * 3000: 1}, FoldPolicy()) == {}

    @pytest.mark.parametrize(
        "options",
        [{"bytes_over": -1}, {"min_saving": 2.0}, {"preview": "all"}, {"fold": ("rows",)}, {"keep": ("$[",)}],
    )
    def test_bad_options_are_refused(self, options: dict[str, object]) -> None:
        with pytest.raises(InvalidOption):
            FoldPolicy(**options)  # type: ignore[arg-type]


class TestKinds:
    PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10

    def one(self, store: Store, literal: bytes) -> tuple[str, bytes]:
        folded = fold_bytes(store, b"[" + literal + b"]")
        assert unfold_bytes(store, folded) == b"[" + literal + b"]"
        reference = json.loads(folded)[0]["$ctx"]
        (digest,) = [each for each in store.digests() if str(each) == reference["digest"]]
        return reference["kind"], store.read(digest)

    def test_a_log_is_its_text_and_one_object_in_every_spelling(self, store: Store) -> None:
        log = "é <b>line</b>\n" * 200
        for literal in (json.dumps(log), json.dumps(log, ensure_ascii=False)):
            assert self.one(store, literal.encode()) == ("text", log.encode())
        go = json.dumps(log, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
        assert self.one(store, go.encode()) == ("text", log.encode())
        assert len(list(store.digests())) == 1

    def test_other_spellings_stay_strings(self, store: Store) -> None:
        for literal in (
            b'"' + b"a\\/b" * 500 + b'"',
            b'"' + b"\\ud800" * 300 + b'"',
            b'"' + b"\\u00E9" * 300 + b'"',
        ):
            assert self.one(store, literal) == ("string", literal)

    def test_base64_is_its_bytes_where_something_says_so(self, store: Store) -> None:
        encoded = base64.b64encode(self.PNG)
        assert self.one(store, b'"' + encoded + b'"') == ("bytes", self.PNG)
        assert self.one(store, b'"data:image/png;base64,' + encoded + b'"') == ("bytes", self.PNG)
        plain = base64.b64encode(b"no magic here" * 200)
        assert self.one(store, b'"' + plain + b'"')[0] == "text"
        document = b'{"media_type":"application/x-thing","data":"' + plain + b'"}'
        folded = fold_bytes(store, document)
        assert json.loads(folded)["data"]["$ctx"]["kind"] == "bytes"
        assert unfold_bytes(store, folded) == document


class TestNothingFolds:
    def test_the_output_is_the_input_and_no_store_is_made(self, tmp_path: Path) -> None:
        handle = StoreHandle(tmp_path / "none", may_create=True)
        target = io.BytesIO()
        report = fold_stream(io.BytesIO(b' {"a":1}\n\n2 '), target, handle, FoldPolicy())
        assert target.getvalue() == b' {"a":1}\n\n2 '
        assert report.root is None
        assert not (tmp_path / "none").exists()


class TestRealFiles:
    """A sample by size and kind; the whole folder is run by its own program."""

    def test_come_back(self, cases: Path, store: Store) -> None:
        files = [path for path in sorted(cases.rglob("*.json*")) if path.stat().st_size < 400_000][::7]
        assert len(files) > 20
        for path in files:
            data = path.read_bytes()
            try:
                folded = fold_bytes(store, data, FoldPolicy(bytes_over=200, items_over=2, objects=True))
            except (DocumentInvalid, LimitExceeded):
                continue
            assert len(folded) <= len(data) or b"ctx" in data, path.name
            assert hashlib.sha256(unfold_bytes(store, folded)).digest() == hashlib.sha256(data).digest(), (
                path.name
            )


class TestTheFoldedFormIsADocument:
    @pytest.mark.parametrize("depth", [509, 510, 511, 512])
    def test_even_where_nesting_is_at_its_limit(self, store: Store, depth: int) -> None:
        for document in (
            b"[" * depth + b'"' + b"x" * 3000 + b'"' + b"]" * depth,
            b"[" * (depth - 1) + json.dumps(list(range(900))).encode() + b"]" * (depth - 1),
        ):
            folded = fold_bytes(store, document)
            assert unfold_bytes(store, folded) == document
            assert unfold_bytes(store, fold_bytes(store, folded)) == folded

    @pytest.mark.parametrize("media_type", ['a"b', "a\\x", "a,b", "a\\"])
    def test_a_media_type_can_not_break_the_string(self, store: Store, media_type: str) -> None:
        digest = put(store, b"x")
        reference = {
            "kind": "bytes",
            "digest": str(digest),
            "size": 1,
            "encoding": "data-uri",
            "media_type": media_type,
        }
        with pytest.raises(DocumentInvalid):
            unfold_bytes(store, json.dumps({"$ctx": reference}).encode())

    def test_media_types_may_have_parameters(self, store: Store) -> None:
        content = base64.b64encode(bytes(range(256)) * 9).decode()
        for value in (
            {"uri": "data:text/x; charset=a;base64," + content},
            {"mimeType": "a/b; c=d", "data": content},
        ):
            assert b'"kind":"bytes"' in fold_bytes(store, json.dumps(value).encode())
