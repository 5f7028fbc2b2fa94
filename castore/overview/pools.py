"""Pools: what stands at the same place of every entry of a JSON value, put side by side.

A pool holds the values that one path of names reaches (`$.orders[*].price`): the items of one array, or of
all the arrays that stand there; the members of one name; the members of an object that is used as a map; what
JSON in strings says; the lines of a text. What stands apart is looked for in a pool. Every value knows its
way back to the whole.

Laws: no value is copied, only listed. What is looked at is bounded: pools, values, depth, names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

from castore.overview.entries import entries_of
from castore.overview.lefts import left_columns
from castore.overview.tables import Table, read_json, word_columns

__all__ = ["Pool", "Step", "grow", "grow_entries"]

VALUES_MAX = 4_000_000
POOLS_MAX = 2_000
NAMES_MAX = 200
DEPTH_MAX = 40
COLUMNS_MAX = 64
MAP_MEMBERS_MIN = 8
_JSON_BYTES_MIN = 8
_FEW = 8


class Step(Enum):
    """How a pool's values are reached from those of the pool before it."""

    WHOLE = "whole"
    MEMBER = "member"
    ITEM = "item"
    COLUMN = "column"
    ENTRY = "entry"
    READ = "read"
    LINE = "line"


@dataclass(slots=True, eq=False)
class Pool:
    """name: of a MEMBER or COLUMN. owners: for each value the index of the one it belongs to in `parent`, or
    ~index of one in this same pool (of a tree); None where each has its own. ordinals: the index of an ITEM,
    the name of an ENTRY, the line of a LINE. missing, extra: of a MEMBER that nearly all objects have, or
    few, those of the parent that lack it, or have it. among: how many objects there are.
    """

    step: Step
    values: Sequence[Any]
    parent: Pool | None = None
    name: str = ""
    owners: Sequence[int] | None = None
    ordinals: Sequence[Any] | None = None
    depth: int = 0
    reads: int = 0
    missing: tuple[int, ...] = ()
    extra: tuple[int, ...] = ()
    among: int = 0
    table: Table | None = None
    children: list[Pool] = field(default_factory=list)
    counts: Counter[Any] | None = None

    @property
    def counted(self) -> Counter[Any]:
        """How often each value is there, of values that can be counted."""
        if self.counts is None:
            self.counts = Counter(self.values)
        return self.counts

    @property
    def is_entries(self) -> bool:
        """Its values are entries of something: an array, a map, a text."""
        return self.step in (Step.ITEM, Step.ENTRY, Step.LINE)

    def owner(self, index: int) -> tuple[Pool, int] | None:
        if self.parent is None:
            return None
        if self.owners is None:
            return self.parent, index
        owner = self.owners[index]
        return (self, ~owner) if owner < 0 else (self.parent, owner)

    def way(self, index: int) -> list[tuple[Step, Any]]:
        """The steps from the whole to this value."""
        steps: list[tuple[Step, Any]] = []
        pool, at = self, index
        while (owner := pool.owner(at)) is not None:
            name = pool.ordinals[at] if pool.ordinals is not None else pool.name
            steps.append((pool.step, name))
            if owner[0] is pool and pool.name:
                steps.append((Step.MEMBER, pool.name))  # A tree: the list its children are in.
            pool, at = owner
        steps.reverse()
        return steps


def grow(value: Any, *, text: str | None = None) -> list[Pool]:
    """All pools of a JSON value, or of a text; those of the whole first."""
    return _grown([Pool(Step.WHOLE, [value if text is None else text])])


def grow_entries(values: list[Any], ordinals: Sequence[int], *, are_lines: bool) -> list[Pool]:
    """The same of entries that are some of all: items of an array, or lines, each with its index."""
    root = Pool(Step.WHOLE, [None])
    step = Step.LINE if are_lines else Step.ITEM
    child = Pool(step, values, root, "", [0] * len(values), ordinals, 1)
    if are_lines:
        child.table = Table("some", values, range(len(values)), values)
    root.children.append(child)
    return _grown([root, child], 1)


def _grown(pools: list[Pool], at: int = 0) -> list[Pool]:
    budget = VALUES_MAX
    while at < len(pools) and len(pools) < POOLS_MAX:
        pool = pools[at]
        at += 1
        if pool.depth >= DEPTH_MAX or budget <= 0:
            continue
        for child in _children(pool):
            pool.children.append(child)
            pools.append(child)
            budget -= len(child.values)
    return pools


