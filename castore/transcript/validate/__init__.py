"""Whether an API takes a list of messages: its rules, one function an API.

Law: `check` finds nothing exactly if each rule of docs/validity.md holds; it never raises for what stands in
the messages, whatever that is. It says what it sees of one list: whether a view is worse than its source is
for the caller to compare, for a source that was cut off, or is waiting for a result, has findings of its own.

The rules are of pairs, order and types; the sizes an API takes, which models it has, and whether a signature
is true are not looked at. System prompts stand apart and are not part of the list, but for Chat's own role.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, Protocol, cast

from castore.errors import InvalidOption
from castore.transcript.model import Api
from castore.transcript.validate.finding import Finding

__all__ = ["Finding", "check"]


class _Rules(Protocol):
    def findings(self, messages: list[Any]) -> Iterator[Finding]: ...


def check(api: Api | str, messages: list[Any]) -> list[Finding]:
    """Every rule of the API that the messages break, each with the place. messages: plain Python values in
    the API's own shape: `messages`, `input` items, or `contents`. Raises InvalidOption for an `api` that is
    none, or none's name, and for messages that are no list."""
    if api not in list(Api):
        raise InvalidOption(f"there is no API '{api}'", hint=f"the APIs are: {', '.join(Api)}")
    if not isinstance(messages, list):
        raise InvalidOption(f"messages are a list, not a {type(messages).__name__}")
    api = Api(api)
    rules = cast(_Rules, import_module(f"castore.transcript.validate.{api.value}"))
    return list(rules.findings(messages))
