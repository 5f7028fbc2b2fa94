"""Extract: a summary without a model, of lines that stand in the turns. It tells one who goes on from there
what was asked, what was said last, which files were written and read, what was run, and what failed.

Laws:
- The same text gives the same summary. It has at most `characters_max` characters, and of a text in which
  something can be read it is never empty.
- What it quotes stands in the text, but for what a `…` stands for; only its headings and counts are its own.
- The latest is told first to be kept: of what does not fit, the oldest goes, but for the first prompt, which
  says what all of it is for. It takes time linear in the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from castore.config import SUMMARY_BYTES_MAX
from castore.errors import InvalidOption
from castore.transcript.collapse.reading import unescaped
from castore.transcript.collapse.summarizer import checked_summary, without_controls
from castore.transcript.formats.tools import READ_TOOLS, WRITE_TOOLS, patched_paths, paths_of
from castore.transcript.values import Source, Value, read_json

__all__ = ["Extract"]

_CHARACTERS_MIN = 400
_LINE_CHARACTERS_MAX = 120
"""Of a command, an error, a path, and of a prompt that is not among the last."""
_LAST_PROMPTS = 4
_LAST_CHARACTERS_MAX = 400
"""Of each of the last prompts but the very last, which may be as long as there is room."""
_HEADING = re.compile(r"## (user|assistant|context|summary|result)(?: of (\S+))?(?: \((.*)\))?")
_CALL = re.compile(r'call (\S{1,80}) (?=[\[{"])')
_LEFT_OUT = re.compile(r"\[[0-9]+ of [0-9]+ characters left out\]")
_TELLS = re.compile(r"(?i)error|exception|failed|fatal|panic|not found|denied|no such")
_WRAPPED = re.compile(r"\s*<([a-z][a-z_-]{0,40})[ >].*</[a-z][a-z_-]{0,40}>\s*", re.DOTALL)
"""What a tool says in the user's place stands in tags of its own."""
_COMMANDS = ("command", "cmd", "script")


@dataclass(frozen=True, slots=True)
class Extract:
    """characters_max: of a summary; at least 400. Raises InvalidOption."""

    characters_max: int = 2000
    name: ClassVar[str] = "extract"
    version: ClassVar[int] = 1
    strategy: ClassVar[str] = "extract@1"

    def __post_init__(self) -> None:
        most = SUMMARY_BYTES_MAX // 4
        if not _CHARACTERS_MIN <= self.characters_max <= most:
            raise InvalidOption(f"an extract has {_CHARACTERS_MIN} to {most:,} characters")

    def summarize(self, text: str) -> str:
        found = _Found()
        text = without_controls(text)
        for section in _sections(text):
            found.take(section)
        # Of a text in which nothing is found there is at least how it begins.
        written = _written(found, self.characters_max) or _clipped(text.strip(), self.characters_max)
        return checked_summary(written, by=self.strategy)


# --- What the text says ----------------------------------------------------------------------------


@dataclass(slots=True)
class _Section:
    """What stands under one heading. tool, facts: of a result's."""

    word: str
    tool: str
    facts: str
    lines: list[str] = field(default_factory=list)


def _sections(text: str) -> Iterator[_Section]:
    """The sections of a text of castore.transcript.collapse.reading; of any other text, what was said."""
    latest = _Section("assistant", "", "")
    for line in text.split("\n"):
        heading = _HEADING.fullmatch(line) if line.startswith("## ") else None
        if heading is None:
            latest.lines.append(line)
            continue
        if latest.lines:
            yield latest
        latest = _Section(heading[1], heading[2] or "", heading[3] or "")
    yield latest