def _children(pool: Pool) -> Iterator[Pool]:
    values = pool.values
    kinds = Counter(map(type, values))
    if kinds[dict]:
        yield from _of_objects(pool, *_chosen(values, dict, kinds[dict]))
    if kinds[list]:
        yield from _of_arrays(pool, *_chosen(values, list, kinds[list]))
    if kinds[str]:
        yield from _of_strings(pool, *_chosen(values, str, kinds[str]))


def _chosen(values: Sequence[Any], kind: type, count: int) -> tuple[Sequence[Any], list[int] | None]:
    """The values of this type, and where they are; None if all are."""
    if count == len(values):
        return values, None
    places = [at for at, value in enumerate(values) if type(value) is kind]
    return [values[at] for at in places], places


# --- Objects ---------------------------------------------------------------------------------------


def _of_objects(pool: Pool, objects: Sequence[dict[str, Any]], places: list[int] | None) -> Iterator[Pool]:
    names = Counter(chain.from_iterable(objects))
    if _are_maps(objects, names):
        owners = _owners(objects, places)
        values = list(chain.from_iterable(each.values() for each in objects))
        yield from _entries(pool, Step.ENTRY, values, owners, list(chain.from_iterable(objects)))
        return
    total = len(objects)
    for name in _names(objects, names):
        if pool.name == name and pool.step is Step.ITEM and pool.owners is not None and _is_tree(pool):
            continue  # The children of a tree are in this pool already.
        count = names[name]
        if count == total:
            yield Pool(
                Step.MEMBER, list(map(itemgetter(name), objects)), pool, name, places, None, pool.depth + 1
            )
            continue
        has = [at for at, each in enumerate(objects) if name in each]
        owners = has if places is None else [places[at] for at in has]
        child = Pool(Step.MEMBER, [objects[at][name] for at in has], pool, name, owners, None, pool.depth + 1)
        child.among = total
        if total - count <= count // _FEW:
            having = set(has)
            lacks = [at for at in range(total) if at not in having]
            child.missing = tuple(lacks if places is None else [places[at] for at in lacks])
        elif count <= total // _FEW:
            child.extra = tuple(owners)
        yield child


def _is_tree(pool: Pool) -> bool:
    return pool.owners is not None and any(owner < 0 for owner in pool.owners)


def _names(objects: Sequence[dict[str, Any]], names: Counter[str]) -> list[str]:
    """The names worth a pool: the most common; of few objects those that hold the most."""
    if len(names) <= NAMES_MAX:
        return list(names)
    if len(objects) >= _FEW:
        common = [name for name, _ in names.most_common(NAMES_MAX)]
        kept = set(common)
        return [name for name in names if name in kept]
    weight: Counter[str] = Counter()
    for each in objects:
        for name, value in each.items():
            weight[name] += len(value) if isinstance(value, list | dict | str) else 0
    kept = {name for name, _ in weight.most_common(NAMES_MAX)}
    return [name for name in names if name in kept]


def _are_maps(objects: Sequence[dict[str, Any]], names: Counter[str]) -> bool:
    """Objects whose members are entries rather than fields: many, under ever other names, and alike."""
    members = sum(map(len, objects))
    if (
        members < MAP_MEMBERS_MIN * min(len(objects), 3)
        or members < 3 * len(objects)
        or len(names) * 2 < members
    ):
        return False
    sample = [value for each in objects[:50] for value in list(each.values())[:50]]
    kinds = Counter(map(type, sample))
    kind, count = kinds.most_common(1)[0]
    if count * 10 < len(sample) * 9:
        return False
    if kind is dict:
        inner = [value for value in sample if type(value) is dict]
        shared = Counter(chain.from_iterable(inner))
        common = sum(number for number in shared.values() if number * 2 >= len(inner))
        return common * 2 >= sum(shared.values()) > 0
    # Members of one type may still be fields: a few are, many are not.
    return len(names) >= (24 if kind in (str, list) else 12)


# --- Arrays ----------------------------------------------------------------------------------------


def _of_arrays(pool: Pool, arrays: Sequence[list[Any]], places: list[int] | None) -> Iterator[Pool]:
    width = _width(pool, arrays)
    if width:
        header = pool.table.header if pool.table is not None and pool.table.header else None
        yield from _columns(pool, arrays, places, width, header)
        return
    values = list(chain.from_iterable(arrays))
    if not values:
        return
    if len(arrays) == 1:
        ordinals: Sequence[int] = range(len(values))
    else:
        ordinals = list(chain.from_iterable(range(len(each)) for each in arrays))
    owners: list[int] = _owners(arrays, places)
    name = pool.name if pool.step is Step.MEMBER else ""
    yield from _entries(pool, Step.ITEM, values, owners, ordinals, name)


