"""grep in a store: which objects, in what order, how much, and what it gives up on."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from castore import api
from castore.digest import Digest
from castore.errors import InvalidOption, LimitExceeded, ObjectDamaged, ObjectMissing
from castore.retrieve.grep import GrepOptions, Search, grep, grep_page, workers
from castore.retrieve.reading import read
from castore.store import Store
from tests.retrieve.searched import says

ROWS = [{"id": number, "status": 200, "note": None} for number in range(3000)]
LOG = "".join(f"2026-11-30 INFO done {number}\n" for number in range(900))
INNER = json.dumps({"rows": [{"n": number, "b": "x" * 30} for number in range(40)], "why": ['it said "no"']})


def with_row(at: int, **facts: object) -> list[dict[str, Any]]:
    return [row | facts if row["id"] == at else row for row in ROWS]


@pytest.fixture
def store(fast_path: Path) -> Iterator[Store]:
    store = Store.init(fast_path / ".ctxstore")
    yield store
    store.close()


def put(store: Store, value: object) -> Digest:
    data = (
        value
        if isinstance(value, bytes)
        else value.encode()
        if isinstance(value, str)
        else json.dumps(value).encode()
    )
    return api.put(store, data)


def words(store: Store, pattern: str, digest: Digest, **options: Any) -> list[list[str]]:
    return [hit.words[1:] for hit in grep(store, pattern, [digest], GrepOptions(**options))]


def children() -> set[str]:
    """The processes that this one has started and not waited for; others' tests have some, too."""
    return {pid for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()}


