"""No cheating by copying.

Laws: the store holds of a source what was replaced, and nothing more; a document with the objects that it
names is enough to unfold it; and what folds is all that the limits say, so that a folded document is short
because its long values are elsewhere, once.

What is checked is found with `json` and with the decoder that was made from docs/format.md, never with
castore's own scanner. Documents are generated, and every 7th file of the folder of cases is taken.
"""

from __future__ import annotations

import base64
import io
import json
import os
import random
import re
import shutil
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from castore.api import FoldPolicy, StoreHandle, fold_stream, init_store, unfold_bytes
from castore.errors import DocumentInvalid, LimitExceeded
from tests.fold import decoder

ROOT = Path(__file__).parents[2]
FORMAT = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
MEMBERS_OF_TYPES = {
    type: tuple(re.findall("`([A-Za-z_]+)`", members))
    for types, members in re.findall(
        r"(?m)^\| (`[a-zA-Z_`, ]+`) \| (.*)\|$", FORMAT.split("**Positions**")[1].split("Previews:")[0]
    )
    for type in re.findall("`([A-Za-z_]+)`", types)
    if type != "type"
}
PART_DATA = {"functionCall", "functionResponse", "inlineData"}
CASES = Path(os.environ.get("CASTORE_CASES") or ROOT.parent / "shared" / "cases")
EVERY = 7
SUFFIXES = (".json", ".jsonl", ".ndjson", ".har", ".ipynb", ".sarif", ".traj")
INVALID = re.compile("_fail|_n_")
GENERATED = 9

TYPED = '"type"'
POLICIES = {
    "default": FoldPolicy(),
    "short": FoldPolicy(bytes_over=60, items_over=2, grow=True),
    "objects": FoldPolicy(bytes_over=200, items_over=0, min_saving=0.3, objects=True),
    "thrifty": FoldPolicy(bytes_over=100, items_over=4, min_saving=0.9, preview="none"),
}

pytestmark = pytest.mark.skipif(shutil.which("zstd") is None, reason="the zstd program is not installed")


# --- Documents -------------------------------------------------------------------------------------