def _width(pool: Pool, arrays: Sequence[list[Any]]) -> int:
    """The length that nearly all these arrays have, if they are rows with columns rather than lists."""
    if len(arrays) < _FEW or not pool.is_entries:
        return 0
    lengths = Counter(map(len, arrays))
    width, count = lengths.most_common(1)[0]
    if not 2 <= width <= COLUMNS_MAX or count * 10 < len(arrays) * 9:
        return 0
    return width


def _columns(
    pool: Pool,
    arrays: Sequence[list[Any]],
    places: list[int] | None,
    width: int,
    header: Sequence[str] | None,
) -> Iterator[Pool]:
    whole = [at for at, each in enumerate(arrays) if len(each) == width]
    if len(whole) != len(arrays):
        owners: list[int] | None = whole if places is None else [places[at] for at in whole]
        arrays = [arrays[at] for at in whole]
    else:
        owners = places
    for column, values in enumerate(zip(*arrays, strict=True)):
        name = header[column] if header is not None and column < len(header) else str(column)
        yield Pool(Step.COLUMN, values, pool, name, owners, [column] * len(values), pool.depth + 1)


def _entries(
    pool: Pool,
    step: Step,
    values: list[Any],
    owners: list[int],
    ordinals: Sequence[Any],
    name: str = "",
) -> Iterator[Pool]:
    """Entries; those of a tree with all that hang below them by the name that this list has."""
    if name and any(type(each) is dict and type(each.get(name)) is list for each in values[:1000]):
        ordinals = list(ordinals)
        for at, value in enumerate(values):  # It grows as it goes.
            below = value.get(name) if type(value) is dict else None
            if type(below) is list and len(values) < VALUES_MAX:
                values += below
                owners += repeat(~at, len(below))
                ordinals += range(len(below))
    yield Pool(step, values, pool, name, owners, ordinals, pool.depth + 1, pool.reads)


def _owners(groups: Sequence[Any], places: list[int] | None) -> list[int]:
    numbers = range(len(groups)) if places is None else places
    if len(groups) == 1:
        return [numbers[0]] * len(groups[0])
    return list(chain.from_iterable(map(repeat, numbers, map(len, groups))))


# --- Strings ---------------------------------------------------------------------------------------


def _of_strings(pool: Pool, texts: Sequence[str], places: list[int] | None) -> Iterator[Pool]:
    """What JSON in strings says, and the lines of long texts; of many strings only if most are such."""
    if pool.step is Step.LINE and pool.table is not None and pool.table.format in ("lines", "some"):
        yield from _words(pool, texts, places)
    if pool.reads >= 2 or pool.step is Step.LINE:
        return
    sample = texts if len(texts) <= 16 else texts[:: max(1, len(texts) // 16)]
    json_like = [_is_json_like(text) for text in sample]
    if any(json_like) and (sum(json_like) * 2 >= len(sample) or len(texts) < _FEW):
        read = [(at, read_json(text)) for at, text in enumerate(texts) if _is_json_like(text)]
        found = [(at, value) for at, value in read if value is not None]
        if found:
            owners = [at if places is None else places[at] for at, _ in found]
            yield Pool(
                Step.READ, [v for _, v in found], pool, "", owners, None, pool.depth + 1, pool.reads + 1
            )
            return
    if len(texts) >= _FEW:
        return
    for at, text in enumerate(texts):
        table = entries_of(text)
        if table is None:
            continue
        owner = at if places is None else places[at]
        yield Pool(
            Step.LINE,
            table.values,
            pool,
            "",
            [owner] * len(table.values),
            table.lines,
            pool.depth + 1,
            pool.reads + 1,
            table=table,
        )


def _words(pool: Pool, texts: Sequence[str], places: list[int] | None) -> Iterator[Pool]:
    """Columns of the lines that have as many words as most have; of lines that end in free text only those
    from the left, as its words stand nowhere in particular."""
    lefts = list(left_columns(texts))
    has_tail = any(are_words for are_words, _, _ in lefts)
    words = [] if has_tail else list(word_columns(texts))
    for columns, which in words:
        owners = which if places is None else [places[at] for at in which]
        for column, values in enumerate(columns):
            yield Pool(Step.COLUMN, values, pool, "", owners, [column] * len(values), pool.depth + 1, 2)
    for _, values, there in lefts:
        has = places if there is None else there if places is None else [places[at] for at in there]
        yield Pool(Step.COLUMN, values, pool, "", has, [0] * len(values), pool.depth + 1, 2)


def _is_json_like(text: str) -> bool:
    head = text[:64].lstrip()[:1]
    return head in ("{", "[") and len(text) >= _JSON_BYTES_MIN and text[-64:].rstrip()[-1:] in ("}", "]")
