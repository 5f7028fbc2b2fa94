"""remote, push, pull, fetch, verify --remote: between two stores, by way of a bucket that is a folder."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.cli.conftest import DOCUMENT, Done, Shell
from tests.cli.test_output_page import columns, fields, summary

Fields = dict[str, Any]


class Desk:
    """Two machines: `here` and `there`, each with a store, and a bucket that both know as `team`."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.bucket = shell.folder / "bucket"
        for each in ("here", "there"):
            (shell.folder / each).mkdir()
            assert shell("init", cwd=shell.folder / each).code == 0
            assert shell("remote", "add", "team", self.url, cwd=shell.folder / each).code == 0
        (shell.folder / "here/in.json").write_bytes(DOCUMENT)

    @property
    def url(self) -> str:
        return self.bucket.as_uri()

    def here(self, *arguments: str, stdin: bytes = b"", **environment: str) -> Done:
        return self.shell(*arguments, stdin=stdin, cwd=self.shell.folder / "here", **environment)

    def there(self, *arguments: str, stdin: bytes = b"", **environment: str) -> Done:
        return self.shell(*arguments, stdin=stdin, cwd=self.shell.folder / "there", **environment)

    def objects(self, name: str = "bucket") -> list[Path]:
        folder = self.bucket if name == "bucket" else self.shell.folder / name / ".ctxstore"
        return sorted(path for path in (folder / "objects").glob("*/*") if path.is_file())


@pytest.fixture
def desk(shell: Shell) -> Desk:
    return Desk(shell)


@pytest.fixture
def pushed(desk: Desk) -> Desk:
    """`here` has pushed a folded document, and `there` has the file."""
    assert desk.here("fold", "in.json", "-o", "out.json", "--name", "outage").code == 0
    assert desk.here("push", "out.json").code == 0
    folder = desk.shell.folder
    (folder / "there/out.json").write_bytes((folder / "here/out.json").read_bytes())
    return desk


