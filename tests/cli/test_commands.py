"""What each command does, in plain and in JSON, and what it leaves behind."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import DOCUMENT, ROWS, Shell


def digest_of(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def roots(ctx: Shell) -> list[Any]:
    return ctx("log", "--json").rows


class TestFold:
    def test_to_stdout_and_to_a_file_are_the_same(self, ctx: Shell) -> None:
        done = ctx("fold", "in.json")
        assert (done.code, done.err) == (0, "")
        assert ctx("fold", "in.json", "-o", "out.json").out == b""
        assert (ctx.folder / "out.json").read_bytes() == done.out
        assert ctx("unfold", "out.json").out == DOCUMENT
        assert ctx("unfold", "-", stdin=done.out).out == DOCUMENT

    def test_in_place(self, ctx: Shell) -> None:
        path = ctx.folder / "in.json"
        path.chmod(0o640)
        assert ctx("fold", "in.json", "-o", "in.json").code == 0
        assert b'"$ctx"' in path.read_bytes()
        assert path.stat().st_mode & 0o777 == 0o640
        assert ctx("unfold", "in.json", "-o", "in.json").code == 0
        assert path.read_bytes() == DOCUMENT

    def test_options_choose_what_folds(self, ctx: Shell) -> None:
        def folded(*options: str) -> set[str]:
            document = json.loads(ctx("fold", "in.json", *options).out)
            return {key for key, value in document.items() if isinstance(value, dict)}

        assert folded() == {"rows", "log"}
        assert folded("--keep", "$.log") == {"rows"}
        assert folded("--bytes-over", "2000") == {"rows"}
        assert folded("--items-over", "60") == {"log"}
        assert folded("--fold", "$.rows", "--items-over", "60") == {"rows", "log"}
        assert b'"preview"' not in ctx("fold", "in.json", "--preview", "none").out

    def test_settings_are_the_defaults_and_options_win(self, ctx: Shell) -> None:
        assert ctx("config", "fold.bytes-over", "1000000").code == 0
        assert ctx("fold", "in.json").out == DOCUMENT
        assert b'"$ctx"' in ctx("fold", "in.json", "--bytes-over", "1024").out

    def test_dry_run_lists_biggest_first_and_stores_nothing(self, ctx: Shell) -> None:
        done = ctx("fold", "--dry-run", "--json", "in.json", "-o", "out.json")
        assert done.code == 0
        assert [row["path"] for row in done.rows] == ["$.rows", "$.log"]
        assert done.rows[0]["literal_bytes"] == len(json.dumps(ROWS))
        assert done.rows[0]["items"] == 60
        assert not (ctx.folder / "out.json").exists()
        assert ctx("ls").out == b""
        assert ctx("fold", "--dry-run", "in.json").lines[0].split("\t")[:2] == ["$.rows", "array"]

    def test_stats_count(self, ctx: Shell) -> None:
        line = ctx("fold", "in.json", "--stats").err
        assert line.startswith("folded 2 of 2 long values: ")
        assert line.endswith("(2 objects)\n")
        assert ctx("fold", "in.json", "--stats").err.endswith("(2 objects, 2 already stored)\n")
        summary = json.loads(ctx("fold", "in.json", "--json").err)
        assert summary["source"] == {"digest": digest_of(DOCUMENT), "size": len(DOCUMENT)}
        assert (summary["folded"], summary["objects"], summary["already_stored"]) == (2, 2, 2)

    def test_name_scope_and_duration_reach_the_root(self, ctx: Shell) -> None:
        assert ctx("fold", "in.json", "--name", "outage", "--scope", "team/a", "--for", "30d").code == 0
        assert roots(ctx) == []
        ctx.environment["CTX_SCOPE"] = "team/*"
        (root,) = roots(ctx)
        assert (root["name"], root["scope"], root["source_name"]) == ("outage", "team/a", "in.json")
        assert root["expires"] is not None

    def test_a_taken_name_is_15_and_publishes_nothing(self, ctx: Shell) -> None:
        assert ctx("put", "--name", "outage", stdin=b"x").code == 0
        before = ctx("ls").out
        done = ctx("fold", "in.json", "--name", "outage", "-o", "out.json")
        assert (done.code, done.out) == (15, b"")
        assert not (ctx.folder / "out.json").exists()
        assert ctx("ls").out == before

    def test_only_expands_a_part(self, ctx: Shell) -> None:
        folded = ctx("fold", "in.json").out
        part = ctx("unfold", "--only", "$.log", stdin=folded)
        assert part.code == 0
        assert json.loads(part.out)["log"] == json.loads(DOCUMENT)["log"]
        assert "$ctx" in json.loads(part.out)["rows"]
        assert ctx("unfold", stdin=part.out).out == DOCUMENT
        assert part.err == ""

    def test_only_of_nothing_says_so(self, ctx: Shell) -> None:
        folded = ctx("fold", "in.json").out
        for only in ("$.nothing", "abcdef"):
            done = ctx("unfold", "--only", only, stdin=folded)
            assert (done.code, done.out) == (0, folded)
            assert done.err == "note: no reference matched --only, so nothing was expanded\n"

    def test_a_name_for_nothing_says_so(self, ctx: Shell) -> None:
        done = ctx("fold", "--name", "a1", stdin=b"[1, 2]")
        assert (done.code, done.out) == (0, b"[1, 2]")
        assert done.err == "note: nothing folded, so no root has the name 'a1'\n"

    def test_keep_leaves_what_matches_and_what_is_inside_may_fold(self, ctx: Shell) -> None:
        """The two examples of `--help`."""
        document = json.dumps({"rows": [{"note": "x" * 3000}] * 9})

        def folded(pattern: str) -> list[str]:
            done = ctx("fold", "--dry-run", "--json", "--keep", pattern, stdin=document.encode())
            return [row["path"] for row in done.rows]

        assert folded("$.nothing") == ["$.rows"]
        assert folded("$.rows") == [f"$.rows[{index}].note" for index in range(9)]
        assert folded("$.rows..*") == []


class TestVerify:
    def test_is_quiet_when_all_is_well(self, ctx: Shell) -> None:
        ctx("fold", "in.json", "-o", "out.json")
        for arguments in (["out.json"], ["--quick", "out.json"], [], ["--quick"]):
            done = ctx("verify", *arguments)
            assert (done.code, done.out, done.err) == (0, b"", "")

    def test_finding_is_a_line_and_exit_3(self, ctx: Shell) -> None:
        ctx("fold", "in.json", "-o", "out.json")
        digest = json.loads((ctx.folder / "out.json").read_bytes())["log"]["$ctx"]["digest"]
        (ctx.folder / ".ctxstore/objects" / digest[7:9] / digest[7:]).unlink()
        done = ctx("verify", "out.json")
        assert done.code == 3
        assert done.lines[0].startswith(f"missing {digest} out.json:$.log@")
        remedy = "'ctx repair --from FILE' heals objects whose bytes FILE has"
        assert done.err == f"1 finding in 1 file: {remedy}\n"
        (found,) = ctx("verify", "--json", "out.json").rows
        assert (found["name"], found["digest"]) == ("missing", digest)
        assert ctx("verify").code == 3

    def test_stdin_is_checked_too(self, ctx: Shell) -> None:
        folded = ctx("fold", "in.json").out
        (ctx.folder / "out.json").write_bytes(folded)
        done = ctx("verify", "-", stdin=folded)
        assert (done.code, done.out, done.err) == (0, b"", "")
        digest = json.loads(folded)["log"]["$ctx"]["digest"]
        (ctx.folder / ".ctxstore/objects" / digest[7:9] / digest[7:]).unlink()
        done = ctx("verify", "out.json", "-", stdin=folded)
        assert done.code == 3
        assert [line.split()[2].partition(":")[0] for line in done.lines] == ["out.json", "stdin"]

    def test_a_file_without_references_passes_unparsed(self, shell: Shell) -> None:
        (shell.folder / "tsconfig.json").write_text("{ // comments\n}")
        assert shell("verify", "tsconfig.json").code == 0


class TestObjects:
    def test_put_prints_digests_in_input_order(self, ctx: Shell) -> None:
        files = {name: name.encode() * 50 for name in ("c", "a", "b")}
        for name, data in files.items():
            (ctx.folder / name).write_bytes(data)
        done = ctx("put", "c", "a", "b", "a")
        assert done.lines == [digest_of(files[name]) for name in "caba"]
        assert len(roots(ctx)) == 1
        paths = ctx("put", "--stdin-paths", stdin=b"b\nc\n")
        assert paths.lines == [digest_of(files[name]) for name in "bc"]
        assert (
            ctx("put", stdin=files["c"]).lines
            == ctx("put", "-", stdin=files["c"]).lines
            == [digest_of(files["c"])]
        )

    @pytest.mark.parametrize("data", [b"", b"x", bytes(range(256)) * 20_000], ids=["empty", "one", "large"])
    def test_cat_gives_the_bytes_back(self, ctx: Shell, data: bytes) -> None:
        (digest,) = ctx("put", "--name", "it", stdin=data).lines
        assert digest == digest_of(data)
        for reference in (
            digest,
            digest[7:],
            digest[:15],
            digest[7:13],
            "it",
            f"[ctx {digest[7:23]}: x, 1 bytes]",
        ):
            done = ctx("cat", reference)
            assert (done.code, done.out) == (0, data)
        assert ctx("cat", json.dumps({"$ctx": {"kind": "text", "digest": digest, "size": 1}})).out == data

    def test_show_says_what_it_is_and_what_keeps_it(self, ctx: Shell) -> None:
        (digest,) = ctx("put", "--name", "poem", stdin=b"first line\nlast line\n").lines
        facts = dict(line.split("\t", 1) for line in ctx("show", "poem").lines)
        assert facts["text"].startswith(f"{digest[7:23]}  21 B, 2 lines, stored in ")
        assert (facts["first"], facts["last"]) == ("first line", "last line")
        assert facts["named by"] == "poem (put, just now, kept)"
        (shown,) = ctx("show", "--json", digest).rows
        assert (shown["size"], shown["named_by"][0]["name"]) == (21, "poem")

    def test_show_of_a_root_lists_its_objects(self, ctx: Shell) -> None:
        """By its name, its id, or its document's digest, as log prints them."""
        summary = json.loads(ctx("fold", "in.json", "--json", "--name", "outage", "--for", "30d").err)
        document = summary["document"]["digest"]
        shown = ctx("show", "outage").lines
        facts = dict(line.split("\t", 1) for line in shown if not line.startswith("object\t"))
        assert (facts["kind"], facts["name"], facts["source"]) == ("document", "outage", "in.json")
        assert (facts["document"], facts["size"]) == (document, str(len(DOCUMENT)))
        assert facts["state"].startswith("kept until ")
        listed = [line.split("\t")[1] for line in shown if line.startswith("object\t")]
        assert sorted(listed) == [row["digest"] for row in ctx("ls", "--json").rows]
        (root,) = ctx("show", "--json", "outage").rows
        assert [each["digest"] for each in root["first_objects"]] == listed
        assert (root["objects"], root["more_objects"], root["document"]) == (2, 0, document)
        for reference in (document, document[7:23], root["id"], root["id"][:16]):
            assert ctx("show", reference).lines == shown

    def test_show_counts_the_objects_it_leaves_out(self, ctx: Shell) -> None:
        names = [str(number) for number in range(25)]
        for name in names:
            (ctx.folder / name).write_text(name)
        assert ctx("put", "--name", "many", *names).code == 0
        shown = ctx("show", "many").lines
        assert len([line for line in shown if line.startswith("object\t")]) == 20
        assert shown[-1] == "more\t5"
        assert ctx("show", "--json", "many").rows[0]["more_objects"] == 5

    def test_show_of_binary_is_hex(self, ctx: Shell) -> None:
        ctx("put", "--name", "shot", stdin=b"\x89PNG\r\n\x1a\n\0\0\0")
        shown = ctx("show", "shot").lines
        assert shown[0].startswith("bytes\t")
        assert shown[1] == "first\t89 50 4e 47 0d 0a 1a 0a 00 00 00"

    def test_ls_is_sorted_and_limited(self, ctx: Shell) -> None:
        for number in range(5):
            (ctx.folder / str(number)).write_bytes(b"%d" % number)
        put = ctx("put", *"01234").lines
        assert [row["digest"] for row in ctx("ls", "--json").rows] == sorted(put)
        assert len(ctx("ls", "-n", "2").lines) == 2
        assert ctx("ls", "-n", "0").lines == []


