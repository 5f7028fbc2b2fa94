"""Unfolds a document, independently of castore: made from docs/format.md alone.

    python decoder.py STORE < folded > source

Needs the standard library and the `zstd` program; refuses by ValueError, or by OSError what cannot be read.
"""

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

MEBI, DEEPEST, LONGEST_REFERENCE = 1 << 20, 512, 4096
MEMBERS = ("kind", "digest", "size", "escape", "encoding", "media_type", "items", "lines", "preview")
SPACE = re.compile(rb"[ \t\r\n]*+")
STRING = re.compile(rb'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"')
SCALAR = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
GO = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
ESCAPES: dict[Any, Any] = {
    "minimal": lambda text: json.dumps(text, ensure_ascii=False),
    "ascii": json.dumps,
    "go": lambda text: json.dumps(text, ensure_ascii=False).translate(GO),
}
STARTS: dict[Any, bytes] = {"array": b"[", "object": b"{", "string": b'"'}
Edits = list[tuple[int, int, bytes]]


def unfold(document: bytes, store_folder: str) -> bytes:
    """The source: the document with every reference replaced, and one dollar less in every escaped name."""
    document.decode()  # raises UnicodeDecodeError, a ValueError
    edits: Edits = []
    at = after(SPACE, document, 3 if document.startswith(b"\xef\xbb\xbf") else 0)
    while at < len(document):
        end = value(document, at, edits, store_folder)
        glued = document[at] in b"[{"
        at = after(SPACE, document, end)
        need(glued or at > end or at == len(document), f"no white space at {at}")
    parts, done = [], 0
    for start, end, instead in edits:
        parts += [document[done:start], instead]
        done = end
    return b"".join([*parts, document[done:]])


def need(condition: object, words: str) -> None:
    if not condition:
        raise ValueError(words)


def after(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    need(match, f"something else is expected at {at}")
    return match.end() if match else at


def value(data: bytes, at: int, edits: Edits | None = None, store: str = "", depth: int = 0) -> int:
    """Where the value at `at` ends; what unfolding changes in it is added to `edits`, if these are given."""
    start, open_, count, reference = at, data[at : at + 1], 0, None
    if open_ not in (b"[", b"{"):
        return after(STRING if open_ == b'"' else SCALAR, data, at)
    need(depth < DEEPEST, f"too deep at {at}")
    at = after(SPACE, data, at + 1)
    while count or data[at : at + 1] not in (b"]", b"}"):
        inside = edits
        if open_ == b"{":
            first, end = at + 1, after(STRING, data, at)
            name = json.loads(data[at:end])
            at = after(SPACE, data, after(re.compile(rb"[ \t\r\n]*:"), data, end))
            if edits is not None and re.fullmatch(r"\$\$+ctx", name):
                edits.append((first, first + (1 if data[first] == ord("$") else 6), b""))
            if edits is not None and name == "$ctx":
                inside, reference = None, at
        end, count = value(data, at, inside, store, depth + 1), count + 1
        at = after(SPACE, data, end)
        if data[at : at + 1] != b",":
            break
        at = after(SPACE, data, at + 1)
    need(data[at : at + 1] == (b"]" if open_ == b"[" else b"}"), f"a comma or the end is expected at {at}")
    if edits is not None and reference is not None:
        inner = data[reference:end]
        need(count == 1 and inner[:1] == b"{" and len(inner) <= LONGEST_REFERENCE, f"no reference at {start}")
        edits.append((start, at + 1, literal(json.loads(inner, object_pairs_hook=list), store)))
    return at + 1


def literal(members: list[tuple[str, Any]], store: str) -> bytes:
    """What stood where the reference with these members stands."""
    known = [member for member in members if member[0] in MEMBERS]
    has = dict(known)
    kind, digest, size = has.get("kind"), str(has.get("digest")), has.get("size")
    need(len(has) == len(known), "a member stands twice in a reference")
    need(type(size) is int and size >= 0, "no size in a reference")
    need(re.fullmatch("sha256:[0-9a-f]{64}", digest), "no digest in a reference")
    content = stored_object(Path(store, "objects", digest[7:9], digest[7:]), size or 0)
    if kind == "text":
        need(has.get("escape") in ("minimal", "ascii", "go"), "no escape in a reference to a text")
        return str(ESCAPES[has["escape"]](content.decode())).encode()
    if kind == "bytes":
        need(has.get("encoding") in ("base64", "data-uri"), "no encoding in a reference to bytes")
        head, media = "", has.get("media_type")
        if has["encoding"] == "data-uri":
            need(isinstance(media, str) and re.fullmatch(r"[ -+\--~]{0,200}", media), "no media type")
            head = f"data:{media};base64,"
        rebuilt = f'"{head}{base64.b64encode(content).decode()}"'.encode()
        need(STRING.fullmatch(rebuilt), "a media type that cannot stand in a string")
        return rebuilt
    need(kind in ("array", "object", "string") and content[:1] == STARTS[kind], "an object of another kind")
    need(content.decode() and value(content, 0) == len(content), "an object that is not one value")
    return content


def stored_object(path: Path, size: int) -> bytes:
    """The object in this file, if the file has the shape that an object of this size has."""
    stored, at, table, lengths = path.read_bytes(), 0, b"", []
    while stored[at : at + 4] == b"\x28\xb5\x2f\xfd" and at + 9 <= len(stored):
        start, flags = at, stored[at + 4]
        single = flags >> 5 & 1
        width = (single, 2, 4, 8)[flags >> 6]
        window = 0 if single else (8 + (stored[at + 5] & 7)) << (7 + (stored[at + 5] >> 3))
        at += 6 - single
        length = int.from_bytes(stored[at : at + width], "little") + 256 * (width == 2)
        need(width and not flags & 15 and max(window, length) <= MEBI, f"a damaged frame: {path.name}")
        at, block = at + width, 0
        while not block & 1 and at < len(stored):
            block = int.from_bytes(stored[at : at + 3], "little")
            at += 3 + (1 if block & 6 == 2 else block >> 3)
        table += (at - start).to_bytes(4, "little") + length.to_bytes(4, "little")
        lengths.append(length)
    need(sum(lengths) == size, f"an object of another size: {path.name}")
    need(all(length == MEBI for length in lengths[:-1]) and lengths[-1:] > [0] * (size > 0), "frames")
    table += len(lengths).to_bytes(4, "little") + b"\0\xb1\xea\x92\x8f"
    table = b"\x5e\x2a\x4d\x18" + len(table).to_bytes(4, "little") + table
    need(stored[at:] == (table if size >= MEBI else b""), f"a damaged file: {path.name}")
    need(size or stored == bytes.fromhex("28b52ffd2000010000"), f"a damaged file: {path.name}")
    ran = subprocess.run(["zstd", "-dcq"], input=stored, capture_output=True, check=False)
    need(hashlib.sha256(ran.stdout).hexdigest() == path.name, f"a damaged object: {path.name}")
    return ran.stdout


if __name__ == "__main__":
    sys.stdout.buffer.write(unfold(sys.stdin.buffer.read(), sys.argv[1]))
