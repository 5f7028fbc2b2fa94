"""A root remembers where the document that `fold -o` wrote lies, and nothing that does not last."""

from __future__ import annotations

import os

import pytest

from castore import open_store

from .conftest import Shell


def details(ctx: Shell) -> list[dict[str, object]]:
    store = open_store(ctx.folder / ".ctxstore")
    try:
        return [dict(root.details) for root in store.roots()]
    finally:
        store.close()


class TestTheFileOfADocument:
    @pytest.mark.parametrize("out", ["out.json", "sub/../out.json", "in.json"])
    def test_is_where_out_lies(self, ctx: Shell, out: str) -> None:
        (ctx.folder / "sub").mkdir()
        assert ctx("fold", "in.json", "-o", out).code == 0
        assert details(ctx) == [{"file": os.path.normpath(ctx.folder / out)}]

    @pytest.mark.parametrize("out", ["-", "/dev/null", "/dev/stdout", "pipe"])
    def test_is_nowhere_if_nothing_lasts(self, ctx: Shell, out: str) -> None:
        os.mkfifo(ctx.folder / "pipe")
        reader = os.open(ctx.folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        try:
            assert ctx("fold", "in.json", "-o", out).code == 0
        finally:
            os.close(reader)
        assert details(ctx) == [{}]
