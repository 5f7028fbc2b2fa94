"""Numbers and foreign text as a page shows them.

Laws: `shown` is safe inside an element and inside a quoted attribute, and has no character that steers: what
nobody sees, and what turns the direction of what follows, stands as its code (`\\u202e`). It can be encoded
as UTF-8 whatever it was given. Text is never parsed, so nothing in it is markup, a link or a script.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import category

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = [
    "brief",
    "count_text",
    "excerpt",
    "percent_text",
    "plain",
    "plural",
    "short_count",
    "short_name",
    "shown",
    "shown_bytes",
    "size_text",
]

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
"""Categories of Unicode: controls, formats, halves of characters, private ones, separators of lines
and paragraphs."""

_SEEN = frozenset("\n\t\u200c\u200d")
"""But for these: white space, and the two that only join or part the letters beside them."""

_NAME_CHARACTERS = 200

_ENTITY_BYTES, _CODE_BYTES = 4, 36
"""What an escaped character takes more than itself, and at most the code of one."""

_SPACE = "\u00a0"
"""Where no line may end."""


def shown(text: str) -> Markup:
    """`text`, escaped; what nobody would see in it is set as codes."""
    # Of an extra: whoever has it not is told so by castore.report.page, which must be there to do that.
    from markupsafe import Markup, escape

    text = text.replace("\r\n", "\n")
    hidden = _hidden_in(text)
    escaped = escape(text)
    if not hidden:
        return escaped
    run = re.compile(f"[{re.escape(''.join(hidden))}]+")
    return Markup(
        run.sub(lambda found: f'<span class="cp">{"".join(map(_code, found[0]))}</span>', str(escaped))
    )


def brief(text: str) -> Markup:
    """The same of a name, which may be of any length: of a long one head and tail."""
    return shown(short_name(text))


def short_name(text: str) -> str:
    return excerpt(text, _NAME_CHARACTERS)


def shown_bytes(text: str) -> int:
    """No less than `shown` of it takes, counted in a fraction of the time."""
    hidden = sum(text.count(each) for each in _hidden_in(text))
    entities = sum(text.count(each) for each in "<>&\"'")
    return len(text.encode("utf-8", "replace")) + _CODE_BYTES * hidden + _ENTITY_BYTES * entities


def plain(text: str) -> str:
    """The same for a title, which has no elements: not escaped."""
    text = short_name(" ".join(text.split()))
    return text.translate({ord(each): _code(each) for each in _hidden_in(text)})


def _hidden_in(text: str) -> list[str]:
    return [each for each in set(text) - _SEEN if category(each) in _HIDDEN]


def _code(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def excerpt(text: str, characters_max: int) -> str:
    """The head and the tail of `text`, with how many characters are left out between them."""
    if len(text) <= characters_max:
        return text
    head = characters_max * 3 // 4
    tail = characters_max - head
    return f"{text[:head]} …({len(text) - head - tail:,} more)… {text[-tail:]}"


def size_text(size: float) -> str:
    """`312 B`, `4.1 kB`, `1.9 MB`: powers of 1000, two or three digits. Number and unit stay together."""
    amount, units = float(size), iter(("B", "kB", "MB", "GB", "TB"))
    unit = next(units)
    while abs(amount) >= 999.5 and unit != "TB":
        amount, unit = amount / 1000, next(units)
    number = f"{amount:.1f}" if unit != "B" and abs(amount) < 9.95 else f"{amount:,.0f}"
    return f"{number}{_SPACE}{unit}"


def short_count(count: float) -> str:
    """`312`, `4.1 k`, `1.9 M`: about how many."""
    return size_text(count).removesuffix("B").removesuffix(_SPACE)


def count_text(count: int) -> str:
    return f"{count:,}"


def plural(count: int, word: str, words: str | None = None) -> str:
    """`1 turn`, `1,200 turns`."""
    return f"{count:,} {word if count == 1 else words or word + 's'}"


def percent_text(part: float, whole: float) -> str:
    """`88 %`, `4.2 %`, `99.8 %`: never 0 % of something, nor 100 % of less than all."""
    if not whole:
        return "-"
    share = 100 * part / whole
    if 0 < share < 0.1:
        number = "< 0.1"
    elif 99.9 < share < 100:
        number = "> 99.9"
    else:
        number = f"{share:.1f}" if 0 < share < 9.95 or 99 < share < 100 else f"{share:.0f}"
    return f"{number}{_SPACE}%"
