"""The pages that are written from the program, or must agree with it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import castore
from castore import errors
from castore.cli.commands import COMMANDS
from castore.cli.reference import reference_page
from castore.settings import CONFIG_TEMPLATE, Config, config_values, parse_config

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
        assert set(errors.__all__) < set(castore.__all__)
        for name in castore.__all__:
            assert getattr(castore, name).__name__ == name


class TestSettings:
    """docs/format.md lists every key of config.toml with its default, and so does the file `init` writes."""

    def test_are_those_of_the_config(self) -> None:
        page = (ROOT / "docs/format.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `(\w+\.[\w-]+)` \| `([^`]*)` \|", page, re.M)
        expected = {key: json.dumps(value) for key, value in config_values(Config()).items()}
        assert dict(rows) == expected
        assert [key for key, _ in rows] == list(expected)

    def test_written_as_in_the_template_are_the_defaults(self) -> None:
        text = re.sub(r"(?m)^# (?=[\w-]+ = )", "", CONFIG_TEMPLATE)
        assert parse_config(text) == Config()
        for key, value in config_values(Config()).items():
            assert f"\n{key.partition('.')[2]} = {json.dumps(value)}\n" in text


class TestCommandLinePage:
    def test_is_what_the_program_says(self) -> None:
        page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
        assert page == reference_page(), "run: python -m castore.cli.reference > docs/cli.md"

    def test_every_command_has_an_example(self) -> None:
        for name, entry in COMMANDS.items():
            assert f"ctx {name}" in entry.example
            assert entry.summary[0].isupper()
            assert not entry.summary.endswith(".")


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def anchors(page: Path) -> set[str]:
    """Of its headings, as they are made by who shows the page."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    titles = re.findall(r"(?m)^#+ (.+)$", text)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


class TestLinks:
    @pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
    def test_lead_to_a_page_and_a_heading_of_it(self, page: Path) -> None:
        text = re.sub(r"(?ms)^```.*?^```|^    .*?$|`[^`\n]+`", "", page.read_text(encoding="utf-8"))
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if not re.match(r"[a-z]+:", link):
                name, _, anchor = link.partition("#")
                target = page.parent / name if name else page
                assert target.exists(), f"{link} is there"
                assert not anchor or anchor in anchors(target), f"{link} is a heading"
