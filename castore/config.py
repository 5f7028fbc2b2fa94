"""Every limit, named with its unit, and the words that name and measure: durations, sizes, names, scopes.

Law: what one of the parsers here returns is valid; all else is InvalidOption, and quotes what was given.
"""

from __future__ import annotations

import re

from castore.errors import InvalidOption

__all__ = [
    "BUNDLE_ROOTS_BYTES_MAX",
    "CLOCK_SKEW_SECONDS_MAX",
    "CONFIG_BYTES_MAX",
    "COUNT_MAX",
    "DEPTH_MAX",
    "DURATION_SECONDS_MAX",
    "FIELD_CHARACTERS_MAX",
    "FRAME_BYTES",
    "GRANTS_MAX",
    "GREP_BRIEF_BYTES",
    "GREP_EXCERPT_BYTES",
    "GREP_FEW_BYTES",
    "GREP_FEW_READ_BYTES",
    "GREP_HITS_FEW",
    "GREP_PATTERN_CHARACTERS_MAX",
    "GREP_SECONDS_MAX",
    "HELD_BYTES_MAX",
    "HELD_OBJECT_BYTES_MAX",
    "HOOK_BYTES_MAX",
    "LOCK_TIMEOUT_SECONDS",
    "MESSAGE_CHARACTERS_MAX",
    "NAME_PATTERN",
    "OBJECT_BYTES_MAX",
    "OPERATOR",
    "PAGE_BYTES",
    "PAGE_BYTES_MIN",
    "PREVIEW_BYTES_MAX",
    "READS_BYTES_MAX",
    "READS_HELD_MAX",
    "READS_HELD_SECONDS_MAX",
    "REASON_CHARACTERS_MAX",
    "REFERENCE_BYTES_MAX",
    "ROOT_BYTES_MAX",
    "ROOT_CHAIN_MAX",
    "ROOT_VALUES_MAX",
    "SCOPE_PATTERN",
    "SELECT_BYTES_MAX",
    "SELECT_SECONDS_MAX",
    "SESSION_RECORD_BYTES_MAX",
    "SHOWN_BYTES",
    "SHOWN_BYTES_MIN",
    "SHOWN_JSON_BYTES",
    "SOURCE_NAME_BYTES_MAX",
    "STAGED_AGE_SECONDS_MAX",
    "STAGING_PROCESSES_MAX",
    "STRATEGY_PATTERN",
    "STRATEGY_VERSION_MAX",
    "SUMMARY_BYTES_MAX",
    "SUMMARY_KEY_BYTES_MAX",
    "SUMMARY_NAMES_MAX",
    "SUMMARY_OPTIONS_MAX",
    "SUMMARY_STEPS_MAX",
    "SYNC_FILES_MAX",
    "TIME_MAX",
    "WORD_CHARACTERS_MAX",
    "duration_text",
    "parse_duration",
    "parse_grants",
    "parse_name",
    "parse_scope",
    "parse_size",
    "size_value",
]

# --- Documents -------------------------------------------------------------------------------------

DEPTH_MAX = 512
"""Deepest nesting of arrays and objects in a document."""

PREVIEW_BYTES_MAX = 160
"""Longest preview, as written in the document, quotes included."""

REFERENCE_BYTES_MAX = 4096
"""Longest reference that unfold reads; one that fold writes is under 600 bytes."""

SELECT_BYTES_MAX = 128 << 20
"""Longest JSON value that a JSONPath is looked for in: it is parsed whole, which takes ten times as much."""

SELECT_SECONDS_MAX = 10
"""What the regular expressions of one JSONPath may take."""

PAGE_BYTES = 8000
"""What an answer for an agent has at most, if it does not say otherwise."""

PAGE_BYTES_MIN = 64
"""No page is shorter, so that each has room for something."""

SHOWN_BYTES = 700
"""What the overview of an object has at most, if it does not say otherwise."""

SHOWN_JSON_BYTES = 1200
"""The same of its facts as JSON."""

SHOWN_BYTES_MIN = 100
"""No overview is shorter, so that each says at least what the object is."""

GREP_EXCERPT_BYTES = 160
"""What a hit shows of the place that was found, at most."""

GREP_BRIEF_BYTES = 60
"""The same of a hit that is told in brief."""

GREP_HITS_FEW = 10
"""A program that asks for no more hits than this has little room: all but the first are told in brief."""

GREP_FEW_BYTES = 1250
"""What so few hits take."""