def hurt(path: Path, data: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(data)


class TestRemotes:
    def test_are_listed_with_what_was_said_of_them(self, ctx: Shell) -> None:
        assert ctx("remote", "list").out == b""
        done = ctx(
            "remote", "add", "origin", "s3://bucket/team", "--endpoint", "https://objects.example.org",
            "--region", "eu-1", "--virtual-host", "--fetch", "on-demand", "--granted", "team/*, shared",
            "--granted", "more",
        )  # fmt: skip
        assert (done.code, done.out, done.err) == (0, b"", "")
        (row,) = ctx("remote", "list", "--json").rows
        assert row == {
            "remote": "origin",
            "url": "s3://bucket/team",
            "endpoint": "https://objects.example.org",
            "region": "eu-1",
            "path_style": False,
            "fetch": "on-demand",
            "conditions": "required",
            "granted": ["team/*", "shared", "more"],
            "timeout_seconds": 60,
            "retry_seconds": 60,
            "workers": 32,
        }
        assert ctx("config", "remote.origin.fetch").lines == ["on-demand"]
        assert ctx("config", "remote.origin.workers", "8").code == 0
        assert ctx("remote", "list", "--json").rows[0]["workers"] == 8

    def test_adding_and_removing_leave_the_rest_of_the_settings(self, ctx: Shell) -> None:
        path = ctx.folder / ".ctxstore/config.toml"
        before = path.read_text()
        assert ctx("remote", "add", "origin", "s3://bucket").code == 0
        assert ctx("remote", "add", "other", "gs://bucket/x").code == 0
        assert set(before.splitlines()) < set(path.read_text().splitlines())
        for name in ("origin", "other"):
            assert ctx("remote", "remove", name).code == 0
        assert path.read_text().split() == before.split()

    def test_a_credential_is_refused_and_not_repeated(self, ctx: Shell) -> None:
        for url in ("s3://ada:hunter2@bucket", "s3://bucket/x?key=hunter2", "https://ada:hunter2@x/y"):
            done = ctx("remote", "add", "origin", url)
            assert (done.code, done.out) == (2, b"")
            assert "hunter2" not in done.err
        done = ctx("remote", "add", "origin", "s3://bucket", "--endpoint", "https://ada:hunter2@example.org")
        assert (done.code, "hunter2" in done.err) == (2, False)
        assert ctx("remote", "list").out == b""

    @pytest.mark.parametrize("path", ["/srv/my folder", "./shared", "../shared"])
    def test_a_path_is_told_as_the_url_that_it_is(self, ctx: Shell, path: str) -> None:
        done = ctx("remote", "add", "origin", path)
        assert done.code == 2
        right = re.findall(r"file://\S+", done.err)[0]
        assert ctx("remote", "add", "origin", right).code == 0
        assert unquote(right) == f"file://{os.path.normpath(ctx.folder / path)}"

    @pytest.mark.parametrize(
        "arguments",
        [
            ["origin", "/srv/folder"],
            ["origin", "ftp://example.org"],
            ["3f9ac0", "s3://bucket"],
            ["origin", "s3://bucket", "--fetch", "never"],
            ["origin", "s3://bucket", "--conditions", "some"],
            ["origin", "s3://bucket", "--path-style", "--virtual-host"],
            ["origin", "s3://bucket", "--endpoint", "example.org"],
            ["origin", "s3://bucket", "--granted", "Team A!"],
        ],
        ids=" ".join,
    )
    def test_what_can_be_none_is_2_with_a_way_out(self, ctx: Shell, arguments: list[str]) -> None:
        before = (ctx.folder / ".ctxstore/config.toml").read_bytes()
        done = ctx("remote", "add", *arguments, "--json")
        assert (done.code, done.out) == (2, b"")
        assert done.error["hint"]
        assert (ctx.folder / ".ctxstore/config.toml").read_bytes() == before

    def test_one_that_is_there_stays(self, ctx: Shell) -> None:
        assert ctx("remote", "add", "origin", "s3://bucket").code == 0
        assert ctx("remote", "add", "origin", "s3://another").code == 2
        assert ctx("remote", "list").lines[0].split("\t")[1] == "s3://bucket"

    def test_one_that_is_unknown_is_2(self, desk: Desk) -> None:
        for arguments in (
            ["remote", "remove", "nope"],
            ["remote", "check", "nope"],
            ["config", "remote.nope.fetch", "whole"],
            ["fetch", "x1", "--remote", "nope"],
            ["verify", "in.json", "--remote", "nope"],
        ):
            done = desk.here(*arguments, "--json")
            assert (done.code, done.out) == (2, b""), arguments
            assert "ctx remote list" in done.error["hint"]

    def test_without_any_the_hint_adds_one(self, ctx: Shell) -> None:
        for arguments in (["push", "--all"], ["pull", "--all"]):
            done = ctx(*arguments)
            assert done.code == 2
            assert "ctx remote add" in done.err


class TestCheck:
    def test_a_folder_holds_to_all(self, desk: Desk) -> None:
        done = desk.here("remote", "check", "team")
        assert (done.code, done.err) == (0, "")
        assert {line.split("\t")[1] for line in done.lines} == {"yes"}
        assert [path for path in desk.bucket.rglob("*") if "checks" in path.parts and path.is_file()] == []

    def test_offline_it_is_16(self, desk: Desk) -> None:
        for arguments in (["remote", "check", "team"], ["push", "--all"], ["pull", "--all"]):
            done = desk.here(*arguments, "--json", CTX_OFFLINE="1")
            assert (done.code, done.error["name"]) == (16, "RemoteForbidden")
            assert "CTX_OFFLINE" in done.error["hint"]
        assert not desk.bucket.exists()
        assert desk.here("push", "--all", CTX_OFFLINE="0").code == 0


class TestPush:
    def test_lists_what_is_new_there_and_then_nothing(self, desk: Desk) -> None:
        assert desk.here("fold", "in.json", "-o", "out.json").code == 0
        done = desk.here("push", "out.json")
        assert (done.code, done.err) == (0, "")
        (row,) = [line.split("\t") for line in done.lines]
        assert row[:4] == ["pushed", "document", "in.json", "2"]
        assert [path.name for path in desk.objects()] == [path.name for path in desk.objects("here")]
        again = desk.here("push", "out.json")
        assert (again.code, again.out, again.err) == (0, b"", "")
        counted = summary(desk.here("push", "--all", "--json").err)
        assert (counted["same"], counted["objects_sent"], counted["objects_there"]) == (1, 0, 2)

    def test_the_bytes_are_those_of_the_store(self, pushed: Desk) -> None:
        for there, here in zip(pushed.objects(), pushed.objects("here"), strict=True):
            assert there.read_bytes() == here.read_bytes()

    def test_nothing_named_is_a_mistake(self, desk: Desk) -> None:
        for act in ("push", "pull"):
            for arguments in ([act], [act, "team"]):
                done = desk.here(*arguments, "--json")
                assert (done.code, done.error["hint"]) == (2, "name a FILE or a REF, or say --all")

    def test_of_several_remotes_one_is_named_or_is_origin(self, desk: Desk) -> None:
        assert desk.here("put", "--name", "poem", stdin=b"a line\n").code == 0
        other = (desk.shell.folder / "other").as_uri()
        assert desk.here("remote", "add", "more", other).code == 0
        done = desk.here("push", "poem")
        assert (done.code, "name one" in done.err) == (2, True)
        assert desk.here("push", "more", "poem").code == 0
        assert (desk.shell.folder / "other/format").exists()
        assert desk.here("remote", "add", "origin", desk.url).code == 0
        assert desk.here("push", "poem").code == 0
        assert len(desk.objects()) == 1

    def test_a_first_word_that_means_nothing_may_have_been_a_remote(self, desk: Desk) -> None:
        done = desk.here("push", "taem", "--json")
        assert (done.code, done.error["name"]) == (12, "NameMissing")
        assert done.error["hint"].endswith("'ctx remote list' lists the remotes")

    def test_dry_run_writes_nothing(self, desk: Desk) -> None:
        folded = desk.here("fold", "in.json").out
        (desk.shell.folder / "here/mine.json").write_bytes(folded.replace(b'"why?"', b'"why"'))
        before = desk.here("log").out
        done = desk.here("push", "--dry-run", "mine.json")
        assert done.code == 0
        assert done.lines[0].startswith("would push\tkeep\t")
        assert done.err == "would push 1 root to 'team': 2 objects\n"
        assert desk.here("log").out == before
        assert desk.objects() == []
        assert desk.here("push", "mine.json").lines[0].startswith("pushed\tkeep\t")

    def test_dry_run_says_what_the_push_then_does(self, pushed: Desk) -> None:
        """Of what is new, the same, moved and refused."""
        for name in ("poem", "taken"):
            assert pushed.here("put", "--name", name, stdin=name.encode()).code == 0
        digest = pushed.here("log", "-n", "1").lines[0].split("\t")[5]
        assert pushed.here("tag", "outage", digest, "--move").code == 0
        assert pushed.there("put", "--name", "taken", stdin=b"of there").code == 0
        assert pushed.there("push", "taken").code == 0
        would = pushed.here("push", "--all", "--dry-run", "--json")
        does = pushed.here("push", "--all", "--json")
        assert [(row["outcome"], row["words"]) for row in would.rows] == [
            (row["outcome"].replace("pushed", "would push"), row["words"]) for row in does.rows
        ]
        assert {row["words"] for row in does.rows[:-1]} == {"new", "new, name moved"}
        assert (does.rows[-1]["error"], would.code, does.code) == ("NameMoved", 15, 15)
        told = [
            next(each for each in map(json.loads, done.err.splitlines()) if each["event"] == "summary")
            for done in (would, does)
        ]
        for key in ("pushed", "same", "refused", "objects_sent", "objects_there"):
            assert told[0][key] == told[1][key], key
        again = pushed.here("push", "--dry-run", "poem")
        assert (again.code, again.out) == (0, b"")
        assert again.err == "nothing to push to 'team': 1 root there already\n"

    def test_a_name_that_somebody_moved_is_15_and_the_others_are_pushed(self, desk: Desk) -> None:
        for at, data in ((desk.here, b"of here\n"), (desk.there, b"of there\n")):
            assert at("put", "--name", "latest", stdin=data).code == 0
        assert desk.there("push", "latest").code == 0
        assert desk.here("put", "--name", "poem", stdin=b"a line\n").code == 0
        done = desk.here("push", "--all", "--json")
        assert done.code == 15
        assert {row["name"]: (row["outcome"], row["error"]) for row in done.rows} == {
            "latest": ("refused", "NameMoved"),
            "poem": ("pushed", None),
        }
        refused, told = map(json.loads, done.err.splitlines())
        assert (refused["name"], refused["code"], told["refused"]) == ("NameMoved", 15, 1)
        assert "--move" in refused["hint"]
        assert desk.there("pull", "latest").code == 0
        assert desk.there("cat", "latest").out == b"of there\n"
        assert desk.here("push", "latest", "--move").code == 0
        assert desk.there("pull", "latest").code == 0
        assert desk.there("cat", "latest").out == b"of here\n"

    def test_what_is_damaged_here_is_refused_and_the_others_are_pushed(self, desk: Desk) -> None:
        for name in ("poem", "verse"):
            assert desk.here("put", "--name", name, stdin=f"of {name}\n".encode()).code == 0
        digest = desk.here("show", "poem", "--json").rows[0]["digest"]
        assert desk.here("tag", "both", "poem").code == 0
        (path,) = [path for path in desk.objects("here") if digest.endswith(path.name)]
        hurt(path, b"x")
        done = desk.here("push", "--all", "--json")
        assert (done.code, {row["name"]: row["outcome"] for row in done.rows}) == (
            3,
            {"poem": "refused", "both": "refused", "verse": "pushed"},
        )
        assert [path.name in digest for path in desk.objects()] == [False]
        alone = desk.here("push", "poem", "--json")
        assert (alone.code, alone.rows[0]["error"]) == (13, "ObjectDamaged")
        path.unlink()
        assert desk.here("push", "poem").code == 12
        assert desk.here("put", "--name", "poem", stdin=b"of poem\n").code == 0
        assert desk.here("push", "--all").code == 0
        assert desk.there("pull", "--all").code == 0
        assert desk.there("cat", "both").out == b"of poem\n"

    def test_anew_mends_what_is_damaged(self, pushed: Desk) -> None:
        path = pushed.objects()[0]
        whole = path.read_bytes()
        hurt(path, whole[:-1])
        assert pushed.here("push", "out.json").code == 0
        assert path.read_bytes() != whole
        assert pushed.here("push", "--anew", "out.json").code == 0
        assert path.read_bytes() == whole


class TestPull:
    def test_a_document_comes_back_exactly(self, pushed: Desk) -> None:
        assert pushed.there("unfold", "out.json").code == 12
        done = pushed.there("pull", "out.json")
        assert (done.code, done.err) == (0, "")
        assert done.lines[0].split("\t")[:4] == ["pulled", "document", "outage", "2"]
        assert pushed.there("unfold", "out.json").out == DOCUMENT
        assert pushed.there("verify").code == 0
        again = pushed.there("pull", "--all")
        assert (again.code, again.out, again.err) == (0, b"", "")

    def test_what_nothing_there_is_called_is_12(self, pushed: Desk) -> None:
        for text in ("nothing", "abcdef0123", "0" * 64):
            done = pushed.there("pull", text)
            assert (done.code, done.out) == (12, b""), text

    def test_an_empty_bucket_is_16(self, desk: Desk) -> None:
        done = desk.there("pull", "--all", "--json")
        assert (done.code, done.error["name"]) == (16, "RemoteMissing")

    def test_what_is_damaged_there_does_not_come(self, pushed: Desk) -> None:
        assert pushed.here("put", "--name", "poem", stdin=b"a line\n").code == 0
        assert pushed.here("push", "poem").code == 0
        named = {each["digest"] for each in pushed.here("show", "outage", "--json").rows[0]["first_objects"]}
        path = next(path for path in pushed.objects() if f"sha256:{path.name}" in named)
        hurt(path, path.read_bytes()[:-3])
        done = pushed.there("pull", "outage", "--json")
        assert (done.code, done.rows[0]["outcome"], done.rows[0]["error"]) == (16, "refused", "RemoteDamaged")
        assert pushed.there("log").out == b""
        part = pushed.there("pull", "--all", "--json")
        assert (part.code, {row["outcome"] for row in part.rows}) == (3, {"refused", "pulled"})
        assert pushed.there("cat", "poem").out == b"a line\n"
        assert pushed.there("verify").code == 0

    def test_a_name_that_is_taken_here_is_15(self, pushed: Desk) -> None:
        assert pushed.there("put", "--name", "outage", stdin=b"of there\n").code == 0
        done = pushed.there("pull", "outage", "--json")
        assert (done.code, done.rows[0]["error"]) == (15, "NameTaken")
        assert pushed.there("cat", "outage").out == b"of there\n"
        assert pushed.there("pull", "--move", "outage").code == 0
        assert pushed.there("show", "outage").lines[0].startswith("root\t")


class TestOnDemand:
    @pytest.fixture
    def promised(self, pushed: Desk) -> Desk:
        done = pushed.there("pull", "--lazily", "out.json")
        assert (done.code, len(done.lines), pushed.objects("there")) == (0, 1, [])
        return pushed

    def test_a_read_fetches(self, promised: Desk) -> None:
        assert promised.there("unfold", "out.json").out == DOCUMENT
        assert len(promised.objects("there")) == 2
        hurt(promised.bucket / "format", b"gone\n")
        assert promised.there("unfold", "out.json").out == DOCUMENT

    @pytest.mark.parametrize("row", [["unfold", "out.json"], ["cat", "out.json#$.log"]], ids=" ".join)
    def test_offline_it_is_16_and_says_where_it_lies(self, promised: Desk, row: list[str]) -> None:
        for arguments, environment in (([*row, "--offline"], {}), (row, {"CTX_OFFLINE": "1"})):
            done = promised.there(*arguments, "--json", **environment)
            assert (done.code, done.out) == (16, b"")
            assert (done.error["name"], done.error["fields"]["remote"]) == ("RemoteForbidden", "team")
            assert done.error["hint"]
        assert promised.objects("there") == []
        assert promised.there(*row, CTX_OFFLINE="0").code == 0
        assert promised.there(*row, "--offline").code == 0

    def test_stats_say_how_many_objects_lie_there_alone(self, promised: Desk) -> None:
        (facts,) = promised.there("stats", "--json").rows
        assert (facts["objects"], facts["at_remotes"]) == (0, {"team": 2})
        assert ["at remotes", "2"] in [row.split("\t") for row in promised.there("stats").lines]
        assert promised.there("fetch", "out.json").code == 0
        (facts,) = promised.there("stats", "--json").rows
        assert (facts["objects"], facts["at_remotes"]) == (2, {})

    def test_fetch_brings_all_of_it(self, promised: Desk) -> None:
        done = promised.there("fetch", "out.json", "--json")
        assert summary(done.err) == {"objects": 2, "here": 0}
        assert promised.there("unfold", "out.json", "--offline").out == DOCUMENT
        assert summary(promised.there("fetch", "outage", "--json").err) == {"objects": 0, "here": 2}

    def test_fetch_of_what_is_unknown_here_pulls_it(self, pushed: Desk) -> None:
        assert pushed.there("fetch", "outage").code == 12
        assert pushed.there("fetch", "outage", "--remote", "team").code == 0
        assert pushed.there("unfold", "out.json", "--offline").out == DOCUMENT

    def test_the_setting_makes_it_the_default(self, pushed: Desk) -> None:
        assert pushed.there("config", "remote.team.fetch", "on-demand").code == 0
        assert pushed.there("pull", "--all").code == 0
        assert pushed.objects("there") == []
        assert pushed.there("unfold", "out.json").out == DOCUMENT


class TestVerify:
    def test_says_what_a_remote_lacks(self, pushed: Desk) -> None:
        for words in (
            ["verify", "out.json", "--remote", "team"],
            ["verify", "--remote", "team", "--full", "-"],
        ):
            stdin = (pushed.shell.folder / "here/out.json").read_bytes()
            done = pushed.here(*words, stdin=stdin)
            assert (done.code, done.out, done.err) == (0, b"", "")
        path = pushed.objects()[0]
        path.unlink()
        done = pushed.here("verify", "out.json", "--remote", "team", "--json")
        assert (done.code, done.rows[0]["name"], done.rows[0]["digest"]) == (
            3,
            "missing",
            f"sha256:{path.name}",
        )
        assert done.rows[0]["place"].startswith("out.json:$.")
        assert pushed.here("verify", "out.json").code == 0
        assert pushed.here("push", "out.json").code == 0
        assert pushed.here("verify", "out.json", "--remote", "team").code == 0

    @pytest.mark.parametrize("act", ["cut", "changed"])
    def test_damage_to_a_short_object_is_told_without_full(self, pushed: Desk, act: str) -> None:
        path = pushed.objects()[0]
        data = bytearray(path.read_bytes())
        data[-5] ^= 1
        hurt(path, bytes(data[: len(data) // 2] if act == "cut" else data))
        for words in ([], ["--full"]):
            done = pushed.here("verify", "out.json", "--remote", "team", *words)
            assert (done.code, done.lines[0].split()[0]) == (3, "damaged")
            assert "'ctx push team out.json --anew'" in done.err

    def test_a_long_object_is_read_in_full_alone(self, desk: Desk) -> None:
        document = json.dumps({"text": "".join(f"{number} " for number in range(400_000))}).encode()
        (desk.shell.folder / "here/long.json").write_bytes(document)
        assert desk.here("fold", "long.json", "-o", "long.json").code == 0
        assert desk.here("push", "long.json").code == 0
        path = max(desk.objects(), key=lambda each: each.stat().st_size)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        hurt(path, bytes(data))
        assert desk.here("verify", "long.json", "--remote", "team").code == 0
        assert desk.here("verify", "long.json", "--remote", "team", "--full").code == 3
        hurt(path, bytes(data[:-100]))
        assert desk.here("verify", "long.json", "--remote", "team").code == 3

    def test_the_call_that_is_told_mends_it(self, pushed: Desk) -> None:
        """Of files, of all of it; of what is missing, of what is damaged."""
        for words in (["out.json"], []):
            for damage in (lambda path: path.unlink(), lambda path: hurt(path, b"x")):
                damage(pushed.objects()[0])
                done = pushed.here("verify", "--remote", "team", *words, "--full", "--json")
                assert done.code == 3
                (hint,) = (json.loads(line)["hint"] for line in done.err.splitlines())
                call = hint.split("'")[1].split()
                assert pushed.here(*call[1:]).code == 0
                assert pushed.here("verify", "--remote", "team", *words, "--full").code == 0

    def test_all_of_a_remote(self, pushed: Desk) -> None:
        done = pushed.here("verify", "--remote", "team", "--json")
        assert (done.code, done.out) == (0, b"")
        told = summary(done.err)
        assert set(told) == fields()["verify --remote", "the summary"]
        assert (told["roots"], told["names"], told["objects"]) == (1, 1, len(pushed.objects()))
        name = next((pushed.bucket / "names").iterdir())
        hurt(name, b"{}")
        pushed.objects()[0].unlink()
        done = pushed.here("verify", "--remote", "team")
        assert (done.code, [line.split()[0] for line in done.lines]) == (3, ["damaged", "missing"])
        assert f"names/{name.name}" in done.lines[0]
        assert "'ctx push team --all --anew'" in done.err
        denied = pushed.here("verify", "--remote", "team", "--json", CTX_SCOPE="team/a")
        assert (denied.code, denied.error["name"]) == (14, "ScopeDenied")

    def test_what_is_damaged_there_is_a_finding_of_a_store_that_reads_there(self, pushed: Desk) -> None:
        assert pushed.there("pull", "--lazily", "outage").code == 0
        for path in pushed.objects():
            hurt(path, b"x")
        done = pushed.there("verify", "out.json")
        assert [line.split()[0] for line in done.lines] == ["damaged"] * len(pushed.objects())
        assert (done.code, "at remote 'team'" in done.lines[0]) == (3, True)

    def test_what_contradicts_itself_is_a_mistake(self, pushed: Desk) -> None:
        for words in (["--full", "out.json"], ["--remote", "team", "--no-markers", "x"]):
            assert pushed.here("verify", *words).code == 2


class TestLog:
    def test_lists_what_is_there_as_log_does_here(self, pushed: Desk) -> None:
        there = pushed.there("log", "--remote", "team", "--json").rows
        assert there == pushed.here("log", "--json").rows
        assert pushed.there("log", "--json").rows == []
        assert pushed.here("put", "--name", "poem", stdin=b"a line\n").code == 0
        assert pushed.here("push", "poem").code == 0
        assert pushed.here("remote", "forget", "team", "outage").code == 0
        rows = pushed.there("log", "--remote", "team", "--json").rows
        assert [(row["name"], row["forgotten"] is None) for row in rows] == [
            ("poem", True),
            ("outage", False),
        ]
        assert len(pushed.there("log", "--remote", "team", "-n", "1").lines) == 1

    def test_of_granted_scopes_alone(self, pushed: Desk) -> None:
        done = pushed.here("log", "--remote", "team", CTX_SCOPE="team/a")
        assert (done.code, done.out) == (0, b"")

    def test_what_is_damaged_is_told_and_the_others_are_listed(self, pushed: Desk) -> None:
        assert pushed.here("put", "--name", "poem", stdin=b"a line\n").code == 0
        assert pushed.here("push", "poem").code == 0
        hurt(next((pushed.bucket / "roots").glob("*/*")), b"{}")
        done = pushed.there("log", "--remote", "team")
        assert (done.code, len(done.lines), "is damaged" in done.err) == (3, 1, True)
        quiet = pushed.here("log", "--remote", "team", CTX_SCOPE="team/a")
        assert (quiet.code, quiet.err) == (0, "")

    def test_what_has_a_name_is_told_where_it_is_taken(self, pushed: Desk) -> None:
        assert pushed.there("put", "--name", "outage", stdin=b"another\n").code == 0
        (here,) = pushed.here("log", "--json").rows
        (there,) = pushed.there("log", "--json").rows
        for act, holder in (("push", here["id"]), ("pull", there["id"])):
            done = pushed.there(act, "team", "outage", "--json")
            (error,) = [each for each in map(json.loads, done.err.splitlines()) if each["event"] == "error"]
            assert (done.code, error["fields"]["root"]) == (15, holder)
            assert holder[:16] in error["message"]


class TestWithoutAStore:
    @pytest.mark.parametrize("words", [["pull", "--all"], ["fetch", "x"], ["push", "--all"]])
    def test_none_is_made(self, shell: Shell, words: list[str]) -> None:
        done = shell(*words)
        assert done.code == 10
        assert not list(Path(shell.environment["HOME"]).rglob(".ctxstore"))
        assert "ctx init" in done.err


class TestTidying:
    def test_what_is_forgotten_there_is_left_by_push_all_and_brought_back_by_name(self, pushed: Desk) -> None:
        assert (
            pushed.here("remote", "forget", "team", "outage", "--dry-run")
            .lines[0]
            .startswith("would forget 1 root at 'team'; a gc there takes it after 20")
        )
        done = pushed.here("remote", "forget", "team", "outage")
        assert (done.code, done.out, done.err) == (0, b"", "")
        assert pushed.there("pull", "outage").code == 12
        left = pushed.here("push", "--all", "--json")
        assert (left.code, left.out) == (0, b"")
        note, told = sorted(map(json.loads, left.err.splitlines()), key=lambda each: str(each["event"]))
        assert (told["left"], told["pushed"], "forgotten at 'team'" in note["message"]) == (1, 0, True)
        assert pushed.here("push", "outage").code == 0
        assert pushed.there("pull", "outage").code == 0

    def test_gc_frees_what_no_root_names_there(self, pushed: Desk) -> None:
        assert pushed.here("put", "--name", "poem", stdin=b"a line\n").code == 0
        assert pushed.here("push", "poem").code == 0
        gc = ["remote", "gc", "team", "--grace", "0s"]
        assert pushed.here(*gc).out == b"nothing to free\n"
        assert pushed.here("remote", "forget", "team", "outage", "--now").code == 0
        would = pushed.here(*gc, "--dry-run", "--json").rows[0]
        assert (would["roots_removed"], would["dry_run"], len(pushed.objects())) == (1, True, 3)
        done = pushed.here(*gc)
        assert done.code == 0
        assert done.lines[0].startswith("freed 2 objects, ")
        assert done.lines[0].endswith(", and 1 root")
        assert pushed.there("pull", "--all").code == 0
        assert pushed.there("cat", "poem").out == b"a line\n"
        assert pushed.there("unfold", "out.json").code == 12
        assert pushed.here("unfold", "out.json").out == DOCUMENT

    def test_gc_is_the_operators(self, pushed: Desk) -> None:
        done = pushed.here("remote", "gc", "team", "--json", CTX_SCOPE="team/a")
        assert (done.code, done.error["name"]) == (14, "ScopeDenied")

    @pytest.mark.parametrize("words", [["--shard", "xy"], ["--shard", "abc"], ["--grace", "soon"]])
    def test_gc_takes_no_nonsense(self, pushed: Desk, words: list[str]) -> None:
        assert pushed.here("remote", "gc", "team", *words).code == 2

    def test_a_shard_alone(self, pushed: Desk) -> None:
        shard = pushed.objects()[0].name[:2]
        (row,) = pushed.here("remote", "gc", "team", "--shard", shard, "--json").rows
        assert row["objects"] == sum(path.name[:2] == shard for path in pushed.objects())

    def test_removing_a_remote_tells_of_what_lies_there_alone(self, pushed: Desk) -> None:
        assert pushed.there("pull", "--lazily", "outage").code == 0
        done = pushed.there("remote", "remove", "team")
        assert (done.code, "objects of 1 root here may lie there alone" in done.err) == (0, True)
        lost = pushed.there("unfold", "out.json", "--json")
        assert (lost.code, "ctx remote add team" in lost.error["hint"]) == (16, True)
        assert pushed.there("remote", "add", "team", pushed.url).code == 0
        assert pushed.there("unfold", "out.json").out == DOCUMENT


class TestThePage:
    """docs/output.md says what these print."""

    def test_fields(self, pushed: Desk) -> None:
        root = fields()["log", "a root"]
        remote = ("remote add", "a remote")
        assert (
            fields()["remote list", "a remote"] == fields()["remote remove", "a remote"] == fields()[remote]
        )
        for what in ("push", "pull"):
            assert fields()[what, "a root"] == {"outcome", "error", "words"}
        other = (pushed.shell.folder / "other").as_uri()
        runs: list[tuple[Done, set[str]]] = [
            (pushed.here("remote", "add", "other", other, "--json"), fields()[remote]),
            (pushed.here("remote", "list", "--json"), fields()[remote]),
            (pushed.here("remote", "check", "other", "--json"), fields()["remote check", "a property"]),
            (pushed.here("push", "other", "--all", "--json"), root | fields()["push", "a root"]),
            (pushed.there("pull", "--all", "--json"), root | fields()["pull", "a root"]),
            (pushed.there("fetch", "outage", "--json"), set()),
            (pushed.here("remote", "forget", "team", "outage", "--json"), fields()["remote forget", ""]),
            (pushed.here("remote", "gc", "team", "--json"), fields()["remote gc", ""]),
            (pushed.here("remote", "remove", "other", "--json"), fields()[remote]),
        ]
        for done, expected in runs:
            assert done.code == 0
            for row in done.rows:
                assert set(row) == expected
        (forgot,) = runs[6][0].rows
        assert set(forgot["roots"][0]) == root
        for done, command in zip(runs[2:6], ("remote check", "push", "pull", "fetch"), strict=True):
            assert set(summary(done[0].err)) == fields()[command, "the summary"]

    def test_columns(self, pushed: Desk) -> None:
        assert pushed.here("put", "--name", "poem", stdin=b"a line\n").code == 0
        for done, command in (
            (pushed.here("remote", "list"), "remote list"),
            (pushed.here("remote", "check", "team"), "remote check"),
            (pushed.there("pull", "--all"), "pull"),
            (pushed.here("push", "--all", "--dry-run"), "push"),
            (pushed.here("log", "--remote", "team"), "log"),
        ):
            assert done.lines
            assert {len(line.split("\t")) for line in done.lines} == {len(columns()[command])}
