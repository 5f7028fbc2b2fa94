"""Each fence of docs/architecture.md, held by reading the syntax trees of the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import castore

PACKAGE = Path(castore.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

IMPORTS = {
    "typer": ("cli/",),
    "rich": ("cli/",),
    "platformdirs": ("cli/",),
    "sqlite3": ("index/",),
    "zstandard": ("codec.py",),
    "mcp": ("mcp/",),
    "jinja2": ("report/",),
    "obstore": ("remote/",),
    "jsonpath_rfc9535": ("retrieve/",),
    "tomlkit": ("settings/",),
    "tomllib": ("settings/", "cli/"),
    "pickle": (),
    "pydantic": (),
}
"""Module name -> where alone it may be imported."""

ATTRIBUTES = {
    "fsync": ("durable.py",),
    "fdatasync": ("durable.py",),
    "syncfs": ("durable.py",),
    "sync_file_range": ("durable.py",),
    "environ": ("cli/", "mcp/"),
    "getenv": ("cli/", "mcp/"),
    "getcwd": ("cli/", "mcp/"),
    "chdir": (),
    "isatty": ("cli/", "mcp/"),
    "stdin": ("cli/", "mcp/"),
    "stdout": ("cli/", "mcp/"),
    "stderr": ("cli/", "mcp/"),
}
"""Attribute of any module or object -> where alone it may be used."""

OS_CALLS = {"rename": ("durable.py",), "replace": ("durable.py",), "link": ("durable.py",), "symlink": ()}
"""Function of `os` (and method of a path) that publishes a name -> where alone it may be called."""

CALLS = {"print": (), "input": (), "exit": (), "breakpoint": (), "eval": (), "exec": ()}
"""Built-in function -> where alone it may be called."""


def place(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def is_allowed(path: Path, where: tuple[str, ...]) -> bool:
    return any(place(path) == each or (each.endswith("/") and place(path).startswith(each)) for each in where)


def imported_modules(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Top-level names of what is imported when the program runs: imports for types alone run nothing."""
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0], node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.partition(".")[0], node.lineno


@pytest.fixture(params=MODULES, ids=place)
def module(request: pytest.FixtureRequest) -> tuple[Path, ast.Module]:
    path: Path = request.param
    return path, ast.parse(path.read_text(encoding="utf-8"), str(path))


class TestFences:
    def test_imports(self, module: tuple[Path, ast.Module]) -> None:
        path, tree = module
        for name, line in imported_modules(tree):
            assert name not in IMPORTS or is_allowed(path, IMPORTS[name]), f"{path}:{line} imports {name}"

    def test_attributes(self, module: tuple[Path, ast.Module]) -> None:
        path, tree = module
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES:
                assert is_allowed(path, ATTRIBUTES[node.attr]), f"{path}:{node.lineno} uses {node.attr}"

    def test_names_from_fenced_modules(self, module: tuple[Path, ast.Module]) -> None:
        """`from os import environ` is no way around."""
        path, tree = module
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in ("os", "sys", "pathlib", "shutil"):
                for alias in node.names:
                    where = ATTRIBUTES.get(alias.name, OS_CALLS.get(alias.name, ("",)))
                    assert where == ("",) or is_allowed(path, where), f"{path}:{node.lineno} {alias.name}"

    def test_publishing_calls(self, module: tuple[Path, ast.Module]) -> None:
        path, tree = module
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in OS_CALLS and isinstance(node.value, ast.Name):
                uses = node.value.id in ("os", "shutil", "pathlib", "Path")
                assert not uses or is_allowed(path, OS_CALLS[node.attr]), f"{path}:{node.lineno} {node.attr}"

    def test_calls(self, module: tuple[Path, ast.Module]) -> None:
        path, tree = module
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
                assert is_allowed(path, CALLS[node.func.id]), f"{path}:{node.lineno} calls {node.func.id}"


class TestHonesty:
    """No stub, no silent fallback, nothing left for later."""

    def test_no_handler_swallows_everything(self, module: tuple[Path, ast.Module]) -> None:
        path, tree = module
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and all(isinstance(each, ast.Pass) for each in node.body):
                names = {
                    name.id
                    for name in ast.walk(node.type or ast.Name("BaseException"))
                    if isinstance(name, ast.Name)
                }
                assert not names & {"Exception", "BaseException"}, f"{path}:{node.lineno}"

    def test_nothing_is_left_for_later(self, module: tuple[Path, ast.Module]) -> None:
        path, tree = module
        text = path.read_text(encoding="utf-8")
        for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X"):
            assert word not in text, f"{path} has a {word}"
        raised = [
            name.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Raise) and node.exc is not None
            for name in ast.walk(node.exc)
            if isinstance(name, ast.Name)
        ]
        assert "NotImplementedError" not in raised

    def test_every_module_says_what_it_is(self, module: tuple[Path, ast.Module]) -> None:
        path, tree = module
        assert ast.get_docstring(tree), f"{path} has no docstring"


class TestFencesCanFail:
    """The reading itself: each kind of fence sees a breach."""

    @pytest.mark.parametrize(
        "source", ["import sqlite3", "from sqlite3 import connect", "def f():\n    import sqlite3.dbapi2"]
    )
    def test_import_is_seen(self, source: str) -> None:
        assert ("sqlite3", 1) in [(name, 1) for name, _ in imported_modules(ast.parse(source))]

    def test_place_decides(self) -> None:
        assert is_allowed(PACKAGE / "cli" / "app.py", ("cli/",))
        assert not is_allowed(PACKAGE / "store.py", ("cli/", "durable.py"))
