"""Paths, commands, code, URLs, e-mail addresses, identifiers, quotations and names: what is one, and what
became of it in a summary."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castore.summary.fidelity.model import Facts, Text
from castore.summary.fidelity.tokens import extract as tokens
from castore.summary.fidelity.tokens.compare import TOKENS, compare


def facts(text: str) -> Facts:
    read = Text(text)
    return Facts(read, tokens.extract(read))


def found(text: str) -> dict[str, list[str]]:
    """The words of its facts, by kind."""
    here = facts(text)
    return {kind: [here.words(fact) for fact in here.of(kind).values()] for kind in TOKENS if here.of(kind)}


def judged(source: str, summary: str) -> list[str]:
    """What is told: `lost kind words`, `changed kind words > words`, `invented kind words`."""
    one, two = facts(source), facts(summary)
    told = []
    for kind in TOKENS:
        compared = compare(kind, one, two)
        told += [f"lost {kind} {one.words(fact)}" for fact in compared.lost]
        told += [
            f"changed {kind} {one.words(fact)} > {two.text.raw[start:end]}"
            for fact, (start, end) in compared.changed
        ]
        told += [f"invented {kind} {two.words(fact)}" for fact in compared.invented]
    return told


FOUND = [
    # Paths.
    ("See src/auth/login.py for it.", {"path": ["src/auth/login.py"]}),
    ("It is in src/auth/login.py:120.", {"path": ["src/auth/login.py"]}),
    ("edit /etc/nginx/nginx.conf, then", {"path": ["/etc/nginx/nginx.conf"]}),
    ("the folder /var/log holds it", {"path": ["/var/log"]}),
    ("in ~/.config/quill/config.toml", {"path": ["~/.config/quill/config.toml"]}),
    ("in (./run.sh)", {"path": ["./run.sh"]}),
    ("from ../shared/a.txt on", {"path": ["../shared/a.txt"]}),
    ("see README.md.", {"path": ["README.md"]}),
    ("see `Makefile.am` and .env", {"path": [".env"], "code": ["Makefile.am"]}),
    ("at C:\\Users\\bob\\x.txt", {"path": ["C:\\Users\\bob\\x.txt"]}),
    ("call `/v2/records/batch` twice", {"path": ["/v2/records/batch"]}),
    ("GET /v1/users and", {"path": ["/v1/users"]}),
    ("all of tests/unit/*.py", {"path": ["tests/unit/*.py"]}),
    ("数据在 /data/warehouse/ods，已跳过", {"path": ["/data/warehouse/ods"]}),
    ("报500：logs/app.log 里", {"path": ["logs/app.log"]}),
    ("日志写到/var/log/web.log。", {"path": ["/var/log/web.log"]}),
    ("branch fix/date-order is", {"path": ["fix/date-order"]}),
    ("$HOME/.fastgrid/config.yml is", {"path": ["$HOME/.fastgrid/config.yml"]}),
    # Commands.
    ("Run `npm run build` now", {"command": ["npm run build"]}),
    ("then git push origin main and rest", {"command": ["git push origin main"]}),
    ("first pip install fastgrid==2.3.1, then", {"command": ["pip install fastgrid==2.3.1"]}),
    ("$ kubectl get pods -n web\nok", {"command": ["kubectl get pods -n web"]}),
    ("```bash\n# first\nmake all\nmake test\n```", {"command": ["make all", "make test"]}),
    ("```\n$ ctx gc\nfreed\n$ ctx verify\n```", {"command": ["ctx gc", "ctx verify"]}),
    ("请先执行 `docker compose up -d`。", {"command": ["docker compose up -d"]}),
    ("`marlin upload --resume FILE` goes on", {"command": ["marlin upload --resume FILE"]}),
    # Code.
    ("the key max_retries is", {"code": ["max_retries"]}),
    ("`retry=False` turns", {"code": ["retry=False"]}),
    ("calls getUserById() twice", {"code": ["getUserById()"]}),
    ("with parseDate in it", {"code": ["parseDate"]}),
    ("pass --dry-run to it", {"code": ["--dry-run"]}),
    ("the header `Retry-After` says", {"code": ["Retry-After"]}),
    ("set DATABASE_URL first", {"code": ["DATABASE_URL"]}),
    ("os.path.join is used", {"code": ["os.path.join"]}),
    ("```python\nx = 1\ny = 2\n```", {"code": ["x = 1\ny = 2"]}),
    ("字段 `content` 的", {"code": ["content"]}),
    ("配置项max_connections误设", {"code": ["max_connections"]}),
    # URLs and hosts.
    ("at https://x.example/a?b=1#c.", {"url": ["https://x.example/a?b=1#c"]}),
    ("(https://x.example/a)", {"url": ["https://x.example/a"]}),
    ("[page](https://x.example/a_(b))", {"url": ["https://x.example/a_(b)"]}),
    ("见https://a.example/b。", {"url": ["https://a.example/b"]}),
    ("链接：https://a.example/b，请看", {"url": ["https://a.example/b"]}),
    ("on www.lumo.example/register", {"url": ["www.lumo.example/register"]}),
    ("at github.com/iti/loramesh now", {"url": ["github.com/iti/loramesh"]}),
    ("host status.acme.io is up", {"url": ["status.acme.io"]}),
    ("to s3://vault-eu/nightly", {"url": ["s3://vault-eu/nightly"]}),
    ("on localhost:8080 now", {"url": ["localhost:8080"]}),
    # E-mail.
    ("write to a.b+c@x-y.example.", {"email": ["a.b+c@x-y.example"]}),
    ("邮箱：hr@haitang.example，", {"email": ["hr@haitang.example"]}),
    ("<mailto:x@y.example>", {"email": ["x@y.example"]}),
    # Identifiers.
    ("ticket INC-20418 is", {"identifier": ["INC-20418"]}),
    ("see #1843, and", {"identifier": ["#1843"]}),
    ("because of CVE-2024-12797.", {"identifier": ["CVE-2024-12797"]}),
    ("commit 9f3c1ab is", {"identifier": ["9f3c1ab"]}),
    (
        "id 123e4567-e89b-12d3-a456-426614174000,",
        {"identifier": ["123e4567-e89b-12d3-a456-426614174000"]},
    ),
    ("sha256:3f9ac01b77de is", {"identifier": ["sha256:3f9ac01b77de"]}),
    ("error E1234 on web-prod-03", {"identifier": ["E1234", "web-prod-03"]}),
    ("order 88213 was", {"identifier": ["88213"]}),
    ("code 0x80070057 was", {"identifier": ["0x80070057"]}),
    ("log in to 10.20.3.15 first", {"identifier": ["10.20.3.15"]}),
    ("call 400-820-5533 or +1 (415) 555-0100", {"identifier": ["+1 (415) 555-0100", "400-820-5533"]}),
    ("flight UA 982 goes", {"identifier": ["UA 982"]}),
    ("合同号HT-2025-0612的", {"identifier": ["HT-2025-0612"]}),
    ("报价单QT-0752-03：1250件", {"identifier": ["QT-0752-03"]}),
    ("card 6222 0812 3456 7890 is", {"identifier": ["6222 0812 3456 7890"]}),
    # Quotations.
    ('he wrote: "We never share data."', {"quote": ["We never share data."]}),
    ("the so-called “fast path” is", {"quote": ["fast path"]}),
    ("it says 'do not open' there", {"quote": ["do not open"]}),
    ("标志“高压危险”和「小心」", {"quote": ["高压危险", "小心"]}),
    # Names.
    ("we asked Alice Chen to", {"name": ["Alice Chen"]}),
    ("we asked Dr. Sarah Mitchell to", {"name": ["Sarah Mitchell"]}),
    ("with Harbor Logistics GmbH in Hamburg", {"name": ["Harbor Logistics GmbH", "Hamburg"]}),
    ("it uses PostgreSQL and Redis", {"name": ["PostgreSQL", "Redis"]}),
    ("Maria agreed.", {"name": ["Maria"]}),
    ("GitHub is down.", {"name": ["GitHub"]}),
    ("ACME pays.", {"name": ["ACME"]}),
    ("- Owner: Priya", {"name": ["Priya"]}),
    ("a Node.js server", {"name": ["Node.js"]}),
    ("the University of Oslo said", {"name": ["University of Oslo"]}),
    ("使用Redis缓存", {"name": ["Redis"]}),
    ("董事长何立群表示", {"name": ["何立群"]}),
    ("联系人：李娜。", {"name": ["李娜"]}),
    ("由赵明远负责", {"name": ["赵明远"]}),
    ("参会：周莉（主持）、马骏、Kevin Tan", {"name": ["Kevin Tan", "周莉", "马骏"]}),
    ("下榻锦江宾馆，", {"name": ["锦江宾馆"]}),
    ("教材为《算法导论》。", {"name": ["算法导论"]}),
]

NOTHING = [
    "Read and/or write, 24/7, at 5 km/h; his/her TCP/IP, N/A and w/o.",
    "Over 2026/11/30 and 2026-11-30, 10-15 items, 3.5 GB, v1.2.0, 1e10.",
    "I will explain. The plan is done. Customers may pay. Refunds are due.",
    "On Monday in May, the API returned JSON over HTTP. OK?",
    "This Agreement binds the Customer and the Supplier.",
    "# Refund Policy\n\nNotes:\n1. Payment\n2. Shipping\n",
    "Don't worry; it's the team's plan, isn't it? 'Tis so.",
    'The Licensor ("Owner") and the Licensee (the "User").',
    '{"version": "v1", "deadline_days": 7, "condition": "已发货订单"}'.replace("deadline_days", "days"),
    'a 5" screen and a 7" screen',
    "mid-2026, top-10, under-18, a 7-day trial, step-2",
    "</command-name> and <br/>",
    "He said e.g. this, i.e. that, etc. and so on.",
    "$5/month or $1,200.50 for 1,000 units, i.e. 10%.",
    "高温天气请注意安全，方便时常温保存，任何时间都可以。",
    "本公司不承担责任，公立医院除外。",
    "已发货订单在签收7天内可退货，生鲜商品除外。",
    "",
]


class TestWhatIsAFact:
    @pytest.mark.parametrize(("text", "wanted"), FOUND, ids=[text[:40] for text, _ in FOUND])
    def test_has_its_kind_and_its_words(self, text: str, wanted: dict[str, list[str]]) -> None:
        assert found(text) == wanted

    @pytest.mark.parametrize("text", NOTHING)
    def test_is_not_what_no_reader_would_miss(self, text: str) -> None:
        assert found(text) == {}

    def test_leaves_no_numbers_of_it_to_others_but_those_of_quotations(self) -> None:
        text = Text('At https://x.example/2 order INC-20, `a=3`, src/4.py; he said "5 days".')
        list(tokens.extract(text))
        assert "".join(each for each, taken in zip(text.raw, text.taken, strict=True) if not taken) == (
            'At  order , , ; he said "5 days".'
        )


SAME = [
    ("`npm test`", "npm test"),
    ("`parse()`", "`parse`"),
    ("INC-2041", "INC 2041"),
    ("INC-2041", "INC2041"),
    ("https://www.x.example/a/", "http://x.example/a"),
    ("https://x.example/a", "x.example/a"),
    ("A@X.example", "a@x.example"),
    ("src/auth/login.py", "login.py"),
    ("./src/auth/login.py", "src/auth/login.py"),
    ("/home/me/proj/src/a.py", "src/a.py"),
    ("commit 3f9ac01b77de4c", "commit 3f9ac01"),
    ("id 123e4567-e89b-12d3-a456-426614174000", "id 123e4567"),
    ("`max_retries = 5`", "max_retries is 5 now"),
    ("call 400-820-5533", "call 4008205533"),
    ('she said: "We never share data."', "she said that they never share data"),
    ("it is “Less Is More”", "it is less is more"),
    ("we asked Dr. Sarah Mitchell", "Mitchell was asked"),
    ("from Harbor Logistics GmbH", "from Harbor"),
    ("by the Service Level Agreement of Oslo", "by the SLA of Oslo"),
    ("by the NSF", "by the National Science Foundation"),
    ("with the European Weather Centre (EWC)", "with the EWC"),
    ("in the U.N. charter", "in the UN charter"),
    ("our Finance team in Oslo", "finance in Oslo"),
    ("董事长何立群表示", "何立群说"),
    ("与杭州云图科技有限公司签约", "与云图科技签约"),
    ("抵达北京首都国际机场。", "抵达首都机场。"),
    ("由赵明远负责", "Zhao Mingyuan is responsible"),
    ("ＩＮＣ－２０４１", "INC-2041"),
]

TOLD = [
    ("run `make lint` first", "run `make check` first", ["changed command make lint > make check"]),
    ("run `make lint` first", "check it first", ["lost command make lint"]),
    ("check it first", "run `make lint` first", ["invented command make lint"]),
    ("in /var/log/a.log", "in /var/log/b.log", ["changed path /var/log/a.log > /var/log/b.log"]),
    ("commit 4be82d7", "commit 4be82d1", ["changed identifier 4be82d7 > 4be82d1"]),
    ("见 YL-468", "见 YL-486", ["changed identifier YL-468 > YL-486"]),
    ("to a@x.example", "to b@x.example", ["changed email a@x.example > b@x.example"]),
    (
        "https://x.example/v2/a",
        "https://x.example/v3/a",
        ["changed url https://x.example/v2/a > https://x.example/v3/a"],
    ),
    ("`CI_TOKEN` is missing", "`GH_TOKEN` is missing", ["changed code CI_TOKEN > GH_TOKEN"]),
    ("driver Paulo Mendes waits", "driver Pedro Mendes waits", ["changed name Paulo Mendes > Pedro Mendes"]),
    ("the office in Denver moves", "the office in Dallas moves", ["changed name Denver > Dallas"]),
    ("导游罗小川接机", "导游罗大川接机", ["changed name 罗小川 > 罗大川"]),
    (
        'he said "a reinstall will fix it"',
        'he said "a restart will fix it"',
        ["changed quote a reinstall will fix it > a restart will fix it"],
    ),
    ("标志“请清理主刷”", "标志“请清理滤网”", ["changed quote 请清理主刷 > 请清理滤网"]),
    ("disputes go to court", "disputes go to Edwin Hale", ["invented name Edwin Hale"]),
    ("由韩雪梅审批", "由韩雪梅和彭川审批", ["invented name 彭川"]),
    ("see docs/api.md or mail a@x.example", "see docs/api.md", ["lost email a@x.example"]),
    (
        "mail a@x.example",
        "see https://b.example/c",
        ["invented url https://b.example/c", "lost email a@x.example"],
    ),
    ("in src/a.py", "in src/a.python", ["changed path src/a.py > src/a.python"]),
    ("login.py is old", "src/auth/login.py is old", []),
    ("`a_b` and `a_b_c`", "`a_b_c`", ["lost code a_b"]),
]


class TestWhatBecameOfIt:
    @pytest.mark.parametrize(("source", "summary"), SAME)
    def test_other_forms_keep_it(self, source: str, summary: str) -> None:
        assert found(source)
        assert judged(source, summary) == []

    @pytest.mark.parametrize(("source", "summary", "told"), TOLD)
    def test_is_told_once(self, source: str, summary: str, told: list[str]) -> None:
        assert judged(source, summary) == told

    @pytest.mark.parametrize("text", [text for text, _ in FOUND])
    def test_nothing_is_told_of_a_text_against_itself_and_all_against_nothing(self, text: str) -> None:
        assert judged(text, text) == []
        assert len(judged(text, "")) == sum(map(len, found(text).values()))


PIECES = st.sampled_from(
    [
        *(text for text, _ in FOUND),
        *NOTHING,
        *"`\"'“”‘’「」《》()[]{}/\\.:@_-#$+* \n\t",
        "```",
        "A",
        "张",
        "：",
        "İ",
        "ß",
        "9",
        "a1",
    ]
)


class TestPlaces:
    """In Chinese a verb before a bank, or a card behind it, is no bank's name."""

    @pytest.mark.parametrize(
        "said",
        [
            "客服不能索要银行卡密码",
            "不能用银行",
            "请用银行汇款",
            "不可进入医院",
            "办理银行卡",
            "没有大学文凭",
            "不含机场接送",
            "预订酒店",
            "主要银行",
            "提交医院证明",
        ],
    )
    def test_are_none(self, said: str) -> None:
        assert found(said) == {}

    @pytest.mark.parametrize("name", ["招商银行", "中山大学", "锦江酒店", "华东医院", "通用电气集团"])
    def test_are_some(self, name: str) -> None:
        assert found(f"请联系{name}办理") == {"name": [name]}


