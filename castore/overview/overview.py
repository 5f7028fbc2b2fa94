"""From an object's bytes to its overview.

Laws: the overview follows from the bytes alone. Time and memory grow with the bytes, of which the caller
gives at most LOOKED_BYTES_MAX; what can't be decoded as JSON is looked at as text, and what is no text only
by its first bytes. Nothing is raised for what the bytes hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castore.overview.excerpt import compact, outline, plain
from castore.overview.keys import keys_of, main_rows
from castore.overview.model import Key, Overview
from castore.overview.outliers import find_outliers
from castore.overview.places import key_path
from castore.overview.pools import Pool, Step, grow, grow_entries
from castore.overview.words import clip

__all__ = ["LOOKED_BYTES_MAX", "overview", "overview_of_sections"]

LOOKED_BYTES_MAX = 32 << 20
_EDGE_BYTES = 300
_SLOW_BYTES_MAX = 8 << 20
_KEYS_MAX = 100
_OPENERS = {b"[": "array", b"{": "object", b'"': "string"}


def overview(data: bytes) -> Overview:
    """Of the whole object."""
    kind, value = _read(data)
    if kind == "bytes":
        return Overview("bytes", len(data), format=_media_type(data), first=data[:16].hex(" "))
    if kind == "text":
        return _of_text(data.decode())
    pools = grow(value)
    is_read = kind == "string"
    outliers = tuple(find_outliers(pools, is_read=is_read))
    path, rows, keys, total = _rows(pools, kind)
    first, last = _edges(value)
    is_map = any(child.step is Step.ENTRY for child in pools[0].children)
    lines = value.count("\n") + (not value.endswith("\n")) if isinstance(value, str) and value else None
    return Overview(
        kind,
        len(data),
        items=len(value) if isinstance(value, list) else None,
        members=len(value) if isinstance(value, dict) else None,
        lines=lines,
        format=next((pool.table.format for pool in pools if pool.table is not None and is_read), None),
        outline=outline(value, _EDGE_BYTES) if isinstance(value, dict) and value and not is_map else "",
        path=path,
        rows=rows,
        keys=keys,
        keys_total=total,
        outliers=outliers,
        first=first,
        last=last,
    )


def overview_of_sections(
    kind: str, size: int, sections: Sequence[tuple[Sequence[Any], Sequence[int]]], share: float, **facts: Any
) -> Overview:
    """Of an object too large to be looked at whole: of entries (items, or lines) from several places of it,
    each with its index."""
    values = [value for section, _ in sections for value in section]
    ordinals = [at for _, indices in sections for at in indices]
    pools = grow_entries(values, ordinals, are_lines=kind == "text")
    path, rows, keys, total = _rows(pools, kind)
    first, last = (_edge(values[0]), _edge(values[-1])) if values else ("", "")
    return Overview(
        kind,
        size,
        path=path,
        rows=rows,
        keys=keys,
        keys_total=total,
        outliers=tuple(find_outliers(pools, is_part=share < 1)),
        first=first,
        last=last,
        share=share,
        **facts,
    )


def _read(data: bytes) -> tuple[str, Any]:
    """The kind, and what JSON says."""
    # White space around the one value changes nothing of what it is.
    kind = _OPENERS.get(data[:4096].lstrip(b" \t\r\n")[:1])
    if kind is not None:
        import msgspec

        try:
            return kind, msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            value = _read_slowly(data)
            if value is not None:
                return kind, value
    try:
        data.decode()
    except UnicodeDecodeError:
        return "bytes", None
    return "text" if b"\0" not in data[:4096] else "bytes", None


def _read_slowly(data: bytes) -> Any:
    """Lone surrogates and numbers beyond what the faster reader takes; None if it is no JSON."""
    if len(data) > _SLOW_BYTES_MAX:
        return None
    import json

    try:
        return json.loads(data, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _media_type(data: bytes) -> str | None:
    from castore.document.strings import sniff_media_type

    return sniff_media_type(data)


def _of_text(text: str) -> Overview:
    pools = grow(None, text=text)
    table = next((pool.table for pool in pools if pool.table is not None), None)
    path, rows, keys, total = _rows(pools, "text")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    told = [line for line in lines[:200] if line.strip()], [line for line in lines[-200:] if line.strip()]
    return Overview(
        "text",
        len(text.encode()),
        lines=len(lines),
        format=table.format if table is not None and table.format != "lines" else None,
        path=path,
        rows=rows if keys else None,
        keys=keys,
        keys_total=total,
        outliers=tuple(find_outliers(pools, is_read=True)),
        first=clip(plain(told[0][0][:2000]), _EDGE_BYTES) if told[0] else "",
        last=clip(plain(told[1][-1][:2000]), _EDGE_BYTES) if told[1] and len(lines) > 1 else "",
    )


def _rows(pools: list[Pool], kind: str) -> tuple[str, int | None, tuple[Key, ...], int]:
    """Where the rows are, how many, and their members; of an object without rows its own members."""
    pool = main_rows(pools)
    if pool is not None and (len(pool.values) >= 3 or kind != "object"):
        keys = keys_of(pool, _KEYS_MAX)
        names = (
            {name for value in pool.values if type(value) is dict for name in value}
            if len(keys) >= 100
            else keys
        )
        return _path(pool), len(pool.values), keys, max(len(names), len(keys))
    top = pools[1] if len(pools) > 1 and pools[1].step is Step.READ else pools[0]
    value = top.values[0] if top.values else None
    if isinstance(value, dict):
        return "", None, keys_of(top, _KEYS_MAX), len(value)
    return "", None, (), 0


def _path(pool: Pool) -> str:
    """`$.orders[*]`: with names of members, and `[*]` for entries."""
    parts: list[str] = []
    at: Pool | None = pool
    while at is not None and at.parent is not None:
        if at.step is Step.MEMBER:
            parts.append(key_path(at.name))
        elif at.step is Step.COLUMN:
            parts.append(f"[{at.name}]")
        elif at.is_entries:
            parts.append("[*]")
        at = at.parent
    path = "".join(reversed(parts))
    return "" if path == "[*]" else f"${path}"


def _edges(value: Any) -> tuple[str, str]:
    if isinstance(value, list):
        if not value:
            return "", ""
        return _edge(value[0]), _edge(value[-1]) if len(value) > 1 else ""
    if isinstance(value, dict) and value:
        names = list(value)
        return _edge({names[0]: value[names[0]]}), _edge({names[-1]: value[names[-1]]}) if len(
            names
        ) > 1 else ""
    if isinstance(value, str):
        lines = [line for line in value.split("\n") if line.strip()]
        if len(lines) > 1:
            return clip(plain(lines[0][:2000]), _EDGE_BYTES), clip(plain(lines[-1][:2000]), _EDGE_BYTES)
        return clip(plain(value[:2000]), _EDGE_BYTES), ""
    return "", ""


def _edge(value: Any) -> str:
    text = compact(value)
    if text is None:
        if isinstance(value, str):
            text = value[:2000]
        elif isinstance(value, dict):
            members = list(value.items())[:8]
            text = "{" + ",".join(f'"{name[:40]}":{(compact(v) or "…")[:60]}' for name, v in members) + ",…"
        else:
            text = f"[{len(value):,} items]" if isinstance(value, list) else "a huge number"
    return clip(plain(text[:2000]), _EDGE_BYTES)
