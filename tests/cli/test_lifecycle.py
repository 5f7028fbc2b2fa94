"""keep, why, tag --move, gc --documents, purge and repair, as a shell sees them."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path

import pytest

from castore.cli.globs import files_matching
from castore.errors import CastoreError
from tests.cli.conftest import DOCUMENT, Shell
from tests.cli.terminal import seen_on_terminal


def put(ctx: Shell, data: bytes, *options: str) -> str:
    (digest,) = ctx("put", *options, stdin=data).lines
    return digest


def fold(ctx: Shell, out: str = "out.json") -> str:
    """Folds in.json, and returns the document's digest."""
    summary = json.loads(ctx("fold", "in.json", "-o", out, "--json").err)
    return str(summary["document"]["digest"])


class TestWhy:
    def test_lists_the_roots_as_log_does(self, ctx: Shell) -> None:
        digest = put(ctx, b"a line\n", "--name", "poem")
        assert ctx("tag", "verse", digest).code == 0
        put(ctx, b"another\n")
        shown = ctx("why", digest)
        assert (shown.code, shown.err) == (0, "")
        assert shown.lines == ctx("log").lines[1:]
        assert [row["name"] for row in ctx("why", "verse", "--json").rows] == ["verse", "poem"]

    def test_of_a_document_its_roots(self, ctx: Shell) -> None:
        document = fold(ctx)
        assert ctx("tag", "outage", document).code == 0
        assert [row["kind"] for row in ctx("why", document, "--json").rows] == ["tag", "document"]

    def test_none_is_no_error(self, ctx: Shell) -> None:
        digest = put(ctx, b"a line\n")
        for path in (ctx.folder / ".ctxstore/roots").rglob("*.json"):
            path.unlink()
        done = ctx("why", digest)
        assert (done.code, done.out, done.err) == (0, b"", "no root names it\n")
        assert ctx("ls").lines[0].split("\t")[3:5] == ["unnamed", "0"]

    def test_what_is_absent_is_12(self, ctx: Shell) -> None:
        assert ctx("why", "0" * 64).code == 12


class TestTagMove:
    def test_taken_is_15_and_move_takes_it(self, ctx: Shell) -> None:
        first, second = put(ctx, b"1"), put(ctx, b"2")
        assert ctx("tag", "best", first).code == 0
        assert ctx("tag", "best", second).code == 15
        assert ctx("tag", "best", second, "--move").code == 0
        assert ctx("cat", "best").out == b"2"

    def test_of_two_that_move_it_from_the_same_place_one_is_told(self, ctx: Shell) -> None:
        first, second, third = put(ctx, b"1"), put(ctx, b"2"), put(ctx, b"3")
        assert ctx("tag", "best", first).code == 0
        assert ctx("tag", "best", second, "--move", "--expect", first).code == 0
        lost = ctx("tag", "best", third, "--move", "--expect", first, "--json")
        assert (lost.code, lost.error["name"]) == (15, "NameMoved")
        assert ctx("cat", "best").out == b"2"

    def test_expect_is_about_a_move(self, ctx: Shell) -> None:
        digest = put(ctx, b"1")
        done = ctx("tag", "best", digest, "--expect", digest)
        assert (done.code, done.err) == (2, "error: --expect is about a move\nhint: say --move too\n")


