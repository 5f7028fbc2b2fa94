"""Makes the golden documents: `python -m tests.fold.make_golden`.

Each folder of golden/ is one case: `source` (or `source.zst`), `folded`, `options.json` (how castore folds
the one into the other; absent where the folded document was written by hand) and `store/`, as it stood when
the case was made. Only cases that are not there are written: what was folded once must unfold for ever, so a
case is changed by deleting its folder, and that is a change of the format.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from castore.api import FoldPolicy, StoreHandle, fold_stream
from tests.fold import decoder

GOLDEN = Path(__file__).parent / "golden"
FIXED_TIME = 1_750_000_000.0
PLAIN_SOURCE_BYTES_MAX = 64 << 10
MEBI = 1 << 20

EVERY_STRING: dict[str, Any] = {"bytes_over": 0, "items_over": 99, "grow": True}
SHORT: dict[str, Any] = {"bytes_over": 40, "items_over": 3, "grow": True}


@dataclass(frozen=True)
class Folding:
    """A source, and the options with which castore folds it."""

    source: bytes
    options: dict[str, Any]


@dataclass(frozen=True)
class ByHand:
    """A folded document as another program might write it, with the files of its objects by their bytes."""

    source: bytes
    folded: bytes
    files: dict[bytes, bytes]


# --- Sources that castore folds ---------------------------------------------------------------------------


def kinds() -> Folding:
    members = [
        '"array": [1, 2.50, {"a":[ ]}, "x", null, true, 1e5, 22, 333, 4444, 55555, 666666]',
        '"object": {"left": "alone, without a pattern", "name": "and yet it is over forty bytes"}',
        '"wanted": {"folds": "for a pattern says so", "b": {"c": [1,2,3,4,5,6,7]}}',
        '"string": "a solidus that is escaped\\/, which no encoder does"',
        '"minimal": "two lines, and a tab\\n\\tquotes \\" and \\\\, é and / as they are"',
        '"ascii": "two lines, and a tab\\n\\tquotes \\" and \\\\, \\u00e9 \\ud83d\\ude00 \\u007f"',
        '"go": "two lines, and a tab\\n\\t\\u003cb\\u003e é \\u0026 \\u2028 \\u2029\\n"',
        f'"base64": "{base64.b64encode(png(60)).decode()}"',
        f'"data-uri": "data:image/png;name=a.png;base64,{base64.b64encode(png(61)).decode()}"',
        '"short": "stays"',
    ]
    source = "{\n  " + ",\n  ".join(members) + "\n}\n"
    return Folding(source.encode(), {**SHORT, "fold": ["$.wanted"]})


def escapes() -> Folding:
    controls = "".join(map(chr, range(0x20)))
    odd = controls + '\x7f\x80 / \\ " é \u2028\u2029 \ufeff\ufffe\uffff \U0001f600\U0010ffff <&>'
    texts = ["", "a", "\n", "\n\n", "no line feed at the end", "one\n", "one\ntwo\nthree", controls]
    literals = [json.dumps(text) for text in texts]
    literals += [
        json.dumps(odd, ensure_ascii=False),
        json.dumps(odd),
        go_literal(odd),
        go_literal("<b>only what Go escapes</b>"),
        '"\\ud800 a lone surrogate"',
        '"and \\udc00\\ud83d the wrong way round, \\ude00\\ud83d\\ude00"',
        '"\\/"',
        '"upper case \\u00E9 \\u000A"',
        '"\\u0041 needed no escape"',
        '"\\u0008 has a shorter one"',
        '"\\ud83d\\ude00 is escaped and é is not"',
        '"\\u003c is escaped and > is not"',
        '"\\u007f is escaped, é is not"',
    ]
    members = ",".join(f'\n"{at}":{literal}' for at, literal in enumerate(literals))
    return Folding(f"{{{members}\n}}".encode(), EVERY_STRING)


def binary() -> Folding:
    def written(data: bytes) -> str:
        return base64.b64encode(data).decode()

    plain = bytes(range(200, 248))
    contents = [
        *(written(png(size)) for size in (30, 31, 32)),
        written(b"GIF89a" + plain),
        written(b"%PDF-1.7\n" + plain),
        written(b"RIFF\x10\x00\x00\x00WEBP" + plain),
        written(plain),
        written(png(30))[:-2] + "B=",
        written(png(30)).replace("+", "-").replace("/", "_") + "____",
        written(png(30)) + "\\n",
        "data:;base64,",
        "data:;base64," + written(plain),
        "data:text/plain;charset=utf-8;base64," + written("é\n".encode() * 9),
        'data:text/plain;title=\\"a\\";base64,' + written(plain),
        "data:image\\/svg+xml;base64," + written(b"<svg/>"),
        "data:a/b;base64;base64," + written(plain),
        "data:" + "m" * 200 + ";base64," + written(plain),
        "data:" + "m" * 201 + ";base64," + written(plain),
        "data:text/plain,not in base64, " + "x" * 30,
        "data:text/plain;base64,not base64!",
    ]
    strings = ",\n ".join(f'{{"at":{at},"data":"{content}"}}' for at, content in enumerate(contents))
    source = f"""{{"alone":[{strings}],
 "said": {{"type": "base64", "media_type": "application/x-own", "data": "{written(plain)}"}},
 "mime": {{"data": "{written(plain[::-1])}", "mimeType": "audio/x-own; rate=8000"}},
 "twice": {{"mimeType": "audio/x-own", "data": "{written(plain)}", "mimeType": "last"}}}}