class TestKeeping:
    def test_log_is_newest_first(self, ctx: Shell) -> None:
        ctx("fold", "in.json")
        ctx("put", "--name", "second", stdin=b"2")
        first, second = ctx("log").lines
        assert first.split("\t")[1:4] == ["put", "second", "1"]
        assert second.split("\t")[1:4] == ["document", "in.json", "2"]
        assert len(ctx("log", "-n", "1").lines) == 1

    def test_tag_keeps_a_document_with_its_objects(self, ctx: Shell) -> None:
        summary = json.loads(ctx("fold", "in.json", "--json", "--for", "0s").err)
        assert ctx("tag", "outage", summary["document"]["digest"]).code == 0
        assert ctx("gc").code == 0
        assert len(ctx("ls").lines) == 2
        assert roots(ctx)[0]["objects"] == 2

    def test_forget_then_undo_then_now(self, ctx: Shell) -> None:
        (digest,) = ctx("put", stdin=b"x" * 3000).lines
        plan = ctx("forget", digest, "--dry-run")
        assert plan.lines[0].startswith("would forget 1 root; gc would free ")
        assert roots(ctx)[0]["forgotten"] is None
        assert ctx("forget", digest).code == 0
        assert roots(ctx)[0]["forgotten"] is not None
        assert ctx("gc", "--dry-run").lines[0].startswith("nothing to free (")
        assert ctx("forget", "--undo", digest).code == 0
        assert roots(ctx)[0]["forgotten"] is None
        assert ctx("forget", "--now", digest).code == 0
        assert ctx("gc").lines[0].startswith("freed 1 object, ")
        assert (ctx("ls").out, ctx("log").out) == (b"", b"")
        assert ctx("cat", digest).code == 12

    def test_forget_that_matches_nothing_is_done(self, ctx: Shell) -> None:
        assert ctx("forget", "no-such-name").code == 0
        assert ctx("forget", "--older-than", "1d").code == 0

    def test_forget_wants_to_be_told_what(self, ctx: Shell) -> None:
        assert ctx("forget").code == 2
        assert ctx("forget", "x", "--undo", "--now").code == 2

    def test_gc_now_skips_the_grace(self, ctx: Shell) -> None:
        (digest,) = ctx("put", stdin=b"x" * 3000).lines
        ctx("forget", digest)
        (report,) = ctx("gc", "--now", "--json", "--dry-run").rows
        assert (report["objects"], report["dry_run"]) == (1, True)
        assert ctx("gc", "--now").code == 0
        assert ctx("ls").out == b""


