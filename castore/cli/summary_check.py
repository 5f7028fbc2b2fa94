"""summary check: what a summary kept, lost and changed of its source, and what it invented."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.files import source_name
from castore.cli.locate import find_store
from castore.cli.output import Record, plural
from castore.cli.parameters import Json, Question, ReadScope, Require, StoreFolder
from castore.cli.summary_sources import read_entry, read_text, refuse_two
from castore.errors import CastoreError, InvalidOption

if TYPE_CHECKING:
    from castore.summary.fidelity.model import Finding, Report

__all__ = ["finding_record", "summary_check", "tell_report"]

_HAS_FINDINGS = 3


def summary_check(
    summary: Annotated[
        str, typer.Argument(metavar="SUMMARY", help="A file, '-' for stdin, or an object's digest or name.")
    ],
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            help="What it was made of; likewise. Without it SUMMARY is the key of a cached one.",
        ),
    ] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option("--fields", metavar="A,B.C", help="Of two JSON documents, compare these fields alone."),
    ] = None,
    require: Require = None,
    question: Question = None,
    as_text: Annotated[bool, typer.Option("--text", help="Compare as text, even if both are JSON.")] = False,
    shares: Annotated[
        bool, typer.Option("--shares", help="Print how much of each kind was kept, not the findings.")
    ] = False,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """0 if the summary says what its source says; 3 with findings: a line each, with what happened, the kind,
    where in the source (of what was invented, in the summary), and the words. Two JSON objects or arrays are
    compared field by field, all else by facts. With --require, 3 only where a kind falls short, or more is
    invented than it allows."""
    from castore.summary.fidelity.requirements import ALL, check_askable, empty_kinds, parse_requirements
    from castore.summary.fidelity.structured import are_structured
    from castore.summary.fidelity.tree import parse_fields

    requirements = parse_requirements(require or ())
    named = [each for given in fields or () for each in parse_fields(given)]
    if as_text and named:
        raise InvalidOption("--text compares no fields", option="--fields")
    handle = find_store(store, scope)
    if source is None:
        texts = read_entry(summary, handle)
    else:
        refuse_two(summary, source)
        texts = read_text(summary, handle), read_text(source, handle)
    is_structured = not as_text and (bool(named) or are_structured(*texts))
    check_askable(requirements, are_fields=is_structured)
    if is_structured:
        if question is not None:
            hint = "--text compares them so"
            raise InvalidOption("a question is about texts", option="--question", hint=hint)
        report = _check_fields(summary, source, texts, named)
    else:
        from castore.summary.fidelity.check import check_text

        report = check_text(*texts, question=question)
    for kind in empty_kinds(report, requirements):
        what = "fact" if kind == ALL else kind
        output.note(f"{source or 'the source'} has no {what}: '{kind}={requirements[kind]:g}' asks nothing")
    return tell_report(report, requirements, shares=shares, as_json=as_json)


def tell_report(report: Report, requirements: Mapping[str, float], *, shares: bool, as_json: bool) -> int:
    """Prints it, and gives the exit code."""
    from castore.summary.fidelity.requirements import shortfalls

    if shares:
        output.table(_share_records(report), as_json)
    else:
        output.table([finding_record(each) for each in report.findings], as_json)
    _sum_up(report, as_json=as_json)
    short = shortfalls(report, requirements)
    for each in short:
        output.note(f"the summary {each}")
    is_failed = bool(short) if requirements else bool(report.findings)
    return _HAS_FINDINGS if is_failed else 0


def finding_record(finding: Finding) -> Record:
    place = f"{finding.line}:{finding.column}"
    found = "" if finding.found is None else finding.found
    return Record((finding.change, finding.kind, place, finding.text, found), finding.record())


# --- Helpers ---------------------------------------------------------------------------------------


def _check_fields(summary: str, source: str | None, texts: tuple[str, str], named: Sequence[str]) -> Report:
    """An error says which of the two files it is in."""
    from castore.summary.fidelity.structured import check_fields

    try:
        return check_fields(*texts, fields=named or None)
    except CastoreError as error:
        for whose, given in (("the summary", summary), ("the source", source)):
            if error.place is not None and error.place.startswith(whose) and source is not None:
                name = source_name(given) or "stdin"
                error.place = name + error.place.removeprefix(whose)
                break
        raise


def _share_records(report: Report) -> list[Record]:
    return [
        Record(
            (kind, each.kept, each.lost, each.changed, each.invented, f"{each.share:.2f}"),
            {"kind": kind, **each.record()},
        )
        for kind, each in report.counts.items()
    ]


def _sum_up(report: Report, *, as_json: bool) -> None:
    kept = sum(each.kept for each in report.counts.values())
    total = sum(each.total for each in report.counts.values())
    lost, changed, invented = (
        sum(getattr(each, name) for each in report.counts.values())
        for name in ("lost", "changed", "invented")
    )
    if as_json or output.is_attended():
        kinds = {kind: round(each.share, 4) for kind, each in report.counts.items()}
        others = f"{lost:,} lost, {changed:,} changed, {invented:,} invented"
        words = f"kept {kept:,} of {plural(total, 'fact')}: {others}"
        output.summary(
            words, kept=kept, facts=total, lost=lost, changed=changed, invented=invented, shares=kinds
        )