class TestAddresses:
    """The smallest that carries what is around the match."""

    def test_an_item_of_rows(self, store: Store) -> None:
        digest = put(store, with_row(2981, note="upstream reset"))
        assert words(store, "upstream", digest) == [["--items", "2981"]]
        (hit,) = grep(store, "upstream", [digest])
        assert hit.words == [digest.short, "--items", "2981"]
        assert (
            b"".join(read(store, digest, hit.address))
            == b'{"id": 2981, "status": 200, "note": "upstream reset"}\n'
        )
        assert hit.excerpt == '{"id": 2981, "status": 200, "note": "upstream reset"}'

    def test_inside_a_long_item(self, store: Store) -> None:
        rows = with_row(5, result={"note": {"why": "upstream reset"}, "all": "y" * 900})
        assert words(store, "upstream", put(store, rows)) == [["--select", "$[5].result.note"]]

    def test_a_name_and_its_value_in_a_long_item(self, store: Store) -> None:
        digest = put(store, with_row(5, state="failed", all="y" * 900))
        ((first, second, third, _),) = words(store, '"state": "failed"', digest)
        assert (first, second, third) == ("--items", "5", "--chars")

    def test_a_short_field_with_what_is_beside_it(self, store: Store) -> None:
        rows = [{"order": number, "buyer": f"b-{number}", "text": "y" * 900} for number in range(50)]
        digest = put(store, rows)
        assert words(store, "b-33", digest) == [["--items", "33", "--chars", "0:478"]]
        whole = [{**row, "text": "y" * 700} for row in rows]
        assert words(store, "b-33", put(store, whole)) == [["--items", "33"]]

    def test_a_name_with_what_it_is_the_name_of(self, store: Store) -> None:
        accounts = {f"acct-{number}": {"plan": "basic", "pin": "p" * 300} for number in range(50)}
        digest = put(store, {"accounts": accounts})
        (hit,) = grep(store, "acct-33", [digest])
        assert hit.words[1:3] == ["--select", "$.accounts"]
        assert (
            b"".join(read(store, digest, hit.address))
            == b'"acct-33": ' + json.dumps(accounts["acct-33"]).encode()
        )

    def test_a_line_of_a_log(self, store: Store) -> None:
        assert words(store, "done 812", put(store, LOG)) == [["--lines", "812"]]
        assert words(store, "done 812\n.*813", put(store, LOG)) == [["--lines", "812:814"]]

    def test_a_part_of_a_long_line(self, store: Store) -> None:
        digest = put(store, "one\n" + "x" * 3000 + "needle" + "y" * 3000 + "\n")
        assert words(store, "needle", digest) == [["--lines", "1", "--chars", "2800:3456"]]

    def test_a_line_of_what_a_string_says(self, store: Store) -> None:
        digest = put(store, [{"content": LOG + 'it said "needle"\n'}])
        assert words(store, 'said "needle"', digest) == [["--select", "$[0].content", "--lines", "900"]]

    def test_json_inside_a_string(self, store: Store) -> None:
        digest = put(store, [{"id": 1}, {"role": "tool", "content": INNER}])
        assert words(store, '"n": 33', digest) == [["--select", "$[1].content", "--select", "$.rows[33]"]]
        deeper = put(store, {"outer": json.dumps({"role": "tool", "content": INNER})})
        assert words(store, 'said "no"', deeper) == [
            ["--select", "$.outer", "--select", "$.content", "--select", "$.why"]
        ]

    def test_a_whole_that_is_short(self, store: Store) -> None:
        assert words(store, "needle", put(store, {"a": "needle"})) == [[]]
        assert words(store, "needle", put(store, ["a", "needle"])) == [["--items", "1"]]

    def test_a_string_of_its_own(self, store: Store) -> None:
        digest = put(store, json.dumps(LOG + "needle"))
        assert words(store, "needle", digest) == [["--select", "$", "--lines", "900"]]

    def test_names_that_are_no_words(self, store: Store) -> None:
        digest = put(store, {"a b's \\ 键": {"x": ["needle"], "y": "z" * 900}})
        (hit,) = grep(store, "needle", [digest])
        assert b"".join(read(store, digest, hit.address)) == b'["needle"]\n'

    def test_of_two_members_with_one_name_the_last_can_be_named(self, store: Store) -> None:
        for text in ('{"a": "needle", "a": 1, "z": "%s"}', '{"a": 1, "z": "%s", "a": "needle"}'):
            digest = put(store, text % ("z" * 900))
            (hit,) = grep(store, "needle", [digest])
            assert b"needle" in b"".join(read(store, digest, hit.address))

    def test_bytes(self, store: Store) -> None:
        digest = put(store, b"\xff\x00" * 400 + b"needle" + b"\x80" * 400)
        assert words(store, "needle", digest) == [["--bytes", "600:1206"]]

    def test_json_lines(self, store: Store) -> None:
        digest = put(store, "".join(json.dumps(row) + "\n" for row in with_row(77, note="订单失败")))
        assert words(store, "订单失败", digest) == [["--lines", "77"]]

    def test_one_hit_an_item(self, store: Store) -> None:
        digest = put(store, with_row(9, note="needle needle", more="needle"))
        assert words(store, "needle", digest) == [["--items", "9"]]

    def test_what_is_beside_it(self, store: Store) -> None:
        digest = put(store, LOG)
        (hit,) = grep(store, "done 812", [digest], GrepOptions(context=2))
        assert hit.words[1:] == ["--lines", "810:815"]
        assert hit.before == ("2026-11-30 INFO done 810", "2026-11-30 INFO done 811")
        assert hit.after == ("2026-11-30 INFO done 813", "2026-11-30 INFO done 814")
        assert b"".join(read(store, digest, hit.address)).count(b"\n") == 5
        assert words(store, '"id": 0,', put(store, ROWS), context=1) == [["--items", "0:2"]]


class TestWhatStringsSay:
    @pytest.mark.parametrize("depth", [0, 1, 2, 3])
    def test_however_deep(self, store: Store, depth: int) -> None:
        value: object = {"状态": '订单失败 said "no"\nnext'}
        for _ in range(depth):
            value = {"content": json.dumps(value)}
        digest = put(store, value)
        for pattern in ("订单失败", 'said "no"', '"no"\nnext', r"^next", r"no\"$"):
            assert len(words(store, pattern, digest)) == 1, pattern

    def test_a_string_begins_and_ends_as_a_line_does(self, store: Store) -> None:
        digest = put(store, with_row(7, note="Traceback here"))
        assert words(store, "^Traceback", digest) == [["--items", "7"]]
        assert words(store, "here$", digest) == [["--items", "7"]]
        assert words(store, "^here", digest) == []
        assert words(store, "^quoted", put(store, 'a "quoted" word')) == []

    def test_text_that_stands_for_itself(self, store: Store) -> None:
        digest = put(store, "C:\\users\\d\\next 100% \\u12 a+b (c)")
        assert words(store, "a+b (c)", digest, fixed=True) == [[]]
        assert words(store, r"\\users\\d", digest) == [[]]