class TestKeep:
    def test_an_object_and_a_document_outlive_what_named_them(self, ctx: Shell) -> None:
        digest, document = put(ctx, b"1", "--for", "0s"), fold(ctx)
        # What expired is not there for others, but for the owner until gc.
        (kept, both) = ctx("keep", digest, document, "--json").rows
        assert (kept["objects"], both["objects"], both["document"]) == (1, 2, document)
        assert ctx("forget", "--source", "in.json", "--now").code == 0
        assert ctx("gc").code == 0
        assert len(ctx("ls").lines) == 3

    def test_a_file_from_elsewhere(self, ctx: Shell) -> None:
        fold(ctx)
        edited = (ctx.folder / "out.json").read_bytes().replace(b"why?", b"why not?")
        (ctx.folder / "edited.json").write_bytes(edited)
        (root,) = ctx("keep", "edited.json", "--name", "edit", "--for", "30d", "--json").rows
        assert (root["kind"], root["name"], root["source_name"]) == ("keep", "edit", "edited.json")
        assert root["expires"] is not None
        assert ctx("forget", "--source", "in.json", "--now").code == 0
        assert ctx("gc").code == 0
        assert ctx("unfold", "edited.json").out == DOCUMENT.replace(b"why?", b"why not?")

    def test_all_or_none(self, ctx: Shell) -> None:
        digest = put(ctx, b"1")
        before = ctx("log").out
        for missing in ("nothing", "0" * 64, "in.json"):
            assert ctx("keep", digest, missing).code in (12, 18)
            assert ctx("log").out == before

    def test_what_is_both_is_asked_about(self, ctx: Shell) -> None:
        put(ctx, b"1", "--name", "outage")
        fold(ctx, "outage")
        done = ctx("keep", "outage")
        assert done.code == 2
        assert "hint: write './outage' for the file" in done.err
        (root,) = ctx("keep", "./outage", "--json").rows
        assert root["source_name"] == "outage"

    def test_a_name_is_for_one(self, ctx: Shell) -> None:
        first, second = put(ctx, b"1"), put(ctx, b"2")
        assert ctx("keep", first, second, "--name", "both").code == 2
        assert ctx("keep", first, "--name", "one").code == 0
        assert ctx("keep", second, "--name", "one").code == 15

    def test_what_is_neither_file_nor_object_is_said_so(self, ctx: Shell) -> None:
        for missing in ("nosuch.json", "."):
            done = ctx("keep", missing)
            assert done.code == 12
            assert done.err.startswith(f"error: no file, object or name '{missing}'\nhint: ")
        assert "not a regular file" in done.err
        assert ctx("keep", "nosuch.json", "--json").error["name"] == "NameMissing"
        fold(ctx)
        done = ctx("tag", "outage", "out.json")
        assert done.code == 12
        assert "hint: it is a file: 'ctx keep FILE --name NAME' " in done.err
        assert "it is a file" not in ctx("tag", "outage", "nosuch.json").err


