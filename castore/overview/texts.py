"""What stands apart among many strings: by what they are made of, what they say, how long they are, the
numbers in them, and words of alarm.

Laws: each step is a pass over all strings at once, so the time grows with the characters. Free prose, in
which every string says something new, has no outliers but by length. What is compared is capped at
CHARACTERS_MAX characters a string.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from math import log2
from typing import Any

from castore.overview.measures import measure_findings, number_findings
from castore.overview.rarity import ENTRIES_MIN, Finding, high_tail, low_tail, rare_values
from castore.overview.templates import joined, shapes, unquoted, without_digits

__all__ = ["SEVERE", "novel_words", "severity", "text_findings", "words_of"]

CHARACTERS_MAX = 2_000
_WORDS_CHARACTERS_MAX = 8_000_000
_FEW_VALUES = 12
_NOVEL_SHARE_MAX = 0.1
_FRESH_SHARE = 8
_ALPHABET_MAX = 24
_ALPHABET_SAMPLE_MIN = 400
_TOKEN = re.compile(r"(?=\S*\d)[A-Za-z0-9+/_=.:-]{6,}\Z|[A-Za-z0-9+/=]{16,}\Z")
_HEX_TOKEN = re.compile(r"[0-9a-f-]{6,}\Z|[0-9A-F-]{6,}\Z")
_WORD = re.compile(r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEVEL = re.compile(
    r"(?<![\w./\\-])(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|CRIT|FATAL|ALERT|EMERG|SEVERE"
    r"|PANIC)(?![\w/\\-]|\.\w)",
    re.I,
)
SEVERE = re.compile(
    r"(?i:(?<![\w/\\])(?:error|err|fatal|panic|critical|crit|severe|emerg|alert|exception|traceback|corrupt(?:ed|ion)?|fail(?:ed|ure|ures|s)?"
    r"|denied|refused|reset|abort(?:ed)?|crash(?:ed)?|killed|oom|segfault|timed? ?out|timeout"
    r"|unreachable|invalid|violation|rejected|lost|warn(?:ing)?|rollback|rolled back|unexpected|mismatch)\b"
    r"(?!\.[a-z]|[/\\]))"
    r"|[A-Z]\w{1,60}(?:Error|Exception)\b|错误|失败|异常|警告|拒绝|超时|崩溃|损坏|エラー|失敗|警告|오류|실패"
)

_STEMS = (
    *(
        "err",
        "fatal",
        "panic",
        "crit",
        "severe",
        "emerg",
        "alert",
        "exception",
        "traceback",
        "fail",
        "corrupt",
    ),
    *(
        "denied",
        "refused",
        "reset",
        "abort",
        "crash",
        "killed",
        "oom",
        "segfault",
        "time",
        "unreach",
        "invalid",
    ),
    *("violation", "rejected", "lost", "warn", "roll", "unexpected", "mismatch"),
    *["错误", "失败", "异常", "警告", "拒绝", "超时", "崩溃", "损坏", "エラー", "失敗", "오류", "실패"],
)
"""Without one of these SEVERE finds nothing; they are looked for first, as that is faster."""

_WHAT = {"template": "text", "width": "shape"}


def severity(text: str) -> float:
    """Bits that a word of alarm adds."""
    return 3.0 if SEVERE.search(text[:CHARACTERS_MAX]) else 0.0


def text_findings(
    values: Sequence[str], *, are_lines: bool = False, counts: Counter[Any] | None = None
) -> list[Finding]:
    """What stands apart among these strings. are_lines: of a log, where levels and quotes are told apart."""
    total = len(values)
    if total < ENTRIES_MIN:
        return []
    if counts is None:
        counts = Counter(values)
    found: list[Finding] = []
    rare = rare_values(counts, total)
    if rare:
        # A value that stands out whole needs no more words, but what it says may rank it higher.
        found += [(at, rare[value], "value", "") for at, value in enumerate(values) if value in rare]
    if len(counts) * 4 <= total and not are_lines:
        found += _by_length(values)
        if len(counts) > _FEW_VALUES and any(map(str.isdigit, "".join(list(counts)[:8]))):
            found += measure_findings(values, counts)
        return found
    if not are_lines and (tokens := _by_token(values)) is not None:
        return found + tokens
    texts = [text[:CHARACTERS_MAX] for text in values]
    whole = joined(texts)
    plain = unquoted(whole) if are_lines else whole
    templates = without_digits("\n".join(plain)).split("\n")
    found += _by_template(templates, total)
    quoting = templates
    if plain is not whole:
        quoting = without_digits("\n".join(whole)).split("\n")
        found += _by_template(quoting, total)
    found += _by_alphabet(texts, total)
    if are_lines:
        found += _by_level(texts, total)
        widths: list[Any] = [len(text.split()) for text in texts]
        usual = Counter(widths)
        if sum(count for _, count in usual.most_common(3)) * 10 >= 7 * total:
            found += _rare(widths, rare_values(usual, total), "width", 0.6)
    found += _by_alarm(quoting, total)
    found += _by_length(values)
    found += number_findings(plain, templates)
    if not are_lines:
        found += _by_characters(templates, total, is_prose=_is_prose(values))
    return found


# --- By what they say ------------------------------------------------------------------------------


def _by_template(templates: list[str], total: int) -> list[Finding]:
    counts = Counter(templates)
    found = _rare(templates, rare_values(counts, total), "template", 1.0)
    if len(counts) > 3 and sum(map(len, counts)) <= _WORDS_CHARACTERS_MAX:
        found += _by_words(templates, counts, total)
    return found


def _by_words(templates: list[str], counts: Counter[str], total: int) -> list[Finding]:
    """With the words that few of them have left out, and by the words that nobody else has."""
    words = {template: words_of(template) for template in counts}
    frequency: Counter[str] = Counter()
    for template, inside in words.items():
        number = counts[template]
        for word in set(inside):
            frequency[word] += number
    found: list[Finding] = []
    if len(counts) > 12:
        # What is rare only because a word is just too rare to count is not.
        few = [_generally(templates, words, frequency, total // share) for share in (100, 20)]
        found += [
            (at, 0.9 * min(bits, few[1][at]), "template", "odd text")
            for at, bits in few[0].items()
            if at in few[1]
        ]
    return found + _by_novelty(templates, words, frequency, total)


def _generally(
    templates: list[str], words: dict[str, list[str]], frequency: Counter[str], few: int
) -> dict[int, float]:
    """The ones that are rare with all words left out that at most `few` have."""
    few = max(2, few)
    general = {
        template: " ".join([word if frequency[word] > few else "*" for word in inside])
        for template, inside in words.items()
    }
    generals = [general[template] for template in templates]
    rare = rare_values(Counter(generals), len(templates))
    return {at: rare[each] for at, each in enumerate(generals) if each in rare}


def _by_novelty(
    templates: list[str], words: dict[str, list[str]], frequency: Counter[str], total: int
) -> list[Finding]:
    """Those of which half the words are new; and those with any, where no word is rare by chance."""
    spectrum = Counter(frequency.values())
    # In prose every text has words of its own.
    of = {
        template: sum(1 for word in inside if frequency[word] == 1) / max(1, len(inside))
        for template, inside in words.items()
    }
    shares = sorted(map(of.__getitem__, templates))
    if shares[len(shares) // 2] > _NOVEL_SHARE_MAX:
        return []
    fresh = {template for template, inside in words.items() if any(frequency[word] == 1 for word in inside)}
    if sum(1 for template in templates if template in fresh) * _FRESH_SHARE > total:
        return []  # A language, of people or of machines: source, names, a diff.
    is_clear = 2 * (spectrum[2] + spectrum[3]) <= spectrum[1] <= total
    found: list[Finding] = []
    for least, share, weight, is_asked in ((3, 0.5, 1.0, True), (1, 0.0, 0.8, is_clear)):
        if not is_asked:
            continue
        strange = set()
        for template, inside in words.items():
            new = sum(1 for word in inside if frequency[word] == 1)
            if new >= least and new >= share * len(inside):
                strange.add(template)
        number = sum(1 for template in templates if template in strange)
        if 0 < number <= max(1, total // 16):
            bits = weight * log2(total / number)
            found += [
                (at, bits, "words", "new words") for at, each in enumerate(templates) if each in strange
            ]
    return found


def words_of(text: str) -> list[str]:
    return text.split() if text.isascii() else _WORD.findall(text)


def novel_words(text: str, others: Iterable[str]) -> list[str]:
    """The words of this text that none of the others has, in their order."""
    known = set(chain.from_iterable(map(words_of, others)))
    return [word for word in words_of(text) if word not in known]


def _by_level(texts: Sequence[str], total: int) -> list[Finding]:
    levels = [match[0].upper() if (match := _LEVEL.search(text, 0, 120)) else "" for text in texts]
    rare = rare_values(Counter(levels), total)
    return [
        (at, rare[level] + (1.0 if level[:1] in "EFCPSA" else 0.0), f"level {level}", level)
        for at, level in enumerate(levels)
        if level and level in rare
    ]


def _by_alarm(texts: Sequence[str], total: int) -> list[Finding]:
    """texts: without their digits, so that many are equal and are searched once."""
    distinct = set(texts)
    joined = "\n".join(distinct).lower()
    stems = [stem for stem in _STEMS if stem in joined]
    if not stems:
        return []
    maybe = re.compile("|".join(stems), re.I)
    alarming = {text for text in distinct if maybe.search(text) and SEVERE.search(text)}
    severe = [at for at, text in enumerate(texts) if text in alarming]
    if not severe or len(severe) > max(2, total // 16) or len(severe) * 4 > total:
        return []
    bits = 0.9 * log2(total / len(severe))
    return [(at, bits, "alarm", _alarm(texts[at])) for at in severe]


def _alarm(text: str) -> str:
    found = SEVERE.search(text)
    return found[0] if found else ""


# --- By what they are made of ----------------------------------------------------------------------


def _by_alphabet(texts: Sequence[str], total: int) -> list[Finding]:
    """Where all are made of few characters (a map, a sequence of bases), those that have another one."""
    sample = "".join(texts[:: max(1, total // 64)])
    alphabet = set(sample)
    if len(alphabet) > _ALPHABET_MAX or len(sample) < _ALPHABET_SAMPLE_MIN:
        return []
    # What is rare among the characters of the sample is none of the alphabet either.
    known = {ord(c): None for c in alphabet if sample.count(c) > 2}
    strange = [text.translate(known) for text in texts]
    number = sum(map(bool, strange))
    if not 0 < number <= max(1, total // 16):
        return []
    bits = log2(total / number) + 1
    return [(at, bits, "character", f"odd '{each[0]}'") for at, each in enumerate(strange) if each]


def _is_prose(values: Sequence[str]) -> bool:
    """Most of a few of them have several words."""
    sample = values[:: max(1, len(values) // 32)]
    return sum(text.count(" ") >= 3 for text in sample) * 2 > len(sample)


def _by_characters(templates: list[str], total: int, *, is_prose: bool) -> list[Finding]:
    distinct = list(set(templates))
    shape_of = dict(zip(distinct, shapes(distinct), strict=True))
    each = [shape_of[template] for template in templates]
    # The shapes of sentences are their numbers of words, which say little.
    found = [] if is_prose else _rare(each, rare_values(Counter(each), total), "shape", 0.9)
    # Of random texts the order says nothing, but which characters there are may.
    sets = {shape: "".join(sorted(set(shape) - {"~"})) for shape in set(each)}
    kinds = [sets[shape] for shape in each]
    if max(Counter(kinds).values()) * 10 < 8 * total:
        return found  # Here the characters are drawn by chance.
    return found + _rare(kinds, rare_values(Counter(kinds), total), "shape", 0.5 if is_prose else 0.7)


def _by_token(values: Sequence[str]) -> list[Finding] | None:
    """Of random tokens (digests, keys) those that are none, or of another length; None if they are not."""
    total = len(values)
    sample = values[:: max(1, total // 32)]
    if sum(_TOKEN.match(text) is not None for text in sample) * 10 < 9 * len(sample):
        return None
    kind = (
        _HEX_TOKEN
        if sum(_HEX_TOKEN.match(text) is not None for text in sample) * 10 >= 9 * len(sample)
        else _TOKEN
    )
    if len(set(shapes([without_digits(text) for text in sample]))) * 3 < len(sample):
        return None
    kinds = [(kind.match(text) is not None, len(text)) for text in values]
    rare = rare_values(Counter(kinds), total)
    return [(at, rare[each], "shape", "odd shape") for at, each in enumerate(kinds) if each in rare]


def _by_length(values: Sequence[str]) -> list[Finding]:
    """Of those that are not half as long as is usual, or twice as long, those that stand apart by it."""
    lengths = list(map(len, values))
    if max(lengths) < 2 * min(lengths):
        return []
    ordered = sorted(lengths)
    middle = ordered[len(ordered) // 2]
    found: list[Finding] = []
    count, bits = high_tail(ordered) if ordered[-1] >= 2 * middle else (0, 0.0)
    if count:
        most = max(ordered[-count], 2 * middle)
        found += [(at, 0.7 * bits, "long", "long") for at, x in enumerate(lengths) if x >= most]
    count, bits = low_tail(ordered) if ordered[0] <= middle / 2 else (0, 0.0)
    if count:
        least = min(ordered[count - 1], middle // 2)
        found += [(at, 0.7 * bits, "short", "short") for at, x in enumerate(lengths) if x <= least]
    empty = lengths.count(0)
    if 0 < empty <= max(1, len(values) // 16):
        bits = log2(len(values) / empty)
        found += [(at, bits, "empty", "empty") for at, x in enumerate(lengths) if not x]
    return found


def _rare(each: Sequence[Any], rare: dict[Any, float], what: str, weight: float) -> list[Finding]:
    if not rare:
        return []
    return [
        (at, weight * rare[value], what, f"odd {_WHAT.get(what, what)}")
        for at, value in enumerate(each)
        if value in rare
    ]
