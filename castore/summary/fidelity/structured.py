"""The check of a JSON document against the one that it summarizes, field by field. Pure.

Laws:
- Each scalar and each empty array or object of the source is a field, and is kept, lost or changed. What
  the summary has at a path at which the source has nothing is invented; but for a member `text` at its top,
  which is the summary's own words.
- Numbers are equal by value (`7` and `7.0`), strings by their characters, however they are spelt.
- A member at the summary's top that is named by the path of a field of the source (`rows[0].name`, as the
  strategy fields@1 names it) is that field.
- Takes time linear in both, but for the paths in what is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from castore.document.grammar import STRING
from castore.document.path import Step
from castore.errors import DocumentInvalid, InvalidOption, LimitExceeded
from castore.summary.fidelity.model import Counts, Finding, Report
from castore.summary.fidelity.tree import Steps, Tree, Value, field_name, meaning, parse_field

__all__ = ["FIELD", "FieldFinding", "are_structured", "check_fields"]

FIELD = "field"
"""The kind of all that is found here."""

_OWN_WORDS = "text"
_PATH = re.compile(r"[.\[]")


@dataclass(frozen=True, slots=True)
class FieldFinding(Finding):
    """field: the path, as `--fields` takes it. text, found: literals, as the source and the summary have
    them; of an invented one `text` is the summary's. line, column: of `text`."""

    field: str = ""

    def record(self) -> dict[str, Any]:
        record = Finding.record(self)
        change, kind = record.pop("change"), record.pop("kind")
        return {"change": change, "kind": kind, "field": self.field, **record}


def are_structured(summary: str, source: str) -> bool:
    """Whether both are one JSON array or object, so that they are checked by their fields."""
    try:
        for text in (summary, source):
            if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
                return False
            Tree.of(text)
    except (DocumentInvalid, LimitExceeded):
        return False
    return True


def check_fields(summary: str, source: str, fields: Sequence[str] | None = None) -> Report:
    """What the summary kept, lost and changed of the source's fields, and what it invented: first what is not
    as in the source, in its order, then what is invented.

    fields: only these, by their paths; an array or object stands for all that is in it. Raises
    DocumentInvalid or LimitExceeded, which says of which of the two, for a text that is not one JSON array or
    object; InvalidOption for a path that is none, or that neither of the two has, and for what is no text.
    """
    if not (isinstance(summary, str) and isinstance(source, str)):
        raise InvalidOption("a summary and its source are compared as texts", hint="decode bytes first")
    check = _Check(_tree(summary, "the summary"), _tree(source, "the source"))
    check.graft()
    if fields is None:
        check.compare(check.source.root, check.summary.root)
    else:
        check.compare_fields(fields)
    return check.report()


# --- Helpers ---------------------------------------------------------------------------------------


def _tree(text: str, whose: str) -> Tree:
    try:
        return Tree.of(text)
    except (DocumentInvalid, LimitExceeded) as error:
        error.place = whose if error.place is None else f"{whose}: {error.place}"
        if isinstance(error, DocumentInvalid):
            error.hint = "fields are those of a JSON array or object; any other text is checked by its facts"
        raise


class _Path(NamedTuple):
    """A path that shares its beginning with others; None is the root's."""

    before: _Path | None
    step: Step


def _path(steps: Steps) -> _Path | None:
    path: _Path | None = None
    for step in steps:
        path = _Path(path, step)
    return path


def _name(path: _Path | None) -> str:
    steps: list[Step] = []
    while path is not None:
        steps.append(path.step)
        path = path.before
    return field_name(tuple(reversed(steps))) or "$"


