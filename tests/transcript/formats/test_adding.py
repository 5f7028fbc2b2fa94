"""The page on formats: its example is a format that keeps every law, and its tables list what can be told."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from castore.api import open_store
from castore.errors import SessionInvalid
from castore.store import Store
from castore.transcript import formats, validate
from castore.transcript.builder import Builder
from castore.transcript.formats.blocks import Reading
from castore.transcript.formats.pairs import Pairs
from castore.transcript.view import plan_view
from tests.transcript.collapse import stand_ins
from tests.transcript.laws import REQUESTS, hold_all, hold_prefixes, transcript_of

PAGE = (Path(__file__).parents[3] / "docs/formats.md").read_text(encoding="utf-8")
EXAMPLE = PAGE.partition("```python\n")[2].partition("```")[0]


def demo_session(turns: int) -> bytes:
    """Of every kind of record that the example knows, and one that it does not."""
    records: list[object] = []
    for turn in range(turns):
        output = f"{turn}: a line of the log\n" * 60
        call = {"id": f"c{turn}", "tool": "read", "arguments": {"path": f"{turn % 3}.log", "why": "x" * 400}}
        records += [
            {"demo": "prompt", "text": f"prompt {turn}"},
            {"demo": "reply", "id": f"r{turn}", "text": f"I look at {turn}", "calls": [call]},
            {"demo": "screen", "shown": output},
            {"demo": "result", "call": f"c{turn}", "failed": turn % 4 == 3, "text": output},
            {"demo": "weather", "is": "fine " * 90},
            {"demo": "reply", "id": f"s{turn}", "text": f"it went well {turn}"},
        ]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example is among the formats, as if it had been added."""
    name = "castore.transcript.formats.demo"
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(EXAMPLE, "docs/formats.md", "exec"), module.__dict__)
    monkeypatch.setitem(formats._MODULES, "demo", "demo")
    monkeypatch.setattr(formats, "FORMAT_NAMES", (*formats.FORMAT_NAMES, "demo"))


@pytest.fixture
def store(fast_path: Path) -> Iterator[Store]:
    opened = open_store(fast_path / "store", create=True)
    yield opened
    opened.close()


@pytest.mark.usefixtures("demo")
class TestTheExample:
    @pytest.mark.parametrize("request_name", REQUESTS)
    def test_keeps_every_law(self, store: Store, request_name: str) -> None:
        hold_all(store, demo_session(20), "demo.jsonl", REQUESTS[request_name])

    @pytest.mark.parametrize("request_name", ["transparent", "transparent, step 1", "tiered", "clip"])
    def test_earlier_views_are_prefixes(self, request_name: str) -> None:
        hold_prefixes(demo_session(6), REQUESTS[request_name])

    def test_moves_results_and_what_never_reaches_the_model(self) -> None:
        view = plan_view(demo_session(20), REQUESTS["transparent"])
        assert {str(each.reason) for each in view.rendered.splices} == {"tool_result", "ui", "unknown"}
        assert view.content.size < view.source.size / 2

    def test_hides_turns(self) -> None:
        assert stand_ins.hold_all(demo_session(6))

    def test_is_what_the_api_takes(self) -> None:
        transcript = transcript_of(demo_session(3))
        assert transcript.format == "demo"
        assert not validate.check(transcript.api, formats.find_format("demo").api_messages(transcript))

    def test_says_what_is_odd_and_refuses_what_contradicts(self) -> None:
        cut = demo_session(1) + b'{"demo": "prom'
        assert {odd.code for odd in transcript_of(cut).oddities} == {"unknown-record", "not-json"}
        with pytest.raises(SessionInvalid, match="must be a string"):
            transcript_of(b'{"demo":"result","call":7}\n')


class TestTables:
    @pytest.mark.parametrize("of", [Builder, Reading, Pairs], ids=lambda of: of.__name__)
    def test_name_every_method(self, of: type) -> None:
        public = {name for name in vars(of) if not name.startswith("_")}
        rows = "".join(re.findall(r"(?m)^\| .*? \|", PAGE.partition("### What can be told")[2]))
        assert public <= set(re.findall(r"`(\w+)`", rows))
