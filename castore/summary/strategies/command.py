"""A strategy that is a program of the user's: the source on its stdin, the summary on its stdout.

Laws:
- Its name and version are the user's own for what the program does. Its words and all that the user says are
  in the key: the words as the option `command`; how long it may take is not.
- The program gets the source's bytes as they are, and what the user says as canonical JSON in the environment
  variable CTX_SUMMARY_OPTIONS. Nothing of the source is part of a command line, and no shell runs.
- The laws of castore.transcript.collapse.command hold: when `summarize` returns or raises, it is dead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from castore.document.place import utf8_text
from castore.errors import InvalidOption
from castore.summary.key import OptionValue, canonical, check_strategy, checked_options
from castore.transcript.collapse.command import Command

__all__ = ["OPTIONS_VARIABLE", "CommandStrategy"]

OPTIONS_VARIABLE = "CTX_SUMMARY_OPTIONS"

_COMMAND = "command"


@dataclass(frozen=True, slots=True)
class CommandStrategy:
    """command: the program, with the environment that it runs in. said: the user's options.

    Raises InvalidOption for a name, a version or options that are none, and for an option `command`.
    """

    command: Command
    name: str = _COMMAND
    version: int = 1
    said: Mapping[str, OptionValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_strategy(self.name, self.version)
        if _COMMAND in self.said:
            raise InvalidOption("the option 'command' is the words of the program itself", option=_COMMAND)
        if self.command.environment is None:
            # Its options come beside what else is there, which only who starts it can tell.
            raise InvalidOption(
                "a program that summarizes is given its environment, such as dict(os.environ)"
            )
        object.__setattr__(self, "said", checked_options(self.said))

    @property
    def options(self) -> dict[str, OptionValue]:
        return {_COMMAND: self.command.words, **self.said}

    def summarize(self, source: bytes) -> str:
        """Raises DocumentInvalid for what is not UTF-8, and SummarizerFailed."""
        told = {OPTIONS_VARIABLE: canonical(self.said).decode("ascii")}
        environment = {**(self.command.environment or {}), **told}
        return replace(self.command, environment=environment).summarize(utf8_text(source, "the source"))