GREP_FEW_READ_BYTES = 1550
"""The same, together with what the address of the first one reads: an overview, the hits and that are then
some 2,000 bytes."""

GREP_PATTERN_CHARACTERS_MAX = 4000
"""Longest pattern that is searched for."""

GREP_SECONDS_MAX = 60.0
"""A search gives up if a piece of its work takes longer: some patterns would take for ever."""

SESSION_RECORD_BYTES_MAX = 64 << 20
"""Longest record (a line, or a whole API body) of a session; the longest seen in real ones is 1.5 MB."""

HOOK_BYTES_MAX = 64 << 20
"""What a hook is told at most, on stdin or in a file that stdin names."""

SUMMARY_BYTES_MAX = 256 << 10
"""Longest summary that a span of a session is hidden behind, in UTF-8; a useful one is a few thousand."""

# --- Summaries -------------------------------------------------------------------------------------

STRATEGY_PATTERN = re.compile(r"[a-z][a-z0-9-]{0,39}\Z")
"""The name of what makes summaries, and of an option of it."""

STRATEGY_VERSION_MAX = 1 << 31
"""Highest version of a strategy; the lowest is 1."""

SUMMARY_OPTIONS_MAX = 64
"""Options that the key of a cached summary has."""

SUMMARY_KEY_BYTES_MAX = 64 << 10
"""Longest canonical JSON of such a key: its options stand in the root file of the entry."""

SUMMARY_NAMES_MAX = 256
"""Named sources that one cached summary is tied to."""

SUMMARY_STEPS_MAX = 256
"""Steps from a derived text back to what it came from in the first place."""

# --- Objects ---------------------------------------------------------------------------------------

FRAME_BYTES = 1 << 20
"""Decoded bytes a frame of a large object holds; a shorter object is one frame and nothing else."""

OBJECT_BYTES_MAX = 1 << 40
"""Largest object that is stored."""

HELD_OBJECT_BYTES_MAX = 64 << 10
"""Staged objects of up to this many encoded bytes are held in memory until the batch commits."""

HELD_BYTES_MAX = 32 << 20
"""Encoded bytes of one batch held in memory; above it they are staged in tmp/."""

# --- The store -------------------------------------------------------------------------------------

ROOT_BYTES_MAX = 256 << 20
"""Largest root file: one that names three and a half million objects."""

BUNDLE_ROOTS_BYTES_MAX = 256 << 20
"""Root files of one bundle, together: all of them come in one transaction."""

ROOT_VALUES_MAX = 1 << 22
"""Commas and brackets in a root file: reading one takes some 500 MB at most."""

ROOT_CHAIN_MAX = 64
"""Roots in a chain: one, what it is based on, what that is based on, and so on."""

SOURCE_NAME_BYTES_MAX = 64 << 10
"""Longest source name of a root, in UTF-8: any path, however it has to be escaped."""

COUNT_MAX = 1 << 53
"""Largest size or sequence number in a root: every reader of JSON has it exactly."""

TIME_MAX = 200_000_000_000
"""Latest time in a root, unix seconds: in the year 8307, which calendars still have."""

DURATION_SECONDS_MAX = 31_557_600_000
"""Longest duration that an option or a setting can say: 1,000 years."""

SYNC_FILES_MAX = 64
"""Up to this many staged files are synced one by one; above it the whole file system is, at once."""

LOCK_TIMEOUT_SECONDS = 30.0
"""How long a writer waits for another before it gives up (exit 11)."""

STAGED_AGE_SECONDS_MAX = 86_400
"""Staged files older than this are what a crash left, and are swept."""

CONFIG_BYTES_MAX = 16 << 10
"""Longest config.toml: the standard parser takes seconds for a key with 10,000 dots."""

CLOCK_SKEW_SECONDS_MAX = 300
"""gc refuses to run on a clock that stands further than this before the store's newest record."""

STAGING_PROCESSES_MAX = 8
"""Processes that stage the files of one call together."""

READS_BYTES_MAX = 2 << 20
"""Longest file of the notes of what was read; a longer one is made half as long."""

READS_HELD_MAX = 10_000
"""Objects read by one process that are told apart until their notes are written."""

READS_HELD_SECONDS_MAX = 60
"""A later read writes the notes of those that were made longer ago."""

NAME_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,99}\Z")
_HEX_PREFIX = re.compile(r"[0-9a-fA-F]{6,64}\Z")
SCOPE_PATTERN = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}(?:/[a-z0-9][a-z0-9._-]{0,63}){0,7}\Z")

