"""The check of a text against its source: every fact is found, looked for, and told.

Laws:
- The same two texts give the same report. A text against itself has no finding; against nothing, each of its
  facts is lost.
- Nothing is raised for any text; time is linear in the texts, but for what compares the clauses that were not
  kept word for word, which is linear in each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from castore.errors import InvalidOption
from castore.summary.fidelity.kinds import KINDS, facts_of
from castore.summary.fidelity.model import Compared, Counts, Fact, Facts, Finding, Report
from castore.summary.fidelity.question import Question

__all__ = ["check_facts", "check_text"]


def check_text(summary: str, source: str, *, question: str | None = None) -> Report:
    """What the summary kept, lost and changed of the source, and what it invented.

    question: findings that are relevant to it come first. Raises InvalidOption for what is no text.
    """
    if not (isinstance(summary, str) and isinstance(source, str)):
        raise InvalidOption("a summary and its source are compared as texts", hint="decode bytes first")
    return check_facts(facts_of(summary), facts_of(source), question=question)


def check_facts(summary: Facts, source: Facts, *, question: str | None = None) -> Report:
    """As check_text, of facts that were found before: those of a source serve for many summaries."""
    asked = None if question is None else Question(question)
    told: list[tuple[tuple[bool, int, bool, int], Finding]] = []
    counts: dict[str, Counts] = {}
    for order, kind in enumerate(KINDS):
        compared = kind.compare(kind.name, source, summary)
        count = compared.counts
        if count.total or count.invented:
            counts[kind.name] = count
        for fact, finding in _findings(compared, source, summary):
            is_invented = finding.change == "invented"
            text = (summary if is_invented else source).text
            if asked is not None and asked.is_met(text, fact.start, fact.end):
                finding = replace(finding, is_asked=True)
            told.append(((not finding.is_asked, order, is_invented, fact.start), finding))
    told.sort(key=lambda each: each[0])
    return Report(tuple(finding for _, finding in told), counts)


def _findings(compared: Compared, source: Facts, summary: Facts) -> Iterator[tuple[Fact, Finding]]:
    for fact in compared.lost:
        yield fact, _finding("lost", fact, source)
    for fact, (start, end) in compared.changed:
        yield fact, _finding("changed", fact, source, summary.text.raw[start:end])
    for fact in compared.invented:
        yield fact, _finding("invented", fact, summary)


def _finding(change: str, fact: Fact, facts: Facts, found: str | None = None) -> Finding:
    line, column = facts.text.place(fact.start)
    return Finding(change, fact.kind, facts.words(fact), line, column, found)
