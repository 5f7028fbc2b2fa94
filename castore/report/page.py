"""The page of `ctx report`: facts of sessions and documents as one HTML file that needs nothing else.

Laws:
- Nothing on the page is fetched, and nothing in it runs but its own script: a policy in its head forbids all
  else, and every text of a session is escaped (castore.report.text). The same facts give the same page.
- It is bounded (castore.report.sections): what is left out is told, with how much it is.
- Nothing on it is told by colour or by a chart alone, and its tables need no script.
"""

from __future__ import annotations

import shlex
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any

from castore.errors import CastoreError
from castore.report import charts, text
from castore.report.figures import KINDS, named, turns_text
from castore.report.sections import EXPLAINED, Facts, beginning, sections, totals

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["Facts", "render_page", "require_templates"]


def require_templates() -> None:
    """Raises CastoreError where the library that fills templates is not installed."""
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise CastoreError(
            "a page needs the package 'jinja2', which is not installed", hint="pip install jinja2"
        ) from error


def render_page(sources: Sequence[Facts], version: str) -> bytes:
    """The page, whole, as UTF-8; `version`, of castore, stands at its end. Raises CastoreError as
    `require_templates` does."""
    require_templates()
    from markupsafe import Markup

    style, script = _template("style.css"), _template("script.js")
    policy = (
        "default-src 'none'",
        f"style-src 'sha256-{_fingerprint(style)}'",
        f"script-src 'sha256-{_fingerprint(script)}'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    page = (
        _environment()
        .get_template("page.html")
        .render(
            style=Markup(style),  # These two are ours, and stand as they are.
            script=Markup(script),
            policy="; ".join(policy),
            sections=sections(sources),
            totals=totals(sources),
            version=version,
        )
    )
    return page.encode("utf-8")


def _environment() -> Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "shown": text.shown,
        "brief": text.brief,
        "plain": text.plain,
        "short": text.short_count,
        "size": text.size_text,
        "turn_text": _turn_text,
        "count": text.count_text,
    }
    more: dict[str, Any] = {
        "beginning": beginning,
        "command": _command,
        "explained": EXPLAINED,
        "kinds": KINDS,
        "percent": text.percent_text,
        "plural": text.plural,
        "share_bar": charts.share_bar,
        "turn_named": lambda turn: named(_turn_text(turn)),
        "turns_text": turns_text,
    }
    environment.globals |= more
    return environment


def _turn_text(turn: int) -> str:
    return turns_text(turn, turn)


def _template(name: str) -> str:
    return (resources.files("castore.report") / "templates" / name).read_text(encoding="utf-8")


def _fingerprint(asset: str) -> str:
    return b64encode(sha256(asset.encode()).digest()).decode()


def _command(words: Sequence[str]) -> str:
    """What a shell runs."""
    return shlex.join(("ctx", *words))
