"""The facts of one FILE, for the commands that tell where the context went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from castore.cli import output
from castore.cli.files import open_source, placed_in, source_name
from castore.cli.locate import find_store
from castore.errors import DocumentInvalid, InvalidOption, SessionInvalid

if TYPE_CHECKING:
    from castore.report.model import DocumentFacts, SessionFacts
    from castore.transcript.view import ViewRequest

__all__ = ["measured", "view_request"]


def view_request(strategy: Sequence[str] | None, format: str | None) -> ViewRequest:
    """What `--strategy` and `--format` ask for. Raises InvalidOption for strategies that need more said."""
    from castore.transcript.view import DEFAULT_STRATEGIES, ViewRequest

    names = [name.strip() for each in strategy or DEFAULT_STRATEGIES for name in each.split(",")]
    request = ViewRequest(names, format=format)
    if "cap" in (name.partition("@")[0] for name in request.strategies) or request.is_collapsed:
        raise InvalidOption(
            "strategies are compared with their default options, and 'cap' and 'collapse' have none",
            option="--strategy",
            hint="'ctx view --dry-run --stats' says what a view would save",
        )
    return request


def measured(
    file: str | None, request: ViewRequest, scope: str | None, store: str | None
) -> SessionFacts | DocumentFacts:
    """`-` or None is stdin. Of references in it the store is asked, if there is one, whether it has them."""
    from castore.report.measure import measure
    from castore.report.named import references

    with output.working("measuring"), open_source(file) as source, placed_in(file):
        data, name = source.read(), source_name(file) or "stdin"
        try:
            facts = measure(data, name, request)
        except DocumentInvalid as error:
            if not isinstance(error, SessionInvalid):
                error.message = f"'{name}' is neither a session nor JSON: {error.message}"
                error.hint = "name a session (docs/formats.md lists them) or JSON; 'ctx put' stores any file"
            raise
    if facts.references.total:
        handle = find_store(store, scope)
        if handle.exists:
            opened = handle.get()
            named = references(data, lambda digits: next(opened.digests(digits), None) is not None)
            return replace(facts, references=named)
    return facts
