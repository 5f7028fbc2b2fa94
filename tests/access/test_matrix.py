"""The scope matrix: every read and every act that makes a root, for own, other, shared and no objects.

A row is a command (or call) with what it is given. What is told in the shared store is what is told in its
twin, in which the others never were. A command or call without a row fails the first tests.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from castore import api
from castore.cli.commands import COMMANDS
from castore.digest import Digest
from castore.errors import ScopeDenied
from castore.objects.database import ObjectDatabase, encode_object
from castore.objects.memory import MemorySource
from castore.roots.model import STATE, RootDraft, RootKind, merged, root_id
from castore.store import Store, StoreHandle
from castore.store.batch import Batch
from castore.store.keeping import RootChoice
from castore.summary.key import SummaryKey
from tests.access.conftest import Twins, claiming
from tests.access.sessions import SESSIONS, VIEWS, edited, tailed
from tests.access.world import (
    DIGESTS,
    LOG,
    OBJECTS,
    OTHER,
    OTHER_DOCUMENT,
    OTHER_LOG,
    OTHER_TWIN,
    OWN,
    OWN_DOCUMENT,
    OWN_TWIN,
    STATES,
    clock,
    ctx,
    opened,
    outcome,
    reference,
    unchanged,
)
from tests.remote.bundles import bundle_of

# --- The command line ------------------------------------------------------------------------------

REF, DOC, BIN, IN_DOC = "{ref}", "{doc}", "{bin}", "{in doc}"
"""In a row: the object by its digest; a document that has a reference to it; a file of its bytes; the object
by its place in that document."""

AFTER, ENDED = "{after}", "{ended}"
"""In a row: what a hook is told after a call that gave the object; at the end of a session that names it."""

SESSION, VIEW, EDITED, TAILED = "{session}", "{view}", "{edited}", "{tailed}"
"""In a row: a file of a session; of its view; of that view, edited; of that view and a record after it."""

BUNDLE, CLAIM = "{bundle}", "{claim}"
"""In a row: a bundle with a root of our own scope that names the object, and with its bytes; without them."""

OF_OBJECTS, OF_SESSIONS = (
    {REF, DOC, BIN, IN_DOC, AFTER, ENDED, BUNDLE, CLAIM},
    {SESSION, VIEW, EDITED, TAILED},
)

READS: dict[str, list[list[str]]] = {
    "cat": [
        ["cat", REF],
        ["cat", "--bytes", "1:9", REF],
        ["cat", "--lines", "-1", "--chars", "0:3", REF],
        ["cat", "--select", "$..*", REF],
        ["cat", "--max-bytes", "64", REF],
        ["cat", IN_DOC],
    ],
    "show": [["show", REF], ["show", IN_DOC]],
    "grep": [
        ["grep", "bytes", REF],
        ["grep", "--doc", DOC, "bytes"],
        ["grep", "bytes|secret|had once|no[b]ody"],
        ["grep", "-i", "-C", "1", "--scope", OWN, "OURS|OTHERS"],
        ["grep", "-F", "-m", "2", "others"],
    ],
    "why": [["why", REF]],
    "unfold": [
        ["unfold", DOC],
        ["unfold", "--only", REF, DOC],
        *(["unfold", each] for each in (SESSION, VIEW, EDITED, TAILED)),
        ["unfold", "--only", "$.x", VIEW],
        ["unfold", "--source", "mine.jsonl", VIEW],
        ["unfold", "--source", "other.jsonl", VIEW],
        ["unfold", "--source", Digest.of(SESSIONS["other, of our view"]).hex[:12], VIEW],
    ],
    "verify": [
        ["verify", DOC],
        ["verify", "--quick", DOC],
        ["verify", VIEW],
        ["verify", "--no-markers", VIEW],
        ["verify", "--no-markers", DOC],
        ["verify", "--remote", "team", DOC],
    ],
    "diff": [
        ["diff", DOC, BIN],
        *(["diff", each, SESSION] for each in (VIEW, EDITED, TAILED)),
        ["diff", "--max-bytes", "99", SESSION, VIEW],
        ["diff", TAILED, VIEW],
    ],
    "collapse status": [["collapse", "status", SESSION]],
    "collapse log": [["collapse", "log", "--summaries", SESSION]],
    "guard": [["guard", "--name", "read", "--arguments", '{"path":"9.txt"}', SESSION]],
    "report": [["report", DOC], ["report", VIEW]],
    "ls": [["ls"], ["ls", "-n", "4"], ["ls", "--scope", OWN]],
    "log": [["log"], ["log", "-n", "2"], ["log", "--remote", "team"]],
    "stats": [["stats"], ["stats", DOC], *(["stats", "-n", "2", each] for each in (SESSION, VIEW, EDITED))],
    "scope list": [["scope", "list"]],
    "scope show": [["scope", "show", OWN], ["scope", "show", "team/b"], ["scope", "show", "team/none"]],
    "config": [["config"], ["config", "store.quota"]],
    "summary list": [["summary", "list"], ["summary", "list", "--superseded"]],
    "summary show": [["summary", "show", REF]],
    "summary check": [["summary", "check", REF, BIN], ["summary", "check", "--shares", BIN, REF]],
    "remote list": [["remote", "list"]],
    "remote check": [["remote", "check", "team"]],
}

WRITES: dict[str, list[list[str]]] = {
    "fold": [
        ["fold", "--stats", DOC],
        ["fold", "--json", "--bytes-over", "0", "--grow", BIN],
        *(["fold", "--stats", each] for each in (VIEW, EDITED, TAILED)),
        ["fold", "--stats", "--bytes-over", "100", VIEW],
    ],
    "view": [
        ["view", "--stats", SESSION],
        ["view", "--name", "theirs", "--for", "1d", SESSION],
        ["view", "--strategy", "tiered", SESSION],
        ["view", "--explain", "--check", SESSION],
        ["view", "--dry-run", VIEW],
        *(["view", "--stats", each] for each in (VIEW, EDITED, TAILED)),
        ["view", "--strategy", "clip", VIEW],
        ["view", "--strategy", "collapse", SESSION],
    ],
    "collapse stage": [["collapse", "stage", SESSION]],
    "collapse commit": [["collapse", "commit", SESSION]],
    "collapse recover": [["collapse", "recover", "--budget", "9kB", SESSION]],
    "collapse reset": [["collapse", "reset", "--reason", "because", SESSION]],
    "clip": [["clip", "--limit", "10", BIN], ["clip", "--limit", "10", "--for", "1d", VIEW]],
    "hook claude-code": [
        ["hook", "claude-code", "--limit", "10", "--show", "9", AFTER],
        ["hook", "claude-code", "--limit", "10", "--show", "9", "--beside", "--for", "1d", AFTER],
        ["hook", "claude-code", ENDED],
    ],
    "put": [["put", BIN], ["put", "--name", "new", BIN], ["put", "--name", "theirs", BIN]],
    "tag": [
        ["tag", "new", REF],
        ["tag", "theirs", REF],
        ["tag", "--move", "mine", REF],
        ["tag", "--move", "--expect", REF, "mine", str(DIGESTS["both"])],
    ],
    "keep": [["keep", REF], ["keep", DOC], ["keep", "--for", "1d", "--name", "new", REF]],
    "summary get": [
        ["summary", "get", REF, "--strategy", "extract"],
        ["summary", "get", BIN, "--strategy", "extract", "--source-name", "theirs"],
        ["summary", "get", REF, "--strategy", "theirs@1", "--option", "model=a"],
    ],
    "summary put": [["summary", "put", REF, BIN, "--strategy", "theirs@1", "--option", "model=a"]],
    "summary forget": [["summary", "forget", REF], ["summary", "forget", "--strategy", "theirs", "--now"]],
    "summary evict": [["summary", "evict"]],
    "forget": [
        ["forget", REF],
        ["forget", "--dry-run", REF],
        ["forget", "--now", REF],
        ["forget", "--undo", REF],
        ["forget", "--root", REF],
        ["forget", REF, "--root", "000000"],
        ["forget", "--older-than", "0s", "--dry-run"],
        ["forget", "--source", "*", "--now"],
        ["forget", "--keep-last", "1"],
        ["forget", "--source", LOG],
        ["forget", "--source", LOG, "--undo"],
        ["forget", "theirs", "same", "--now"],
    ],
    "push": [["push", "--all"], ["push", REF], ["push", "team", DOC]],
    "pull": [["pull", "--all"], ["pull", REF], ["pull", "team", DOC]],
    "fetch": [["fetch", REF], ["fetch", DOC]],
    "bundle create": [
        ["bundle", "create", "-o", "/dev/null", "--all"],
        ["bundle", "create", "-o", "/dev/null", REF],
        ["bundle", "create", "-o", "/dev/null", DOC],
    ],
    "bundle import": [["bundle", "import", BUNDLE], ["bundle", "import", CLAIM]],
    "remote forget": [["remote", "forget", "team", REF]],
}

OPERATORS: dict[str, list[list[str]]] = {
    "verify": [["verify"], ["verify", "--quick"]],
    "gc": [["gc"], ["gc", "--dry-run"], ["gc", "--now"]],
    "repair": [["repair"], ["repair", "--dry-run"], ["repair", "--remote", "team"]],
    "purge": [["purge", "--yes", "--reason", "because", REF], ["purge", "--dry-run", "--reason", "b", REF]],
    "config": [["config", "scopes.granted", "*"]],
    "scope create": [["scope", "create", "team/new"], ["scope", "create", "--quota", "9GB", OWN]],
    "remote add": [["remote", "add", "team", "file:///nowhere/at/all"]],
    "remote remove": [["remote", "remove", "team"]],
    "remote gc": [["remote", "gc", "team"], ["remote", "gc", "--dry-run", "team"]],
}

NO_STORE = {"init"}
"""Commands that look at no store."""

SERVED = {"mcp"}
"""Each of its tools has rows of its own: tests/access/test_tools.py."""

WHATS = list(OBJECTS)

LOGGED = ["both", "other"]
"""Sessions whose turns are collapsed: by us and the others, each in a log of our own; by the others alone."""


def rows(table: dict[str, list[list[str]]]) -> list[Any]:
    """Each row with each object, or each session, where it takes one."""
    return [
        pytest.param(row, what, id=f"{' '.join(row)} ({what})")
        for each in table.values()
        for row in each
        for what in whats(row)
    ]


def whats(row: list[str]) -> list[str]:
    if "collapse" in row:
        return LOGGED
    if OF_SESSIONS & set(row):
        return list(SESSIONS)
    return WHATS if OF_OBJECTS & set(row) else ["none"]


def filled(row: list[str], what: str, documents: Path) -> list[str]:
    values = {each: str(documents / f"{what}.{each[1:-1]}.jsonl") for each in OF_SESSIONS}
    values[DOC], values[BIN] = (str(documents / f"{what}.{each}") for each in ("json", "bin"))
    values[BUNDLE], values[CLAIM] = (str(documents / f"{what}.{each}.tar") for each in ("bundle", "claim"))
    values[IN_DOC] = values[DOC] + "#$.x"
    values[AFTER], values[ENDED] = (str(documents / f"{what}.{each}.json") for each in ("after", "ended"))
    if what in DIGESTS:
        values[REF] = str(DIGESTS[what])
    return [values.get(each, each) for each in row]


def compare(twins: Twins, arguments: list[str]) -> Any:
    """The same is told of both stores, to people and to programs."""
    for extra in ([], ["--json"]):
        line = [*arguments, *(each for each in extra if each not in arguments)]
        told = ctx(twins.shared, *line)
        assert told == ctx(twins.alone, *line), line
    return told


# What is read is noted, so both stores are always asked the same.


class TestTheTableIsWhole:
    def test_every_command_has_a_row(self) -> None:
        assert {*READS, *WRITES, *OPERATORS, *NO_STORE, *SERVED} == set(COMMANDS)

    def test_every_call_has_a_row(self) -> None:
        assert {*CALLS, *NO_CALLS} == set(api.__all__)

    def test_every_method_of_a_store_has_a_row(self) -> None:
        assert {*METHODS, *NO_METHODS} == {name for name in dir(Store) if not name.startswith("_")}

    def test_every_method_of_a_batch_has_a_row(self) -> None:
        assert set(BATCH) == {name for name in dir(Batch) if not name.startswith("_")}


class TestReads:
    @pytest.mark.parametrize(("row", "what"), rows(READS))
    def test_tell_what_they_tell_where_the_others_never_were(
        self, built: Twins, row: list[str], what: str
    ) -> None:
        told = compare(built, filled(row, what, built.documents))
        assert "team/b" not in told.out.replace("scope 'team/b'", "")
        if what.startswith("other") and REF in row and row[0] != "unfold":
            none = compare(built, filled(row, "none", built.documents))
            assert told.about(DIGESTS[what]) == none
            assert none.code == 12

    @pytest.mark.parametrize(
        "state",
        [
            pytest.param(
                each, marks=[pytest.mark.long] if "damaged" in each and "without" not in each else []
            )
            for each in list(STATES)[1:]
        ],
    )
    def test_whatever_is_the_matter_with_the_others(self, twins: Twins, state: str) -> None:
        STATES[state](twins.shared)
        for each in rows(READS):
            row, what = each.values
            arguments = [*filled(row, what, twins.documents), "--json"]
            assert ctx(twins.shared, *arguments) == ctx(twins.alone, *arguments), arguments

    @pytest.mark.parametrize("what", ["other", "other purged", "own expired", "none"])
    def test_however_it_is_spelt(self, built: Twins, what: str) -> None:
        digest = DIGESTS[what]
        spelt = [
            digest.hex[:6],
            digest.hex[:12],
            f"[ctx {digest.hex[:16]}: a result, 1 bytes]",
            reference(OBJECTS[what]).decode()[6:-1],
            digest.hex.upper(),
            *(["theirs", "same", "short", "folded"] if what == "other" else []),
        ]
        for command in ("cat", "show", "why"):
            for text in spelt:
                compare(built, [command, text])

    @pytest.mark.parametrize("digits", [6, 12, 64])
    def test_a_prefix_shared_with_an_object_of_others_is_not_ambiguous(
        self, built: Twins, digits: int
    ) -> None:
        told = compare(built, ["cat", Digest.of(OWN_TWIN).hex[:digits]])
        assert (told.code, json.loads(told.out)["text"], told.err) == (0, OWN_TWIN.decode(), "")
        compare(built, ["show", Digest.of(OWN_TWIN).hex[:digits]])
        whole = compare(built, ["cat", Digest.of(OTHER_TWIN).hex])
        assert whole.code == 12

    def test_roots_and_documents_of_others(self, built: Twins) -> None:
        theirs = opened(built.shared, "team/b")
        found = theirs.roots()
        theirs.close()
        assert found
        # A view that both have is ours too; of which session the others have it is not told (READS).
        ours = {Digest.of(VIEWS[what]) for what in ("own", "both", "own expired")}
        for root in found:
            document = root.document.digest if root.document else None
            whole = [] if document is None or document in ours else [document.hex]
            for text in (root.id, root.id[:8], *whole):
                for command in ("show", "why", "cat"):
                    told = compare(built, [command, text])
                    assert told.code == 12


class TestWrites:
    @pytest.mark.parametrize(("row", "what"), rows(WRITES))
    def test_tell_and_leave_what_they_do_where_the_others_never_were(
        self, twins: Twins, row: list[str], what: str
    ) -> None:
        arguments = filled(row, what, twins.documents)
        told = ctx(twins.shared, *arguments)
        assert told == ctx(twins.alone, *arguments)
        compare(twins, arguments)
        shown = [["show", str(DIGESTS[what])]] if what in DIGESTS else []
        for look in (["log"], ["ls"], ["stats"], *shown, ["cat", "mine"]):
            compare(twins, look)

    @pytest.mark.parametrize("state", ["without index", "index behind", "tombstone of others damaged"])
    def test_whatever_is_the_matter_with_the_others(self, twins: Twins, state: str) -> None:
        STATES[state](twins.shared)
        for row, what in (
            (["put", BIN], "other"),
            (["tag", "new", REF], "other"),
            (["keep", DOC], "other damaged"),
            (["put", "--name", "second", BIN], "other damaged"),
            (["forget", "--older-than", "0s"], "none"),
        ):
            arguments = filled(row, what, twins.documents)
            # A rebuild of the index is noted, and says nothing of what is in it.
            shared, alone = ctx(twins.shared, *arguments), ctx(twins.alone, *arguments)
            assert (shared.code, shared.out) == (alone.code, alone.out), row

    @pytest.mark.parametrize("digits", [32, 16, 6])
    def test_a_root_of_others_by_its_id(self, twins: Twins, digits: int) -> None:
        theirs = opened(twins.shared, "team/b")
        ids = [root.id[:digits] for root in theirs.roots()]
        theirs.close()
        assert ids
        for each in ids:
            for line in (
                ["forget", "--root", each],
                ["forget", "--root", each, "--undo"],
                ["tag", "new", each],
                ["tag", "--move", "mine", each],
                ["keep", each],
            ):
                assert compare(twins, line).code == 12

    def test_a_damaged_root_of_others_is_not_named(self, twins: Twins) -> None:
        """It stops every writer, because what it keeps is not known; which one it is stays untold."""
        STATES["roots of others damaged, without index"](twins.shared)
        told = ctx(twins.shared, "put", str(twins.documents / "none.bin"))
        assert told.code == 13
        assert ".json" not in told.err


class TestOperators:
    @pytest.mark.parametrize(("row", "what"), rows(OPERATORS))
    def test_are_refused_and_nothing_is_done(self, twins: Twins, row: list[str], what: str) -> None:
        with unchanged(twins.shared):
            told = compare(twins, filled(row, what, twins.documents))
        assert told.code == 14

    @pytest.mark.parametrize("grants", ["team/*", "team/a,team/b", "t*", "*/*"])
    def test_no_glob_makes_an_operator(self, twins: Twins, grants: str) -> None:
        for line in (["gc"], ["verify"], ["repair"], ["config", "scopes.granted", "*"]):
            assert ctx(twins.shared, *line, scope=grants).code == 14

    def test_the_operator_may(self, twins: Twins) -> None:
        for line in (["gc", "--dry-run"], ["config", "store.quota", "9GB"], ["scope", "create", "team/new"]):
            assert ctx(twins.shared, *line, scope="*").code == 0
        assert ctx(twins.shared, "verify", scope="*").code == 3


# --- Python calls ----------------------------------------------------------------------------------


def handle(store: Store) -> StoreHandle:
    return StoreHandle.of(store)


def unfolded(store: Store, what: str) -> bytes:
    target = io.BytesIO()
    api.unfold_stream(io.BytesIO(reference(OBJECTS[what])), target, handle(store))
    return target.getvalue()


def folded(store: Store, what: str) -> tuple[Any, bytes]:
    target = io.BytesIO()
    source = io.BytesIO(reference(OBJECTS[what]) + b'"' + b"word " * 500 + b'"')
    return api.fold_stream(source, target, handle(store), api.FoldPolicy()), target.getvalue()


def written(folder: Path, what: str) -> str:
    path = folder.parent / f"{what}.json"
    path.write_bytes(reference(OBJECTS[what]))
    return str(path)


def viewed(store: Store, what: str) -> list[Any]:
    """A session, and what is and is not its view, taken back and viewed again; then viewed by us."""
    view = VIEWS[what]
    given = (SESSIONS[what], view, edited(view), tailed(view))
    policy = api.FoldPolicy(bytes_over=100)
    acts: list[Call] = [
        lambda store, data: api.unfold_bytes(store, data),
        lambda store, data: api.view_bytes(store, data),
        lambda store, data: api.fold_bytes(store, data),
        lambda store, data: api.fold_bytes(store, data, policy),
        lambda store, data: api.unfold_bytes(store, data),
    ]
    return [outcome(act, store, data) for act in acts for data in given]


def bundled(store: Store, what: str) -> Any:
    """Bundles: of the object, and of all that is seen."""
    told = []
    for texts in ([str(DIGESTS[what])], []):
        target = io.BytesIO()
        made = outcome(lambda: api.create_bundle(store, target, *texts, everything=not texts))  # noqa: B023
        told.append((made, target.getvalue()))
    return told


Call = Callable[[Store, Any], Any]

CALLS: dict[str, Call] = {
    "get": lambda store, what: api.get(store, DIGESTS[what]),
    "stat": lambda store, what: api.stat(store, DIGESTS[what]),
    "page": lambda store, what: api.page(store, str(DIGESTS[what]), max_bytes=64).data,
    "put": lambda store, what: api.put(store, OBJECTS[what]),
    "read": lambda store, what: api.read(store, str(DIGESTS[what]), bytes="1:9"),
    "keep": lambda store, what: api.keep(store, str(DIGESTS[what])),
    "fold_bytes": lambda store, what: api.fold_bytes(store, reference(OBJECTS[what]) + OWN_DOCUMENT),
    "fold_stream": folded,
    "fold_value": lambda store, what: api.fold_value(store, {"$ctx": OBJECTS[what].decode() * 9}),
    "unfold_bytes": lambda store, what: api.unfold_bytes(store, reference(OBJECTS[what])),
    "unfold_stream": unfolded,
    "unfold_value": lambda store, what: api.unfold_value(store, api.from_json(reference(OBJECTS[what]))),
    "verify_documents": lambda store, what: api.verify_documents(
        [("a.json", io.BytesIO(reference(OBJECTS[what])))], handle(store)
    ),
    "verify_files": lambda store, what: [
        (each.name, each.words)
        for each in api.verify_files([written(Path(store.folder), what)], handle(store), quick=True)
    ],
    "view_bytes": lambda store, what: [viewed(store, each) for each in SESSIONS],
    "clip_text": lambda store, what: api.clip_text(store, OBJECTS[what].decode(), characters_max=9),
    "verify_store": lambda store, what: list(api.verify_store(store)),
    "roots_at_remote": lambda store, what: api.roots_at_remote(store, lambda root: root.id),
    "verify_at_remote": lambda store, what: list(
        api.verify_at_remote(store, [("a.json", io.BytesIO(reference(OBJECTS[what])))])
    ),
    "create_bundle": bundled,
    "import_bundle": lambda store, what: [
        outcome(api.import_bundle, store, io.BytesIO(bundle_of([claiming(what)], each)))
        for each in ({}, {DIGESTS[what]: encode_object(OBJECTS[what], 3).file})
    ],
    "add_remote": lambda store, what: api.add_remote(store, "team", "file:///nowhere/at/all"),
    "connect": lambda store, what: api.connect(store),
    "list_remotes": lambda store, what: api.list_remotes(store),
    "check_remote": lambda store, what: api.check_remote(store),
    "remove_remote": lambda store, what: api.remove_remote(store, "team"),
    "fetch": lambda store, what: api.fetch(store, str(DIGESTS[what])),
    "pull": lambda store, what: api.pull(store, str(DIGESTS[what])),
    "forget_at_remote": lambda store, what: api.forget_at_remote(store, str(DIGESTS[what])),
    "collect_remote": lambda store, what: api.collect_remote(store),
    "push": lambda store, what: api.push(store, str(DIGESTS[what])),
    "collect": lambda store, what: api.collect(store),
}

NO_CALLS = {
    "Access",
    "Collected",
    "Content",
    "Digest",
    "FoldPolicy",
    "FoldReport",
    "FoldedSpan",
    "ObjectStat",
    "Store",
    "StoreHandle",
    "UnfoldReport",
    "init_store",
    "open_store",
    "plan_stream",
}
"""Values; and calls that look at nothing in a store."""

ROOT_IDS = [
    root_id(RootDraft(RootKind.TAG, (DIGESTS["own"],), name="mine"), OWN),
    root_id(RootDraft(RootKind.TAG, (DIGESTS["other"],), name="theirs"), OTHER),
    "0" * 32,
]
"""Of a root of our own, of one of the others, and of none."""


def chains(store: Store, what: str) -> Any:
    """Of roots that somebody made up, in either scope, that are based on each of these."""
    draft = RootDraft(RootKind.VIEW, (DIGESTS[what],))
    made = [merged(draft, scope, None, now=clock(), sequence=1) for scope in (OWN, OTHER)]
    based = [replace(root, base=base) for root in made for base in ROOT_IDS]
    return [outcome(store.based_chain, root) for root in based]


def keys_of(what: str) -> list[str]:
    """Of the summaries that both make in the same way, one in each scope."""
    options = {"model": "a"}
    return [SummaryKey(DIGESTS[what], scope, "theirs", 1, options).hex for scope in (OWN, OTHER)]


def logs(store: Store, what: str) -> Any:
    """Of the session that both have, and of one that only the others have; in every scope."""
    return [
        outcome(lambda store: store.log(RootKind.COLLAPSE, name, scope=scope), store)  # noqa: B023
        for name in (LOG, OTHER_LOG)
        for scope in (None, OWN, OTHER, "team/none")
    ]


def imported(store: Store, what: str) -> Any:
    """A root of our scope that names the object, and comes from elsewhere: with its bytes, and without."""
    draft = RootDraft(RootKind.PUT, (DIGESTS[what],), source_name="from elsewhere")
    root = merged(draft, OWN, None, now=clock(), sequence=1)
    elsewhere = ObjectDatabase(MemorySource(), level=lambda: 3)
    elsewhere.source.publish([(DIGESTS[what], elsewhere.stage(OBJECTS[what]).frames)])
    with store.importing() as importing:
        needed = [importing.needed([root], lazily=lazily) for lazily in (True, False)]
        lazily = partial(importing.commit, lazily="origin")
        without = [outcome(each, [root]) for each in (lazily, importing.commit)]
        importing.bring(elsewhere, DIGESTS[what])
        return needed, without, importing.commit([root])


def promises(act: Callable[[Store, Digest], Any]) -> Call:
    """What is said of the object, and what a remote was asked for."""

    def call(store: Store, what: str) -> Any:
        asked: list[Any] = []
        store.fetcher = lambda store, remote, digests: asked.append((remote, list(digests)))
        return act(store, DIGESTS[what]), asked

    return call


METHODS: dict[str, Call] = {
    "absence": lambda store, what: [type(e := store.absence(DIGESTS[what])), e.message, e.hint],
    "based_chain": chains,
    "change_setting": lambda store, what: store.change_setting("scopes.granted", "*"),
    "newest_objects": lambda store, what: [(str(each), size) for each, size in store.newest_objects()],
    "ranged": lambda store, what: store.ranged(DIGESTS[what]).read(1, 9),
    "chunks": lambda store, what: list(store.chunks(DIGESTS[what])),
    "create_scope": lambda store, what: store.create_scope("team/c"),
    "digests": lambda store, what: list(store.digests(DIGESTS[what].hex[:2])) + list(store.digests()),
    "document_root": lambda store, what: store.document_root(Digest.of(OTHER_DOCUMENT)),
    "document_roots": lambda store, what: list(store.document_roots(Digest.of(OTHER_DOCUMENT))),
    "find": lambda store, what: store.find(str(DIGESTS[what])),
    "forget": lambda store, what: store.forget(RootChoice(references=(str(DIGESTS[what]), "theirs"))),
    "importing": imported,
    "promised": promises(lambda store, digest: store.promised([digest])),
    "want": promises(lambda store, digest: store.want([digest])),
    "keep": lambda store, what: store.keep([RootDraft(RootKind.KEEP, (DIGESTS[what],))]),
    "keyed_root": lambda store, what: [
        outcome(lambda store: store.keyed_root(RootKind.SUMMARY, key, scope=scope), store)  # noqa: B023
        for key in keys_of(what)
        for scope in (None, OWN, OTHER, "team/none")
    ],
    "keyed_roots": lambda store, what: [
        outcome(lambda store: store.keyed_roots(RootKind.SUMMARY, scope=scope, member=member), store)  # noqa: B023
        for scope in (None, OWN, OTHER, "team/none")
        for member in (None, ("$.summary.names", "theirs"), ("$.summary.names", what))
    ],
    "bound_to": lambda store, what: store.bound_to(DIGESTS[what]),
    "uses": lambda store, what: store.uses(keys_of(what)),
    "keep_draft": lambda store, what: store.keep_draft(str(DIGESTS[what])),
    "life": lambda store, what: store.life(DIGESTS[what]),
    "lives": lambda store, what: list(store.lives(DIGESTS.values())),
    "named_roots": lambda store, what: store.named_roots("same") + store.named_roots("theirs"),
    "log": logs,
    "log_scopes": lambda store, what: [store.log_scopes(RootKind.COLLAPSE, x) for x in (LOG, OTHER_LOG)],
    "naming": lambda store, what: store.naming(DIGESTS[what]),
    "purge": lambda store, what: store.purge(DIGESTS[what], "because"),
    "read": lambda store, what: store.read(DIGESTS[what]),
    "remember": lambda store, what: store.remember(RootChoice(references=(str(DIGESTS[what]),))),
    "require_operator": lambda store, what: store.require_operator("gc"),
    "require_writable": lambda store, what: store.require_writable(),
    "resolve": lambda store, what: store.resolve(str(DIGESTS[what])),
    "root": lambda store, what: [store.root(root_id) for root_id in ROOT_IDS],
    "roots": lambda store, what: store.roots(),
    "roots_naming": lambda store, what: store.roots_naming(DIGESTS[what]),
    "scope": lambda store, what: store.scope("team/b"),
    "scopes": lambda store, what: store.scopes(),
    "stat": lambda store, what: store.stat(DIGESTS[what]),
    "stats": lambda store, what: store.stats(),
    "tag": lambda store, what: store.tag("new", str(DIGESTS[what])),
    "views": lambda store, what: store.views(),
}

NO_METHODS = {"batch", "close", "config", "granted", "init", "notes", "open", "reads"}
"""How a store is opened and what was granted. `reads` only takes notes; `batch` has rows of its own."""


def staged(stage: Callable[[Batch, bytes], Any]) -> Call:
    def call(store: Store, what: str) -> Any:
        with store.batch() as batch:
            found = stage(batch, OBJECTS[what])
            draft = RootDraft(RootKind.PUT, (found.digest,))
            root = batch.commit(draft)
            return root, found.is_new, found.size, batch.objects_new, batch.objects_existing

    return call


def stage_file(batch: Batch, data: bytes) -> Any:
    path = Path(batch._parts.layout.folder).parent / "staged.bin"
    path.write_bytes(data)
    return batch.stage_files([str(path)])[0]


def committed(store: Store, what: str) -> Any:
    with store.batch() as batch:
        return batch.commit(RootDraft(RootKind.VIEW, (DIGESTS[what],)))


def committed_with_own(store: Store, what: str) -> Any:
    with store.batch() as batch:
        own = batch.stage(b"new bytes of our own").digest
        return batch.commit_all(
            [RootDraft(RootKind.PUT, (own,)), RootDraft(RootKind.SUMMARY, (own, DIGESTS[what]))]
        )


def appended(store: Store, what: str) -> Any:
    """To a log of our own, whatever the others wrote in theirs of the same name: next records, late ones."""
    told = []
    for place in (3, 3, 6, 1, STATE):
        with store.batch() as batch:
            draft = RootDraft(RootKind.COLLAPSE, (DIGESTS[what],), source_name=LOG, place=place)
            told.append(outcome(batch.commit, draft))
    return told


OF_ALL = {"newest_objects", "view_bytes", "root", "roots", "scope", "scopes", "stats", "views"}
"""Calls that take no object: once is enough."""

BATCH: dict[str, Call] = {
    "stage": staged(lambda batch, data: batch.stage(data)),
    "stage_chunks": staged(lambda batch, data: batch.stage_chunks([data])),
    "stage_encoded": staged(lambda batch, data: batch.stage_encoded(encode_object(data, 3))),
    "stage_files": staged(stage_file),
    "commit": committed,
    "commit_all": lambda store, what: [committed_with_own(store, what), appended(store, what)],
}


class TestCalls:
    """The answer or the error of a call is that of the twin, and so is what is there afterwards."""

    @pytest.mark.parametrize("name", [*CALLS, *METHODS, *BATCH])
    def test_in_both_stores(self, twins: Twins, name: str) -> None:
        for call in (table[name] for table in (CALLS, METHODS, BATCH) if name in table):
            for what in ["none"] if name in OF_ALL else WHATS:
                told = []
                for folder in (twins.shared, twins.alone):
                    store = opened(folder)
                    told.append(outcome(call, store, what))
                    store.close()
                    again = opened(folder)
                    told[-1] = told[-1], outcome(again.roots), outcome(again.stats), outcome(again.digests)
                    again.close()
                assert _without_folder(told[0]) == _without_folder(told[1]), what


class TestLibrary:
    """The refusal lives below the command line."""

    @pytest.mark.parametrize(
        "name", ["verify_store", "collect", "add_remote", "remove_remote", "collect_remote"]
    )
    def test_calls_of_the_operator(self, twins: Twins, name: str) -> None:
        store = opened(twins.shared)
        with unchanged(twins.shared), pytest.raises(ScopeDenied):
            CALLS[name](store, "other")
        store.close()

    def test_all_of_a_remote_is_the_operators(self, twins: Twins) -> None:
        store = opened(twins.shared)
        with unchanged(twins.shared), pytest.raises(ScopeDenied):
            list(api.verify_at_remote(store))
        store.close()

    @pytest.mark.parametrize("name", ["purge", "create_scope", "change_setting"])
    def test_methods_of_the_operator(self, twins: Twins, name: str) -> None:
        store = opened(twins.shared)
        with unchanged(twins.shared), pytest.raises(ScopeDenied):
            METHODS[name](store, "other")
        store.close()

    def test_who_was_granted_nothing_has_the_default_scope_alone(self, twins: Twins) -> None:
        store = Store.open(twins.shared, clock=clock)
        assert store.granted.seen == ("default",)
        assert list(store.digests()) == []
        store.close()


def _without_folder(told: Any) -> str:
    return repr(told).replace("/shared/", "/X/").replace("/alone/", "/X/")
