"""What errors say to a client: no command of a shell and no option, whichever error it is."""

from __future__ import annotations

import re

import pytest

from castore import errors
from castore.mcp import wording
from castore.mcp.failures import described, text_of

_OF_A_SHELL = re.compile(r"\bctx [a-z]|(?<![\w-])--?[A-Za-z]|CTX_")
CLASSES = [
    each for each in vars(errors).values() if isinstance(each, type) and each.__module__ == errors.__name__
]


class TestHints:
    @pytest.mark.parametrize("error", CLASSES, ids=lambda each: each.__name__)
    def test_of_every_class_are_for_tools(self, error: type[errors.CastoreError]) -> None:
        for hint in {error.default_hint, error.others_hint} - {None}:
            found = error.__new__(error)
            errors.CastoreError.__init__(found, "it failed", hint=hint)
            assert _OF_A_SHELL.search(text_of(described(found))) is None

    @pytest.mark.parametrize(
        ("hint", "told"),
        [
            ("-F looks for it as it stands", "'fixed' looks for it as it stands"),
            ("'ctx show REF' shows what there is", "ctx_show shows what there is"),
            ("give more digits; 'ctx log' lists the ids", "give more digits; ctx_list lists the ids"),
            ("'ctx repair' heals it; wait", "wait"),
            ("name one: --scope", None),
            ("see 'ctx gc'", None),
            ("CTX_SCOPE says it", None),
        ],
    )
    def test_advice_that_no_tool_can_follow_is_left_out(self, hint: str, told: str | None) -> None:
        assert wording.hint(hint) == told


class TestPlaces:
    @pytest.mark.parametrize(
        ("words", "told"),
        [
            ("--items 9  status 500  --lines 3", "items=9  status 500  --lines 3"),
            ("--select '$.a  b' --lines 3:5  odd", "select='$.a  b' lines=3:5  odd"),
            ("--select '$['\"'\"'a b'\"'\"']'", "select='$['\"'\"'a b'\"'\"']'"),
            ("--select $ --select $.a  odd", "select=$ select=$.a  odd"),
            ("whole  odd --items 3", "whole  odd --items 3"),
            ("", ""),
        ],
    )
    def test_are_arguments_and_never_longer(self, words: str, told: str) -> None:
        assert wording.place(words) == told
        assert len(told) <= len(words)


class TestMessages:
    def test_name_arguments(self) -> None:
        assert wording.message("--max-bytes must be 9") == "'max_bytes' must be 9"
        assert wording.argument("--select") == "select"

    def test_leave_what_somebody_wrote(self) -> None:
        text = "it can't be '--items', nor '-F --lines'"
        assert wording.message(text) == text
