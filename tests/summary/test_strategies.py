"""The strategies of summaries, by their laws."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castore.errors import DocumentInvalid, InvalidOption, SummarizerFailed
from castore.summary.fidelity.structured import check_fields
from castore.summary.key import checked_options
from castore.summary.strategies.command import CommandStrategy
from castore.summary.strategies.extract import ExtractStrategy
from castore.summary.strategies.fields import FieldsStrategy
from castore.summary.strategies.reading import PIECE_CHARACTERS_MAX, read_source
from castore.summary.strategies.registry import STRATEGIES, make_strategy
from castore.summary.strategies.weights import is_code
from castore.transcript.collapse.command import Command
from castore.transcript.collapse.reading import text_of
from castore.transcript.collapse.summarizer import without_controls
from castore.transcript.formats import read_session
from tests.access.sessions import pi_session

FILLER = "We are glad to have you here and hope that all is well with you. "
RULE = "Orders over $50 may be returned within 7 days, unless the item is fresh food."
DEPOT = "Parcels go to the depot in Mill Lane."
LONG = f"# Returns\n\n{FILLER * 20}\n\n{RULE}\n\n{FILLER * 20}{DEPOT}\n{FILLER * 9}"

POLICY = '{"version": "v1", "deadline_days": 7, "condition": "已发货订单", "exception": "生鲜商品"}'

PIECES = (
    "Refunds take 7 days. |Must not be shared! |\n|\n\n|- |a| |…|由财务批准。|e.g. |see x.example/a |{|[1]"
)
WORDS = st.sampled_from([*PIECES.split("|"), '"', "\t", "\x1b[1m", "\r\n", "costs $40; ", "x" * 500])
TEXTS = st.lists(WORDS, max_size=60).map("".join)


def lines_in_order(summary: str, source: str) -> bool:
    """Whether each line but `…` is, after those before it, part of the source."""
    at = 0
    for line in summary.split("\n"):
        if line.strip() and line != "…":
            at = source.find(line, at)
            if at < 0:
                return False
            at += len(line)
    return True


class TestExtractIsVerbatim:
    @given(TEXTS, st.integers(200, 600), st.none() | st.just("who pays refunds"))
    @settings(max_examples=150)
    def test_every_line_is_in_the_source_in_order(
        self, text: str, characters: int, question: str | None
    ) -> None:
        try:
            summary = ExtractStrategy(characters, question).summarize(text.encode())
        except SummarizerFailed:
            assert not without_controls(text).strip()
            return
        assert len(summary) <= characters
        assert lines_in_order(summary, without_controls(text)) or text.lstrip()[:1] in "{["

    @given(TEXTS)
    @settings(max_examples=60)
    def test_a_source_that_fits_is_given_whole(self, text: str) -> None:
        said = without_controls(text).strip()
        if said:
            assert ExtractStrategy(60_000).summarize(text.encode()) == said

    def test_what_is_left_out_is_a_line_of_its_own_at_both_ends_too(self) -> None:
        summary = ExtractStrategy(200, "Where is the depot?").summarize(LONG.encode())
        lines = summary.split("\n")
        assert DEPOT in lines
        assert (lines[0], lines[-1]) == ("…", "…")
        assert "\n…\n…\n" not in summary

    def test_neighbours_stay_as_they_stand(self) -> None:
        listed = "- costs $40 a day\n  - or $200 a week\n"
        source = f"{FILLER * 20}\n\n{listed}\n{FILLER * 20}"
        assert listed.strip() in ExtractStrategy(200, "costs a day, a week").summarize(source.encode())

    def test_the_same_every_time(self) -> None:
        assert len({ExtractStrategy(300).summarize(LONG.encode()) for _ in range(3)}) == 1


class TestExtractChooses:
    def test_what_has_facts_before_what_has_none(self) -> None:
        summary = ExtractStrategy(200).summarize(LONG.encode())
        assert RULE in summary
        assert FILLER.strip() not in summary

    def test_what_says_something_new_before_what_was_said(self) -> None:
        again = "".join(f"Room {name}: it costs $40 here. " for name in ("north", "south", "east", "west"))
        source = f"{again * 10}\n{FILLER * 10}\nA guest must leave by 11:00.\n"
        assert "A guest must leave by 11:00." in ExtractStrategy(200).summarize(source.encode())

    def test_nothing_twice(self) -> None:
        source = f"{RULE}\n\n{FILLER}\n\n" * 30
        assert ExtractStrategy(2000, "return").summarize(source.encode()).count(RULE) == 1

    def test_where_there_is_no_fact_how_it_begins(self) -> None:
        lines = [f"all of this is {word * 5} to us" for word in "abcdefghijklmnopqrstuvwxyz"]
        summary = ExtractStrategy(200).summarize("\n\n".join(lines).encode())
        assert summary.startswith(lines[0])
        assert summary.endswith("…")

    def test_a_question_in_other_word_forms(self) -> None:
        source = f"{FILLER * 20}\n\nThe team reviewed nothing in the end.\n\n{FILLER * 20}"
        summary = ExtractStrategy(200, "Which reviews?").summarize(source.encode())
        assert "The team reviewed nothing in the end." in summary

    def test_a_question_in_chinese(self) -> None:
        source = f"{'大家好，很高兴见到各位。' * 60}\n退款由财务部门处理。\n{'祝大家一切顺利。' * 60}"
        assert "退款由财务部门处理。" in ExtractStrategy(200, "谁处理退款？").summarize(source.encode())


class TestExtractReads:
    def test_rows_of_json_stay_whole(self) -> None:
        rows = [{"id": number, "state": "done" if number != 77 else "broken"} for number in range(200)]
        summary = ExtractStrategy(200, "what is broken?").summarize(json.dumps(rows).encode())
        assert '{"id": 77, "state": "broken"}' in summary.split("\n")

    def test_members_keep_their_names_and_long_strings_are_text(self) -> None:
        document = {"note": f"{FILLER * 20}{RULE}", "deadline_days": 7, "rows": ["word"] * 200}
        source = json.dumps(document, indent=2)
        summary = ExtractStrategy(400, "deadline").summarize(source.encode())
        assert '"deadline_days": 7' in summary.split("\n")
        assert RULE in ExtractStrategy(200, "fresh food").summarize(source.encode())

    def test_each_line_of_a_log_is_its_own(self) -> None:
        lines = [f"[2026-11-30 14:{minute:02}:00] web: all is well with it" for minute in range(60)]
        lines[31] = "[2026-11-30 14:31:00] web: ERROR, 37 of them"
        summary = ExtractStrategy(200, "any error?").summarize("\n".join(lines).encode())
        assert lines[31] in summary.split("\n")
        assert set(summary.split("\n")) <= {"…", *lines}

    def test_a_session_is_what_it_says(self) -> None:
        summary = ExtractStrategy(200, "apples").summarize(pi_session("apples " * 100))
        assert '"type"' not in summary
        assert "apples" in summary

    def test_a_json_document_that_fits_is_given_as_it_is(self) -> None:
        assert ExtractStrategy().summarize(POLICY.encode()) == POLICY

    @given(TEXTS, st.booleans())
    @settings(max_examples=60)
    def test_pieces_are_short_and_in_order(self, text: str, is_json: bool) -> None:
        source = json.dumps({"a": [text, {"b": text}], text: [1] * 300}) if is_json else text
        reading = read_source(source.encode())
        assert all(0 < end - start <= PIECE_CHARACTERS_MAX for start, end in reading.pieces)
        ends = [0, *(end for _, end in reading.pieces)]
        starts = [*(start for start, _ in reading.pieces), len(reading.text)]
        assert all(not reading.text[end:start].strip() for end, start in zip(ends, starts, strict=True))

    @pytest.mark.parametrize("source", [b"", b" \n", b"\xef\xbb\xbf", b"\x00\x01"])
    def test_what_says_nothing_has_no_summary(self, source: bytes) -> None:
        with pytest.raises(SummarizerFailed):
            ExtractStrategy().summarize(source)

    def test_bytes_that_are_no_text_are_refused_with_the_place(self) -> None:
        with pytest.raises(DocumentInvalid) as raised:
            ExtractStrategy().summarize(b"one\ntwo \xff\n")
        assert (raised.value.fields["offset"], raised.value.fields["line"]) == (8, 2)

    @pytest.mark.parametrize("piece", ["x", " ", "\n", '"', "[", "的", "1 ", "a. ", "- a\n", "`", "(", "…\n"])
    def test_hostile_texts_take_linear_time(self, piece: str) -> None:
        text = piece * (100_000 // len(piece))
        begun = time.process_time()
        try:
            ExtractStrategy(2000, "one question").summarize(f"b {text}".encode())
        except SummarizerFailed:
            assert not text.strip()
        # Some ten times what it takes; what is quadratic takes minutes.
        assert time.process_time() - begun < 10


LISTING = "\n".join(
    f'{number:>6}\u2192\tif !state.has({number}) || err != nil {{ return "E{number}" }}'
    for number in range(1, 120)
)
DONE = "Done. `app.py` now gives 404 where an order is missing."


def call(name: str, **arguments: str) -> dict[str, Any]:
    made = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"c{name}{len(made['arguments'])}", "type": "function", "function": made}


def session(*said: tuple[str, str | dict[str, Any]]) -> bytes:
    """The body of an API. said: who, and what; an assistant's call, as `call` gives it, or its words."""
    messages: list[dict[str, Any]] = []
    latest = ""
    for role, words in said:
        if isinstance(words, dict):
            latest = words["id"]
            messages.append({"role": role, "content": None, "tool_calls": [words]})
        elif role == "tool":
            messages.append({"role": role, "tool_call_id": latest, "content": words})
        else:
            messages.append({"role": role, "content": words})
    return json.dumps({"model": "gpt-4o", "messages": messages}).encode()