class TestForget:
    def said(self, ctx: Shell, *arguments: str) -> str:
        """The one line on stderr of a forget that chose nothing."""
        done = ctx("forget", *arguments)
        assert (done.code, done.out) == (0, b"")
        assert done.err.count("\n") == 1
        told = ctx("forget", *arguments, "--json")
        assert (told.code, told.rows[0]["roots"]) == (0, [])
        assert json.loads(told.err) == {"event": "summary", "roots": 0}
        return done.err

    def test_nothing_to_forget_is_said(self, ctx: Shell) -> None:
        digest = put(ctx, b"1")
        assert self.said(ctx, "poem", "prose") == "nothing to forget: no root fits 'poem', 'prose'\n"
        assert self.said(ctx, "0" * 64).endswith("and --root takes one\n")
        assert self.said(ctx, "--undo", "poem") == "nothing to undo: no root fits 'poem'\n"
        assert self.said(ctx, "--undo", digest) == "nothing to undo: the root that fits is not forgotten\n"
        assert ctx("forget", digest).err == ""
        assert self.said(ctx, digest).startswith("nothing to forget: the root that fits is forgotten already")
        assert len(self.said(ctx, "x" * 9000)) < 1000

    def test_which_of_several_fits_nothing_is_said(self, ctx: Shell) -> None:
        done = ctx("forget", put(ctx, b"1"), "poem", "--dry-run")
        assert done.lines[0].startswith("would forget 1 root;")
        assert done.err == "nothing to forget: no root fits 'poem'\n"

    def test_a_policy_that_chooses_nothing_is_quiet(self, ctx: Shell) -> None:
        done = ctx("forget", "--older-than", "30d")
        assert (done.code, done.out, done.err) == (0, b"", "")

    def test_a_marker_is_taken(self, ctx: Shell) -> None:
        digest = put(ctx, b"1")
        assert len(ctx("forget", f"[ctx {digest[7:23]}: text, 1 bytes]", "--json").rows[0]["roots"]) == 1

    def test_a_put_of_several_goes_by_its_root(self, ctx: Shell) -> None:
        (ctx.folder / "other").write_bytes(b"2")
        assert ctx("put", "in.json", "other").code == 0
        (line,) = ctx("log").lines
        root = line.split("\t")[-1]
        for arguments in (["--dry-run"], [], ["--undo"], ["--now"]):
            (done,) = ctx("forget", "--root", root[:6], *arguments, "--json").rows
            assert [each["id"] for each in done["roots"]] == [root]
        assert ctx("gc").code == 0
        assert ctx("ls").out == b""

    def test_an_id_that_no_root_has_is_12(self, ctx: Shell) -> None:
        put(ctx, b"1")
        for root in ("0" * 32, "abc", "poem"):
            done = ctx("forget", "--root", root)
            assert (done.code, done.err.splitlines()[0]) == (12, f"error: no root's id begins with '{root}'")
        assert ctx("forget").code == 2

    def test_a_name_that_moved_comes_back_by_tag(self, ctx: Shell) -> None:
        put(ctx, b"1", "--name", "best")
        second = put(ctx, b"2")
        assert ctx("tag", "best", second, "--move").code == 0
        (moved,) = [row["id"] for row in ctx("log", "--json").rows if row["forgotten"]]
        done = ctx("forget", "--undo", "--root", moved)
        assert done.code == 15
        assert f"hint: 'ctx tag --move best {moved[:16]}'" in done.err
        assert ctx("tag", "--move", "best", moved[:16]).code == 0
        assert ctx("cat", "best").out == b"1"

    def test_what_was_kept_outlives_a_forget_of_the_document(self, ctx: Shell) -> None:
        document = fold(ctx)
        (kept,) = ctx("keep", "out.json", "--json").rows
        done = ctx("forget", document, "--now")
        assert done.code == 0
        assert done.err.startswith(f"note: still kept by {kept['id'][:16]} (keep): ")
        assert ctx("gc").code == 0
        assert ctx("unfold", "out.json").out == DOCUMENT
        assert ctx("forget", "--root", kept["id"], "--now").code == 0
        assert ctx("gc").code == 0
        assert ctx("unfold", "out.json").code == 12


