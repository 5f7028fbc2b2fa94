"""What a view takes of a budget: bytes of the file, tokens of what the model gets; each part counted once."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from castore.errors import LimitExceeded
from castore.transcript import tokens
from castore.transcript.budget import Budget
from castore.transcript.decision import ViewOptions
from castore.transcript.measure import CALL_TOKENS, MESSAGE_TOKENS, Measured, Meter
from castore.transcript.view import ViewRequest, plan_view
from tests.transcript.laws import transcript_of
from tests.transcript.sessions import pi_session

ANYTHING = Budget(1 << 40, is_tokens=True)


@pytest.fixture(autouse=True)
def estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "toktok", None)


def body(turns: int) -> bytes:
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        use = {"type": "tool_use", "id": f"t{turn}", "name": "run", "input": {"command": f"make {turn}"}}
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": f"row {turn} of it\n" * 60}
        messages += [
            {"role": "user", "content": f"prompt {turn}"},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": f"done {turn}"},
        ]
    return json.dumps({"model": "m", "max_tokens": 9, "system": "brief", "messages": messages}).encode()


def tokens_of(session: bytes, request: ViewRequest | None = None) -> int:
    view = plan_view(session, request or ViewRequest(budget=ANYTHING))
    measured = Meter(view.transcript, is_tokens=True).measure(view.rendered)
    assert view.measured in (None, measured)
    return measured.size


class TestTokensOfASession:
    def test_are_those_of_its_texts(self) -> None:
        texts = [
            b"prompt 0, and please say how it went",
            b"running 0",
            b'{"command": "make 0"}',
            b"out\n" * 9,
        ]
        texts.append(b"it went well 0")
        expected = sum(map(tokens.estimate, texts)) + 4 * MESSAGE_TOKENS + CALL_TOKENS
        assert tokens_of(pi_session(1, result="out\n" * 9)) == expected

    def test_are_none_for_what_is_not_sent(self) -> None:
        session = pi_session(3)
        heavy = session.replace(
            b'"isError": false', b'"details": {"shown": "%b"}, "isError": false' % (b"x " * 9000)
        )
        heavy = heavy.replace(b"2026-01-01T00:00:00Z", b"2026-01-01T00:00:00.000000000Z")
        assert len(heavy) > 3 * len(session)
        for request in (None, ViewRequest("clip", ViewOptions(clip_characters=100))):
            assert tokens_of(heavy, request) == tokens_of(session, request)

    def test_are_of_what_stands_in_the_view(self) -> None:
        session = pi_session(30)
        view = plan_view(session, ViewRequest(options=ViewOptions(step=1)))
        shown = transcript_of(view.to_bytes())
        again = plan_view(view.to_bytes(), ViewRequest((), budget=ANYTHING))
        assert [part.kind for part in shown.parts] == [part.kind for part in view.transcript.parts]
        assert Meter(view.transcript, is_tokens=True).measure(view.rendered) == again.measured

    def test_are_none_for_another_branch(self) -> None:
        session = pi_session(2)
        last = json.loads(session.splitlines()[-1])
        lines = []
        for text in ("abandoned " * 500, "and went on"):
            message = {"role": "user", "content": text}
            own = f"{len(text):08x}"
            lines.append({"type": "message", "id": own, "parentId": last["id"], "message": message})
        forked = session + b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        straight = session + json.dumps(lines[-1]).encode() + b"\n"
        assert tokens_of(forked) == tokens_of(straight)


class TestTokensOfABody:
    def test_are_those_of_all_its_bytes(self) -> None:
        view = plan_view(body(12), ViewRequest(budget=ANYTHING))
        assert view.rendered.splices
        assert view.measured == Measured(tokens.estimate(view.to_bytes()), True, True)


class TestBytes:
    @pytest.mark.parametrize("session", [pi_session(9), body(9)], ids=["session", "body"])
    def test_are_those_of_the_file(self, session: bytes) -> None:
        view = plan_view(session, ViewRequest(budget=Budget(1 << 30)))
        assert view.measured == Measured(len(view.to_bytes()))


class TestFitting:
    @pytest.mark.parametrize("session", [pi_session(40), body(40)], ids=["session", "body"])
    def test_whatever_fits_is_found(self, session: bytes) -> None:
        """From all down to what no view of it is under, which the error says."""
        with pytest.raises(LimitExceeded) as raised:
            plan_view(session, ViewRequest(budget="1-tokens"))
        least = raised.value.fields["needed"]
        assert isinstance(least, int)
        most = tokens_of(session)
        assert least < most
        for limit in (*range(least, most, max((most - least) // 7, 1)), most):
            view = plan_view(session, ViewRequest(budget=Budget(limit, is_tokens=True)))
            assert view.measured is not None
            assert view.measured.size <= limit
        with pytest.raises(LimitExceeded, match=f"about {least:,} tokens .estimated. with all"):
            plan_view(session, ViewRequest(budget=Budget(least - 1, is_tokens=True)))

    def test_a_part_is_counted_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        counted: Counter[bytes] = Counter()

        def estimate(data: bytes) -> int:
            counted[data] += 1
            return max(1, len(data) // 4)

        monkeypatch.setattr(tokens, "estimate", estimate)
        session = pi_session(40, result="".join(f"{number} of turn {{turn}}\n" for number in range(80)))
        with pytest.raises(LimitExceeded):
            plan_view(session, ViewRequest(budget="1-tokens"))
        assert len(counted) > 200
        assert max(counted.values()) == 1


class TestWords:
    def test_say_what_is_estimated(self) -> None:
        assert str(Measured(1234)) == "1,234 bytes"
        assert str(Measured(1234, True)) == "1,234 tokens"
        assert str(Measured(1234, True, True)) == "about 1,234 tokens (estimated)"