class TestStore:
    def test_stats_add_up(self, ctx: Shell) -> None:
        ctx("put", stdin=b"x" * 3000)
        (stats,) = ctx("stats", "--json").rows
        assert (stats["objects"], stats["roots"], stats["bytes"]) == (1, 1, 3000)
        assert stats["biggest"][0]["size"] == 3000
        facts = dict(line.split("\t", 1) for line in ctx("stats").lines)
        assert (facts["objects"], facts["bytes"]) == ("1", "3000")

    def test_config_of_one_strategy(self, ctx: Shell) -> None:
        """A table by the name of what makes summaries: shown where it says something, or is asked for."""
        key = "summary.extract.entries-max"
        assert ctx("config", key).lines == ["none"]
        assert key not in {row["key"] for row in ctx("config", "--json").rows}
        assert ctx("config", key, "100").code == 0
        assert ctx("config", key).lines == ["100"]
        (row,) = (row for row in ctx("config", "--json").rows if row["key"] == key)
        assert row == {"key": key, "value": 100, "origin": "config.toml"}
        assert ctx("config", key, "0").code == 2
        assert ctx("config", "summary.extract.most", "1").code == 2
        assert ctx("config", key, "none").code == 0
        assert ctx("config", key).lines == ["none"]

    def test_config_sets_one_key_and_keeps_the_comments(self, ctx: Shell) -> None:
        path = ctx.folder / ".ctxstore/config.toml"
        before = path.read_text().splitlines()
        assert ctx("config", "store.grace", "7d").code == 0
        assert ctx("config", "store.grace").lines == ["7d"]
        assert [line for line in path.read_text().splitlines() if line not in before] == ['grace = "7d"']
        origins = {row["key"]: row["origin"] for row in ctx("config", "--json").rows}
        assert origins.pop("store.grace") == "config.toml"
        assert set(origins.values()) == {"default"}

    def test_config_refuses_before_it_writes(self, ctx: Shell) -> None:
        path = ctx.folder / ".ctxstore/config.toml"
        before = path.read_bytes()
        for key, value in (("fold.preview", "some"), ("store.grace", "soon"), ("nonsense", "1")):
            assert ctx("config", key, value).code == 2
        assert path.read_bytes() == before

    def test_a_broken_config_names_the_key(self, ctx: Shell) -> None:
        (ctx.folder / ".ctxstore/config.toml").write_text("[fold]\nbites-over = 3\n")
        done = ctx("fold", "in.json")
        assert (done.code, done.out) == (2, b"")
        path = ctx.folder / ".ctxstore/config.toml"
        assert done.err.startswith(f"error: '{path}' is invalid: unknown config key 'fold.bites-over'\n")
        assert f"hint: correct '{path}'" in done.err
        for arguments in (["config"], ["config", "fold.bytes-over"], ["config", "fold.bytes-over", "9"]):
            assert ctx(*arguments).err == done.err
        path.write_bytes(b"\xff")
        assert ctx("config").err.startswith(f"error: '{path}' is invalid: it is not UTF-8\n")

    def test_an_unknown_format_is_refused(self, ctx: Shell) -> None:
        Path(ctx.folder / ".ctxstore/format").write_text("castore 99\n")
        done = ctx("ls")
        assert done.code == 10
        assert "\nhint: " in done.err


def test_stats_give_the_ratio_to_programs_too(tmp_path: Path) -> None:
    store = str(tmp_path / "ratio" / ".ctxstore")
    source = tmp_path / "long.txt"
    source.write_bytes(b"the same line\n" * 5000)
    command = [sys.executable, "-m", "castore"]
    subprocess.run([*command, "put", str(source), "--store", store], check=True, capture_output=True)
    done = subprocess.run([*command, "stats", "--json", "--store", store], check=True, capture_output=True)
    facts = json.loads(done.stdout)
    assert facts["ratio"] == round(facts["bytes"] / facts["stored_bytes"], 3) > 10
