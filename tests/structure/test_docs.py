"""The pages that are written from the program, or must agree with it."""

from __future__ import annotations

import re
from pathlib import Path

from castore import errors
from castore.cli.commands import COMMANDS
from castore.cli.reference import reference_page

ROOT = Path(__file__).parents[2]


def error_classes() -> dict[str, int]:
    found = {errors.CastoreError}
    while more := {child for each in found for child in each.__subclasses__()} - found:
        found |= more
    return {each.__name__: each.exit_code for each in found if each.__module__ == errors.__name__}


class TestErrorsPage:
    def test_lists_every_class_with_its_code(self) -> None:
        page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
        listed = {name: int(code) for name, code in re.findall(r"^\| `(\w+)` \| (\d+) \|", page, re.M)}
        assert listed == error_classes()

    def test_tree_in_the_docstring_lists_every_class(self) -> None:
        drawn = set(re.findall(r"\b[A-Z][a-z]+[A-Za-z]*\b", errors.__doc__ or ""))
        assert set(error_classes()) <= drawn

    def test_every_class_is_public(self) -> None:
        assert set(error_classes()) == set(errors.__all__)


class TestCommandLinePage:
    def test_is_what_the_program_says(self) -> None:
        page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
        assert page == reference_page(), "run: python -m castore.cli.reference > docs/cli.md"

    def test_every_command_has_an_example(self) -> None:
        for name, entry in COMMANDS.items():
            assert f"ctx {name}" in entry.example
            assert entry.summary[0].isupper()
            assert not entry.summary.endswith(".")