@dataclass(slots=True)
class _Found:
    """All that a summary may tell, in the order of the text."""

    prompts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    said: str = ""
    written: dict[str, None] = field(default_factory=dict)
    read: dict[str, None] = field(default_factory=dict)
    run: dict[str, None] = field(default_factory=dict)
    errors: dict[str, None] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    results: int = 0
    failures: int = 0

    def take(self, section: _Section) -> None:
        if section.word == "result":
            self._take_result(section)
            return
        prose: list[str] = []
        for line in section.lines:
            call = _CALL.match(line) if section.word == "assistant" else None
            if call is None:
                prose.append(unescaped(line))
            else:
                self._take_call(call[1], line[call.end() :])
        text = "\n".join(prose).strip()
        if not text:
            return
        if section.word == "user":
            (self.notes if _WRAPPED.fullmatch(text) else self.prompts).append(text)
        elif section.word == "context":
            self.notes.append(text)
        elif section.word == "summary":
            self.summaries.append(text)
        else:
            self.said = text

    def _take_result(self, section: _Section) -> None:
        self.results += 1
        if section.facts:
            self.failures += 1
            told = (section.tool, _telling(section))
            _latest(self.errors, ": ".join(each for each in told if each))

    def _take_call(self, tool: str, written: str) -> None:
        self.calls[tool] += 1
        try:
            arguments = read_json(written)
        except (ValueError, RecursionError):
            return
        own = tool.lower().rpartition("__")[2].rpartition(".")[2]
        if isinstance(arguments, str):
            patched = arguments
        elif isinstance(arguments, dict):
            is_view = own in READ_TOOLS or (own in WRITE_TOOLS and arguments.get("command") == "view")
            if is_view or own in WRITE_TOOLS:
                data = written.encode()
                for path in paths_of(Value(Source(data), 0, len(data))):
                    _latest(self.read if is_view else self.written, _first_line(path))
            else:
                self._take_command(arguments)
            patched = "\n".join(each for each in arguments.values() if isinstance(each, str))
        else:
            return
        if own == "apply_patch":
            for path in patched_paths(patched):
                _latest(self.written, path)

    def _take_command(self, arguments: dict[str, Any]) -> None:
        for name in _COMMANDS:
            command = arguments.get(name)
            if isinstance(command, list):
                command = " ".join(each for each in command if isinstance(each, str))
            if isinstance(command, str) and command.strip():
                _latest(self.run, _first_line(command))
                return


def _latest(found: dict[str, None], text: str) -> None:
    """Once, where it stood last."""
    if text:
        found.pop(text, None)
        found[text] = None


def _telling(section: _Section) -> str:
    """The line of a failed result that says most: the first that names an error, else the last."""
    said = [line for line in section.lines if line.strip() and not _LEFT_OUT.fullmatch(line)]
    told = next((line for line in said if _TELLS.search(line)), None)
    if told is not None:
        return unescaped(told).strip()
    last = unescaped(said[-1]).strip() if said else ""
    code = section.facts.removeprefix("error, ")
    return last if "exit" in last else ": ".join(each for each in (code, last) if each)


def _first_line(text: str) -> str:
    lines = text.strip().split("\n")
    return lines[0].rstrip() + (" …" if len(lines) > 1 else "")


# --- What is told of it ----------------------------------------------------------------------------


