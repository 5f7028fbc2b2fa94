"""Random tokens: digests, ids, hex and the like, of which one has no letter, one no digit, by chance.

Law: characters are read as part of a token only where, in a sample, tokens of the same length stand in the
same place that mix letters and digits as chance does. What has other characters or another length stays.
"""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["hide_tails", "hide_tokens"]

_TOKEN = re.compile(r"(?:^|(?<=([^0-9A-Za-z])))([0-9a-f]{3,64}|[0-9A-F]{3,64})(?=([^0-9A-Za-z])|$)")
_ALPHABETS = (re.compile(r"[0-9a-f]*"), re.compile(r"[0-9A-F]*"), re.compile(r"[0-9A-Za-z]*"))
_TURN = re.compile(r"\d[A-Za-z]")
_LENGTH_MIN = 3
_LENGTH_MAX = 64
_SEEN_MIN = 3
_KINDS_MAX = 6
_TAILS_SAMPLE = 64


def hide_tokens(whole: str, sample: str) -> str:
    """Hex tokens as `~`, by the characters beside them and their length."""
    mixed: Counter[tuple[str, int, str]] = Counter()
    numbers: Counter[tuple[str, int, str]] = Counter()
    for before, token, after in _TOKEN.findall(sample):
        key = (before or "\n", len(token), after or "\n")
        if token.isdigit():
            numbers[key] += 1
        elif not token.isalpha():
            mixed[key] += 1
    # In places where numbers stand, too, they are more than the few tokens of digits alone.
    kinds = [
        key for key, count in mixed.most_common() if count >= _SEEN_MIN and numbers[key] * 2 <= count + 2
    ]
    for before, length, after in kinds[:_KINDS_MAX]:
        pattern = f"{re.escape(before)}[0-9a-fA-F]{{{length}}}(?={re.escape(after)})"
        whole = re.sub(pattern, before.replace("\\", "\\\\") + "~", f"\n{whole}\n")[1:-1]
    return whole


def hide_tails(texts: list[str]) -> list[str]:
    """Of words that all end in a random token of one length, that as `~`; of other strings themselves."""
    sample = texts[:: max(1, len(texts) // _TAILS_SAMPLE)]
    if sum(" " in text for text in sample) * 16 > len(sample):
        return texts
    for alphabet in _ALPHABETS:
        length = _tail_length(sample, alphabet)
        if not length:
            continue
        tails = [text[-length:] for text in texts]
        if alphabet.fullmatch("".join(tails)) and min(map(len, tails)) == length:
            return [text[:-length] + "~" for text in texts]
        return [
            text[:-length] + "~" if len(tail) == length and alphabet.fullmatch(tail) else text
            for text, tail in zip(texts, tails, strict=True)
        ]
    return texts


def _tail_length(sample: list[str], alphabet: re.Pattern[str]) -> int:
    """The greatest length at which nearly all end in these characters, mixed; 0 if they do not."""
    runs: list[int] = []
    for text in sample:
        found = alphabet.match(text[: -_LENGTH_MAX - 1 : -1])
        runs.append(found.end() if found is not None else 0)
    length = sorted(runs)[len(runs) // 16]
    if length < _LENGTH_MIN:
        return 0
    turns = sum(_TURN.search(text[-length:]) is not None for text in sample)
    return length if turns * 4 >= len(sample) else 0