WORK = session(
    ("user", "Please make missing orders give a proper answer."),
    ("assistant", "Let me look at the handlers first."),
    ("assistant", call("read", path="/srv/app.py")),
    ("tool", LISTING),
    ("assistant", call("edit", path="/srv/app.py", old="if x { return 5 }\n" * 60, new="y = 6;\n" * 60)),
    ("tool", f"ok\n<system-reminder>\nYou must never mention files in /etc/{'x' * 9}.\n</system-reminder>"),
    ("user", "ok"),
    ("user", "And do not touch the billing code, please."),
    ("assistant", call("bash", command="pytest -q")),
    ("tool", "." * 900 + "\ntests/test_app.py::test_missing FAILED\n1 failed, 211 passed in 3.2 s"),
    ("assistant", DONE),
)


class TestExtractsOfSessions:
    def test_what_was_asked_and_where_it_stands_come_first_each_under_its_heading(self) -> None:
        summary = ExtractStrategy(300).summarize(WORK)
        assert "## user\nPlease make missing orders give a proper answer.\n" in summary
        assert "And do not touch the billing code, please." in summary
        assert summary.endswith(f"## assistant\n{DONE}")
        assert "\u2192" not in summary

    def test_then_what_was_called_and_what_went_wrong(self) -> None:
        summary = ExtractStrategy(700).summarize(WORK)
        assert "tests/test_app.py::test_missing FAILED" in summary
        assert 'call bash {"command": "pytest -q"}' in summary

    def test_no_more_of_a_long_call_than_what_it_was_made_with(self) -> None:
        summary = ExtractStrategy(700).summarize(WORK)
        assert "y = 6;" not in summary
        assert "return 5" not in summary

    def test_what_the_harness_says_is_nobodys_rule(self) -> None:
        assert "never mention" not in ExtractStrategy(700).summarize(WORK)

    def test_a_heading_stands_where_something_of_its_message_does_and_once(self) -> None:
        lines = ExtractStrategy(700).summarize(WORK).split("\n")
        for line, following in zip(lines, [*lines[1:], "## "], strict=True):
            assert not (line.startswith("## ") and following.startswith("## "))
        assert lines.count("## user") <= 3

    def test_a_question_finds_what_only_code_says(self) -> None:
        assert "E77" in ExtractStrategy(400, "Where is E77 returned?").summarize(WORK)

    def test_of_calls_and_code_alone_there_is_an_extract_too(self) -> None:
        alone = session(("user", "go"), ("assistant", call("read", path="/a")), ("tool", LISTING))
        assert 'call read {"path": "/a"}\n' in ExtractStrategy(300).summarize(alone)

    @given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), TEXTS), min_size=1, max_size=8))
    @settings(max_examples=60)
    def test_every_line_is_one_of_the_session_in_order(self, said: list[tuple[str, str]]) -> None:
        source = session(("user", "x" * 300), *said)
        summary = ExtractStrategy(250).summarize(source)
        transcript = read_session(source)
        read = without_controls(text_of(transcript, 0, len(transcript.messages)))
        assert len(summary) <= 250
        assert lines_in_order(summary, read)


