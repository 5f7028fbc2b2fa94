"""What never reaches the model leaves piece by piece, so that its flags stay. For formats of sessions.

Law: strings and arrays of at least UI_BYTES_MIN leave, wherever they stand in an object; numbers, booleans
and short values (exit codes, `truncated`, `interrupted`) stay, so a view still says how a call went.
"""

from __future__ import annotations

from collections.abc import Collection

from castore.transcript.builder import Builder
from castore.transcript.values import Value

__all__ = ["COLLAPSE_TYPES", "UI_BYTES_MIN", "tell_ui"]

COLLAPSE_TYPES = frozenset(
    f"collapse-{name}" for name in ("boundary", "commit", "reset", "rewind", "snapshot")
)
"""Records of our own log (castore.transcript.collapse) that a harness keeps among its own: nobody's sign, and
never odd."""

UI_BYTES_MIN = 64
"""What is smaller stays: leaving saves nothing."""


def tell_ui(
    builder: Builder, value: Value | None, label: str, *, keep: Collection[str] = (), levels: int = 5
) -> None:
    """keep: names of members that stay whatever they hold. levels: an object below so many leaves whole."""
    if value is None or len(value) < UI_BYTES_MIN:
        return
    if not value.is_object or levels == 0:
        builder.ui(value, label=label)
        return
    for name, member in value.large_members(UI_BYTES_MIN):
        if name not in keep:
            tell_ui(builder, member, label, levels=levels - 1)
