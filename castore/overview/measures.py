"""Numbers inside of strings that are alike but for them: one that is far from the others in its place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from castore.overview.rarity import Finding, high_tail, low_tail, rare_numbers
from castore.overview.templates import joined, without_digits

__all__ = ["measure_findings", "number_findings"]

_SLOTS_TEMPLATES_MAX = 12
_SLOTS_LINES_MIN = 24
_SLOTS_MAX = 24
_NUMBER = re.compile(r"\d+")


def number_findings(plain: Sequence[str], templates: list[str]) -> list[Finding]:
    """In strings that are alike but for their numbers: a number far from the others in its place."""
    found: list[Finding] = []
    common = [
        template
        for template, count in Counter(templates).most_common(_SLOTS_TEMPLATES_MAX)
        if count >= _SLOTS_LINES_MIN and 0 < template.count("0") <= _SLOTS_MAX
    ]
    every: dict[str, list[int]] = {template: [] for template in common}
    for at, template in enumerate(templates):
        if template in every:
            every[template].append(at)
    for template, places in every.items():
        slots = template.count("0")
        numbers = _NUMBER.findall("\n".join([plain[at] for at in places]))
        if len(numbers) != slots * len(places):
            continue
        for slot in range(slots):
            column = [float(number[:300]) for number in numbers[slot::slots]]
            found += [(places[at], bits, what, why) for at, bits, what, why in _far_numbers(column)]
    return found


def measure_findings(values: Sequence[str], counts: Counter[Any]) -> list[Finding]:
    """The same of strings that repeat, and are one number each: `12 ms`, `web-07`."""
    distinct = list(counts)
    plain = joined(distinct)
    templates = without_digits("\n".join(plain)).split("\n")
    template, number = Counter(templates).most_common(1)[0]
    if template.count("0") != 1 or number * 10 < 9 * len(distinct):
        return []
    found = {
        text: _NUMBER.search(text) for text, each in zip(distinct, templates, strict=True) if each == template
    }
    numbers = {text: float(match[0][:300]) for text, match in found.items() if match is not None}
    places = [at for at, text in enumerate(values) if text in numbers]
    inner = _far_numbers([numbers[values[at]] for at in places])
    return [(places[at], bits, what, why) for at, bits, what, why in inner]


def _far_numbers(column: list[float]) -> list[Finding]:
    found: list[Finding] = []
    total = len(column)
    distinct = Counter(column)
    if len(distinct) * 4 <= total:
        rare = rare_numbers(distinct, total)
        found += [
            (at, 0.9 * rare[x], f"number {x}", f"number {x:.12g}") for at, x in enumerate(column) if x in rare
        ]
    ordered = sorted(column)
    for (number, bits), is_high in ((high_tail(ordered), True), (low_tail(ordered), False)):
        if number:
            edge = ordered[-number] if is_high else ordered[number - 1]
            found += [
                (at, 0.8 * bits, f"number {is_high}", f"number {x:.12g}")
                for at, x in enumerate(column)
                if (x >= edge if is_high else x <= edge)
            ]
    return found
