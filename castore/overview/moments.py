"""Strings that are points in time, as seconds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

__all__ = ["moments_of"]

_EPOCH = datetime(1970, 1, 1)


def moments_of(values: Sequence[str]) -> list[float | None] | None:
    """Seconds, of strings that are points in time."""
    sample = values[:: max(1, len(values) // 16)]
    if sum(text[:4].isdigit() and _moment(text) is not None for text in sample) * 8 < len(sample) * 7:
        return None
    # Many fall in one minute, so that is read once, and so are the seconds behind it.
    minutes: dict[str, float | None] = {}
    seconds: dict[str, float | None] = {}
    found: list[float | None] = []
    for text in values:
        minute, rest = text[:16], text[16:]
        if minute not in minutes:
            minutes[minute] = _moment(minute)
        if rest not in seconds:
            seconds[rest] = _rest(rest)
        base, more = minutes[minute], seconds[rest]
        found.append(base + more if base is not None and more is not None else _moment(text))
    return found


def _rest(text: str) -> float | None:
    """Seconds, and the zone, that stand behind a minute."""
    moment = _moment("1970-01-01T00:00" + text)
    return moment if moment is not None and text[:1] in (":", "") else None


def _moment(text: str) -> float | None:
    if not 10 <= len(text) <= 40:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    offset = moment.utcoffset()
    # A naive one is counted as if it were in UTC, whatever the machine's own zone is.
    seconds = (moment.replace(tzinfo=None) - _EPOCH).total_seconds()
    return seconds - (offset.total_seconds() if offset is not None else 0.0)
