"""ctx summary, as its users meet it: the example that the cache is for, and what each command prints."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

from tests.cli.conftest import Shell
from tests.cli.test_output_page import columns, fields, summary

POLICY = {"version": "v1", "deadline_days": 7, "condition": "已发货订单", "exception": "生鲜商品"}
BAD = {"text": "订单可退货。", "version": "v1", "deadline_days": 0, "condition": "订单", "exception": ""}
MADE = "已发货订单在签收7天内可退货，生鲜商品除外。"
TEMPLATE = "template={condition}在签收{deadline_days}天内可退货，{exception}除外。"
BY_FIELDS = [
    *("--strategy", "fields@1", "--option", TEMPLATE),
    *("--option", "fields=version,deadline_days,condition,exception"),
]
AS_TEXT = [
    json.dumps(POLICY, ensure_ascii=False),
    json.dumps(POLICY, ensure_ascii=True),
    "".join(f"{name}: {value}\n" for name, value in POLICY.items()),
    MADE,
    "退货政策 v1：已发货订单在签收后 7 天内可以退货，生鲜商品除外。",
]


@pytest.fixture
def shop(ctx: Shell) -> Shell:
    """A folder with the policy, and summaries of it."""
    write(ctx, "policy.json", POLICY)
    write(ctx, "bad.json", BAD)
    (ctx.folder / "bad.txt").write_text("订单可退货。", "utf-8")
    return ctx


def write(ctx: Shell, name: str, value: Any) -> None:
    (ctx.folder / name).write_text(json.dumps(value, ensure_ascii=False), "utf-8")


def get(ctx: Shell, source: str, *options: str) -> dict[str, Any]:
    done = ctx("summary", "get", source, *(options or BY_FIELDS), "--json")
    assert done.code == 0, done.err
    (row,) = done.rows
    return row


class TestTheExample:
    def test_a_structured_summary_is_checked_by_its_fields(self, shop: Shell) -> None:
        done = shop("summary", "check", "bad.json", "policy.json", "--json")
        assert done.code == 3
        found = {row["field"]: (row["change"], row["text"], row["found"]) for row in done.rows}
        assert found == {
            "deadline_days": ("changed", "7", "0"),
            "condition": ("changed", '"已发货订单"', '"订单"'),
            "exception": ("changed", '"生鲜商品"', '""'),
        }
        named = shop(
            *("summary", "check", "bad.json", "policy.json", "--json"),
            *("--fields", "version,deadline_days,condition,exception"),
        )
        assert [row["field"] for row in named.rows] == list(found)

    def test_the_made_one_reports_nothing(self, shop: Shell) -> None:
        text = get(shop, "policy.json")["text"]
        assert json.loads(text) == {"text": MADE, **POLICY}
        (shop.folder / "made.json").write_text(text, "utf-8")
        for how in ([], ["--text"]):
            done = shop("summary", "check", "made.json", "policy.json", *how)
            assert (done.code, done.out) == (0, b""), how

    def test_reading_twice_hits(self, shop: Shell) -> None:
        first, second = get(shop, "policy.json"), get(shop, "policy.json")
        assert (first.pop("outcome"), second.pop("outcome")) == ("made", "hit")
        assert first == second

    def test_another_content_misses_whatever_its_version_says(self, shop: Shell) -> None:
        first = get(shop, "policy.json", *BY_FIELDS, "--source-name", "policy")
        for version in ("v2", "v1"):
            write(shop, "policy.json", {**POLICY, "version": version, "deadline_days": 14})
            made = get(shop, "policy.json", *BY_FIELDS, "--source-name", "policy")
            assert made["outcome"] == "made"
            assert json.loads(made["text"])["deadline_days"] == 14
            assert "14天内" in json.loads(made["text"])["text"]
        listed = {row["key"]: row["is_superseded"] for row in shop("summary", "list", "--json").rows}
        assert listed[first["key"]] is True
        assert listed[made["key"]] is False

    def test_another_scope_or_strategy_or_option_misses(self, shop: Shell) -> None:
        shop.environment["CTX_SCOPE"] = "team/a,team/b"
        keys = [
            get(shop, "policy.json", *how)["key"]
            for how in (
                BY_FIELDS,
                [*BY_FIELDS, "--scope", "team/b"],
                ["--strategy", "extract@1"],
                ["--strategy", "extract@1", "--question", "days?"],
                ["--strategy", "short@1", "--with", "head -c 9"],
                ["--strategy", "short@2", "--with", "head -c 9"],
                ["--strategy", "short@2", "--with", "head -c 9", "--option", "model=b"],
                ["--strategy", "short@2", "--with", "head -c 8"],
            )
        ]
        assert len(set(keys)) == len(keys)
        assert all(row["hits"] == 0 for row in shop("summary", "list", "--json").rows)

    @pytest.mark.parametrize("source", AS_TEXT)
    def test_as_text_what_is_lost_is_found(self, shop: Shell, source: str) -> None:
        (shop.folder / "policy.txt").write_text(source, "utf-8")
        done = shop("summary", "check", "bad.txt", "policy.txt", "--json")
        assert done.code == 3
        assert {"deadline", "condition", "exception"} <= {
            row["kind"] for row in done.rows if row["change"] == "lost"
        }
        assert shop("summary", "check", "policy.txt", "policy.txt", "--text").code == 0


class TestScopes:
    def test_a_hit_is_served_to_nobody_of_another_scope(self, shop: Shell) -> None:
        shop.environment["CTX_SCOPE"] = "team/a"
        made = get(shop, "policy.json")
        shop.environment["CTX_SCOPE"] = "team/b"
        assert shop("summary", "list").out == b""
        assert shop("summary", "show", made["key"]).code == 12
        assert shop("summary", "get", "policy.json", *BY_FIELDS, "--scope", "team/a").code == 14
        assert shop("summary", "get", made["source"], *BY_FIELDS).code == 12
        assert shop("summary", "get", made["source"][7:], "--strategy", "mine@1").code == 12
        assert get(shop, "policy.json")["outcome"] == "made"


class TestSources:
    def test_an_object_is_named_by_its_digits(self, shop: Shell) -> None:
        digest = shop("put", "policy.json").lines[0]
        (shop.folder / "policy.json").rename(shop.folder / "gone.json")
        made = get(shop, digest[7:19])
        assert made["source"] == digest
        done = shop("summary", "check", made["summary"], digest)
        assert done.code == 0

    def test_stdin_is_one_of_them(self, shop: Shell) -> None:
        done = shop("summary", "check", "-", "policy.json", stdin=json.dumps(BAD).encode())
        assert done.code == 3
        assert shop("summary", "check", "-", "-", stdin=b"{}").code == 2

    def test_bad_ones_are_said_with_their_place(self, shop: Shell) -> None:
        (shop.folder / "bytes").write_bytes(b"fine\nnot \xff\n")
        for line in (
            ["summary", "check", "bytes", "policy.json"],
            ["summary", "get", "bytes", "--strategy", "extract@1"],
        ):
            done = shop(*line)
            assert done.code == 18, line
            assert "line 2, column 5" in done.err
        for line in (["check", "no-such.md", "policy.json"], ["get", "no-such.md", "--strategy", "extract"]):
            done = shop("summary", *line)
            assert (done.code, done.err.splitlines()[0]) == (
                12,
                "error: no file, object or name 'no-such.md'",
            )
            assert "check the path" in done.err
        assert shop("summary", "list").out == b""

    def test_of_two_documents_the_wrong_one_is_named(self, shop: Shell) -> None:
        (shop.folder / "s.md").write_text("# Returns\n", "utf-8")
        for pair in (("s.md", "policy.json"), ("policy.json", "s.md")):
            done = shop("summary", "check", *pair, "--fields", "version")
            assert done.code == 18
            assert "at s.md" in done.err
            assert "fold" not in done.err
        done = shop("summary", "get", "s.md", "--strategy", "fields", "--option", "fields=a")
        assert done.code == 18
        assert "at s.md" in done.err
        assert "extract@1 takes any text" in done.err

    def test_what_get_prints_is_known_as_derived(self, shop: Shell) -> None:
        """Though it has a line feed that the summary has not."""
        text = "".join(f"Rule {number} costs {number} euros.\n" for number in range(40))
        (shop.folder / "rules.md").write_text(text, "utf-8")
        how = ("--strategy", "extract", "--option")
        made = shop("summary", "get", "rules.md", *how, "characters=300")
        assert made.out.endswith(b"\n")
        assert shop("summary", "get", "-", *how, "characters=200", stdin=made.out).code == 2

    def test_a_derived_one_is_refused_or_its_steps_are_shown(self, shop: Shell) -> None:
        made = get(shop, "policy.json")
        again = ["summary", "get", made["summary"], "--strategy", "extract@1"]
        refused = shop(*again)
        assert refused.code == 2
        assert "--allow-derived" in refused.err
        assert shop(*again, "--allow-derived").code == 0
        key = shop("summary", "list", "--strategy", "extract", "--json").rows[0]["key"]
        shown = shop("summary", "show", key, "--json").rows[0]
        assert [step["by"] for step in shown["chain"]] == ["fields@1"]
        assert shown["chain"][0]["digest"] == made["source"]


class TestPrograms:
    def test_options_reach_the_program(self, shop: Shell) -> None:
        program = f"{sys.executable} -c 'import os; print(os.environ[\"CTX_SUMMARY_OPTIONS\"])'"
        made = get(shop, "policy.json", "--strategy", "mine@3", "--with", program, "--option", "model=small")
        assert json.loads(made["text"]) == {"model": "small"}
        assert made["options"]["model"] == "small"
        assert made["version"] == 3

    def test_one_that_fails_leaves_nothing(self, shop: Shell) -> None:
        done = shop("summary", "get", "policy.json", "--strategy", "mine@1", "--with", "false")
        assert done.code == 1
        assert shop("summary", "list").out == b""

    def test_what_was_put_is_found_without_a_program(self, shop: Shell) -> None:
        by = ["--strategy", "mine@1", "--option", "model=small"]
        assert shop("summary", "get", "policy.json", *by).code == 12
        (shop.folder / "short.md").write_text("  seven days\n", "utf-8")
        assert shop("summary", "put", "policy.json", "short.md", *by).code == 0
        done = shop("summary", "get", "policy.json", *by)
        assert (done.code, done.out) == (0, b"  seven days\n")
        (shop.folder / "short.md").write_text("a week\n", "utf-8")
        taken = shop("summary", "put", "policy.json", "short.md", *by)
        assert taken.code == 15
        assert "another summary of it by 'mine@1'" in taken.err
        assert shop("summary", "put", "policy.json", "short.md", *by, "--replace").code == 0
        assert shop("summary", "get", "policy.json", *by).out == b"a week\n"
        assert shop("summary", "put", "policy.json", "short.md", "--strategy", "extract").code == 2

    def test_what_there_is_instead_is_said(self, shop: Shell) -> None:
        get(shop, "policy.json", "--strategy", "mine@2", "--with", "head -c 9")
        done = shop("summary", "get", "policy.json", "--strategy", "mine")
        assert done.code == 12
        assert "there is one by mine@2: a name alone means version 1" in done.err
        done = shop("summary", "get", "policy.json", "--strategy", "mine@2")
        assert "there is one with other options" in done.err

    def test_a_summary_as_long_as_its_source_is_noted(self, shop: Shell) -> None:
        noted = "note: the summary is no shorter than its source"
        copied = ("summary", "get", "policy.json", "--strategy", "mine", "--with", "cat")
        assert noted in shop(*copied).err
        assert noted not in shop(*copied).err
        assert noted in shop("summary", "put", "policy.json", "policy.json", "--strategy", "copy").err
        assert noted not in shop("summary", "put", "policy.json", "bad.txt", "--strategy", "short").err


class TestWithoutItsSource:
    def test_it_is_told_and_not_served(self, shop: Shell) -> None:
        made = get(shop, "policy.json")
        path = shop.folder / ".ctxstore/objects" / made["source"][7:9] / made["source"][7:]
        path.unlink()
        assert shop("summary", "list").lines[0].split("\t")[5] == "incomplete"
        assert shop("summary", "get", made["source"], *BY_FIELDS).code == 12
        assert get(shop, "policy.json")["outcome"] == "made"
        assert shop("summary", "list").lines[0].split("\t")[5] == "current"


class TestForgetting:
    def test_is_undone_by_key_or_strategy(self, shop: Shell) -> None:
        made = get(shop, "policy.json")
        other = get(shop, "policy.json", "--strategy", "extract")
        forget = ("summary", "forget")
        for chosen in ([made["key"][:8]], ["--strategy", "fields"]):
            assert shop(*forget, made["key"][:8]).code == 0
            assert shop(*forget, "--undo", other["key"]).code == 12
            assert shop(*forget, "--undo", *chosen, "--dry-run").lines[0].startswith(made["key"])
            assert len(shop("summary", "list").lines) == 1
            undone = shop(*forget, "--undo", *chosen, "--json")
            assert (undone.code, [row["key"] for row in undone.rows]) == (0, [made["key"]])
            assert summary(undone.err) == {"forgotten": 0, "remembered": 1, "dry_run": False}
            assert get(shop, "policy.json")["outcome"] == "hit"
        assert shop(*forget, "--undo", made["key"], "--now").code == 2
        assert shop(*forget, "--undo", made["key"][:2]).code == 2

    def test_none_chosen_is_told_alike(self, shop: Shell) -> None:
        for line in (["forget", "--strategy", "none"], ["evict"], ["forget", "--undo", "--strategy", "none"]):
            done = shop("summary", *line)
            assert (done.code, done.out, done.err) == (0, b"", ""), line

    def test_is_not_served_and_comes_back(self, shop: Shell) -> None:
        made = get(shop, "policy.json")
        assert shop("summary", "forget").code == 2
        assert shop("summary", "forget", made["key"][:12], "--dry-run").code == 0
        assert get(shop, "policy.json")["outcome"] == "hit"
        assert shop("summary", "forget", made["key"][:12]).lines[0].startswith(made["key"])
        assert shop("summary", "list").out == b""
        assert shop("forget", "--undo", "--root", made["root"]).code == 0
        assert get(shop, "policy.json")["outcome"] == "hit"

    def test_policies_forget_the_least_recently_used(self, shop: Shell) -> None:
        assert shop("config", "summary.fields.entries-max", "2").code == 0
        sources = []
        for days in range(3):
            write(shop, f"{days}.json", {**POLICY, "deadline_days": days})
            sources.append(get(shop, f"{days}.json")["source"])
            if days == 1:
                assert get(shop, "0.json")["outcome"] == "hit"
        assert {row["source"] for row in shop("summary", "list", "--json").rows} == {sources[0], sources[2]}
        assert shop("config", "summary.fields.entries-max", "1").code == 0
        assert len(shop("summary", "evict", "--dry-run").lines) == 1
        assert len(shop("summary", "evict").lines) == 1
        assert [row["source"] for row in shop("summary", "list", "--json").rows] == [sources[2]]


class TestThePage:
    def test_what_each_prints_is_on_it(self, shop: Shell) -> None:
        shop.environment["CTX_SCOPE"] = "*"
        entry = fields()["summary list", "an entry"]
        made = get(shop, "policy.json")
        own = entry - {"hits", "last_used", "is_superseded", "is_old", "is_whole"}
        assert set(made) == own | {"outcome", "text"}
        (shop.folder / "s.md").write_text("seven days", "utf-8")
        put = shop("summary", "put", "policy.json", "s.md", "--strategy", "mine", "--json")
        assert set(put.rows[0]) == own | {"outcome", "text"}
        assert put.rows[0]["outcome"] == "stored"
        assert set(shop("summary", "list", "--json").rows[0]) == entry
        assert len(shop("summary", "list").lines[0].split("\t")) == len(columns()["summary list"])
        assert set(shop("summary", "show", made["key"], "--json").rows[0]) == entry | {"fidelity", "text"}
        for how in ([], ["--shares"]):
            done = shop("summary", "check", "bad.txt", "policy.json", *how, "--json")
            what = ("summary check --shares", "a kind") if how else ("summary check", "a finding")
            for row in done.rows:
                assert set(row) | {"found", "field"} == fields()[what] | {"found", "field"}
            assert set(summary(done.err)) == fields()["summary check", "the summary"]
            line = shop("summary", "check", "bad.txt", "policy.json", *how).lines[0]
            assert len(line.split("\t")) == len(columns()[what[0]])
        forgotten = shop("summary", "forget", put.rows[0]["key"], "--json")
        assert set(forgotten.rows[0]) == entry
        assert set(summary(forgotten.err)) == fields()["summary forget", "the summary"]
        assert shop("config", "summary.fields.age-max", "1s").code == 0
        os.utime(shop.folder)
        evicted = shop("summary", "evict", "--json", "--dry-run")
        assert set(summary(evicted.err)) == fields()["summary evict", "the summary"]


class TestRequirements:
    def test_decide_alone_where_they_are_given(self, shop: Shell) -> None:
        (shop.folder / "a.txt").write_text("It takes 3 GB and 40 MB.", "utf-8")
        (shop.folder / "b.txt").write_text("It takes 3 GB, or 9 kB.", "utf-8")
        for asked, code in (("number=0.5", 0), ("number=0.6", 3), ("number=0.5,all=0.6", 3), ("url=1", 0)):
            assert shop("summary", "check", "b.txt", "a.txt", "--require", asked).code == code, asked
        for wrong in ("nothing=1", "number", "number=2", "number=x", "invented=0.5", "field=1"):
            assert shop("summary", "check", "b.txt", "a.txt", "--require", wrong).code == 2, wrong

    def test_inventions_can_be_forbidden(self, shop: Shell) -> None:
        (shop.folder / "a.txt").write_text("It takes 3 GB.", "utf-8")
        (shop.folder / "b.txt").write_text("It takes 3 GB. It costs $9.", "utf-8")
        check = ("summary", "check", "b.txt", "a.txt", "--require")
        assert shop(*check, "all=1.0").code == 0
        done = shop(*check, "all=1.0,invented=0")
        assert done.code == 3
        assert (
            "note: the summary invents 1 fact (invented=0 asked): money '$9' (1:25 of the summary)"
            in done.err
        )
        assert shop(*check, "invented=1").code == 0

    def test_a_kind_that_the_source_has_not_is_noted(self, shop: Shell) -> None:
        (shop.folder / "a.txt").write_text("It is to be returned within 30 days.", "utf-8")
        done = shop("summary", "check", "a.txt", "a.txt", "--require", "money=1.0,duration=1.0")
        assert done.code == 0
        assert done.err.splitlines() == ["note: a.txt has no money: 'money=1' asks nothing"]

    def test_of_fields_no_other_kind_is_asked(self, shop: Shell) -> None:
        check = ("summary", "check", "bad.json", "policy.json", "--require")
        for kind in ("number", "condition"):
            done = shop(*check, f"{kind}=0")
            assert (done.code, done.out) == (2, b"")
            assert "--text" in done.err
        assert [shop(*check, asked).code for asked in ("field=1", "all=1", "all=0,invented=0")] == [3, 3, 0]


class TestCheckingAnEntry:
    def test_its_key_alone_will_do(self, shop: Shell) -> None:
        (shop.folder / "policy.txt").write_text(MADE, "utf-8")
        assert shop("summary", "put", "policy.txt", "bad.txt", "--strategy", "mine").code == 0
        (row,) = shop("summary", "list", "--json").rows
        (shop.folder / "policy.txt").unlink()
        for key in (row["key"][:12], row["summary"][7:19], row["summary"]):
            done = shop("summary", "check", key)
            assert done.code == 3
            assert b"deadline" in done.out
        assert shop("summary", "check", "abcdef").code == 12
        assert "6 to 64 hex digits" in shop("summary", "check", "abc").err
        assert "is a summary of" in shop("summary", "check", "bad.txt").err

    def test_of_no_other_scope(self, shop: Shell) -> None:
        shop.environment["CTX_SCOPE"] = "team/a"
        key = get(shop, "policy.json")["key"]
        shop.environment["CTX_SCOPE"] = "team/b"
        assert shop("summary", "check", key).code == 12