class TestWhich:
    def test_all_newest_first_and_each_by_place(self, store: Store) -> None:
        first, second = put(store, ["needle 1", "needle 2"]), put(store, "needle 3")
        found = [(hit.digest, hit.words[1:]) for hit in grep(store, "needle")]
        assert found == [(second, []), (first, ["--items", "0"]), (first, ["--items", "1"])]

    def test_in_the_order_asked_for_each_once(self, store: Store) -> None:
        first, second = put(store, "needle 1"), put(store, "needle 2")
        assert [hit.digest for hit in grep(store, "needle", [first, second, first])] == [first, second]

    def test_the_same_from_one_process_and_from_several(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(200):
            put(store, f"needle {number}")
        with_forks = list(grep(store, "needle [0-9]*7$"))
        monkeypatch.setattr(workers, "may_fork", lambda: False)
        assert list(grep(store, "needle [0-9]*7$")) == with_forks
        assert len(with_forks) == 20

    def test_one_that_is_missing_or_damaged_is_told_after_the_others(self, store: Store) -> None:
        gone, damaged, whole = (
            put(store, "needle 1" * 99),
            put(store, "needle 2" * 99),
            put(store, "needle 3"),
        )
        _file(store, gone).unlink()
        path = _file(store, damaged)
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:-1] + b"?")
        search = Search(store, "needle", [gone, damaged, whole])
        assert [hit.digest for hit in search.hits()] == [whole]
        assert {type(each) for each in search.problems} == {ObjectMissing, ObjectDamaged}
        with pytest.raises(ObjectMissing):
            list(grep(store, "needle", [gone, whole]))
        assert [type(each) for each in _problems(store, None)] == [ObjectDamaged]

    def test_looking_is_no_use_of_an_object(self, store: Store) -> None:
        digest = put(store, "needle")
        list(grep(store, "needle"))
        assert store.life(digest).last_read is None


class TestPages:
    def test_pages_together_are_all_hits_once(self, store: Store) -> None:
        put(store, ROWS)
        put(store, LOG)
        everything = [hit.words for hit in grep(store, "9")]
        pages, skip = [], 0
        while True:
            page = grep_page(store, "9", None, GrepOptions(skip=skip), 4000)
            assert (
                sum(
                    len(json.dumps(each, ensure_ascii=False, separators=(",", ":"))) + 1 for each in page.hits
                )
                <= 4000
            )
            pages += [hit["address"] for hit in page.hits]
            if page.next_skip is None:
                break
            assert page.next_skip == skip + len(page.hits)
            assert page.left_out is not None
            skip = page.next_skip
        assert pages == everything

    @pytest.mark.parametrize(("length", "count"), [(300, 5), (700, 3)])
    def test_a_few_take_little(self, store: Store, length: int, count: int) -> None:
        """With what the first one reads they leave room for an overview; all five where that is little."""
        put(store, [{"id": number, "why": "needle " + "y" * length} for number in range(50)])
        page = grep_page(store, "needle", None, GrepOptions(hits_max=5))
        assert len(page.hits) == page.next_skip == count
        told = sum(len(json.dumps(each, separators=(",", ":"))) + 1 for each in page.hits)
        (first,) = grep(store, "needle", None, GrepOptions(hits_max=1))
        assert told <= 1250
        assert told + first.reads <= 1550
        assert len(page.hits[0]["excerpt"].encode()) > 80
        assert json.loads(json.dumps(page.hits)) == list(page.hits)

    def test_an_answer_has_one_hit_at_least(self, store: Store) -> None:
        put(store, ["needle " * 30] * 2)
        assert len(grep_page(store, "needle", None, None, 10).hits) == 1


class TestPatterns:
    def test_a_wrong_one_is_told_once_with_its_place(self, store: Store) -> None:
        with pytest.raises(InvalidOption) as told:
            list(grep(store, "a(b"))
        assert told.value.message.endswith("at character 1: '(b'")
        assert told.value.__cause__ is None
        with pytest.raises(InvalidOption, match="at character 0: '\\*a'"):
            list(grep(store, "*a"))

    def test_one_that_a_later_python_may_read_otherwise_is_no_warning(self, store: Store) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not list(grep(store, "[[a]"))


