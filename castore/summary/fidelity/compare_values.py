from __future__ import annotations

from castore.summary.fidelity.model import Compared, Facts


def compare(kind: str, source: Facts, summary: Facts) -> Compared:
    there = summary.of(kind)
    compared = Compared()
    for key, fact in source.of(kind).items():
        (compared.kept if key in there else compared.lost).append(fact)
    compared.invented = [fact for key, fact in there.items() if key not in source.of(kind)]
    return compared