class Writer:
    """Documents as many programs would write them, and some as none would."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def document(self) -> bytes:
        head = self.random.choice(["", "", "\ufeff", "\n \r\n"])
        values = [self.value(0) for _ in range(self.random.randrange(1, 9))]
        return (
            head + "".join(value + self.random.choice(["\n", "\r\n\r\n", " "]) for value in values)
        ).encode()

    def value(self, depth: int) -> str:
        made = self.random.choice([self.scalar, self.string, self.text, self.binary])
        if depth >= 5 or self.random.random() < 0.4:
            return made()
        return self.random.choice([self.array, self.members, self.listed, self.rows])(depth)

    def space(self) -> str:
        return self.random.choice(["", "", "", " ", "\n  ", "\r\n\t"])

    def scalar(self) -> str:
        return self.random.choice(
            ["null", "true", "-0.0", "1e400", str(self.random.randrange(10**30)), "1.50"]
        )

    def string(self) -> str:
        pieces = [
            "a",
            "\\u0041",
            "\\/",
            "\\ud800",
            "é",
            "\\u00E9",
            "$ctx",
            '\\"',
            "{",
            "\\u2028",
            "<",
            "\x7f",
        ]
        count = self.random.choice([0, 1, 5, 30, 300])
        return '"' + "".join(self.random.choices(pieces, k=count)) + '"'

    def text(self) -> str:
        words = ["line", "of", "a", "log", "é", "\U0001f600", "<b>", "\n", "\t", "/", '"', "\u2028", "\x00"]
        text = " ".join(self.random.choices(words, k=self.random.choice([1, 9, 50, 700])))
        return str(decoder.ESCAPES[self.random.choice(["minimal", "ascii", "go"])](text))

    def binary(self) -> str:
        data = self.random.randbytes(self.random.choice([3, 40, 1500]))
        if self.random.random() < 0.5:
            data = b"\x89PNG\r\n\x1a\n" + data
        head = self.random.choice(
            ["", "", "data:image/png;base64,", "data:;base64,", "data:a\\/b;c=d;base64,"]
        )
        return '"' + head + base64.b64encode(data).decode() + '"'

    def name(self) -> str:
        names = [
            "a",
            "role",
            "content",
            "$ctx",
            "$$ctx",
            "\\u0024ctx",
            "media_type",
            "$\\u0063tx",
            "é",
            "x" * 90,
        ]
        return f'"{self.random.choice(names)}"'

    def array(self, depth: int) -> str:
        items = [self.value(depth + 1) for _ in range(self.random.choice([0, 1, 3, 10]))]
        space = self.space()
        return f"[{space}{f'{space},{self.space()}'.join(items)}{space}]"

    def members(self, depth: int) -> str:
        members = [
            f"{self.name()}{self.space()}:{self.space()}{self.value(depth + 1)}"
            for _ in range(self.random.choice([0, 1, 2, 6]))
        ]
        space = self.space()
        return f"{{{space}{f'{space},{self.space()}'.join(members)}{space}}}"

    def listed(self, depth: int) -> str:
        return self.random.choice([self.messages, self.positions])(depth)

    def messages(self, depth: int) -> str:
        """Every item has a role, but that now and then one has not, or has one that is no string."""
        roles = ['"role":"user",'] * 12 + ['"role":7,"role":"user",', '"role":"user","role":7,', ""]
        items = [
            f'{{{self.random.choice(roles)}"content":{self.value(depth + 2)}}}'
            for _ in range(self.random.choice([2, 10]))
        ]
        return f"[{','.join(items)}]"

    def positions(self, depth: int) -> str:
        """Blocks, items and parts, but that now and then one is none."""
        heads = [f'"type":"{type}"' for type in MEMBERS_OF_TYPES]
        heads = self.random.sample([*heads, '"functionCall":{}', '"inlineData":1'], 3)
        heads += self.random.choice(
            [[], [], ['"text":"x"'], ['"type":"Feature"'], ['"type":"text","type":1']]
        )
        types = re.findall(r'"type":"(\w+)"', ",".join(heads))
        names = [name for type in types for name in MEMBERS_OF_TYPES.get(type, ())]
        members = "".join(f',"{name}":{self.value(depth + 2)}' for name in names)
        items = [
            f"{{{head}{members if head.startswith(TYPED) else ''}}}"
            for head in self.random.choices(heads, k=self.random.choice([3, 12]))
        ]
        return f"[{','.join(items)}]"

    def rows(self, _: int) -> str:
        row = json.dumps({"id": self.random.randrange(99), "name": "row", "values": [1.5, None]})
        return f"[{(', ' + self.space()).join([row] * self.random.choice([3, 20, 60]))}]"


def case_files() -> list[Any]:
    """Every 7th file that is meant to be a document and long enough that something may fold."""
    if not CASES.is_dir():
        reason = "CASTORE_CASES names no folder" if "CASTORE_CASES" in os.environ else "no folder of cases"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="cases")]
    files = [path for path in CASES.rglob("*") if path.is_file() and path.suffix in SUFFIXES]
    meant = sorted(path for path in files if path.stat().st_size > 1024 and not INVALID.search(path.name))
    return [pytest.param(path, id=path.relative_to(CASES).as_posix()) for path in meant[::EVERY]]


# --- What was folded -------------------------------------------------------------------------------


@dataclass
class Folded:
    """A source, what it folded to, and the store that held nothing before."""

    source: bytes
    document: bytes
    store: Path
    policy: FoldPolicy
    edits: list[tuple[int, int, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        at = 3 if self.document.startswith(b"\xef\xbb\xbf") else 0
        while (at := decoder.after(decoder.SPACE, self.document, at)) < len(self.document):
            at = decoder.value(self.document, at, self.edits, str(self.store))
        self.starts = [start for start, _, _ in self.edits]
        self.grown = [0, *accumulate(len(instead) - (end - start) for start, end, instead in self.edits)]

    @property
    def references(self) -> list[tuple[int, int, bytes]]:
        """Where each stands in the document, and its literal. An escape's edit leaves nothing."""
        return [edit for edit in self.edits if edit[2]]

    def source_offset(self, at: int) -> int:
        return at + self.grown[bisect_left(self.starts, at)]

    def literal(self, start: int, end: int) -> bytes:
        """What stood in the source for these bytes of the document."""
        grown = self.grown[bisect_right(self.starts, end - 1)] - self.grown[bisect_left(self.starts, start)]
        at = self.source_offset(start)
        return self.source[at : at + end - start + grown]

    def reference_at(self, start: int) -> dict[str, Any]:
        found: dict[str, Any] = json.JSONDecoder().raw_decode(self.document[start:].decode())[0]["$ctx"]
        return found