"""
    return Folding(source.encode(), {**EVERY_STRING, "bytes_over": 14})


def lookalikes() -> Folding:
    reference = '{"kind":"text","digest":"sha256:%s","size":7,"escape":"minimal"}' % ("0" * 64)
    source = f"""{{"$ctx":{reference}}}
{{"\\u0024ctx": {reference} , "a": "{{\\"$ctx\\": 1"}}
[{{"$ctx":1}},{{"$$ctx":2}},[{{"$$$ctx":3}},{{"$\\u0063tx":4}},{{"\\u0024\\u0024\\u0063\\u0074\\u0078":5}}]]
{{"$ctx":6,"$ctx":7,"$$ctx":{{"$ctx":{{"\\u0024$ctx":{{}}}}}}}}
["$ctx", "$$ctx", {{"ctx":1,"$":2,"$Ctx":3,"$ctx ":4,"$ctx\\n":5,"x$ctx":6,"\\\\u0024ctx":7,"$$":"$ctx"}}]
{{"folded, and so not escaped": [1,2,{{"$ctx":{reference}}},{{"$$ctx":[]}},{{"\\u0024ctx":0}},{{"$ctx"
 : 1}}], "$ctx" \t: "a string over the limit in a member whose name is escaped", "$$ctx":["more"]}}
