"""What an exception says to a person and to a program: exit code, message, place, causes, hint.

Laws: every exception has exactly one description, and only what is no input's fault has a traceback.
However long a word is that somebody gave, what is said of it is short (castore.config: WORD_CHARACTERS_MAX).
`app.main` reports what ended the command; a command reports an input of many that it had to leave out.
"""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import dataclass, field, replace

import typer

from castore.cli import output
from castore.cli.output import brief, clipped
from castore.config import FIELD_CHARACTERS_MAX
from castore.errors import CastoreError, InvalidOption, NameMissing

__all__ = ["BUG", "CLOSED_PIPE", "INTERRUPTED", "Failure", "describe", "reason_of", "report"]

BUG = 70
INTERRUPTED = 130
CLOSED_PIPE = 141

_OS_HINTS = {
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path",
    errno.EISDIR: "name a file, not a folder",
    errno.ENOSPC: "free some space and run it again; what was stored before is safe",
    errno.EDQUOT: "free some of your quota and run it again; what was stored before is safe",
    errno.EROFS: "reads work in a store that can't be written; --store names another one",
    errno.EACCES: "check the owner and the mode of the file and of the folders above it",
    errno.EMFILE: "raise the limit on open files: ulimit -n 1024",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """`fields` are JSON values for programs; `is_bug` asks for the traceback."""

    code: int
    name: str
    message: str
    place: str | None = None
    causes: tuple[str, ...] = ()
    hint: str | None = None
    fields: dict[str, object] = field(default_factory=dict)
    is_bug: bool = False


def describe(error: BaseException, command: str | None = None) -> Failure:
    """The one description of `error`, which ended `command`."""
    failure = _describe(error, command)
    return replace(
        failure,
        message=brief(failure.message),
        place=None if failure.place is None else brief(failure.place),
        causes=tuple(map(brief, failure.causes)),
        hint=None if failure.hint is None else brief(failure.hint),
        fields={key: _short(value) for key, value in failure.fields.items()},
    )


def _describe(error: BaseException, command: str | None) -> Failure:
    name = type(error).__name__
    if isinstance(error, CastoreError):
        return Failure(
            error.exit_code,
            name,
            error.message,
            error.place,
            _causes(error),
            _name_hint(error, command)
            or error.hint
            or _os_hint(error.fields.get("errno"))
            or _usage_hint(error, command),
            dict(error.fields),
        )
    if isinstance(error, KeyboardInterrupt):
        return Failure(INTERRUPTED, name, "interrupted")
    if isinstance(error, BrokenPipeError):
        return Failure(CLOSED_PIPE, name, "the reader closed the pipe")
    if isinstance(error, OSError):
        return _os_failure(error, name)
    if isinstance(error, MemoryError):
        return Failure(1, name, "out of memory", hint="run it with more memory, or on a smaller input")
    if isinstance(error, typer.TyperException):
        return _usage_failure(error)
    return Failure(
        BUG,
        name,
        f"unexpected {name}: {error}",
        hint="this is a bug in castore; please report it",
        is_bug=True,
    )


def reason_of(error: OSError) -> str:
    """The system's words for it, `No such file or directory`."""
    return error.strerror or str(error) or type(error).__name__


def report(error: BaseException, *, as_json: bool, command: str | None = None) -> int:
    """Print `error` on stderr, as one JSON line or as lines for people; returns its exit code."""
    failure = describe(error, command)
    if failure.code == CLOSED_PIPE or sys.stderr is None:
        return failure.code
    try:
        if as_json:
            _report_json(failure, error)
        else:
            _report_text(failure, error)
        sys.stderr.flush()
    except OSError:
        return failure.code  # Nobody reads stderr; the code still tells.
    return failure.code


def _report_json(failure: Failure, error: BaseException) -> None:
    fields = dict(failure.fields)
    if failure.place is not None:
        fields["place"] = failure.place
    if failure.causes:
        fields["causes"] = list(failure.causes)
    notes = output.take_notes()
    if notes:
        fields["notes"] = notes
    if failure.is_bug:
        fields["traceback"] = _traceback(error)
    output.event(
        "error",
        code=failure.code,
        name=failure.name,
        message=failure.message,
        hint=failure.hint,
        fields=fields,
    )


def _report_text(failure: Failure, error: BaseException) -> None:
    if failure.is_bug:
        sys.stderr.write(_traceback(error))
    output.line(f"{output.red('error:')} {output.printable(failure.message)}", sys.stderr)
    tail = [
        ("at ", failure.place),
        *(("caused by: ", cause) for cause in failure.causes),
        ("hint: ", failure.hint),
    ]
    for label, words in tail:
        if words is not None:
            output.line(label + output.printable(words), sys.stderr)


def _traceback(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))


def _os_failure(error: OSError, name: str) -> Failure:
    message, fields = reason_of(error), dict[str, object]()
    if error.filename is not None:
        path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
        message, fields = f"can't use '{path}': {message}", {"path": path}
    return Failure(1, name, message, causes=_causes(error), hint=_os_hint(error.errno), fields=fields)


def _os_hint(number: object) -> str | None:
    return _OS_HINTS.get(number) if isinstance(number, int) else None


def _short(value: object) -> object:
    if isinstance(value, list):
        return [_short(each) for each in value]
    return clipped(value, FIELD_CHARACTERS_MAX) if isinstance(value, str) else value


def _name_hint(error: CastoreError, command: str | None) -> str | None:
    if not isinstance(error, NameMissing):
        return None
    from castore.cli.guidance import file_hint

    return file_hint(str(error.fields["subject"]), command)


def _usage_hint(error: CastoreError, command: str | None) -> str | None:
    if not isinstance(error, InvalidOption) or command is None:
        return None
    return f"'ctx {command} --help' lists what it takes"


def _usage_failure(error: typer.TyperException) -> Failure:
    """Typer's own usage errors, in our words: lower case, no full stop, what to do in the hint."""
    context = getattr(error, "ctx", None)
    possibilities = getattr(error, "possibilities", None)
    message = getattr(error, "message", "") if possibilities is not None else error.format_message()
    message = message.strip().rstrip(".").replace("\n\t", " ")
    command = context.command_path if context is not None else "ctx"
    hint = f"'{command} --help' lists what it takes"
    guided = _option_hint(command, getattr(error, "option_name", None))
    if guided is not None:
        hint = f"{guided}; {hint}"
    elif possibilities:
        hint = f"did you mean '{sorted(possibilities)[0]}'? {hint}"
    return Failure(2, "InvalidOption", message[:1].lower() + message[1:], hint=hint)


def _option_hint(command: str, option: object) -> str | None:
    if not isinstance(option, str):
        return None
    from castore.cli.guidance import option_hint

    return option_hint(command.removeprefix("ctx "), option)


def _causes(error: BaseException) -> tuple[str, ...]:
    """What was raised `from` what, but for causes whose words the error already says."""
    causes: list[str] = []
    said = getattr(error, "message", None) or str(error)
    cause = error.__cause__
    while cause is not None:
        if isinstance(cause, OSError):
            words = reason_of(cause)
        else:
            words = getattr(cause, "message", None) or str(cause) or type(cause).__name__
        if words not in said:
            causes.append(words)
            said = words
        cause = cause.__cause__
    return tuple(causes)
