"""What may be asked of a view: texts and values alike, checked at once; and a name that moves on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from castore.api import open_store, unfold_bytes, view_bytes
from castore.errors import InvalidOption, NameTaken
from castore.store import Store, StoreHandle
from castore.store.batch import NameMove
from castore.transcript.budget import Budget
from castore.transcript.decision import ViewOptions
from castore.transcript.model import Api
from castore.transcript.validate import check
from castore.transcript.view import ViewRequest, make_view
from tests.transcript.sessions import pi_session


@pytest.fixture
def store(fast_path: Path) -> Iterator[Store]:
    opened = open_store(fast_path / "store", create=True)
    yield opened
    opened.close()


class TestTexts:
    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("transparent", ("transparent",)),
            ("transparent,clip", ("transparent", "clip")),
            (" transparent , dedupe-reads@2", ("transparent", "dedupe-reads@2")),
        ],
    )
    def test_are_strategies(self, text: str, names: tuple[str, ...]) -> None:
        assert ViewRequest(text) == ViewRequest(names) == ViewRequest(list(names))
        assert hash(ViewRequest(text)) == hash(ViewRequest(names))
        assert ViewRequest(text).strategies == names

    def test_are_budgets(self) -> None:
        assert ViewRequest(budget="30k-tokens") == ViewRequest(budget=Budget(30_000, is_tokens=True))
        assert ViewRequest(budget="150kB").said() == ViewRequest(budget=Budget(150_000)).said()

    def test_are_apis(self) -> None:
        for api in Api:
            assert check(str(api.value), []) == check(api, [])

    @pytest.mark.parametrize("api", ["", "Anthropic", "messages", None, 3, ["chat"]])
    def test_are_no_apis(self, api: Any) -> None:
        with pytest.raises(InvalidOption, match="there is no API"):
            check(api, [])


class TestWhatIsNone:
    @pytest.mark.parametrize(
        "asked",
        [
            {"strategies": "shrink"},
            {"strategies": ""},
            {"strategies": "clip,"},
            {"strategies": "clip,clip@2"},
            {"strategies": ("clip", "clip")},
            {"strategies": "clip@7"},
            {"strategies": None},
            {"strategies": 3},
            {"strategies": (b"clip",)},
            {"strategies": {"clip"}},
            {"budget": "much"},
            {"budget": "0"},
            {"budget": 0},
            {"budget": 3000},
            {"budget": b"3kB"},
            {"options": {"step": 1}},
            {"options": None},
        ],
        ids=repr,
    )
    def test_is_refused_where_it_is_said(self, asked: dict[str, Any]) -> None:
        with pytest.raises(InvalidOption):
            ViewRequest(**asked)

    @pytest.mark.parametrize("limit", [0, -1])
    def test_is_a_budget_of_nothing(self, limit: int) -> None:
        with pytest.raises(InvalidOption):
            Budget(limit)


class TestNames:
    REQUEST = ViewRequest(options=ViewOptions(step=1))

    def test_are_taken_only_if_that_is_asked_for(self, store: Store) -> None:
        first = view_bytes(store, pi_session(4), self.REQUEST, name="latest")
        with pytest.raises(NameTaken):
            view_bytes(store, pi_session(6), self.REQUEST, name="latest")
        view_bytes(store, pi_session(6), self.REQUEST, name="latest", move=True)
        assert unfold_bytes(store, first) == pi_session(4)

    def test_leave_a_view_that_a_later_one_needs_in_the_store(self, store: Store) -> None:
        handle = StoreHandle.of(store)
        made = [
            make_view(pi_session(turns), handle, self.REQUEST, name="latest", move=NameMove())
            for turns in (4, 6, 8)
        ]
        roots = [store.root(each.root.id) for each in made if each.root is not None]
        assert [root is not None and root.forgotten is None for root in roots] == [False, False, True]
        assert [root is not None and root.expires for root in roots] == [None, None, None]
        assert roots[2] is not None
        assert roots[1] is not None
        assert roots[2].base == roots[1].id
        assert unfold_bytes(store, made[2].to_bytes()) == pi_session(8)
