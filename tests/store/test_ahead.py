"""Frames come in order whoever works on them, and where no thread is to be had."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

import pytest

from castore import CastoreError, Store, put
from castore.errors import RootDamaged
from castore.objects.ahead import Ahead


class TestAhead:
    @pytest.mark.parametrize("threads", [1, 2, 5])
    def test_results_are_in_order(self, threads: int) -> None:
        ahead = Ahead()
        ahead._threads = threads
        assert list(ahead.map(lambda number: number * number, range(200))) == [n * n for n in range(200)]

    def test_where_no_thread_can_be_started(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(*_: object) -> NoReturn:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(ThreadPoolExecutor, "submit", refused)
        ahead = Ahead()
        ahead._threads = 2
        assert list(ahead.map(str, range(5))) == ["0", "1", "2", "3", "4"]


class TestLimitsOfTheProcess:
    def test_too_many_open_files_is_no_damage(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        put(store, b"x")

        def refused(*_: object) -> NoReturn:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

        monkeypatch.setattr(os, "listdir", refused)
        with pytest.raises(CastoreError) as caught:
            list(store.parts.root_files.all())
        assert not isinstance(caught.value, RootDamaged)
        assert caught.value.exit_code == 1