class TestQuotationsOfOtherSense:
    """A `not` or a `must` makes another one of the same terms."""

    def test_is_changed(self) -> None:
        source = 'She said: "There will be no layoffs this year."'
        assert judged(source, 'She said: "There will be layoffs this year."')[0].startswith("changed quote")
        assert judged(source, 'She said: "There will be few layoffs this year."')[0].startswith(
            "changed quote"
        )

    def test_a_part_is_none(self) -> None:
        assert (
            judged(
                'He said: "We do not stop until all are served."', 'He won\'t stop "until all are served".'
            )
            == []
        )


class TestAnyText:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join))
    def test_raises_nothing_and_keeps_the_laws(self, text: str) -> None:
        here = facts(text)
        for fact in here:
            assert 0 <= fact.start < fact.end <= len(text)
        assert judged(text, text) == []
        assert len(judged(text, "")) == sum(len(here.of(kind)) for kind in TOKENS)

    @pytest.mark.parametrize(
        "piece",
        ["a", "1", "`", '"', "/", "a/", ".", "-", "A ", "Aa", "@", "1-", "(", "“", " '", "张", "大学", "()"],
    )
    def test_is_looked_through_in_linear_time(self, piece: str) -> None:
        # What takes time that grows with the square of this would not end.
        facts(piece * (200_000 // len(piece)))
