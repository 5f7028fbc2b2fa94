"""fields@1: chosen fields of one JSON document, as they are spelt there, and a text made of them.

Laws:
- The summary is one JSON object. Its members are the fields in the order in which they were chosen, each
  named by its path as it was written, each value the literal of the source (`1e400`, `-0.0`, `0.10` stay what
  they are); but a control character that stands bare in a string, which no summary may hold, is escaped.
- With a template there is a member `text` before them: the template, in which a string of the source stands
  as what it says, and any other value as its literal.
- A field that the source has not is an error that names it; of members of one name the last counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from castore.document.place import utf8_text
from castore.document.strings import decode_literal
from castore.errors import InvalidOption
from castore.summary.fidelity.tree import Tree, Value, parse_field
from castore.summary.key import OptionValue
from castore.transcript.collapse.summarizer import checked_summary

__all__ = ["FieldsStrategy"]

_TEXT = "text"
_FIELDS_MAX = 1000
_TEMPLATE_CHARACTERS_MAX = 20_000
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")
_BARE_CONTROL = re.compile("[\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class FieldsStrategy:
    """fields: paths (`deadline_days`, `rows[0].name`), at least one. template: a text with `{path}` in it;
    `{{` and `}}` are braces. Raises InvalidOption for what is none of these."""

    fields: tuple[str, ...]
    template: str | None = None
    name: ClassVar[str] = "fields"
    version: ClassVar[int] = 1
    _pieces: tuple[tuple[str, bool], ...] = field(init=False, repr=False, compare=False)
    """Of the template: a text and whether it is a path."""

    def __post_init__(self) -> None:
        if not 0 < len(self.fields) <= _FIELDS_MAX:
            raise InvalidOption(
                f"'fields' names 1 to {_FIELDS_MAX:,} fields: --option fields=a,b.c[0]", option="fields"
            )
        for each in self.fields:
            parse_field(each)
        if len(set(self.fields)) < len(self.fields):
            raise InvalidOption("a field is named twice", option="fields")
        if self.template is not None and _TEXT in self.fields:
            raise InvalidOption(
                f"with a template the member '{_TEXT}' is what it gives, and no field",
                option="fields",
                hint=f"name the field $.{_TEXT}",
            )
        object.__setattr__(self, "_pieces", tuple(_pieces(self.template or "")))

    @property
    def options(self) -> dict[str, OptionValue]:
        more: dict[str, OptionValue] = {} if self.template is None else {"template": self.template}
        return {"fields": self.fields, **more}

    def summarize(self, source: bytes) -> str:
        """Raises DocumentInvalid or LimitExceeded for what is not one JSON array or object, InvalidOption for
        a field that it has not, SummarizerFailed for a summary that is too long."""
        tree = Tree.of(utf8_text(source, "the source"))
        members = [f"{_spelt(each)}: {_literal(tree, _find(tree, each))}" for each in self.fields]
        if self.template is not None:
            said = (_said(tree, _find(tree, text)) if is_path else text for text, is_path in self._pieces)
            members.insert(0, f"{_spelt(_TEXT)}: {_spelt(''.join(said))}")
        return checked_summary(f"{{{', '.join(members)}}}", by=f"{self.name}@{self.version}")


# --- Helpers ---------------------------------------------------------------------------------------


def _pieces(template: str) -> Iterator[tuple[str, bool]]:
    if len(template) > _TEMPLATE_CHARACTERS_MAX:
        raise InvalidOption(
            f"a template has {_TEMPLATE_CHARACTERS_MAX:,} characters at most", option="template"
        )
    for piece in _PIECE.finditer(template):
        if piece[1] is not None:
            parse_field(piece[1])
            yield piece[1], True
        elif piece[0] in ("{", "}"):
            raise InvalidOption(
                f"a brace stands alone in the template, at character {piece.start() + 1}",
                option="template",
                hint="{path} is a field; a brace of its own is written twice",
            )
        else:
            yield (piece[0][0] if piece[0] in ("{{", "}}") else piece[0]), False


def _find(tree: Tree, path: str) -> Value:
    found = tree.find(parse_field(path))
    if found is None:
        raise InvalidOption(f"the source has no field '{path[:80]}'", subject=path[:80])
    return found


def _literal(tree: Tree, value: Value) -> str:
    return _without_controls(tree.literal(value).decode())


def _said(tree: Tree, value: Value) -> str:
    literal = tree.literal(value)
    return decode_literal(literal) if literal[:1] == b'"' else literal.decode()


def _spelt(text: str) -> str:
    """As a JSON string that any reader takes; half a surrogate pair is escaped."""
    spelt = json.dumps(text, ensure_ascii=False)
    try:
        spelt.encode()
    except UnicodeEncodeError:
        spelt = json.dumps(text)
    return _without_controls(spelt)


def _without_controls(literal: str) -> str:
    """Control characters that JSON lets stand as they are stand in strings, where they may be escaped."""
    return _BARE_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", literal)