class TestLimits:
    PATTERN = "(a+)+$"

    @pytest.fixture(autouse=True)
    def forking(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Other tests of this process may have left idle threads, which would keep it from forking."""
        monkeypatch.setattr("castore.retrieve.grep.workers.may_fork", lambda: True)

    def test_a_pattern_that_takes_for_ever_is_given_up(self, store: Store) -> None:
        before = children()
        put(store, "a" * 60 + "!")
        with pytest.raises(LimitExceeded) as told:
            list(grep(store, self.PATTERN, None, GrepOptions(stuck_seconds_max=0.5)))
        assert told.value.fields["limit"] == "GREP_SECONDS_MAX"
        assert children() <= before

    def test_so_is_all_that_takes_too_long_together(self, store: Store) -> None:
        before = children()
        put(store, "a" * 60 + "!")
        with pytest.raises(LimitExceeded):
            list(grep(store, self.PATTERN, None, GrepOptions(seconds_max=0.5)))
        assert children() <= before

    def test_whoever_has_enough_leaves_no_process(self, store: Store) -> None:
        before = children()
        for number in range(300):
            put(store, f"needle {number}")
        hits = grep(store, "needle")
        assert next(hits) is not None
        hits.close()  # type: ignore[attr-defined]
        assert children() <= before

    @pytest.mark.parametrize(
        "pattern", ["(", "[a", "*", "a{2", "", "x" * 5000, "(" * 3000 + ")" * 3000, "(?P<a>.)(?P<a>.)"]
    )
    def test_what_is_no_pattern(self, store: Store, pattern: str) -> None:
        if pattern == "a{2":
            assert list(grep(store, pattern)) == []  # It is text, to Python.
            return
        with pytest.raises(InvalidOption):
            list(grep(store, pattern))

    @pytest.mark.parametrize("pattern", ["\udcff", "a\x00b", "\\ud800", "(?i)\ud83d"])
    def test_patterns_that_are_no_text(self, store: Store, pattern: str) -> None:
        put(store, b"\xff" * 99 + b'"\\ud800 a\\u0000b"')
        put(store, "\ud800 a\x00b".encode("utf-8", "surrogatepass"))
        for hit in grep(store, pattern):
            assert hit.excerpt.isprintable()


class TestLargeObjects:
    """Longer than what is held whole, on a disk, read by frames."""

    SIZE = 9 << 20

    def test_items(self, store: Store) -> None:
        rows = [{"id": number, "note": "x" * 60} for number in range(self.SIZE // 90)]
        for at in (0, 7, len(rows) // 2, len(rows) - 1):
            rows[at]["note"] = 'said "订单失败"'
        digest = put(store, rows)
        found = list(grep(store, 'said "订单失败"', [digest], GrepOptions(context=1)))
        assert [hit.words[1:] for hit in found] == [
            ["--items", "0:2"],
            ["--items", "6:9"],
            ["--items", f"{len(rows) // 2 - 1}:{len(rows) // 2 + 2}"],
            ["--items", f"{len(rows) - 2}:{len(rows)}"],
        ]
        for hit in found:
            assert says(b"".join(read(store, digest, hit.address)), 'said "订单失败"')

    def test_lines_and_long_items_and_other_json(self, store: Store) -> None:
        lines = [f"line {number} of it" for number in range(self.SIZE // 17)]
        lines[len(lines) // 2] += " needle"
        assert words(store, "needle", put(store, "\n".join(lines))) == [["--lines", str(len(lines) // 2)]]
        long = put(store, ["x" * (5 << 20), {"a": {"b": "needle"}, "c": "y" * (2 << 20)}, "z" * (3 << 20)])
        assert words(store, "needle", long) == [["--select", "$[1].a"]]
        other = put(store, {"a": "x" * self.SIZE, "b": "needle"})
        (hit,) = grep(store, "needle", [other])
        assert hit.words[1] == "--bytes"
        assert b"needle" in b"".join(read(store, other, hit.address))


def _problems(store: Store, digests: list[Digest] | None) -> list[Any]:
    search = Search(store, "needle", digests)
    list(search.hits())
    return search.problems


def _file(store: Store, digest: Digest) -> Path:
    return Path(store.folder) / "objects" / digest.hex[:2] / digest.hex
