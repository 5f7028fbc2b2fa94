"""The page of `ctx report` in a browser: by mouse, by keyboard, in the dark, on a phone, without its script.

Nothing is ever fetched, nothing of a session runs, and the console stays empty.
"""

from __future__ import annotations

import shutil
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from castore.report.measure import measure
from castore.report.page import render_page
from tests.report.hostile import FLAG, TEXTS, hostile_session
from tests.transcript.growing import session

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome")

Look = Callable[..., Any]
"""Opens a page by its name, with options of a browser's context."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"no browser is installed: none of {', '.join(NAMES)}")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    growing, hostile = (
        measure(session(40), "growing.jsonl"),
        measure(hostile_session(), f"{TEXTS['script']}.jsonl"),
    )
    document = measure(b'{"rows": [' + b"1, " * 3000 + b"2]}", "rows.json")
    folder, found = tmp_path_factory.mktemp("pages"), {}
    for name, sources in (("one", [growing]), ("several", [growing, hostile, document])):
        found[name] = folder / f"{name}.html"
        found[name].write_bytes(render_page(sources, "1.2.3"))
    return found


@pytest.fixture
def look(browser: Any, pages: dict[str, Path]) -> Iterator[Look]:
    """After the test: nothing was asked for but the page itself, and the console is empty."""
    asked: list[str] = []
    told: list[str] = []
    contexts = []

    def open_page(name: str, **options: Any) -> Any:
        context = browser.new_context(**({"viewport": {"width": 1200, "height": 800}} | options))
        contexts.append(context)
        address = pages[name].as_uri()

        def decide(route: Any) -> None:
            if route.request.url.partition("#")[0] == address:
                route.continue_()
            else:
                asked.append(route.request.url)
                route.abort()

        context.route("**/*", decide)
        page = context.new_page()
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("dialog", lambda dialog: (told.append(dialog.message), dialog.dismiss()))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            assert page.evaluate(f"window.{FLAG}") is None
        context.close()
    assert asked == []
    assert told == []


def brightness(png: bytes) -> int:
    """Of a picture of one pixel: the sum of red, green, and blue."""
    packed, at = b"", 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        packed += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += length + 12
    return sum(zlib.decompress(packed)[1:4])  # Whatever the filter, it is of zeros.


class TestCopying:
    def test_a_click_copies_the_command(self, look: Look) -> None:
        page = look("one", permissions=["clipboard-read", "clipboard-write"])
        button = page.locator("#s1-moved button.copy").nth(2)
        command = page.locator("#s1-moved .command code").nth(2).inner_text()
        button.click()
        playwright.expect(button).to_have_text("Copied")
        assert page.locator("#said").inner_text() == "Copied"
        assert page.evaluate("navigator.clipboard.readText()") == command
        assert command.startswith("ctx cat ")

    def test_where_the_clipboard_is_refused_the_command_is_selected(self, look: Look) -> None:
        page = look("one")
        page.evaluate(
            """() => {
              navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
              document.execCommand = () => false;
            }"""
        )
        page.locator("#s1-moved button.copy").first.click()
        playwright.expect(page.locator("#s1-moved button.copy").first).to_have_text("Selected")
        selected = page.evaluate("getSelection().toString()")
        assert selected == page.locator("#s1-moved .command code").first.inner_text()


class TestTables:
    def numbers(self, page: Any) -> list[int]:
        cells = page.locator("#s1-moved tbody tr").locator("td:nth-child(3)")
        return cells.evaluate_all("all => all.map(each => Number(each.dataset.v))")

    def test_a_click_sorts(self, look: Look) -> None:
        page = look("one")
        before = self.numbers(page)
        head = page.locator("#s1-moved th", has_text="Bytes")
        head.locator("button").click()
        assert self.numbers(page) == sorted(before, reverse=True) != before
        assert head.get_attribute("aria-sort") == "descending"
        head.locator("button").click()
        assert self.numbers(page) == sorted(before)
        assert head.get_attribute("aria-sort") == "ascending"

    def test_what_is_looked_for_stands_alone(self, look: Look) -> None:
        page = look("one")
        code = page.locator("#s1-moved tbody .command code").last.inner_text()
        page.get_by_label("Find in this table").fill(code[-16:].upper())
        rows = page.locator("#s1-moved tbody tr:visible")
        playwright.expect(rows).to_have_count(1)
        assert code in rows.inner_text()
        assert page.locator("#s1-moved output").inner_text().startswith("1 of ")


class TestCharts:
    def test_a_pointer_and_the_keys_read_it(self, look: Look) -> None:
        page = look("one")
        chart = page.locator("#s1-turns .of-bytes .chart")
        readout = page.locator("#s1-turns .of-bytes .readout")
        chart.locator(".col").nth(3).hover()
        titles = chart.locator(".col title").all_text_contents()
        playwright.expect(readout).to_have_text(titles[3])
        page.mouse.move(5, 5)
        chart.focus()
        page.keyboard.press("End")
        playwright.expect(readout).to_have_text(titles[-1])
        page.keyboard.press("ArrowLeft")
        playwright.expect(readout).to_have_text(titles[-2])
        page.keyboard.press("Home")
        playwright.expect(readout).to_have_text(titles[0])

    def test_bytes_or_tokens(self, look: Look) -> None:
        page = look("one")
        bytes_figure, tokens_figure = page.locator(".of-bytes"), page.locator(".of-tokens")
        assert bytes_figure.is_visible()
        assert not tokens_figure.is_visible()
        page.get_by_text("Tokens", exact=True).locator("visible=true").nth(1).click()
        assert tokens_figure.is_visible()
        assert not bytes_figure.is_visible()


class TestKeyboard:
    def test_tab_goes_through_and_is_seen(self, look: Look) -> None:
        """The link that skips is first; each stop has an outline; a folded part opens by a key."""
        page = look("one")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        playwright.expect(page.locator(".skip")).to_be_in_viewport()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        met = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            met.add(page.evaluate(_STOP))
        assert {"A ", "INPUT to-bytes", "DIV chart", "SUMMARY ", "DIV scroll", "BUTTON sort"} <= {
            each.removesuffix(" seen") for each in met
        }
        assert all(each.endswith(" seen") for each in met), met

    def test_a_folded_part_opens_by_a_key(self, look: Look) -> None:
        page = look("one")
        summary = page.locator("details.group > summary").last
        summary.focus()
        page.keyboard.press("Enter")
        assert page.locator("details.group").last.get_attribute("open") is not None
        assert page.locator("details.group").last.locator(".pair").first.is_visible()


_STOP = """() => {
  const at = document.activeElement;
  const shown = at.matches("input[type=radio]") ? at.nextElementSibling : at;
  const {outlineStyle, outlineWidth} = getComputedStyle(shown);
  const isSeen = outlineStyle === "solid" && outlineWidth === "3px";
  return `${at.tagName} ${at.className}${isSeen ? " seen" : ""}`;
}"""


class TestWhereverItIsShown:
    @pytest.mark.parametrize("name", ["one", "several"])
    def test_on_a_phone_nothing_sticks_out(self, look: Look, name: str) -> None:
        page = look(name, viewport={"width": 360, "height": 700})
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") == 360

    def test_on_a_desk_no_table_is_cut(self, look: Look) -> None:
        page = look("one", viewport={"width": 1280, "height": 800})
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        cut = [
            region.get_attribute("aria-label")
            for region in page.query_selector_all(".scroll")
            if region.evaluate("each => each.scrollWidth > each.clientWidth")
        ]
        assert cut in ([], ["Turns"])  # A column a kind.

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_on_a_phone_it_is_seen_where_a_table_goes_on(self, look: Look, scheme: str) -> None:
        """A shadow at the right, which is gone at the end."""
        page = look("one", viewport={"width": 360, "height": 640}, color_scheme=scheme)
        region = page.locator("#s1-payloads .scroll")
        region.scroll_into_view_if_needed()

        def edge() -> int:
            box = region.bounding_box()
            clip = {"x": box["x"] + box["width"] - 3, "y": box["y"] + 20, "width": 1, "height": 1}
            return brightness(page.screenshot(clip=clip))

        there = edge()
        region.evaluate("each => { each.scrollLeft = each.scrollWidth }")
        page.wait_for_timeout(100)
        assert edge() - there > 15

    def test_on_a_phone_rows_are_short(self, look: Look) -> None:
        page = look("one", viewport={"width": 360, "height": 640})
        for table in ("payloads", "moved"):
            rows = page.query_selector_all(f"#s1-{table} tbody tr")
            assert max(row.bounding_box()["height"] for row in rows) < 90

    def test_in_the_dark(self, look: Look) -> None:
        page = look("one", color_scheme="dark")
        colours = page.evaluate(
            "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))"
        )
        ink, paper = ([int(each) for each in colour[4:-1].split(",")] for colour in colours)
        assert min(ink) > 200
        assert max(paper) < 40

    def test_on_paper_it_is_light_and_nothing_sticks_out(self, look: Look) -> None:
        page = look("one", color_scheme="dark", viewport={"width": 720, "height": 1000})
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 31, 35)"
        assert page.evaluate("document.documentElement.scrollWidth") == 720
        assert not page.locator(".copy").first.is_visible()

    @pytest.mark.parametrize("name", ["one", "several"])
    def test_without_its_script_all_is_there(self, look: Look, name: str) -> None:
        page = look(name, java_script_enabled=False)
        assert page.locator("#s1-moved tbody tr").first.is_visible()
        assert page.locator("#s1-moved .command code").first.inner_text().startswith("ctx cat ")
        assert page.locator("button:visible").count() == page.locator(".find:visible").count() == 0
        page.locator("details.more > summary").first.click()
        assert page.locator("details.more table").first.is_visible()

    def test_what_a_hostile_session_says_is_read(self, look: Look) -> None:
        page = look("several")
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        words = page.locator("#s2").inner_text()
        for name in ("script", "end of script", "image", "attribute", "frame", "template"):
            assert TEXTS[name] in words, name
        page.mouse.move(600, 400)
        page.locator("#s2-name").click()
        assert page.locator("#s2 img, #s2 iframe, #s2 script, #s2 style, #s2 link").count() == 0

    def test_the_policy_refuses_what_is_not_ours(self, browser: Any, pages: dict[str, Path]) -> None:
        """So it would hold, too, if something were not escaped."""
        page = browser.new_page()
        page.goto(pages["one"].as_uri())
        ran = page.evaluate(
            f"""() => {{
              let refused = 0;
              document.addEventListener("securitypolicyviolation", () => {{ refused += 1; }});
              const script = document.createElement("script");
              script.textContent = "window.{FLAG} = 1";
              document.body.append(script);
              return new Promise(done => setTimeout(() => done([window.{FLAG}, refused]), 100));
            }}"""
        )
        assert ran == [None, 1]
        page.close()