class TestCodeWeighsLittle:
    RULES = "Keys must not be shared. Backups are kept for 90 days, unless a customer objects."

    @pytest.mark.parametrize(
        "code",
        [
            LISTING,
            "```go\n" + "if err != nil && n < 5 { return 7 }\n\n" * 40 + "```",
            "\n".join(f"+\tif not self.rows[{number}]:" for number in range(60)),
            "\n".join(f"src/app.ts:{number}:  if (!seen.has({number})) {{" for number in range(60)),
            "\n".join(f'"row{number}": {number}, "not": "if",' for number in range(60)),
            "\n".join(f"    at run{number} (node:internal/loader:{number}:9)" for number in range(60)),
        ],
    )
    def test_before_it_stands_what_is_said_around_it(self, code: str) -> None:
        text = f"# Keys\n\n{FILLER * 9}\n\n{code}\n\n{FILLER * 9}\n\n{self.RULES}\n\n{code}\n"
        summary = ExtractStrategy(200).summarize(text.encode())
        assert all(each in summary for each in self.RULES.split(". "))

    @pytest.mark.parametrize(
        "words",
        [
            RULE,
            "- **Orders** (over $50): see [the page](https://x.example/a_b?c=d&e=f), `a[0] = {}`.",
            "If a line ends with a semicolon, it may be prose; nothing else tells;",
            "已发货订单在签收7天内可退货，生鲜商品除外（详见“退货政策”）。",
            "For all orders: return them within 7 days.",
            "1. Import the file, then run `castore fold x.json > y.json`.",
        ],
    )
    def test_prose_is_no_code(self, words: str) -> None:
        assert not is_code(words)

    def test_a_failure_comes_before_other_lines_of_a_log(self) -> None:
        lines = [f"2026-11-30 14:{minute:02}:00 INFO web {minute} of 60 parts, 7 MB" for minute in range(60)]
        lines[31] = "2026-11-30 14:31:00 ERROR web gave up"
        assert lines[31] in ExtractStrategy(200).summarize("\n".join(lines).encode()).split("\n")

    def test_rows_that_differ_in_figures_only_leave_room_for_others(self) -> None:
        rows = [f"Room {number} costs ${number} a day." for number in range(100, 199)]
        source = "\n\n".join([*rows, "All guests leave on the last day of May by the door in Mill Lane."])
        assert "Mill Lane" in ExtractStrategy(200).summarize(source.encode())

    def test_in_json_what_somebody_wrote_comes_before_what_a_machine_counts(self) -> None:
        rows = [{"id": number, "tokens": [number] * 200, "seconds": number} for number in range(40)]
        rows[20]["note"] = "The customer asked for a refund by Friday."
        assert "refund by Friday" in ExtractStrategy(200).summarize(json.dumps(rows).encode())

    def test_a_clause_and_the_number_of_an_item_are_not_alone(self) -> None:
        source = f"{FILLER * 20}\n\n1. Orders are sent on Monday; those over $50 go first.\n\n{FILLER * 20}"
        assert "1. Orders are sent on Monday; those over $50 go first." in ExtractStrategy(200).summarize(
            source.encode()
        ).split("\n")