"""
    return Folding(source.encode(), {**SHORT, "bytes_over": 50})


def records() -> Folding:
    lines = [
        '{"id":1,"log":"first line\\nsecond line\\nthird line, as it is a log\\n"}',
        "",
        " \t",
        '{"id":2,"rows":[ 1 , 2 , 3 , 4 , 5 , 6 , 7 , 8 , 9 , 10 , 11 ]}',
        "12",
        '"a string that is a record by itself, and is long enough"',
        "null \t true",
        '["é","ü","ö","ß","é","ü","ö","ß"]',
        "",
    ]
    return Folding(b"\xef\xbb\xbf \r\n" + "\r\n".join(lines).encode() + b"\r\n{}", SHORT)


def glued() -> Folding:
    source = (
        '{"a":1}{"a":2}[3][][1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]{"rows":["a","b","c","d","e","f"]}'
        '"a text that follows at once, as it may after an object"\n[0]1 [2]"and one more that follows, as it '
        'may after an array, too" {"$ctx":1}{"\\u0024ctx":2}[[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]]3'
    )
    return Folding(source.encode(), SHORT)


def pretty() -> Folding:
    values: list[Any] = [
        {"rows": [{"id": at, "name": f"row {at}"} for at in range(7)], "none": [], "nothing": {}},
        ["first", ["nested", ["deeper", list(range(12))]]],
        {
            "text": "line of a log\n" * 8,
            "matrix": [[row * column for column in range(4)] for row in range(3)],
        },
    ]
    indents: tuple[int | str, ...] = (2, 4, "\t")
    written = [json.dumps(value, indent=indent) for value, indent in zip(values, indents, strict=True)]
    return Folding("\n\n".join(written).encode(), SHORT)


def numbers() -> Folding:
    integer = "123456789012345678901234567890"
    source = (
        f'{{"n":[{integer},-0.0,-0,1e400,1E-400,0.10,1.5E+3,-{integer}.5e1],"n":1e400,"a":-0.0,"a":{integer},'
        '"n":"a name that is given three times, the last time with a text"}'
    )
    return Folding(source.encode(), SHORT)


def empty() -> Folding:
    return Folding(b"", {})


def white_space() -> Folding:
    return Folding(b"\xef\xbb\xbf \r\n\t\n", {})


def scalar() -> Folding:
    return Folding(b" -0.0", EVERY_STRING)


def lone_string() -> Folding:
    return Folding(json.dumps("The whole document is one string. " * 40).encode(), {})


def defaults() -> Folding:
    rows = [{"id": at, "status": 200 + at % 3, "path": f"/items/{at}"} for at in range(60)]
    messages = [
        {"role": "user", "content": "Why does the build fail? " * 50},
        {"role": "assistant", "content": [{"type": "text", "text": "I look at the log.\n" * 70}]},
        {"role": "tool", "content": "step 1: done\n" * 90, "$ctx": "mine"},
        *({"role": "user", "content": "and now?"} for _ in range(9)),
    ]
    values = [
        {"messages": messages, "rows": rows, "few": ["x" * 300] * 5},
        {"o": {"rows": rows}, "é": "é" * 600},
    ]
    return Folding("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in values).encode(), {})


def savings() -> Folding:
    """Growing lengths: first nothing folds, then with a count, then with a preview that grows."""
    line = "x\\n"
    lengths = (170, 176, 179, 182, 185, 191, 194, 215, 230, 240, 275, 425)
    strings = ",".join(f'"{length} {(length - 6) // 3 * line}"' for length in lengths)
    plain = ",".join(f'"{length} {"y" * (length - 6)}"' for length in (200, *range(240, 246)))
    arrays = ",".join(f"[{','.join(['12345'] * count)}]" for count in range(18, 70, 8))
    source = f'{{"strings":[{strings}],"plain":[{plain}],"arrays":[{arrays}]}}\n'
    return Folding(
        source.encode(), {"bytes_over": 100, "items_over": 60, "min_saving": 0.25, "fold": ["$.arrays[*]"]}
    )


def choices() -> Folding:
    rows = [{"n": at, "t": "some words of text"} for at in range(6)]
    value = {
        "keep": {"rows": rows},
        "holds kept": [1, 2, 3, 4, 5, {"kept": "a text that would be long enough to fold, were it not kept"}],
        "rows": rows,
        "large": {"a": {"b": "c" * 60}, "rows": rows},
        "messages": [{"role": "user", "rows": [1] * 30}, {"role": "x", "content": "y" * 90}] * 2,
        "deep": [[[{"wanted": {"x": 1}}]]],
    }
    options = {
        **SHORT,
        "objects": True,
        "preview": "none",
        "fold": ["$..wanted"],
        "keep": ["$.keep", "$..kept", "$"],
    }
    return Folding(
        json.dumps([value, value], indent=1).encode(), {**options, "keep": ["$[*].keep", "$..kept"]}
    )


def large() -> Folding:
    members = [
        f'"below":"{"a" * (MEBI - 1)}"',
        f'"exact":"{"b" * MEBI}"',
        f'"rows":[{"1234567," * (2 * MEBI // 8)}0]',
    ]
    return Folding(("{" + ",\n".join(members) + "}\n").encode(), {})


def folded_again() -> Folding:
    once = fold(kinds(), None)
    return Folding(once + b'{"$$ctx":"and more"}', {**SHORT, "bytes_over": 60})


# --- Documents of another program ---------------------------------------------------------------------------


def by_hand() -> ByHand:
    array, text, runs, picture = b"[1,\n2]", 'é "<\n'.encode(), b"z" * 300, png(9)
    encoded = base64.b64encode(picture).decode()

    def reference(data: bytes, members: str) -> str:
        return f'{{"$ctx":{{"digest":"{digest(data)}","size":{len(data)},{members}}}}}'

    spaced = (
        '{ "\\u0024ctx"\r\n:\t{ "size" : 6, "unknown": {"$ctx": [{"$$ctx": 1}, null], "size": "x"},\n'
        f'  "digest":"{digest(array)}", "preview":"not what castore writes \\ud800", "items": "many",\n'
        '  "kind":"arr\\u0061y", "$ctx": 1e400, "escape": 7, "encoding": [], "lines": -1 } }'
    )
    picture_members = '"kind":"bytes","encoding":"data-uri","media_type":"image\\\\/png"'
    pieces = [  # as folded, and as in the source
        ("\ufeff", "\ufeff"),
        (spaced, "[1,\n2]"),
        (reference(text, '"\\u006bind":"text","escape":"ascii"'), '"\\u00e9 \\"<\\n"'),
        ('\r\n{"\\u0024\\u0024ctx":[', '\r\n{"\\u0024ctx":['),
        (reference(text, '"kind":"text","escape":"go"'), '"é \\"\\u003c\\n"'),
        ('],"$$$ctx"\n:{"$\\u0024ctx":', '],"$$ctx"\n:{"\\u0024ctx":'),
        (reference(picture, picture_members), f'"data:image\\/png;base64,{encoded}"'),
        ("}} ", "}} "),
        ('["$ctx","$$ctx",{"$$ctx\\u0000":1,"$":2},', '["$ctx","$$ctx",{"$$ctx\\u0000":1,"$":2},'),
        (reference(runs, '"kind":"text","escape":"minimal"'), f'"{runs.decode()}"'),
        ("] ", "] "),
        (reference(b"", '"kind":"bytes","encoding":"base64"'), '""'),
    ]
    files = {
        array: frame(array, raw_blocks(array)),
        text: frame(text, raw_blocks(text[:2], text[2:])),
        runs: frame(runs, run_block(b"z", 300, is_last=True)),
        picture: frame(picture, raw_blocks(picture)),
        b"": frame(b"", raw_blocks(b"")),
    }
    folded, source = ("".join(side) for side in zip(*pieces, strict=True))
    return ByHand(source.encode(), folded.encode(), files)


def by_hand_large() -> ByHand:
    data = b"a" * MEBI + b"\n"
    folded = f'{{"$ctx":{{"kind":"text","digest":"{digest(data)}","size":{len(data)},"escape":"minimal"}}}}'
    run = 128 << 10
    first = frame(data[:MEBI], b"".join(run_block(b"a", run, is_last=at == 7) for at in range(8)))
    second = frame(data[MEBI:], raw_blocks(data[MEBI:]))
    numbers = (len(first), MEBI, len(second), 1, 2)
    table = b"".join(number.to_bytes(4, "little") for number in numbers) + b"\0" + bytes.fromhex("b1ea928f")
    head = bytes.fromhex("5e2a4d18") + len(table).to_bytes(4, "little")
    return ByHand(b'"' + data[:-1] + b'\\n"', folded.encode(), {data: first + second + head + table})


CASES: dict[str, Callable[[], Folding | ByHand]] = {
    each.__name__.replace("_", "-"): each
    for each in (
        kinds,
        escapes,
        binary,
        lookalikes,
        records,
        glued,
        pretty,
        numbers,
        empty,
        white_space,
        scalar,
        lone_string,
        defaults,
        savings,
        choices,
        large,
        folded_again,
        by_hand,
        by_hand_large,
    )
}


# --- Helpers ------------------------------------------------------------------------------------------------


def png(size: int) -> bytes:
    """Bytes that begin as a PNG does."""
    return b"\x89PNG\r\n\x1a\n" + bytes(251 * at % 256 for at in range(size))


def go_literal(text: str) -> str:
    literal = json.dumps(text, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        literal = literal.replace(character, f"\\u{ord(character):04x}")
    return literal


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def frame(data: bytes, blocks: bytes) -> bytes:
    """One zstd frame, its content's size in as few bytes as it can be."""
    size = len(data)
    if size < 256:
        return bytes.fromhex("28b52ffd20") + bytes([size]) + blocks
    if size < 256 + (1 << 16):
        return bytes.fromhex("28b52ffd60") + (size - 256).to_bytes(2, "little") + blocks
    return bytes.fromhex("28b52ffda0") + size.to_bytes(4, "little") + blocks


