"""The chain of ids that holds a session's records together, and what must stand in it where records leave.

Law: every name by which a record that stays points to one that leaves is the name of a link; the way from the
leaf to its root leads over the link of the message that stands in, and over every record that it led over
and that stays. Asked for a span, the answer takes time for that span alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Chain", "Link"]


@dataclass(frozen=True, slots=True)
class Link:
    """A record that stands in. id, parent: what it calls itself and its parent; None: it does not. of: the
    index of the record whose place in the chain it takes. is_message: it says the text; others say nothing.
    """

    id: str | None
    parent: str | None
    of: int
    is_message: bool


class Chain:
    """Records are known by their indices.

    ids: of the records in the chain, in order of the file. above: record -> its parent in the chain.
    parents: record -> the name that it gives its parent. way: from the root to the leaf. pointers: of records
    that stay, each with the record that it points to and the name by which it does.
    """

    def __init__(
        self,
        ids: Mapping[int, str],
        above: Mapping[int, int],
        parents: Mapping[int, str],
        way: Sequence[int],
        pointers: Iterable[tuple[int, int, str]],
    ) -> None:
        self._ids = ids
        self._above = above
        self._parents = parents
        self._places = {index: place for place, index in enumerate(way)}
        self._way = way
        self._into: dict[int, list[tuple[int, str]]] = {}
        for source, target, name in pointers:
            self._into.setdefault(target, []).append((source, name))

    def links(self, leaving: Sequence[int]) -> list[Link]:
        """What stands in for these records, in the order in which it may stand. One link is the message's."""
        gone = frozenset(leaving)
        groups = self._groups([index for index in leaving if index in self._ids], gone)
        if not groups:
            known = (index for index in leaving if index in self._above)
            return [Link(None, None, next(known, leaving[0]), is_message=True)]
        on_way = [root for root, group in groups.items() if any(index in self._places for index in group)]
        main = on_way[0] if on_way else next(iter(groups))
        links: list[Link] = []
        for root in [main, *(root for root in groups if root != main)]:
            links += self._links_of(root, groups[root], gone, is_main=root == main)
        return links

    def _groups(self, leaving: list[int], gone: frozenset[int]) -> dict[int, list[int]]:
        """Those that hang together without a record that stays, by the one that the others hang on."""
        roots: dict[int, int] = {}
        groups: dict[int, list[int]] = {}
        for index in leaving:
            way: dict[int, None] = {}
            at = index
            while at not in roots:
                way[at] = None
                above = self._above.get(at)
                if above is None or above not in gone or above not in self._ids or above in way:
                    roots[at] = at
                    break
                at = above
            for each in way:
                roots[each] = roots[at]
            groups.setdefault(roots[index], []).append(index)
        return groups

    def _links_of(self, root: int, group: list[int], gone: frozenset[int], *, is_main: bool) -> list[Link]:
        last = self._last(group, gone)
        named = {
            name: index for index in group for source, name in self._into.get(index, ()) if source not in gone
        }
        if not named and not is_main:
            return []
        if last is None:
            # Off the way: the latest one that somebody names.
            last = next(reversed(named.items())) if named else (self._ids[group[-1]], group[-1])
        named.pop(last[0], None)
        links: list[Link] = []
        parent = self._parents.get(root)
        for name, index in [*named.items(), last]:
            links.append(Link(name, parent, index, is_message=is_main and name == last[0]))
            parent = name
        return links

    def _last(self, group: list[int], gone: frozenset[int]) -> tuple[str, int] | None:
        """The name by which the way from the leaf comes to the group, and the record of that name."""
        on_way = [index for index in group if index in self._places]
        if not on_way:
            return None
        last = max(on_way, key=lambda index: self._places[index])
        place = self._places[last] + 1
        below = self._way[place] if place < len(self._way) else None
        for source, name in self._into.get(last, ()):
            if source == below and self._parents.get(source) == name:
                return name, last
        return self._ids[last], last
