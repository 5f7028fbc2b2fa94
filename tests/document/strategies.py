"""Generated documents: sequences of JSON values as no serialiser would write them, and near misses."""

from __future__ import annotations

from hypothesis import strategies as st

SPACE = st.sampled_from(["", "", " ", "\n", "\r\n", "\t", "  \n \n"])

_ESCAPES = st.sampled_from(
    [
        '\\"',
        "\\\\",
        "\\/",
        "\\b",
        "\\f",
        "\\n",
        "\\r",
        "\\t",
        "\\u0041",
        "\\u00e9",
        "\\u00E9",
        "\\ud83d\\ude00",
        "\\ud800",
        "\\uDC00",
        "\\u0000",
        "\\u001f",
        "\\u007f",
        "\\u2028",
        "\\u003c",
        "\\u0024",
    ]
)
_PLAIN = st.text(
    st.characters(blacklist_categories=("Cs",), min_codepoint=0x20, blacklist_characters='"\\'), max_size=6
)
_CONTENT = st.lists(
    st.one_of(_PLAIN, _ESCAPES, st.sampled_from(["ctx", "$", "[", "]{", ",", ":"])), max_size=8
)
STRINGS = st.one_of(
    _CONTENT.map(lambda parts: '"' + "".join(parts) + '"'),
    st.sampled_from(['"$ctx"', '"$$ctx"', '"\\u0024ctx"', '"$\\u0063tx"', '""', '"role"']),
    st.tuples(_CONTENT, st.integers(0, 40)).map(lambda pair: '"' + "".join(pair[0]) * pair[1] + '"'),
)
NAMES = st.one_of(
    STRINGS,
    st.sampled_from(['"$ctx"', '"$$ctx"', '"$\\u0063t\\u0078"', '"a"', '"role"', '"data"', '"media_type"']),
)
NUMBERS = st.one_of(
    st.integers(-(10**30), 10**30).map(str),
    st.sampled_from(["-0", "0.0", "1e400", "-0.0E+00", "1E-5", "0.10", "123456789012345678901234567890.5e1"]),
)
SCALARS = st.one_of(NUMBERS, STRINGS, st.sampled_from(["true", "false", "null"]))


def _array(items: list[str], spaces: list[str]) -> str:
    joined = ",".join(spaces[at % 3] + item + spaces[(at + 1) % 3] for at, item in enumerate(items))
    return "[" + (joined or spaces[0]) + "]"


def _object(members: list[tuple[str, str]], spaces: list[str]) -> str:
    joined = ",".join(
        spaces[at % 3] + name + spaces[(at + 1) % 3] + ":" + spaces[(at + 2) % 3] + value + spaces[at % 3]
        for at, (name, value) in enumerate(members)
    )
    return "{" + (joined or spaces[0]) + "}"


_SPACES = st.lists(SPACE, min_size=3, max_size=3)
VALUES = st.recursive(
    SCALARS,
    lambda children: st.one_of(
        st.builds(_array, st.lists(children, max_size=12), _SPACES),
        st.builds(_object, st.lists(st.tuples(NAMES, children), max_size=5), _SPACES),
    ),
    max_leaves=30,
)


def _sequence(values: list[str], spaces: list[str], head: str) -> bytes:
    written = [head]
    for at, value in enumerate(values):
        written.append(value)
        space = spaces[at % len(spaces)]
        # After a scalar some white space must stand.
        written.append(space if value[0] in "[{" else space or "\n")
    return "".join(written).encode()


SEQUENCES = st.builds(
    _sequence,
    st.lists(VALUES, max_size=6),
    st.lists(SPACE, min_size=1, max_size=4),
    st.sampled_from(["", "", "", " ", "\ufeff", "\n\n"]),
)
"""Documents: valid by the grammar."""


def _damaged(document: bytes, at: int, byte: int, how: str) -> bytes:
    at %= len(document) + 1
    if how == "cut":
        return document[:at]
    if how == "insert":
        return document[:at] + bytes([byte]) + document[at:]
    return document[:at] + bytes([byte]) + document[at + 1 :]


NEAR_MISSES = st.builds(
    _damaged,
    SEQUENCES,
    st.integers(0, 10_000),
    st.one_of(st.integers(0, 255), st.sampled_from(list(b'"\\[]{},:0x\x00\xff \n'))),
    st.sampled_from(["cut", "insert", "replace"]),
)
"""Documents with one byte wrong: mostly invalid, sometimes not."""
