"""The repeat guard: whether a model is about to make the same call once more, and what to tell it.

Law: a call is stopped exactly if it has the name and the arguments of each of the last `times` calls, with no
prompt in between. Arguments are compared as values, as RFC 8785 writes them: neither the order of members nor
the spelling of a number or a string makes a difference; but whole numbers that are written out are apart
though a double could not tell them. No arguments are an empty object; text that is no JSON is itself.

    guard = RepeatGuard()
    message = guard.message_for(name, arguments)   # before the call; None: go on
    guard.record(name, arguments)                  # when it is made
"""

from __future__ import annotations

import json
from typing import Any

from castore.errors import InvalidOption
from castore.transcript.arguments import arguments_of
from castore.transcript.model import PartKind, Transcript

__all__ = ["RepeatGuard"]

_SHOWN = 160
"""Characters of the arguments, and of the name, that a message shows."""


class RepeatGuard:
    """Counts how often in a row one call was made. times: of which a further one is a repeat; at least 1."""

    def __init__(self, times: int = 2) -> None:
        if times < 1:
            raise InvalidOption(f"a repeat is of at least 1 call, not {times}", option="times")
        self.times = times
        self._latest: tuple[str, str] | None = None
        self._in_a_row = 0

    @classmethod
    def of(cls, transcript: Transcript, *, times: int = 2) -> RepeatGuard:
        """As if it had been fed with the calls of the transcript, in order, and its prompts."""
        guard = cls(times)
        for message in reversed(transcript.messages):
            if message.is_prompt:
                break
            for index in reversed(message.parts):
                part = transcript.parts[index]
                if part.kind is not PartKind.CALL:
                    continue
                call = part.tool or "", _canonical(arguments_of(transcript, part))
                if guard._latest not in (None, call):
                    return guard
                guard._latest = call
                guard._in_a_row += 1
        return guard

    def record(self, name: str, arguments: Any) -> None:
        """The call is made. arguments: a JSON value, or the text of one; of a parallel group, call by call.

        Raises InvalidOption for a Python value that is no JSON."""
        call = name, _canonical(arguments)
        self._in_a_row = self._in_a_row + 1 if call == self._latest else 1
        self._latest = call

    def reset(self) -> None:
        """A prompt came: what was called before it is no repeat after it."""
        self._latest, self._in_a_row = None, 0

    def in_a_row(self, name: str, arguments: Any) -> int:
        """How many of the calls made last are this one, with nothing between them. Raises InvalidOption."""
        return self._in_a_row if (name, _canonical(arguments)) == self._latest else 0

    def message_for(self, name: str, arguments: Any) -> str | None:
        """What to tell the model instead of making the call; None: it is no repeat. Raises InvalidOption.

        It says what is known, that the call is the same; what the tool would give back is not."""
        count = self.in_a_row(name, arguments)
        if count < self.times:
            return None
        times = "once" if count == 1 else f"{count} times in a row"
        shown = _shown(_canonical(arguments))
        return (
            f"'{_shown(name)}' was called {times} with these very arguments, {shown}: so this call was not "
            "made. Use the results that you have; if they are not what you need, change the arguments, take "
            "another tool, or say what keeps you from going on."
        )


# --- Arguments as values ---------------------------------------------------------------------------


def _canonical(arguments: Any) -> str:
    """The one text of the value; of text that is no JSON, that text, which is no value's."""
    if isinstance(arguments, bytes):
        arguments = arguments.decode("utf-8", "backslashreplace")
    if not isinstance(arguments, str):
        try:
            arguments = json.dumps(arguments, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidOption(f"the arguments are no JSON value: {error}", option="arguments") from error
    if not arguments.strip():
        return "{}"
    try:
        value = json.loads(arguments, parse_float=_number, parse_constant=_refuse)
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return str(arguments)


def _number(text: str) -> int | float:
    """`1.0`, `1e0` and `1` are one number. What is too large for one has no value to compare."""
    number = float(text)
    if number.is_integer():
        return int(number)
    if number - number != 0:
        raise ValueError("the number is too large")
    return number


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


def _shown(text: str) -> str:
    """On one line, and short: it goes to a model, and may hold anything."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