class TestGcDocuments:
    def forgotten(self, ctx: Shell) -> None:
        fold(ctx)
        assert ctx("forget", "--source", "*", "--now").code == 0

    def test_what_files_name_stays(self, ctx: Shell) -> None:
        self.forgotten(ctx)
        deep = ctx.folder / "a/.hidden/b"
        deep.mkdir(parents=True)
        (ctx.folder / "out.json").rename(deep / "out.json")
        (report,) = ctx("gc", "--documents", "**/*.json", "--json").rows
        assert (report["objects"], report["documents"], report["kept_roots"]) == (0, 2, 1)
        assert ctx("unfold", str(deep / "out.json")).out == DOCUMENT
        (report,) = ctx("gc", "--documents", "a/**/*.json", "--json").rows
        assert report["kept_roots"] == 0

    def test_dry_run_keeps_and_frees_nothing(self, ctx: Shell) -> None:
        self.forgotten(ctx)
        before = ctx("log").out
        assert ctx("gc", "--dry-run", "--documents", "*.json").lines == ["nothing to free"]
        assert ctx("gc", "--dry-run").lines[0].startswith("would free 2 objects")
        assert ctx("log").out == before

    @pytest.mark.parametrize("glob", ["*.jsn", "nowhere/**", "", ".ctxstore/**/*.json", "./*/out.json"])
    def test_a_glob_of_nothing_stops_it(self, ctx: Shell, glob: str) -> None:
        self.forgotten(ctx)
        done = ctx("gc", "--documents", "*.json", "--documents", glob)
        assert (done.code, done.out) == (1, b"")
        assert done.err.startswith(f"error: no file matches '{glob}'\nhint: nothing was removed")
        assert len(ctx("ls").lines) == 2

    def test_a_file_that_is_no_document_stops_it(self, ctx: Shell) -> None:
        self.forgotten(ctx)
        (ctx.folder / "broken.json").write_bytes(b'{"$ctx": ')
        done = ctx("gc", "--documents", "*.json")
        assert done.code == 18
        assert "broken.json" in done.err
        assert len(ctx("ls").lines) == 2

    def test_a_folder_that_can_not_be_listed_stops_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Python's own glob would leave it out, and gc would take what its files keep."""
        (tmp_path / "closed").mkdir()
        (tmp_path / "a.json").touch()
        listed = os.scandir

        def scandir(folder: str) -> object:
            if folder.endswith("closed"):
                raise PermissionError(errno.EACCES, "Permission denied", folder)
            return listed(folder)

        monkeypatch.setattr(os, "scandir", scandir)
        with pytest.raises(CastoreError, match="closed"):
            files_matching(f"{tmp_path}/**/*.json", without="nowhere")
        assert files_matching(f"{tmp_path}/*.json", without="nowhere") == [f"{tmp_path}/a.json"]

    def test_links_lead_round_in_no_circle(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "a/up").symlink_to(tmp_path)
        (tmp_path / "a/[1].json").touch()
        assert files_matching(f"{tmp_path}/**", without="nowhere") == [f"{tmp_path}/a/[1].json"]
        assert files_matching(f"{tmp_path}/a/[1].json", without="nowhere") == [f"{tmp_path}/a/[1].json"]