OPERATOR = "*"
"""The grant of whoever runs the store, and the scope of roots that only they see. No name of a scope."""

GRANTS_MAX = 100
"""Scopes and globs that one caller is granted."""

REASON_CHARACTERS_MAX = 1000
"""Longest reason that a purge records."""

# --- What is told ----------------------------------------------------------------------------------

WORD_CHARACTERS_MAX = 400
"""Longest word or quoted name in an error or a note that is told whole; of a longer one head and tail are."""

MESSAGE_CHARACTERS_MAX = 2000
"""Longest message, place, cause or hint that is told whole."""

FIELD_CHARACTERS_MAX = 4096
"""Longest text in a field of an error that programs get whole: any path that a system takes."""

_GRANT = re.compile(r"[a-z0-9*][a-z0-9._*-]{0,63}(?:/[a-z0-9._*-]{1,64}){0,7}\Z")
_SIZE = re.compile(r"([0-9]{1,15})(?: ?([kKMGT]?)(i?)B)?\Z")
_DURATION = re.compile(r"([0-9]{1,9})([smhdw])\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def parse_duration(text: str) -> int:
    """Seconds in `30d`, `12h`, `0s`: an integer and s, m, h, d or w. Raises InvalidOption."""
    match = _DURATION.match(text)
    if match is None:
        raise InvalidOption(
            f"'{text[:40]}' is not a duration",
            hint="write an integer and s, m, h, d or w, as in 30d",
            subject=text[:40],
        )
    seconds = int(match[1]) * _SECONDS[match[2]]
    if seconds > DURATION_SECONDS_MAX:
        raise InvalidOption(
            f"'{text}' is over 1,000 years", hint="what has no duration is kept for ever", subject=text
        )
    return seconds


def duration_text(seconds: int) -> str:
    """What `parse_duration` reads as `seconds`, in the longest unit up to days that is exact: `14d`."""
    for unit in "dhm":
        if seconds and seconds % _SECONDS[unit] == 0:
            return f"{seconds // _SECONDS[unit]}{unit}"
    return f"{seconds}s"


def parse_name(text: str) -> str:
    """`text` if it may name a root: a letter, then `A-Za-z0-9._-`, 100 at most, not a digest's beginning."""
    if NAME_PATTERN.match(text) is None or _HEX_PREFIX.match(text):
        raise InvalidOption(
            f"'{text[:80]}' can't be a name",
            hint="a name is a letter and up to 99 of A-Z a-z 0-9 . _ - and does not read as a digest",
            subject=text[:80],
        )
    return text


def parse_scope(text: str) -> str:
    """`text` if it is a scope: lower-case words joined by `/`. Raises InvalidOption. Never used as a path."""
    if SCOPE_PATTERN.match(text) is None:
        raise InvalidOption(
            f"'{text[:80]}' can't be a scope",
            hint="a scope is up to 8 words of a-z 0-9 . _ - joined by '/'",
            subject=text[:80],
        )
    return text


def parse_grants(text: str) -> tuple[str, ...]:
    """Scopes and globs (`team/*`; `*` alone is the operator), apart by commas or white space; none: ().

    In a glob `*` stands for any characters, `/` too. Raises InvalidOption.
    """
    found = tuple(dict.fromkeys(text.replace(",", " ").split()))
    if len(found) > GRANTS_MAX:
        raise InvalidOption(f"over {GRANTS_MAX} scopes are granted at once")
    for each in found:
        if _GRANT.match(each) is None:
            raise InvalidOption(
                f"'{each[:80]}' is neither a scope nor a glob of scopes",
                hint="write scopes such as team/a, globs such as team/*, or * for all",
                subject=each[:80],
            )
    return found


def parse_size(text: str) -> int:
    """Bytes in `500`, `10GB`, `64 MiB`: an integer and B, kB, MB, GB, TB (or KiB, MiB, GiB, TiB)."""
    match = _SIZE.match(text)
    if match is None:
        raise InvalidOption(
            f"'{text[:40]}' is not a size",
            hint="write an integer and kB, MB, GB or TB, as in 10GB",
            subject=text[:40],
        )
    base, power = 1024 if match[3] else 1000, " KMGT".index((match[2] or " ").upper())
    return int(match[1]) * int(base**power)


def size_value(size: int) -> str:
    """What `parse_size` reads as `size`, in the largest unit that is exact: `10GB`."""
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "kB")):
        if size and size % 1000**power == 0:
            return f"{size // 1000**power}{unit}"
    return f"{size}B"