def fold(source: bytes, policy: FoldPolicy, folder: Path) -> Folded:
    handle = StoreHandle(folder / "store", may_create=True)
    target = io.BytesIO()
    fold_stream(io.BytesIO(source), target, handle, policy)
    handle.close()
    return Folded(source, target.getvalue(), folder / "store", policy)


SOURCES = [
    *(pytest.param((seed, name), id=f"{name}-{seed}") for name in POLICIES for seed in range(GENERATED)),
    *case_files(),
]


@pytest.fixture(scope="module", params=SOURCES)
def folded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Folded:
    folder = tmp_path_factory.mktemp("folded")
    if isinstance(request.param, Path):
        try:
            return fold(request.param.read_bytes(), POLICIES["default"], folder)
        except (DocumentInvalid, LimitExceeded):
            assert not (folder / "store").exists()
            pytest.skip("not a sequence of JSON values")
    seed, name = request.param
    return fold(Writer(seed).document(), POLICIES[name], folder)


def objects_of(store: Path) -> dict[str, Path]:
    return {path.name: path for path in store.glob("objects/*/*")}


# --- Laws ------------------------------------------------------------------------------------------


class TestNothingMoreIsStored:
    def test_every_byte_is_left_or_replaced_once(self, folded: Folded) -> None:
        """The literals stand in the source where their references stand, with the rest between them."""
        at = done = rest = replaced = 0
        for start, end, literal in folded.edits:
            between = folded.document[done:start]
            assert folded.source.startswith(between, at)
            at += len(between)
            assert folded.source.startswith(literal, at)
            at += len(literal)
            rest, replaced, done = rest + len(between), replaced + len(literal), end
        assert folded.source[at:] == folded.document[done:]
        rest += len(folded.document) - done
        assert rest + replaced == len(folded.source)

    def test_objects_are_those_that_are_named(self, folded: Folded) -> None:
        named = {folded.reference_at(start)["digest"][7:] for start, _, _ in folded.references}
        assert set(objects_of(folded.store)) == named

    def test_each_object_is_one_literal(self, folded: Folded) -> None:
        seen: dict[str, int] = {}
        for start, _, literal in folded.references:
            reference = folded.reference_at(start)
            kind, name = reference["kind"], reference["digest"][7:]
            if kind == "text":
                data = json.loads(literal.decode()).encode()
            elif kind == "bytes":
                data = base64.b64decode(literal[1:-1].rpartition(b",")[2], validate=True)
            else:
                data = literal
            assert sha256(data).hexdigest() == name
            assert reference["size"] == len(data) <= len(literal)
            seen[name] = len(data)
        assert sum(seen.values()) <= sum(len(literal) for _, _, literal in folded.references)

    def test_other_files_hold_none_of_the_source(self, folded: Folded) -> None:
        files = [path for path in folded.store.rglob("*") if path.is_file() and "objects" not in path.parts]
        others = b"\n".join(path.read_bytes() for path in files)
        step = max(24, len(folded.source) // 200)
        for at in range(0, len(folded.source) - 24, step):
            window = folded.source[at : at + 24]
            assert len(set(window)) < 8 or window not in others


class TestObjectsThatAreNamedAreEnough:
    def test_unfold_in_a_fresh_store(self, folded: Folded, tmp_path: Path) -> None:
        store = init_store(tmp_path / "fresh")
        for start, _, _ in folded.references:
            name = folded.reference_at(start)["digest"][7:]
            folder = tmp_path / "fresh" / "objects" / name[:2]
            folder.mkdir(exist_ok=True)
            shutil.copyfile(folded.store / "objects" / name[:2] / name, folder / name)
        assert unfold_bytes(store, folded.document) == folded.source
        store.close()

    def test_decoder_unfolds(self, folded: Folded) -> None:
        """Of the edits that were read with the decoder; its own splicing is done in other tests."""
        parts, done = [], 0
        for start, end, instead in folded.edits:
            parts += [folded.document[done:start], instead]
            done = end
        assert b"".join([*parts, folded.document[done:]]) == folded.source


class TestAllThatMayFoldIsFolded:
    def test_nothing_over_the_limits_is_left(self, folded: Folded) -> None:
        assert list(left_over(folded)) == []

    def test_nothing_under_the_limits_is_folded(self, folded: Folded) -> None:
        policy = folded.policy
        for start, _, literal in folded.references:
            assert len(literal) > policy.bytes_over
            kind = folded.reference_at(start)["kind"]
            assert kind != "object" or policy.objects
            assert kind != "array" or is_long_array(literal, policy)

    def test_every_reference_saves_enough(self, folded: Folded) -> None:
        for start, end, literal in folded.references:
            assert saves_enough(end - start, len(literal), folded.policy)

    @pytest.mark.parametrize("min_saving", [0.0, 0.25, 0.3, 0.9])
    def test_saving_decides_to_the_byte(self, min_saving: float, tmp_path: Path) -> None:
        """Of lengths around the one from which the bare reference saves enough."""
        share = 1 - min_saving
        literals = []
        for length in range(round(115 / share), round(145 / share), round(1 / share)):
            literals.append(f'"{"x" * (length - 2)}"')
            literals.append(f'"{"/" * (length - 4)}\\/"')
            literals.append(f"[{'1,' * ((length - 2) // 2)}{'1' * (length % 2 + 1)}]")
            literals.append(f'{{"{length}":"{"y" * (length - 8)}"}}')
        source = "".join(f"{literal}\n" for literal in literals).encode()
        policy = FoldPolicy(bytes_over=50, items_over=5, min_saving=min_saving, objects=True)
        folded = fold(source, policy, tmp_path)
        assert list(left_over(folded)) == []
        assert all(saves_enough(end - start, len(each), policy) for start, end, each in folded.references)
        assert 0 < len(folded.references) < len(literals)

    def test_walker_finds_what_is_left(self, tmp_path: Path) -> None:
        """Of a document folded with one set of limits, and looked at with lower ones."""
        source = json.dumps({"rows": [{"a": 1}] * 50, "few": [[0] * 400], "text": "é" * 400}).encode()
        folded = fold(source, FoldPolicy(bytes_over=10**6), tmp_path)
        folded.policy = FoldPolicy(bytes_over=300)
        assert list(left_over(folded)) == ["$.rows", "$.few[0]", "$.text"]


class TestGeneratedDocuments:
    def test_every_kind_folds(self, tmp_path: Path) -> None:
        kinds: set[tuple[str, ...]] = set()
        for seed in range(GENERATED):
            document = Writer(seed).document()
            for name in ("short", "objects"):
                folded = fold(document, POLICIES[name], tmp_path / f"{seed}-{name}")
                for start, _, _ in folded.references:
                    reference = folded.reference_at(start)
                    how = (reference.get("escape"), reference.get("encoding"))
                    kinds.add((reference["kind"], *(each for each in how if each)))
        assert kinds == {
            ("array",),
            ("object",),
            ("string",),
            ("text", "minimal"),
            ("text", "ascii"),
            ("text", "go"),
            ("bytes", "base64"),
            ("bytes", "data-uri"),
        }


# --- The walker ------------------------------------------------------------------------------------

ANY = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str, parse_float=str)


