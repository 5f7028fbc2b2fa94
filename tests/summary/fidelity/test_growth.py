"""The check takes work that is linear in its texts, whatever they are: counted, not timed."""

from __future__ import annotations

import base64
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from castore.summary.fidelity.check import check_facts, check_text
from castore.summary.fidelity.clauses import compare as clauses
from castore.summary.fidelity.kinds import facts_of
from castore.summary.fidelity.likeliest import likeliest_pairs
from castore.summary.fidelity.tokens import compare as tokens
from castore.summary.fidelity.tokens import words
from castore.summary.fidelity.values.standing import Standing

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_HAN = "天地玄黄宇宙洪荒日盈昃辰宿列寒来暑往秋收冬藏闰余成岁律吕调阳云腾致雨露结为霜金生丽水玉出昆冈"


def _word(chance: random.Random, size: int = 7) -> str:
    return "".join(chance.choices(_LETTERS, k=size))


def _many(form: Callable[[random.Random], str], count: int, seed: int) -> str:
    chance = random.Random(seed)
    return "\n".join(form(chance) for _ in range(count))


def _han(chance: random.Random) -> str:
    one, two, three = ("".join(chance.choices(_HAN, k=4)) for _ in range(3))
    return f"如果{one}不得{two}，“{three}”除外，{chance.randrange(2, 900)}天内。"


FORMS: dict[str, Callable[[random.Random], str]] = {
    "quotes": lambda r: f'He said "{_word(r)} {_word(r)} {_word(r)}" to us.',
    "rules": lambda r: (
        f"You must not {_word(r)} the {_word(r)} within {r.randrange(900)} days unless {_word(r)}."
    ),
    "negations": lambda r: f"not {_word(r)} {_word(r)}",
    "paths": lambda r: f"{_word(r)}/{_word(r)}.py",
    "hexadecimal": lambda r: f"{r.getrandbits(128):032x}",
    "names": lambda r: f"and {_word(r).title()} {_word(r).title()} came",
    "mails": lambda r: f"{_word(r)}@{_word(r)}.com",
    "code": lambda r: f"`{_word(r)} {_word(r)}`",
    "numbers": lambda r: f"{_word(r)} {r.randrange(10**6)}",
    "firms": lambda r: "".join(r.choices(_HAN, k=4)) + "有限公司",
    "chinese": _han,
}
"""A line of a text of facts, of which another text has none."""


class _Counted:
    """Stands for a function, and counts its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.count = 0

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.count += 1
        return self.function(*given, **named)


class TestWhatIsHeldAgainstEachOtherIsBounded:
    """Pairs of facts that differ do not grow with the square of the facts."""

    @pytest.mark.parametrize("form", ["paths", "names", "numbers", "rules"])
    def test_of_many_facts_few_pairs_are_looked_into(
        self, form: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        looked = [_Counted(tokens.likeness), _Counted(clauses._common), _Counted(Standing.likeness)]
        monkeypatch.setattr(tokens, "likeness", looked[0])
        monkeypatch.setattr(clauses, "_common", looked[1])
        likeness = looked[2]
        monkeypatch.setattr(Standing, "likeness", lambda *given: likeness(*given))
        check_text(_many(FORMS[form], 600, 1), _many(FORMS[form], 600, 2))
        assert sum(each.count for each in looked) < 90_000 < 600 * 600

    @pytest.mark.parametrize(
        ("line", "kind"),
        [("The {} costs {} euros.", "money"), ("The file src/{}/part{}.py is new.", "path")],
    )
    def test_the_likeliest_are_found_among_very_many(self, line: str, kind: str) -> None:
        things = ["".join((a, b, c)) + "ing" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnpr"]
        source = "\n".join(line.format(thing, 1000 + at) for at, thing in enumerate(things))
        summary = "\n".join(line.format(thing, 9000 + at) for at, thing in enumerate(things))
        counts = check_text(summary, source).counts[kind]
        assert counts.changed > 0.9 * len(things)

    def test_pairs_share_a_mark_and_rarer_ones_go_first(self) -> None:
        one = [{"a", "x"}, {"b", "x"}, {"c"}]
        other = [{"b", "x"}, {"a", "x"}, {"d"}]
        assert likeliest_pairs(one, other, 2) == [(0, 1), (1, 0)]
        assert likeliest_pairs(one, other, 9) == [(0, 0), (0, 1), (1, 0), (1, 1)]
        many = [{"x"}] * 1000
        assert len(likeliest_pairs(many, many, 10**6)) <= 1000 * 8


class TestALongWordIsLookedAtOnce:
    """A picture in base64 is one word, however many capitals it has."""

    def test_not_for_each_of_its_capitals(self, monkeypatch: pytest.MonkeyPatch) -> None:
        blob = base64.b64encode(random.Random(1).randbytes(30_000)).decode()
        around = _Counted(words._word_around)
        monkeypatch.setattr(words, "_word_around", around)
        facts_of(f"See {blob} there.")
        assert around.count < 50

    def test_it_has_no_words(self) -> None:
        blob = base64.b64encode(random.Random(1).randbytes(3_000)).decode()
        source = f"The picture is {blob} and must not be shared with ACME Corp."
        assert not check_text("The picture must not be shared with ACME Corp.", source).findings


def _bytes(size: int) -> str:
    return base64.b64encode(random.Random(3).randbytes(3 * size // 4)).decode()


_AGAIN = (
    *(
        "a",
        "7",
        "A.",
        "1.",
        "1,",
        "1-",
        "1/",
        "1:",
        '"',
        "(",
        "[",
        "{",
        "`",
        "```",
        "a/",
        "\\",
        "a@",
        "a_",
        "aB",
    ),
    *(
        "()",
        "a()",
        "-",
        "%",
        "www.",
        "http://",
        "1e5",
        "Aa-",
        "A'",
        " ",
        "\n",
        '"a ',
        "` a",
        " 'a",
        "--a ",
        "$ a\n",
    ),
    *("的", "不", "如果", "除外", "一", "十百", "有限公司", "张", "《", "“", "中a", "中1", "条件："),
    *("not ", "n't ", "if ", "unless ", "within 7 days ", "deadline: ", "version 1 and ", "git "),
    *("one two ", "two and ", "jan 1 ", "monday "),
)


def _again(piece: str) -> Callable[[int], str]:
    return lambda size: piece * (size // len(piece))


HOSTILE: dict[str, Callable[[int], str]] = {
    **{repr(piece): _again(piece) for piece in _AGAIN},
    "capitals": lambda size: "A" * size + "0",
    "initials": lambda size: "A." * (size // 2) + "A0",
    "words": lambda size: "Ab Cd " * (size // 6) + "A0",
    "bytes": _bytes,
    "digits": lambda size: " ".join(str(random.Random(at).randrange(10**6)) for at in range(size // 7)),
}


@pytest.mark.long
class TestHostileTextsEnd:
    """Texts made to take long take seconds of the processor at most; what is quadratic takes minutes."""

    @pytest.mark.parametrize("name", HOSTILE)
    def test_one_thing_again_and_again(self, name: str) -> None:
        text = HOSTILE[name](200_000)
        begin = time.process_time()
        facts = facts_of(text)
        check_facts(facts_of(text[::-1]), facts)
        assert time.process_time() - begin < 30

    @pytest.mark.parametrize("form", FORMS)
    def test_two_texts_of_other_facts(self, form: str) -> None:
        begin = time.process_time()
        check_text(_many(FORMS[form], 4000, 1), _many(FORMS[form], 4000, 2))
        assert time.process_time() - begin < 30
