"""The page of `ctx report`: what holds of its bytes, whatever was measured (and test_page_browser.py)."""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.errors import CastoreError
from castore.report import charts, sections, text
from castore.report.measure import measure
from castore.report.model import Listed, Moved, Pair, SessionFacts, Share
from castore.report.page import Facts, render_page
from tests.report.hostile import FLAG, TEXTS, hostile_session
from tests.transcript.growing import session

DOCUMENT = b'{"rows": [' + b", ".join(b'{"id": %d, "note": "row"}' % each for each in range(400)) + b"]}"
VOID = {"meta", "link", "br", "img", "input", "hr"}
HIDDEN_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\u2028\u2029]"
)


class Parsed(HTMLParser):
    """tags: with their attributes. styles, scripts: what stands in such elements. words: all other text."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words, self.styles, self.scripts = "", "", ""
        self.feed(page.decode("utf-8", "strict"))
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            self.styles += data
        elif self.open and self.open[-1] == "script":
            self.scripts += data
        else:
            self.words += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def page_of(*sources: Facts) -> bytes:
    return render_page(sources, "1.2.3")


@pytest.fixture(scope="module")
def growing() -> SessionFacts:
    facts = measure(session(60), "growing.jsonl")
    assert isinstance(facts, SessionFacts)
    return facts


@pytest.fixture(scope="module")
def hostile() -> SessionFacts:
    facts = measure(hostile_session(), f"{TEXTS['script']}.jsonl")
    assert isinstance(facts, SessionFacts)
    return facts


@pytest.fixture(scope="module")
def pages(growing: SessionFacts, hostile: SessionFacts) -> dict[str, bytes]:
    document = measure(DOCUMENT, "rows.json")
    empty = measure(session(1), "one.jsonl")
    return {
        "one": page_of(growing),
        "hostile": page_of(hostile),
        "document": page_of(document),
        "one turn": page_of(empty),
        "several": page_of(growing, hostile, document, empty),
    }


WHICH = ["one", "hostile", "document", "one turn", "several"]


class TestNothingRuns:
    @pytest.mark.parametrize("which", WHICH)
    def test_the_only_script_and_style_are_ours(self, pages: dict[str, bytes], which: str) -> None:
        parsed = Parsed(pages[which])
        (policy,) = [each["content"] for each in parsed.named("meta") if "http-equiv" in each]
        assert policy is not None
        for kind, inside in (("script", parsed.scripts), ("style", parsed.styles)):
            fingerprint = b64encode(sha256(inside.encode()).digest()).decode()
            assert f"{kind}-src 'sha256-{fingerprint}'" in policy
            assert len(parsed.named(kind)) == 1
        assert policy.startswith("default-src 'none'; ")
        assert FLAG not in parsed.scripts
        assert not re.search(r"unsafe|https?:|data:|\*", policy)

    @pytest.mark.parametrize("which", WHICH)
    def test_no_element_acts_or_fetches(self, pages: dict[str, bytes], which: str) -> None:
        parsed = Parsed(pages[which])
        assert not {name for name, _ in parsed.tags} & {
            "img",
            "link",
            "iframe",
            "object",
            "embed",
            "base",
            "form",
        }
        for name, attributes in parsed.tags:
            assert not [each for each in attributes if each.startswith("on") or each in ("src", "style")]
            if "href" in attributes:
                assert name == "a"
                assert re.fullmatch(r"#[a-z0-9-]+", attributes["href"] or "")
        assert not re.search(r"url\(|@import|expression", parsed.styles)
        assert not re.search(r"innerHTML|insertAdjacent|document\.write|eval|fetch|XMLHttp", parsed.scripts)

    def test_hostile_text_is_shown(self, pages: dict[str, bytes]) -> None:
        words = Parsed(pages["hostile"]).words
        for name in (
            "script",
            "end of script",
            "image",
            "attribute",
            "frame",
            "link",
            "section",
            "template",
            "entity",
        ):
            assert TEXTS[name] in words, name
        for code in (
            "\\u202e",
            "\\x00",
            "\\x1b",
            "\\ud800",
            "\\udfff",
            "\\u2028",
            "\\x7f",
            "\\ufeff",
            "\\U000e0041",
        ):
            assert code in words, code

    @pytest.mark.parametrize("which", WHICH)
    def test_nothing_hidden_stands_in_it(self, pages: dict[str, bytes], which: str) -> None:
        assert HIDDEN_CHARACTERS.search(pages[which].decode()) is None


class TestShown:
    @given(st.text(st.characters(codec=None), max_size=60))
    def test_is_safe_and_says_all(self, words: str) -> None:
        html = str(text.shown(words))
        html.encode("utf-8")
        assert HIDDEN_CHARACTERS.search(html) is None
        parsed = Parsed(html.encode())
        assert {name for name, _ in parsed.tags} <= {"span"}
        for character in words.replace("\r\n", "\n"):
            code = f"\\x{ord(character):02x}" if ord(character) < 0x100 else f"{ord(character):x}"
            assert character in parsed.words or code in parsed.words

    @given(st.text(st.characters(codec=None), max_size=60))
    def test_a_title_is_one_line(self, words: str) -> None:
        plain = text.plain(words)
        plain.encode("utf-8")
        assert HIDDEN_CHARACTERS.search(plain) is None
        assert "\n" not in plain

    @pytest.mark.parametrize(
        ("part", "whole", "words"),
        [
            (0, 9, "0 %"),
            (1, 100_000, "< 0.1 %"),
            (42, 1000, "4.2 %"),
            (876, 1000, "88 %"),
            (9999, 10_000, "> 99.9 %"),
            (9, 9, "100 %"),
        ],
    )
    def test_shares(self, part: int, whole: int, words: str) -> None:
        assert text.percent_text(part, whole).replace("\u00a0", " ") == words


class TestIsReadable:
    """What a screen reader, a keyboard and a person without colours need."""

    @pytest.mark.parametrize("which", WHICH)
    def test_ids_are_unique_and_references_lead_somewhere(self, pages: dict[str, bytes], which: str) -> None:
        tags = Parsed(pages[which]).tags
        ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
        assert len(ids) == len(set(ids))
        for _, attributes in tags:
            for name in ("aria-labelledby", "aria-describedby", "aria-controls", "for"):
                if attributes.get(name):
                    assert attributes[name] in ids
            if "href" in attributes:
                assert (attributes["href"] or "")[1:] in ids

    @pytest.mark.parametrize("which", WHICH)
    def test_tables_and_charts_say_what_they_are(self, pages: dict[str, bytes], which: str) -> None:
        parsed = Parsed(pages[which])
        assert parsed.named("html")[0]["lang"] == "en"
        assert len(parsed.named("table")) == len(parsed.named("caption"))
        assert len(parsed.named("h1")) == len(parsed.named("main")) == 1
        assert all(each.get("scope") in ("col", "row") for each in parsed.named("th"))
        for each in parsed.named("svg"):
            assert each.get("aria-hidden") == "true" or each.get("aria-label")
        for _, attributes in parsed.tags:
            if attributes.get("role") == "region":
                assert attributes["tabindex"] == "0"
                assert attributes["aria-label"]

    @pytest.mark.parametrize("which", WHICH)
    def test_headings_skip_no_level(self, pages: dict[str, bytes], which: str) -> None:
        levels = [int(name[1]) for name, _ in Parsed(pages[which]).tags if re.fullmatch("h[1-6]", name)]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))

    @pytest.mark.parametrize("is_dark", [False, True])
    def test_contrast(self, pages: dict[str, bytes], is_dark: bool) -> None:
        light, dark = re.findall(r":root \{(.*?)\}", Parsed(pages["one"]).styles, re.S)[:2]
        colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", light))
        if is_dark:
            colours |= dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", dark))
        for ground in ("paper", "raised", "faint"):
            for ink in ("ink", "soft", "accent"):
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        assert contrast(colours["accent-ink"], colours["accent"]) >= 4.5
        for kind in (*map(str, Share), "left"):
            assert contrast(colours[kind], colours["paper"]) >= 2.2, kind


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


class TestTellsTheFacts:
    def test_of_a_session(self, growing: SessionFacts, pages: dict[str, bytes]) -> None:
        words = Parsed(pages["one"]).words
        for strategy in growing.strategies:
            assert strategy.strategy in words
        for moved in growing.moved.shown:
            assert f"ctx cat {moved.words[1]}" in words
        assert growing.moved.shown
        assert len(Parsed(pages["one"]).named("button")) == len(growing.moved.shown)
        for repeat in growing.repeats.shown[:5]:
            assert (repeat.path or repeat.excerpt) in words
        for pair in growing.pairs.shown:
            if pair.kind is Share.USER:
                assert pair.text in words
        assert f"{growing.size:,}" in words

    def test_of_several_there_is_a_list_at_the_top(self, pages: dict[str, bytes]) -> None:
        parsed = Parsed(pages["several"])
        links = [each["href"] for each in parsed.named("a")]
        assert [each for each in links if re.fullmatch(r"#s\d", each or "")] == ["#s1", "#s2", "#s3", "#s4"]
        assert [each["id"] for each in parsed.named("article")] == ["s1", "s2", "s3", "s4"]

    def test_is_the_same_each_time(self, growing: SessionFacts, pages: dict[str, bytes]) -> None:
        assert page_of(growing) == pages["one"]

    def test_a_column_says_its_turns(self, growing: SessionFacts) -> None:
        (section,) = sections.sections([growing])
        assert section.by_size is not None
        assert isinstance(section.by_size.drawn, charts.Columns)
        assert len(section.by_size.drawn.columns) == len(section.turn_rows)
        assert sum(row.size for row in section.turn_rows) == sum(each.size for each in growing.turn_facts)
        assert section.by_size.drawn.columns[0].title.startswith(("Turn", "Before"))


class TestIsBounded:
    BAD = "<\u202e" * 80
    """Each character of it takes many bytes of a page."""

    def long(self, facts: SessionFacts, count: int) -> SessionFacts:
        """As many of everything as there can be, with the worst of texts."""
        moved: Moved = replace(facts.moved.shown[0], excerpt=self.BAD, label=self.BAD, tool=self.BAD)
        pair: Pair = replace(facts.pairs.shown[0], text=self.BAD * 25, shown=self.BAD * 25)
        payload = replace(facts.payloads.shown[0], excerpt=self.BAD)
        return replace(
            facts,
            moved=Listed((moved,) * count, count),
            pairs=Listed((pair,) * count, count),
            payloads=Listed((payload,) * count, count),
            turn_facts=facts.turn_facts * 20,
        )

    def test_whatever_the_texts_are(self, growing: SessionFacts) -> None:
        page = page_of(self.long(growing, 1000))
        assert 1_000_000 < len(page) < 3_000_000
        assert b"1,000 parts moved out; the first" in page
        assert re.search(rb"[0-9,]+ parts are not shown here", page)

    def test_many_sources_share_it(self, growing: SessionFacts) -> None:
        assert len(page_of(*[self.long(growing, 100)] * 12)) < 4_000_000

    def test_more_of_it_is_shown_with_shorter_texts(self, growing: SessionFacts) -> None:
        (section,) = sections.sections([self.long(growing, 300)])
        shown = section.facts
        assert isinstance(shown, SessionFacts)
        assert shown.pairs.shown
        assert len(shown.pairs.shown[0].text) == sections.BEGINNING_CHARACTERS


class TestCharts:
    AMOUNTS = st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(0, 10**12)), max_size=40)

    @given(AMOUNTS)
    def test_columns_stand_in_the_box(self, amounts: list[dict[str, int]]) -> None:
        drawn = charts.columns(amounts, [str(each) for each in amounts], "abc")
        assert drawn.ticks[0] >= max((sum(each.values()) for each in amounts), default=0)
        assert drawn.ticks[-1] == 0
        for column, each in zip(drawn.columns, amounts, strict=True):
            assert bool(column.segments) == (sum(each.values()) > 0)
            for segment in column.segments:
                assert -0.1 <= segment.y <= segment.y + segment.height <= charts.HEIGHT + 0.1
                assert (
                    column.x - 0.1 <= segment.x <= segment.x + segment.width <= column.x + column.width + 0.1
                )
            if column.segments:
                assert sum(segment.height for segment in column.segments) >= 0.9

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
    def test_a_curve_goes_from_edge_to_edge(self, shares: list[float]) -> None:
        drawn = charts.curve(shares, [str(each) for each in shares])
        points = [tuple(map(float, each[1:].split())) for each in re.split(" (?=[ML])", drawn.line)]
        assert points[0][0] == 0
        assert points[-1][0] == charts.WIDTH
        assert all(0 <= y <= charts.HEIGHT for _, y in points)
        assert len(drawn.points) == len(shares)
        assert abs(sum(each.width for each in drawn.points) - charts.WIDTH) < 1

    @given(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 1000)), st.integers(0, 500))
    def test_a_bar_fits(self, amounts: dict[str, int], more: int) -> None:
        whole = sum(amounts.values()) + more
        drawn = charts.share_bar(amounts, whole, "abcdef")
        assert {each.key for each in drawn.segments} == {key for key, amount in amounts.items() if amount}
        assert all(0 <= each.x <= each.x + each.width <= charts.WIDTH + 0.1 for each in drawn.segments)
        assert drawn.rest >= -0.1

    @given(st.integers(0, 5000), st.integers(1, 200))
    def test_groups_are_of_neighbours(self, count: int, most: int) -> None:
        found = charts.groups(count, most)
        assert [each for group in found for each in group] == list(range(count))
        assert len(found) <= most


def test_without_the_library_the_error_says_what_to_install(
    growing: SessionFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(CastoreError) as told:
        page_of(growing)
    assert told.value.hint == "pip install jinja2"