def _written(found: _Found, characters_max: int) -> str:
    """The sections in the order in which they are read; each may take its share, and what others left."""
    counts = _counts(found)
    if not counts and len(found.said) <= characters_max:
        return found.said
    shares = {
        "Failed": (_listed(found.errors), 0.12),
        "Read": (_paths(each for each in found.read if each not in found.written), 0.08),
        "Ran": (_listed(found.run), 0.15),
        "Wrote": (_paths(found.written), 0.2),
    }
    room = characters_max - len(counts) - 1
    told: dict[str, str] = {}
    left = 0.0
    for name, (lines, share) in shares.items():
        most = int(room * share + left)
        told[name] = _block(f"{name}:", lines, most)
        left = most - len(told[name])
    room -= sum(map(len, told.values()))
    before = _text_block("Summary of what was before:", "\n\n".join(found.summaries), room // 4)
    last = _text_block("Said last:", found.said, (room - len(before)) // 2)
    asked = _asked(found.prompts or found.notes, room - len(before) - len(last))
    # What was asked may be short, and what was said last long.
    last = _text_block("Said last:", found.said, room - len(before) - len(asked))
    order = (before, asked, last, told["Wrote"], told["Read"], told["Ran"], told["Failed"], counts)
    return "".join(order).strip()


def _block(heading: str, lines: Iterable[str], most: int) -> str:
    """The heading and as many of the lines as there is room for, the latest ones, in order; or nothing."""
    lines = list(lines)
    kept: list[str] = []
    room = most - len(heading) - len("\n- … 99999 more\n")
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    if not kept:
        return ""
    if len(kept) < len(lines):
        kept.append(f"- … {len(lines) - len(kept)} more")
    return "\n".join([heading, *reversed(kept)]) + "\n"


def _listed(found: Iterable[str]) -> list[str]:
    return [f"- {_clipped(each, _LINE_CHARACTERS_MAX)}" for each in found]


def _paths(found: Iterable[str]) -> list[str]:
    """Of a long path the end, which tells it from others."""
    most = _LINE_CHARACTERS_MAX
    return [f"- {each}" if len(each) <= most else f"- …{each[1 - most :]}" for each in found]


def _asked(prompts: list[str], most: int) -> str:
    """The first prompt and the last ones, these whole where they fit; of the others how they begin."""
    if not prompts:
        return ""
    heading = "Asked:"
    # Each line that is told costs a line end more.
    room = most - len(heading) - 1
    last = _quoted(prompts[-1], room - 1 if len(prompts) == 1 else room * 2 // 3)
    room -= len(last) + 1
    first = ""
    if len(prompts) > 1 and room > _LINE_CHARACTERS_MAX // 2:
        first = _quoted(prompts[0], max(room // 2, _LINE_CHARACTERS_MAX // 2))
        room -= len(first) + 1
    near = len(prompts) - _LAST_PROMPTS
    longest = max(_LINE_CHARACTERS_MAX, min(_LAST_CHARACTERS_MAX, room // _LAST_PROMPTS))
    begun: dict[str, None] = {}
    for at, each in enumerate(prompts[1:-1], 1):
        _latest(begun, _quoted(each, _LINE_CHARACTERS_MAX if at < near else longest))
    kept = [each for each in (first, _block("", begun, room).strip("\n"), last) if each]
    return "\n".join([heading, *kept]) + "\n" if kept else ""


def _quoted(text: str, most: int) -> str:
    """A prompt in a list: its further lines stand in."""
    return _clipped("- " + text.replace("\n", "\n  "), most)


def _text_block(heading: str, text: str, most: int) -> str:
    room = most - len(heading) - 2
    if not text or room < min(len(text), _LINE_CHARACTERS_MAX // 2):
        return ""
    return f"{heading}\n{_clipped(text, room)}\n"


def _clipped(text: str, most: int) -> str:
    """Two thirds from its beginning and a third from its end, if it is longer."""
    if len(text) <= most:
        return text
    if most < 3:
        return ""
    tail = (most - 3) // 3 if most > _LINE_CHARACTERS_MAX else 0
    head = text[: most - tail - (3 if tail else 1)].rstrip()
    return f"{head} … {text[len(text) - tail :].lstrip()}" if tail else f"{head}…"


def _counts(found: _Found) -> str:
    """`3 prompts, 41 calls (bash 30, read 9, and 2 others), 4 failed`; empty if nothing was counted."""
    facts = []
    if found.prompts:
        facts.append(_number(len(found.prompts), "prompt"))
    if found.calls:
        # Of equal counts the first called comes first.
        most = [f"{_clipped(tool, 40)} {count}" for tool, count in found.calls.most_common(4)]
        others = sum(found.calls.values()) - sum(count for _, count in found.calls.most_common(4))
        most += [f"and {_number(others, 'other')}"] if others else []
        facts.append(f"{_number(sum(found.calls.values()), 'call')} ({', '.join(most)})")
    elif found.results:
        facts.append(_number(found.results, "result"))
    if found.failures:
        facts.append(f"{found.failures} failed")
    return ", ".join(facts) + "\n" if facts else ""


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