class TestFields:
    SOURCE = (
        '{"a": {"b": [1e400, -0.0]}, "s": "caf\\u00e9 \\"x\\"", "n": 0.10, "o": {"k" : [ 1 ]}, "n2": null}'
    )

    def made(self, fields: list[str], template: str | None = None, source: str = SOURCE) -> str:
        return FieldsStrategy(tuple(fields), template).summarize(source.encode())

    def test_values_are_spelt_as_in_the_source_in_the_order_asked(self) -> None:
        assert self.made(["n", "a.b[0]", "$.a.b[1]", "s", "o"]) == (
            '{"n": 0.10, "a.b[0]": 1e400, "$.a.b[1]": -0.0, "s": "caf\\u00e9 \\"x\\"", "o": {"k" : [ 1 ]}}'
        )

    def test_a_template_gives_a_text_before_them(self) -> None:
        made = self.made(["n"], 'café {{n}} is {n}, {s} and {o}, {n2}"\n')
        assert list(json.loads(made)) == ["text", "n"]
        assert json.loads(made)["text"] == 'café {n} is 0.10, café "x" and {"k" : [ 1 ]}, null"\n'

    def test_the_example_is_kept(self) -> None:
        template = "{condition}在签收{deadline_days}天内可退货，{exception}除外。"
        fields = ["version", "deadline_days", "condition", "exception"]
        made = self.made(fields, template, POLICY)
        assert json.loads(made)["text"] == "已发货订单在签收7天内可退货，生鲜商品除外。"
        assert check_fields(made, POLICY).findings == ()
        later = POLICY.replace("7", "14")
        assert json.loads(self.made(fields, template, later))["deadline_days"] == 14

    @pytest.mark.parametrize("field", ["z", "a.b[2]", "s.t", "[0]"])
    def test_a_field_that_is_missing_is_named(self, field: str) -> None:
        with pytest.raises(InvalidOption) as raised:
            self.made(["n", field])
        assert f"'{field}'" in str(raised.value)
        with pytest.raises(InvalidOption):
            self.made(["n"], f"x {{{field}}}")

    @pytest.mark.parametrize("source", ["", "1", "words", "{} {}", '{"a":', '"s"'])
    def test_what_is_not_one_document_is_refused(self, source: str) -> None:
        with pytest.raises(DocumentInvalid):
            self.made(["n"], source=source)

    @pytest.mark.parametrize("template", ["{", "}", "{a", "a}", "{}", "{a.}", "{{}", "{a{b}}"])
    def test_a_template_with_a_lone_brace_is_refused(self, template: str) -> None:
        with pytest.raises(InvalidOption):
            FieldsStrategy(("n",), template)

    @pytest.mark.parametrize("fields", [(), ("a", "a"), ("*",), ("a b",)])
    def test_what_names_no_fields_is_refused(self, fields: tuple[str, ...]) -> None:
        with pytest.raises(InvalidOption):
            FieldsStrategy(fields)

    def test_text_is_the_templates(self) -> None:
        with pytest.raises(InvalidOption):
            FieldsStrategy(("text",), "x")
        source = '{"text": "own"}'
        assert FieldsStrategy(("text",)).summarize(source.encode()) == source
        assert json.loads(FieldsStrategy(("$.text",), "x").summarize(source.encode())) == {
            "text": "x",
            "$.text": "own",
        }

    @given(
        st.dictionaries(
            st.text("abé_", min_size=1, max_size=4),
            st.none() | st.integers() | st.text() | st.lists(st.text(max_size=3), max_size=3),
            min_size=1,
            max_size=5,
        ),
        st.booleans(),
    )
    @settings(max_examples=80)
    def test_whatever_is_chosen_is_kept(self, document: dict[str, Any], is_ascii: bool) -> None:
        source = json.dumps(document, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
        made = FieldsStrategy(tuple(f"['{name}']" for name in document)).summarize(source)
        assert check_fields(made, source.decode()).findings == ()
        assert made == without_controls(made)


PROGRAM = """
import json, os, sys
text = sys.stdin.buffer.read()
print(len(text), os.environ["CTX_SUMMARY_OPTIONS"], os.environ.get("OTHER"), sys.argv[1:])
"""


def command(*words: str, **more: Any) -> Command:
    line = shlex.join([sys.executable, "-c", PROGRAM, *words])
    return Command(line, environment={**os.environ, "OTHER": "thing"}, **more)


class TestCommand:
    def test_gets_the_bytes_and_the_options(self) -> None:
        strategy = CommandStrategy(command("a b"), "short", 3, {"model": "é", "depth": 2})
        made = strategy.summarize("\ufeff订单\r\n".encode())
        assert made == '11 {"depth":2,"model":"\\u00e9"} thing [\'a b\']'

    def test_its_words_and_what_the_user_says_are_its_options_and_the_time_limit_is_not(self) -> None:
        strategy = CommandStrategy(command("a", seconds=5), "short", 3, {"model": "x"})
        assert strategy.options == {"command": command("a").words, "model": "x"}
        assert checked_options(strategy.options) == checked_options(
            CommandStrategy(command("a", seconds=9), "short", 3, {"model": "x"}).options
        )
        assert checked_options(strategy.options) != checked_options(
            CommandStrategy(command("b"), "short", 3, {"model": "x"}).options
        )

    def test_a_program_that_fails_is_no_summary(self) -> None:
        line = f"{shlex.quote(sys.executable)} -c 'raise SystemExit(4)'"
        with pytest.raises(SummarizerFailed, match="code 4"):
            CommandStrategy(Command(line, environment=dict(os.environ))).summarize(b"x")

    def test_bytes_that_are_no_text_start_no_program(self) -> None:
        with pytest.raises(DocumentInvalid, match="UTF-8"):
            CommandStrategy(Command("/nowhere/x", environment={})).summarize(b"a\xff")

    def test_what_it_can_not_be_called_or_told(self) -> None:
        for name, version, said in (
            ("Short", 1, {}),
            ("a", 0, {}),
            ("a", 1, {"command": "x"}),
            ("a", 1, {"A": "x"}),
        ):
            with pytest.raises(InvalidOption):
                CommandStrategy(command(), name, version, said)
        with pytest.raises(InvalidOption, match="environment"):
            CommandStrategy(Command("cat"))


class TestRegistry:
    @pytest.mark.parametrize("version", [None, 1])
    def test_makes_those_there_are(self, version: int | None) -> None:
        made = make_strategy("extract", version, {"characters": "300", "question": "who?"})
        assert (made.name, made.version) == ("extract", 1)
        assert made.options == {"characters": 300, "question": "who?"}
        assert make_strategy("extract", None, {}).options == {"characters": 2000}
        chosen = make_strategy("fields", version, {"fields": "a, b[0]", "template": "{a}"})
        assert chosen.options == {"fields": ("a", "b[0]"), "template": "{a}"}

    def test_each_name_and_version_is_the_strategys_own(self) -> None:
        given = {"extract": {}, "fields": {"fields": "a"}}
        for name, versions in STRATEGIES.items():
            for version in versions:
                made = make_strategy(name, version, given[name])
                assert (made.name, made.version) == (name, version)
                assert checked_options(made.options) == made.options

    def test_an_unknown_one_says_what_there_is(self) -> None:
        for name, version in (("short", None), ("extract", 2), ("short", 1)):
            with pytest.raises(InvalidOption) as raised:
                make_strategy(name, version, {})
            assert "extract@1" in str(raised.value.hint)
            assert "fields@1" in str(raised.value.hint)

    @pytest.mark.parametrize(
        ("name", "options"),
        [
            ("extract", {"chars": "3"}),
            ("extract", {"characters": "many"}),
            ("extract", {"characters": "199"}),
            ("extract", {"characters": "99999999"}),
            ("extract", {"question": " "}),
            ("fields", {}),
            ("fields", {"fields": ""}),
            ("fields", {"fields": "a", "question": "x"}),
            ("extract", {"characters": True}),
            ("extract", {"characters": 250.0}),
            ("extract", {"characters": None}),
            ("extract", {"question": 7}),
            ("fields", {"fields": ["a", 7]}),
            ("fields", {"fields": ("a",), "template": ("a",)}),
            ("extract", "characters=250"),
            (7, {}),
        ],
    )
    def test_what_is_no_option_is_refused(self, name: str, options: dict[str, Any]) -> None:
        with pytest.raises(InvalidOption):
            make_strategy(name, None, options)

    @pytest.mark.parametrize(
        ("name", "written", "meant"),
        [
            ("extract", {"characters": "250", "question": "x"}, {"characters": 250, "question": "x"}),
            ("fields", {"fields": "a,b[0]", "template": "{a}"}, {"fields": ["a", "b[0]"], "template": "{a}"}),
        ],
    )
    def test_options_as_a_key_has_them_mean_the_same(
        self, name: str, written: dict[str, Any], meant: dict[str, Any]
    ) -> None:
        made = make_strategy(name, 1, written)
        assert (
            made.options
            == make_strategy(name, 1, meant).options
            == make_strategy(name, 1, made.options).options
        )

    def test_a_program_has_any_other_name(self) -> None:
        made = make_strategy("short", 3, {"model": "x"}, command=command())
        assert (made.name, made.version) == ("short", 3)
        assert make_strategy("command", None, {}, command=command()).version == 1
        with pytest.raises(InvalidOption, match="castore's own"):
            make_strategy("extract", 1, {}, command=command())