def left_over(folded: Folded) -> Iterator[str]:
    """Paths of values left in the document that are over the limits and not spared.

    The document is read as Latin-1, so that offsets in the text are those of bytes; sizes are of what stood
    in the source.
    """
    text = folded.document.decode("latin-1")
    at = after_space(text, 3 if text.startswith("\xef\xbb\xbf") else 0)
    while at < len(text):
        yield from left_in_value(folded, text, at, "$")
        at = after_space(text, ANY.raw_decode(text, at)[1])


def left_in_value(folded: Folded, text: str, at: int, path: str) -> Iterator[str]:
    value, end = ANY.raw_decode(text, at)
    literal = folded.literal(at, end)
    is_reference = text[at] == "{" and [name for name, _ in value] == ["$ctx"]
    if len(literal) <= folded.policy.bytes_over or is_reference:
        return
    if is_over(literal, folded.policy):
        yield path
    if text[at] in "[{":
        for child, step in children(text, at):
            yield from left_in_value(folded, text, child, path + step)


def children(text: str, at: int) -> Iterator[tuple[int, str]]:
    """Where each item or member's value begins in the array or object at `at`, and how a path names it."""
    is_object, index = text[at] == "{", 0
    at = after_space(text, at + 1)
    while text[at] not in "]}":
        step = f"[{index}]"
        if is_object:
            name, at = ANY.raw_decode(text, at)
            step = "." + name
            at = after_space(text, after_space(text, at) + 1)
        yield at, step
        at = after_space(text, ANY.raw_decode(text, at)[1])
        if text[at] == ",":
            at = after_space(text, at + 1)
        index += 1


