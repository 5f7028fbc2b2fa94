"""Which values fold: a pure decision over the nodes of a segment.

Laws: what is chosen is disjoint, outermost first, and depends on each top-level value alone (so that
appending records never changes an earlier choice) and on the policy. A value is chosen only if its bare
reference meets the saving; of strings, whose reference depends on what they decode to, that is seen when
it is written.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from castore.config import DEPTH_MAX
from castore.descriptor import Kind
from castore.document.grammar import ARRAY, OBJECT, STRING, Node
from castore.document.path import Step, count_items, member_name_before, values
from castore.document.pattern import Pattern, parse_pattern
from castore.document.reference import REFERENCE_BYTES_MIN, bare_length
from castore.errors import InvalidOption
from castore.fold.positions import Ends, is_message_list

__all__ = ["FoldPolicy", "choose"]

_REFERENCE_DEPTH = 2
PREVIEWS = ("edges", "outliers", "none")


@dataclass(frozen=True)
class FoldPolicy:
    """What folds. Sizes are of the literal, quotes included; *over* means strictly more.

    bytes_over: bytes a value must have. items_over: items an array must have, too. min_saving: share of
    the literal that its reference must save. grow: lift that. objects: large objects fold too.
    preview: `edges`, `none`, or `outliers`, which is edges where nothing stands apart. fold: patterns of what
    folds whatever the floors and sparing say, but for the saving. keep: patterns of what never folds, nor
    anything around it as a whole; keep beats fold.
    """

    bytes_over: int = 1024
    items_over: int = 8
    min_saving: float = 0.75
    grow: bool = False
    objects: bool = False
    preview: str = "edges"
    fold: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.bytes_over < 0 or self.items_over < 0:
            raise InvalidOption("bytes_over and items_over can't be negative")
        if not 0 <= self.min_saving <= 1:
            raise InvalidOption(f"min_saving must be from 0 to 1, not {self.min_saving}")
        if self.preview not in PREVIEWS:
            raise InvalidOption(f"preview must be 'edges', 'outliers' or 'none', not '{self.preview}'")
        _ = self.fold_patterns, self.keep_patterns

    @cached_property
    def fold_patterns(self) -> tuple[Pattern, ...]:
        return tuple(parse_pattern(text) for text in self.fold)

    @cached_property
    def keep_patterns(self) -> tuple[Pattern, ...]:
        return tuple(parse_pattern(text) for text in self.keep)

    @cached_property
    def floor(self) -> int:
        """No value of this many bytes or fewer can fold, so the scan need not report it."""
        if not self.fold:
            return self.bytes_over
        if self.grow:
            return 0
        share = 1 - self.min_saving
        least = math.floor(REFERENCE_BYTES_MIN / share) - 1 if share > 0 else self.bytes_over
        return min(self.bytes_over, least)

    def reference_bytes_max(self, literal_bytes: int) -> float:
        """The longest reference that may stand for a literal of this size."""
        if self.grow:
            return math.inf
        # A share such as 0.9 is not exact in binary; a millionth of a byte is no saving.
        return literal_bytes * (1 - self.min_saving) + 1e-6


def choose(
    data: bytes | bytearray, nodes: list[Node], policy: FoldPolicy
) -> Iterator[tuple[Node, Node | None]]:
    """The nodes that fold, outermost first, each with the array or object it stands in (if that is large).

    `nodes`: those of `data` longer than `policy.floor`, in order of start.
    """
    kept = _matching_offsets(data, policy.keep_patterns) if policy.keep else []
    ancestry = _Ancestry(data, policy) if policy.fold else None
    ends = {node.start: node.end for node in nodes}
    parents: list[Node] = []
    folded_to = 0
    for node in nodes:
        if node.start < folded_to:
            continue
        while parents and parents[-1].end <= node.start:
            parents.pop()
        parent = parents[-1] if parents else None
        is_wanted = ancestry is not None and ancestry.is_wanted(node, parents)
        if node.kind != STRING:
            parents.append(node)
        if kept and _holds(kept, node):
            continue
        if len(parents) - (node.kind != STRING) + _REFERENCE_DEPTH > DEPTH_MAX:
            continue  # Its reference would make a document that is nested too deep to be read.
        if is_wanted or _is_over(data, node, policy, ends):
            if not _meets_saving(node, policy):
                continue
            folded_to = node.end
            yield node, parent


def _is_over(data: bytes | bytearray, node: Node, policy: FoldPolicy, ends: Ends) -> bool:
    if node.end - node.start <= policy.bytes_over:
        return False
    if node.kind == ARRAY:
        return node.items > policy.items_over and not is_message_list(data, node, ends)
    return node.kind == STRING or policy.objects


def _meets_saving(node: Node, policy: FoldPolicy) -> bool:
    if node.kind == STRING:
        return True
    size = node.end - node.start
    kind = Kind.ARRAY if node.kind == ARRAY else Kind.OBJECT
    return bare_length(kind, size) <= policy.reference_bytes_max(size)


def _holds(offsets: list[int], node: Node) -> bool:
    at = bisect_left(offsets, node.start)
    return at < len(offsets) and offsets[at] < node.end


def _matching_offsets(data: bytes | bytearray, patterns: tuple[Pattern, ...]) -> list[int]:
    return [at for at, steps in values(data) if any(pattern.matches(steps) for pattern in patterns)]


class _Ancestry:
    """The steps of each node, found from its parents (which are all large, since they hold it)."""

    def __init__(self, data: bytes | bytearray, policy: FoldPolicy) -> None:
        self.data = data
        self.patterns = policy.fold_patterns
        self.needs_index = any(pattern.has_index for pattern in self.patterns)
        self.steps: dict[int, Step | None] = {}
        self.cursors: dict[int, tuple[int, int]] = {}

    def is_wanted(self, node: Node, parents: list[Node]) -> bool:
        self.steps[node.start] = self._step(node, parents[-1] if parents else None)
        chain = [*parents, node][1:]
        steps = [step for each in chain if (step := self.steps[each.start]) is not None]
        return any(pattern.matches(steps) for pattern in self.patterns)

    def _step(self, node: Node, parent: Node | None) -> Step | None:
        if parent is None:
            return None
        if parent.kind == OBJECT:
            return member_name_before(self.data, node.start)
        if not self.needs_index:
            return 0
        # Items come in order, so each is counted on from the one before it.
        at, index = self.cursors.get(parent.start, (parent.start + 1, 0))
        index += count_items(self.data, at, node.start)
        self.cursors[parent.start] = (node.start, index)
        return index