class TestPurge:
    def test_is_gone_and_says_when_and_why(self, ctx: Shell) -> None:
        digest = put(ctx, b"the password is swordfish", "--name", "notes")
        done = ctx("purge", digest[:20], "--reason", "a password", "--yes")
        assert (done.code, done.err) == (0, "")
        assert done.lines == [f"purged {digest}: 34 B, named by 1 root"]
        for arguments in (["cat", digest], ["show", digest], ["why", digest[:15]]):
            gone = ctx(*arguments, "--json")
            assert (gone.code, gone.error["name"]) == (12, "ObjectPurged")
            assert gone.error["message"].endswith(": a password")
        assert ctx("log", "--json").rows[0]["purged"] == 1

    def test_bytes_come_back_only_if_asked_for(self, ctx: Shell) -> None:
        digest = fold(ctx) and ctx("ls", "--json").rows[0]["digest"]
        data = ctx("cat", digest).out
        assert ctx("purge", digest, "--reason", "x", "--yes").code == 0
        assert ctx("put", stdin=data).code == 12
        assert ctx("fold", "in.json").code == 12
        assert ctx("fold", "in.json", "--allow-purged").code == 0
        assert ctx("cat", digest).out == data
        assert ctx("purge", digest, "--reason", "x", "--yes").code == 0
        assert ctx("put", "--allow-purged", stdin=data).code == 0

    def test_other_places_are_listed_first(self, ctx: Shell) -> None:
        digest = put(ctx, b"swordfish" * 9)
        copy = put(ctx, b"before " + b"swordfish" * 9 + b" after")
        done = ctx("purge", digest, "--reason", "x", "--dry-run")
        assert done.code == 0
        assert done.lines[0].split("\t")[:2] == ["object", copy]
        assert done.lines[1].startswith(f"would purge {digest}: ")
        assert done.err.startswith("note: 1 other place ")
        (purged,) = ctx("purge", digest, "--reason", "x", "--yes", "--json").rows
        assert [(each["place"], each["subject"]) for each in purged["copies"]] == [("object", copy)]
        assert (purged["dry_run"], len(purged["roots"])) == (False, 1)

    def test_what_only_names_it_is_no_copy(self, ctx: Shell) -> None:
        fold(ctx)
        digest = json.loads((ctx.folder / "out.json").read_bytes())["rows"]["$ctx"]["digest"]
        dry = ["purge", digest, "--reason", "x", "--dry-run"]
        done = ctx(*dry)
        assert done.lines[0].split("\t")[:2] == ["document", str(ctx.folder / "out.json")]
        assert done.err == "note: 1 place names it and does not hold its bytes, listed above\n"
        put(ctx, DOCUMENT)
        done = ctx(*dry)
        assert [line.split("\t")[0] for line in done.lines[:2]] == ["object", "document"]
        assert done.err.splitlines() == [
            "note: 1 other place may hold the same bytes, listed above",
            "note: 1 place names it and does not hold its bytes, listed last",
        ]
        (told,) = ctx(*dry, "--json").rows
        assert [each["place"] for each in told["copies"]] == ["object"]
        assert [each["place"] for each in told["named_by"]] == ["document"]

    def test_a_put_of_several_says_which_file_was_purged(self, ctx: Shell) -> None:
        digests = []
        for name in "abcd":
            (ctx.folder / name).write_bytes(name.encode())
            digests += ctx("put", name).lines
        for digest in digests[1:3]:
            assert ctx("purge", digest, "--reason", "a secret", "--yes").code == 0
        (ctx.folder / "new").write_bytes(b"new")
        before = ctx("ls").out
        done = ctx("put", "a", "b", "new", "c")
        assert (done.code, done.out) == (12, b"")
        assert done.err.splitlines()[1] == f"at b ({digests[1][:23]}), c ({digests[2][:23]})"
        assert "hint: nothing was stored" in done.err
        error = ctx("put", "a", "b", "new", "c", "--json").error
        assert (error["name"], error["fields"]["files"]) == ("ObjectPurged", ["b", "c"])
        assert error["fields"]["digests"] == digests[1:3]
        assert ctx("ls").out == before
        assert ctx("put", "a", "b", "new", "c", "--allow-purged").lines[1] == digests[1]

    def test_dry_run_changes_nothing(self, ctx: Shell) -> None:
        digest = put(ctx, b"x")
        before = self.held(ctx)
        assert ctx("purge", digest, "--reason", "x", "--dry-run").code == 0
        assert self.held(ctx) == before
        assert ctx("cat", digest).out == b"x"

    def held(self, ctx: Shell) -> dict[Path, bytes]:
        """Objects, roots and tombstones; the index has files of its own beside it."""
        files = (path for path in (ctx.folder / ".ctxstore").glob("*/**/*") if path.is_file())
        return {path: path.read_bytes() for path in files}

    def test_nobody_to_ask_is_2(self, ctx: Shell) -> None:
        digest = put(ctx, b"x")
        for arguments in ([], ["--json"]):
            assert ctx("purge", digest, "--reason", "x", *arguments).code == 2
        assert ctx("purge", digest, "--yes").code == 2
        assert ctx("purge", digest, "--yes", "--reason", " ").code == 2
        assert ctx("purge", "--yes", "--reason", "x").code == 2
        assert ctx("cat", digest).out == b"x"

    def test_takes_digests_of_what_is_known(self, ctx: Shell) -> None:
        put(ctx, b"x", "--name", "notes")
        assert ctx("purge", "notes", "--reason", "x", "--yes").code == 2
        assert ctx("purge", "0" * 64, "--reason", "x", "--yes").code == 12
        assert ctx("purge", "0" * 8, "--reason", "x", "--dry-run").code == 12

    @pytest.mark.skipif(sys.platform != "linux", reason="a terminal as Linux has it")
    @pytest.mark.parametrize(("answer", "is_gone"), [("y", True), ("n", False), ("", False)])
    def test_on_a_terminal_it_asks(self, ctx: Shell, answer: str, is_gone: bool) -> None:
        digest = put(ctx, b"x", "--name", "notes")
        seen = seen_on_terminal(
            ctx.command("purge", digest, "--reason", "x"), ctx.folder, ctx.environment, typed=f"{answer}\n"
        )
        assert "named by notes (put, just now, kept)" in seen
        assert f"purge {digest}? this can't be undone [y/N] " in seen
        assert ("nothing was purged" in seen) != is_gone
        assert ctx("cat", digest).code == (12 if is_gone else 0)