def after_space(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\r", "\n"):
        at += 1
    return at


def is_over(literal: bytes, policy: FoldPolicy) -> bool:
    """Whether a value of over bytes_over bytes folds, by docs/format.md, *What folds*."""
    if literal[:1] == b'"':
        return all(saves_enough(each, len(literal), policy) for each in bare_strings(literal))
    is_array = literal[:1] == b"["
    if (not is_array and not policy.objects) or (is_array and not is_long_array(literal, policy)):
        return False
    bare_length = bare(kind="array" if is_array else "object", size=len(literal))
    return saves_enough(bare_length, len(literal), policy)


def is_long_array(literal: bytes, policy: FoldPolicy) -> bool:
    items = json.loads(literal.decode(), parse_int=float)
    return len(items) > policy.items_over and not is_message_list(items)


def is_message_list(items: list[Any]) -> bool:
    """By the table of docs/format.md, Positions."""
    told = [position(item) for item in items]
    return all(told) and "position" in told


def position(item: Any) -> str | None:
    if not isinstance(item, dict):
        return None
    if isinstance(item.get("role"), str):
        return "position"
    if isinstance(item.get("type"), str):
        needed = MEMBERS_OF_TYPES.get(item["type"])
        return "position" if needed == () or any(name in item for name in needed or ()) else None
    if set(item) <= {"text", "thought", "thoughtSignature", *PART_DATA}:
        return "position" if PART_DATA & set(item) else "text part" if "text" in item else None
    return None


def saves_enough(reference: int, literal: int, policy: FoldPolicy) -> bool:
    return policy.grow or reference <= literal * (1 - Fraction(str(policy.min_saving)))


def bare(**members: object) -> int:
    """Length of the shortest reference with these members."""
    kind = members.pop("kind")
    reference = {"$ctx": {"kind": kind, "digest": "sha256:" + "0" * 64, **members}}
    return len(json.dumps(reference, separators=(",", ":"), ensure_ascii=False).encode())


def bare_strings(literal: bytes) -> Iterator[int]:
    """Lengths of the bare references that may stand for a string: two if it may be base64 by chance."""
    content = literal[1:-1]
    uri = re.fullmatch(rb"data:([!-+\--~]{0,200}?);base64,(.*)", content)
    decoded = decoded_base64(uri[2] if uri else content)
    if decoded is not None and uri:
        yield bare(kind="bytes", size=len(decoded), encoding="data-uri", media_type=uri[1].decode())
        return
    if decoded is not None:
        yield bare(kind="bytes", size=len(decoded), encoding="base64")
    text = json.loads(literal.decode())
    for escape, encode in decoder.ESCAPES.items():
        if encode(text).encode(errors="replace") == literal:
            yield bare(kind="text", size=len(text.encode()), escape=escape)
            return
    yield bare(kind="string", size=len(literal))


def decoded_base64(content: bytes) -> bytes | None:
    try:
        data = base64.b64decode(content, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data) == content else None
