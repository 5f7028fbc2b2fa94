"""Overflow: which errors say that the prompt was too long, by the words that APIs were seen to send."""

from __future__ import annotations

import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.transcript.collapse.overflow import Overflow, is_overflow, overflow_of

ERRORS = json.loads((Path(__file__).parent / "overflow_errors.json").read_text(encoding="utf-8"))
"""Words of errors, from reports of users to many projects; overflow.py says of each kind from which."""


class ApiError(Exception):
    """As clients of APIs make theirs: the message is its argument, the rest are attributes."""

    def __init__(self, message: str, **attributes: Any) -> None:
        super().__init__(message)
        self.message = message
        self.__dict__.update(attributes)


class RateLimitError(ApiError):
    pass


class ContextWindowExceededError(ApiError):
    pass


class Slotted:
    __slots__ = ("body", "message")

    def __init__(self) -> None:
        self.message = "prompt is too long"


class TestWords:
    @pytest.mark.parametrize("case", ERRORS["overflows"], ids=lambda case: case["from"])
    def test_say_that_it_was_too_long_and_by_how_much(self, case: dict[str, Any]) -> None:
        words = case["words"]
        body = {"error": {"message": words, "type": "invalid_request_error"}}
        for error in (
            words,
            body,
            [body],
            ApiError(words, status_code=400),
            ApiError(f"Error code: 400 - {body}", status_code=400, body=body),
            ValueError(f"caught: {json.dumps(json.dumps(body))}"),
        ):
            assert overflow_of(error) == Overflow(case["tokens"], case["limit"])
            assert is_overflow(error)

    @pytest.mark.parametrize("case", ERRORS["others"], ids=lambda case: case["from"])
    def test_of_other_errors_say_nothing_of_it(self, case: dict[str, Any]) -> None:
        words = case["words"]
        for error in (
            words,
            {"error": {"message": words}},
            {"error": words},
            ApiError(words, status_code=400),
        ):
            assert overflow_of(error) is None
        assert is_overflow(ApiError(words, status_code=413)) is not case["even_with_413"]

    @pytest.mark.parametrize(
        "said",
        [
            {"error": {"code": "context_length_exceeded", "message": "too much"}},
            {"type": "response.failed", "response": {"error": {"code": "context_length_exceeded"}}},
            {
                "type": "error",
                "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"},
            },
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 400,
                    "metadata": {"raw": '{"message":"prompt is too long"}'},
                }
            },
            {"Error": {"Code": "ValidationException", "Message": "Input is too long for requested model."}},
            {"detail": "prompt is too long"},
            {"error": {"code": 413}},
            {"status": "413"},
            b'{"error":"prompt is too long"}',
            ContextWindowExceededError("no"),
            ApiError("no", code="context_length_exceeded"),
            ApiError("no", response={"Error": {"Message": "Input is too long for requested model."}}),
            ApiError("no", status_code=413),
            ApiError("no", status_code=HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        ],
    )
    def test_stand_where_clients_keep_them(self, said: object) -> None:
        assert is_overflow(said)

    @pytest.mark.parametrize(
        "said",
        [
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            {"choices": [{"finish_reason": "length", "message": {"content": "prompt is too long"}}]},
            {
                "type": "message",
                "stop_reason": "model_context_window_exceeded",
                "content": [{"text": "prompt is too long"}],
            },
            {"role": "user", "content": "prompt is too long: 5 tokens > 4 maximum"},
            {"error": {"code": 429, "message": "prompt is too long"}},
            ApiError("prompt is too long", status_code=429),
            ApiError("Request too large on tokens per minute (TPM)", status_code=413),
            RateLimitError("exceeded model token limit: 5 (requested: 6)"),
            TimeoutError("prompt is too long"),
            None,
            0,
            413,
            True,
            {},
            [],
            object(),
        ],
    )
    def test_that_stand_elsewhere_are_not_taken_for_them(self, said: object) -> None:
        assert not is_overflow(said)

    @pytest.mark.parametrize(
        "said",
        [
            "prompt is too long",
            "Error: the prompt is too long",
            "400 Prompt is too long",
            "Sorry, your prompt is too long.",
            "BadRequestError prompt is too long",
            "AnthropicException - prompt is too long",
            'API Error: 400 {"type":"error","error":{"message": "Prompt is too long"}}',
            "{'message': 'prompt is too long'}",
            '{"body":"{\\"message\\":\\"prompt is too long\\"}"}',
            '"failed\\nprompt is too long"',
            "the stream ended\nprompt is too long",
            "the API says prompt is too long: 5 tokens > 4 maximum",
            "错误：Prompt is too long",
            "An error occurred (ValidationException) when calling the Converse operation: "
            "Input is too long for requested model.",
        ],
    )
    def test_begin_an_error_whatever_is_around_it(self, said: str) -> None:
        assert is_overflow(said)
        assert is_overflow(ApiError(said))
        assert is_overflow({"error": {"message": said}})

    @pytest.mark.parametrize(
        "said",
        [
            "no test covers that a prompt is too long",
            'the assertion that it says "prompt is too long" failed',
            "expected the words 'prompt is too long' on line 3",
            "I told the user that the prompt is too long, and then it went on.",
            "the commit message “prompt is too long” was refused by the hook",
            "ValueError: no handler for what says `input is too long`",
            "whatever input is too long is cut",
            "it warns when a prompt exceeds max length",
        ],
    )
    def test_that_other_sentences_have_or_quote_say_nothing(self, said: str) -> None:
        assert not is_overflow(said)
        assert not is_overflow(ApiError(said, status_code=400))
        assert not is_overflow({"error": {"message": said}})

    def test_counts_of_a_body_are_told(self) -> None:
        error = {"type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256}
        assert overflow_of({"error": error}) == Overflow(1407, 256)
        assert overflow_of(json.dumps({"error": error})) == Overflow(1407, 256)


def raised(error: BaseException, *, during: BaseException, is_from: bool) -> BaseException:
    """The error as it is when it was raised from another, or just while that was handled."""
    error.__context__ = during
    error.__cause__ = during if is_from else None
    error.__suppress_context__ = is_from
    return error


class TestChain:
    OVERFLOW = "prompt is too long: 5 tokens > 4 maximum"

    @pytest.mark.parametrize("is_from", [True, False])
    def test_an_error_that_says_nothing_is_as_what_is_behind_it(self, is_from: bool) -> None:
        error = raised(RuntimeError("the turn failed"), during=ApiError(self.OVERFLOW), is_from=is_from)
        assert overflow_of(error) == Overflow(5, 4)

    def test_a_cause_counts_whatever_the_outer_status(self) -> None:
        error = raised(ApiError("bad gateway", status_code=502), during=ApiError(self.OVERFLOW), is_from=True)
        assert is_overflow(error)

    def test_an_answer_while_an_overflow_is_handled_is_its_own(self) -> None:
        error = raised(
            ApiError("no such key", status_code=401), during=ApiError(self.OVERFLOW), is_from=False
        )
        assert not is_overflow(error)

    @pytest.mark.parametrize(
        "outer", [RateLimitError("slow down"), TimeoutError(), ConnectionResetError(), KeyboardInterrupt()]
    )
    def test_the_outer_error_decides_if_it_can(self, outer: BaseException) -> None:
        assert not is_overflow(raised(outer, during=ApiError(self.OVERFLOW), is_from=False))

    def test_what_is_suppressed_is_not_looked_at(self) -> None:
        error = raised(RuntimeError("x"), during=ApiError(self.OVERFLOW), is_from=False)
        error.__suppress_context__ = True
        assert not is_overflow(error)

    def test_a_group_is_as_those_in_it(self) -> None:
        assert is_overflow(ExceptionGroup("two", [ValueError("x"), ApiError(self.OVERFLOW)]))
        assert not is_overflow(ExceptionGroup("two", [ValueError("x"), KeyError("y")]))


class TestHostile:
    def test_nothing_of_it_is_run(self) -> None:
        def refuse(*_: Any) -> Any:
            raise AssertionError("it was run")

        names = ("message", "body", "response", "status_code", "code", "type", "args", "__cause__")
        methods = dict.fromkeys(
            ("__str__", "__repr__", "__getattr__", "__getattribute__", "__eq__", "__bool__"), refuse
        )
        hostile = type(
            "Hostile",
            (Exception,),
            {**methods, "__hash__": refuse, **{name: property(refuse) for name in names}},
        )
        assert not is_overflow(hostile("no"))
        assert is_overflow(hostile("prompt is too long"))
        assert not is_overflow(
            ApiError("no", body=hostile("no"), response=object.__new__(type("R", (), methods)))
        )

    def test_nothing_of_its_classes_is_run(self) -> None:
        def refuse(*_: Any) -> Any:
            raise AssertionError("it was run")

        names = (
            "__getattribute__",
            "__instancecheck__",
            "__subclasscheck__",
            "__eq__",
            "__repr__",
            "__call__",
        )
        of_classes = type("OfClasses", (type,), dict.fromkeys(names, refuse))
        hostile = of_classes.__new__(of_classes, "Hostile", (Exception,), {"code": "context_length_exceeded"})
        assert is_overflow(type.__call__(hostile, "no"))
        assert is_overflow(ApiError("no", body=type.__call__(hostile, "no")))
        plain = of_classes.__new__(of_classes, "Plain", (Exception,), {})
        assert not is_overflow(type.__call__(plain, "no"))
        assert is_overflow(type.__call__(plain, "prompt is too long"))
        assert not is_overflow(plain)

    def test_nothing_of_its_names_is_run(self) -> None:
        class Name(str):
            def __eq__(self, other: object) -> bool:
                raise AssertionError("it was run")

            def __hash__(self) -> int:
                return str.__hash__(self)

        error = ApiError("no")
        error.__dict__ = {Name("body"): "prompt is too long"}
        assert not is_overflow(error)
        assert not is_overflow({Name("message"): "prompt is too long"})
        error.__dict__ = {"body": "prompt is too long"}
        assert is_overflow(error)

    def test_what_hides_its_attributes_is_read_all_the_same(self) -> None:
        class Hidden(ApiError):
            @property
            def __dict__(self) -> Any:
                raise AssertionError("it was run")

        error = ApiError("no", body="prompt is too long")
        error.__class__ = Hidden
        assert is_overflow(error)
        stolen = type("Stolen", (), {"body": Slotted.body, "__dict__": vars(BaseException)["__dict__"]})()
        assert not is_overflow(stolen)

    def test_subclasses_of_what_json_has_are_read_as_those(self) -> None:
        def refuse(*_: Any) -> Any:
            raise AssertionError("it was run")

        names = (
            "__iter__",
            "__getitem__",
            "__len__",
            "get",
            "items",
            "split",
            "decode",
            "__str__",
            "__index__",
        )
        overridden = dict.fromkeys(names, refuse)
        text = type("Text", (str,), overridden)("prompt is too long")
        mapping = type("Mapping", (dict,), overridden)(error=text)
        several = type("Several", (list,), overridden)([mapping])
        assert is_overflow(several)
        assert is_overflow(type("Bytes", (bytes,), overridden)(b"prompt is too long"))

    def test_slots_are_read(self) -> None:
        assert is_overflow(Slotted())

    def test_cycles_end(self) -> None:
        one, two = RuntimeError("one"), RuntimeError("two")
        one.__cause__, two.__cause__ = two, one
        assert not is_overflow(one)
        body: dict[str, Any] = {}
        body["error"] = body["detail"] = [body, body, body]
        assert not is_overflow(ApiError("x", body=body))

    def test_long_chains_and_wide_bodies_are_looked_at_up_to_a_bound(self) -> None:
        error: BaseException = ApiError("prompt is too long")
        for _ in range(10_000):
            outer = RuntimeError("x")
            outer.__cause__ = error
            error = outer
        assert not is_overflow(error)
        wide: Any = {"message": "x"}
        for _ in range(8):
            wide = {"errors": [wide] * 1000, "error": wide, "detail": wide}
        assert not is_overflow(wide)

    @pytest.mark.parametrize(
        "piece",
        [
            "x",
            "exceed the maximum context ",
            "input token count ",
            "length 9) ",
            "maximum context length is 9 tokens ",
            "9",
            "( ",
            "\n",
        ],
    )
    def test_of_long_texts_the_beginning_and_the_end_are_read(self, piece: str) -> None:
        long = piece * (10_000_000 // len(piece))
        assert is_overflow("prompt is too long: 5 tokens > 4 maximum " + long)
        assert is_overflow(long + ": prompt is too long")
        assert is_overflow((long + ": prompt is too long").encode())
        assert not is_overflow("x" * 1_000_000 + ": prompt is too long " + "x" * 1_000_000)

    @given(
        st.recursive(
            st.none() | st.integers() | st.text() | st.binary(),
            lambda inner: (
                st.lists(inner)
                | st.dictionaries(st.sampled_from(["error", "message", "code", "status", "x"]), inner)
            ),
        )
    )
    def test_any_value_is_answered(self, value: Any) -> None:
        is_overflow(value)
        is_overflow(ApiError("x", body=value))