class TestRepair:
    def test_heals_from_a_file_that_has_the_bytes(self, ctx: Shell) -> None:
        fold(ctx)
        digest = json.loads((ctx.folder / "out.json").read_bytes())["rows"]["$ctx"]["digest"]
        path = ctx.folder / ".ctxstore/objects" / digest[7:9] / digest[7:]
        path.chmod(0o600)
        path.write_bytes(b"x")
        state = {row["digest"]: row["state"] for row in ctx("ls", "--json").rows}
        assert state[digest] == "damaged"
        failed = ctx("unfold", "out.json")
        assert (failed.code, "'ctx repair --from FILE'" in failed.err) == (13, True)
        assert ctx("repair", "--dry-run", "--from", "in.json").lines[-1].startswith("would heal ")
        assert path.read_bytes() == b"x"
        done = ctx("repair", "--from", "in.json")
        assert (done.code, done.lines[-1]) == (0, f"healed {digest} from in.json")
        assert ctx("unfold", "out.json").out == DOCUMENT
        assert ctx("verify").code == 0

    def test_what_is_still_missing_is_3(self, ctx: Shell) -> None:
        digest = put(ctx, b"x")
        (ctx.folder / ".ctxstore/objects" / digest[7:9] / digest[7:]).unlink()
        done = ctx("repair", "--from", "in.json")
        assert (done.code, digest in done.lines[-1]) == (3, True)
        assert "'ctx repair --from FILE'" in done.err
        assert ctx("repair", "--from", "nowhere.json").code == 3


class TestLife:
    def test_ls_show_and_stats_agree(self, ctx: Shell) -> None:
        kept, expiring = put(ctx, b"a\n"), put(ctx, b"b\n", "--for", "30d")
        assert ctx("tag", "twice", kept).code == 0
        rows = {row["digest"]: row for row in ctx("ls", "--json").rows}
        assert (rows[kept]["state"], rows[kept]["roots"]) == ("kept", 2)
        assert (rows[expiring]["state"], rows[expiring]["roots"]) == ("expiring", 1)
        assert ctx("show", expiring).lines[0].endswith(f", kept until {rows[expiring]['expires'][:10]}")
        (stats,) = ctx("stats", "--json").rows
        assert (stats["free_now"]["objects"], stats["free_later"]["objects"]) == (0, 1)

    def test_reading_is_noted_and_looking_is_not(self, ctx: Shell) -> None:
        digest = put(ctx, b"a\n")
        assert ctx("show", digest, "--json").rows[0]["last_read"] is None
        assert ctx("cat", digest).out == b"a\n"
        assert ctx("show", digest, "--json").rows[0]["last_read"] is not None
        assert ctx("stats", "--json").rows[0]["read_bytes"] == 2

    def test_stats_tell_whether_folding_paid(self, ctx: Shell) -> None:
        document = fold(ctx)
        assert ctx("unfold", "out.json").code == 0
        (use,) = ctx("stats", "--json").rows[0]["biggest_documents"]
        assert (use["document"], use["source_name"], use["is_gone"]) == (document, "in.json", False)
        assert use["read_bytes"] == use["object_bytes"] > 0
        Path(use["file"]).unlink()
        assert ctx("stats", "--json").rows[0]["documents_gone"] == 1

    def test_ls_lists_objects_though_a_root_is_damaged(self, ctx: Shell) -> None:
        digest = put(ctx, b"a\n")
        (path,) = (ctx.folder / ".ctxstore/roots").rglob("*.json")
        path.chmod(0o600)
        path.write_bytes(b"{}")
        for name in ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm"):
            (ctx.folder / ".ctxstore" / name).unlink(missing_ok=True)
        done = ctx("ls")
        assert (done.code, done.lines[0].split("\t")[0]) == (0, digest)
        assert done.err.startswith("note: what keeps the objects is not known: ")
