"""report: a page that shows where the context of sessions went."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from castore.cli import output
from castore.cli.files import open_target
from castore.cli.output import plural, size_text
from castore.cli.parameters import Json, Out, ReadScope, StoreFolder
from castore.errors import InvalidOption

__all__ = ["report"]

FILES_MAX = 100
"""Sections of a page."""


def report(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Show these sessions or JSON files; '-' or none is stdin."),
    ] = None,
    out: Out = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option("--strategy", metavar="NAME[,NAME]", help="Show this view (default: transparent)."),
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="Read each as a session of this format.")
    ] = None,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """OUT or stdout holds one HTML page, which fetches nothing; nothing is stored. If a FILE can't be read,
    there is no page."""
    from castore import __version__
    from castore.cli.measuring import measured, view_request
    from castore.report.model import SessionFacts
    from castore.report.page import render_page, require_templates
    from castore.report.sections import totals

    if out is None and output.is_terminal(sys.stdout):
        raise InvalidOption("a page is for a browser, and stdout is a terminal", hint="say -o report.html")
    names: list[str | None] = [*files] if files else [None]
    if len(names) > FILES_MAX:
        raise InvalidOption(
            f"a page holds at most {FILES_MAX} files, and these are {len(names):,}", hint="make several pages"
        )
    require_templates()
    request = view_request(strategy, format)
    facts = [measured(name, request, scope, store) for name in names]
    page = render_page(facts, __version__)
    with open_target(out, sync=True) as target:
        target.write(page)
        target.flush()
    if not (output.is_attended() or as_json):
        return
    total = totals(facts)
    sessions = sum(isinstance(each, SessionFacts) for each in facts)
    output.summary(
        f"a page of {plural(len(facts), 'file')}, {size_text(len(page))}: "
        f"{size_text(total.size)} -> {size_text(total.view_size)}",
        files=len(facts),
        sessions=sessions,
        size=total.size,
        view_size=total.view_size,
        tokens=total.tokens,
        is_estimated=total.is_estimated,
        page_size=len(page),
    )