class _Check:
    """One comparison, as it goes on."""

    def __init__(self, summary: Tree, source: Tree) -> None:
        self.summary = summary
        self.source = source
        self._told: list[FieldFinding] = []
        self._invented: list[tuple[_Path | None, Value]] = []
        self._kept = self._lost = self._changed = 0

    def report(self) -> Report:
        self._invented.sort(key=lambda each: each[1].start)
        invented = [self._finding("invented", path, self.summary, value) for path, value in self._invented]
        counts = Counts(self._kept, self._lost, self._changed, len(invented))
        told = {FIELD: counts} if counts.total or counts.invented else {}
        return Report((*self._told, *invented), told)

    def graft(self) -> None:
        """What the summary has at its top under the path of a field of the source stands at that path."""
        root, others = self.summary.root, self.source.root.children
        for name, value in list(root.children.items()):
            if isinstance(name, int) or name in others or not _PATH.search(name):
                continue
            try:
                steps = parse_field(name)
            except InvalidOption:
                continue
            if self.source.find(steps) is None or self.summary.find(steps) is not None:
                continue
            if self._put(value, steps):
                del root.children[name]

    def _put(self, value: Value, steps: Steps) -> bool:
        """The summary has the value at that path; False where something else is in the way."""
        at, model = self.summary.root, self.source.root
        for step in steps[:-1]:
            model = model.children[step]
            at = at.children.setdefault(step, Value(value.start, model.byte))
            if at.byte != model.byte:
                return False
        at.children[steps[-1]] = value
        return True

    def compare_fields(self, fields: Sequence[str]) -> None:
        asked = {parse_field(each): each for each in fields}
        for steps, written in asked.items():
            if any(steps[:length] in asked for length in range(1, len(steps))):
                continue  # It is in another one that is asked for.
            ours, theirs = self.source.find(steps), self.summary.find(steps)
            if ours is None and theirs is None:
                words = f"neither the source nor the summary has a field '{written[:80]}'"
                raise InvalidOption(words, subject=written[:80])
            if ours is not None:
                self.compare(ours, theirs, _path(steps))
            elif theirs is not None:
                self._invent(theirs, _path(steps))

    def compare(self, ours: Value, theirs: Value | None, path: _Path | None = None) -> None:
        """A value of the source, and the summary's at the same path."""
        waiting = [(ours, theirs, path)]
        while waiting:
            ours, theirs, path = waiting.pop()
            if theirs is None:
                self._lose(ours, path)
            elif not ours.children and path is not None:
                if not theirs.children and self._is_same(ours, theirs):
                    self._kept += 1
                else:
                    self._change(ours, theirs, path, 1)
            elif theirs.byte != ours.byte and path is not None:
                self._change(ours, theirs, path, sum(1 for _ in _leaves(ours, path)))
            else:
                for step, value in theirs.children.items():
                    if step not in ours.children:
                        self._invent(value, _Path(path, step))
                waiting += [
                    (value, theirs.children.get(step), _Path(path, step))
                    for step, value in reversed(ours.children.items())
                ]

    def _is_same(self, ours: Value, theirs: Value) -> bool:
        return meaning(self.source.literal(ours)) == meaning(self.summary.literal(theirs))

    def _lose(self, ours: Value, path: _Path | None) -> None:
        for at, leaf in _leaves(ours, path):
            self._lost += 1
            self._told.append(self._finding("lost", at, self.source, leaf))

    def _change(self, ours: Value, theirs: Value, path: _Path, count: int) -> None:
        self._changed += count
        self._told.append(self._finding("changed", path, self.source, ours, found=theirs))

    def _invent(self, theirs: Value, path: _Path | None) -> None:
        is_at_top = path is not None and path.before is None
        if is_at_top and path == (None, _OWN_WORDS) and theirs.byte == STRING:
            return
        self._invented += _leaves(theirs, path)

    def _finding(
        self, change: str, path: _Path | None, tree: Tree, value: Value, *, found: Value | None = None
    ) -> FieldFinding:
        line, column = tree.place(value)
        text = tree.literal(value).decode()
        other = None if found is None else self.summary.literal(found).decode()
        return FieldFinding(change, FIELD, text, line, column, other, field=_name(path))


def _leaves(top: Value, path: _Path | None) -> Iterator[tuple[_Path | None, Value]]:
    """The scalars and the empty arrays and objects in a value, in order; itself, if it is one."""
    waiting = [(path, top)]
    while waiting:
        path, value = waiting.pop()
        if not value.children:
            yield path, value
        waiting += [(_Path(path, step), each) for step, each in reversed(value.children.items())]