def raw_blocks(*pieces: bytes) -> bytes:
    last = len(pieces) - 1
    return b"".join(
        (len(piece) << 3 | (at == last)).to_bytes(3, "little") + piece for at, piece in enumerate(pieces)
    )


def run_block(byte: bytes, length: int, *, is_last: bool) -> bytes:
    return (length << 3 | 1 << 1 | is_last).to_bytes(3, "little") + byte


def policy_of(options: dict[str, Any]) -> FoldPolicy:
    values = dict(options)
    for key in ("fold", "keep"):
        values[key] = tuple(values.get(key, ()))
    return FoldPolicy(**values)


def fold(case: Folding, store: Path | None) -> bytes:
    """What castore folds the source to; the store, if one was needed, is left in `store`."""
    with tempfile.TemporaryDirectory() as folder:
        handle = StoreHandle(Path(folder, "store"), may_create=True, clock=lambda: FIXED_TIME)
        target = io.BytesIO()
        fold_stream(io.BytesIO(case.source), target, handle, policy_of(case.options), is_private=True)
        if store is not None and handle.exists:
            for name in ("format", "config.toml", "objects", "roots"):
                copy_plainly(Path(folder, "store", name), store / name)
        handle.close()
        return target.getvalue()


def copy_plainly(source: Path, target: Path) -> None:
    """The files of `source`, and folders that have any, with modes that a checkout has."""
    if source.is_dir():
        for child in source.iterdir():
            copy_plainly(child, target / child.name)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())


def make(name: str, target: Path) -> None:
    case = CASES[name]()
    with tempfile.TemporaryDirectory() as made:
        folder, store = Path(made), Path(made, "store")
        if isinstance(case, Folding):
            folded = fold(case, store)
            (folder / "options.json").write_text(json.dumps(case.options) + "\n", encoding="utf-8")
        else:
            folded = case.folded
            for data, file in case.files.items():
                path = store / "objects" / digest(data)[7:9] / digest(data)[7:]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file)
            (store / "format").write_text("castore 1\n", encoding="utf-8")
        if decoder.unfold(folded, str(store)) != case.source:
            raise AssertionError(f"{name}: the decoder does not give the source back")
        (folder / "folded").write_bytes(folded)
        if len(case.source) <= PLAIN_SOURCE_BYTES_MAX:
            (folder / "source").write_bytes(case.source)
        else:
            packed = zstandard.ZstdCompressor(level=19).compress(case.source)
            (folder / "source.zst").write_bytes(packed)
        copy_plainly(folder, target)


if __name__ == "__main__":
    for each in CASES:
        if not (GOLDEN / each).exists():
            make(each, GOLDEN / each)
