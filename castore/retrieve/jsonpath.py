"""JSONPath (RFC 9535), as far as a kept library finds the places; with an end to what it may take.

Law: what is found is what the RFC says, in its order. The regular expressions of `match` and `search`
(I-Regexp, RFC 9485; its section 5 says how they are spelt for other engines) have SELECT_SECONDS_MAX in all
of one path, for some of them take for ever.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from castore.config import SELECT_SECONDS_MAX
from castore.errors import InvalidOption, LimitExceeded

__all__ = ["Path", "Place", "parse_path"]

Place = tuple[str | int, ...]

_SHOWN = 80
_TOKEN = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\.", re.DOTALL)


class Path:
    """One path. is_singular: it can find one value at most."""

    def __init__(self, query: Any, deadline: _Deadline) -> None:
        self._query = query
        self._deadline = deadline
        self.is_singular: bool = query.singular_query()

    def places(self, value: Any) -> list[Place]:
        """Where the values are that it finds. Raises InvalidOption, LimitExceeded."""
        from jsonpath_rfc9535 import JSONPathError, JSONPathRecursionError

        self._deadline.begin()
        try:
            return [tuple(node.location) for node in self._query.find(value)]
        except (JSONPathRecursionError, RecursionError) as error:
            raise LimitExceeded(
                "the JSON value is nested too deep to look through", limit="DEPTH_MAX"
            ) from error
        except JSONPathError as error:
            words = f"the JSONPath can't be followed: {str(error)[:200]}"
            raise InvalidOption(words, option="--select") from error


def parse_path(expression: str) -> Path:
    """Raises InvalidOption for what is no JSONPath, with the place."""
    import jsonpath_rfc9535

    deadline = _Deadline()
    try:
        return Path(_environment_of(deadline).compile(expression), deadline)
    except jsonpath_rfc9535.JSONPathError as error:
        raise InvalidOption(
            f"'{expression[:_SHOWN]}' is no JSONPath: {str(error)[:200]}",
            hint="paths look like $.rows[3].id, $[-1], $.items[?@.status == 500]",
            option="--select",
        ) from error
    except RecursionError as error:
        raise InvalidOption(
            f"the JSONPath '{expression[:_SHOWN]}' is nested too deep", option="--select"
        ) from error


class _Deadline:
    """What time is left for the regular expressions of one path."""

    def begin(self) -> None:
        self._end = time.monotonic() + SELECT_SECONDS_MAX

    def bound(self, find: Callable[..., Any], pattern: str, text: str) -> bool:
        """Whether the pattern is found. Raises LimitExceeded."""
        left = self._end - time.monotonic()
        try:
            if left > 0:
                return find(pattern, text, timeout=left) is not None
        except TimeoutError:
            pass  # It is told as what ran out before.
        raise LimitExceeded(
            f"the regular expressions of the JSONPath took over {SELECT_SECONDS_MAX} s",
            hint="say it without repetitions inside repetitions, such as (a+)+",
            limit="SELECT_SECONDS_MAX",
        )


def _environment_of(deadline: _Deadline) -> Any:
    """The library's, but for the two functions that take regular expressions."""
    import regex
    from jsonpath_rfc9535 import JSONPathEnvironment
    from jsonpath_rfc9535.function_extensions import ExpressionType, FilterFunction

    def function(find: Callable[..., Any]) -> FilterFunction:
        class Function(FilterFunction):
            arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]  # noqa: RUF012 (the library's own type)
            return_type = ExpressionType.LOGICAL

            def __call__(self, text: object, pattern: object) -> bool:
                if not isinstance(text, str) or not isinstance(pattern, str):
                    return False
                spelt = _spelt(pattern)
                return spelt is not None and deadline.bound(find, spelt, text)

        return Function()

    environment = JSONPathEnvironment()
    environment.function_extensions["match"] = function(regex.fullmatch)
    environment.function_extensions["search"] = function(regex.search)
    return environment


@cache
def _spelt(pattern: str) -> str | None:
    """An I-Regexp as the engine takes it: a dot is no line end there. None for what is none."""
    import regex
    from iregexp_check import check

    if not check(pattern):
        return None
    spelt = _TOKEN.sub(lambda token: r"[^\n\r]" if token[0] == "." else token[0], pattern)
    try:
        regex.compile(spelt)
    except regex.error:
        return None
    return spelt
