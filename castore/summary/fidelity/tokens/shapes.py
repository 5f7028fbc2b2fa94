"""Shapes of words: what one without spaces is by its look alone, in a text or between backticks."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from castore.summary.fidelity.tokens.listed import listed

__all__ = ["BRANDS", "Shape", "near", "path_key", "shape", "url_key"]

_EXTENSIONS = listed(
    """
    py pyi ipynb js jsx mjs cjs ts tsx go rs rb java kt kts scala swift c h cc cpp hpp cs php pl lua
    sh bash zsh fish ps1 bat cmd sql html htm css scss less vue svelte md mdx rst txt log csv tsv
    json jsonl ndjson yaml yml toml ini cfg conf env lock xml xsd proto graphql tf tfvars gradle
    properties plist service sock pid db sqlite sqlite3 parquet avro orc pdf doc docx xls xlsx ppt
    pptx odt png jpg jpeg gif svg webp ico mp3 mp4 mov wav avi zip tar gz tgz bz2 xz zst 7z rar jar
    war whl egg deb rpm apk dmg iso img exe dll so dylib bin dat bak tmp swp patch diff pem crt cer
    key pub p12 jks tmpl tpl j2 ejs snap map wasm dump sum mod work gitignore
    """
)
_FOLDERS = listed(
    """
    src lib libs app apps test tests spec specs docs doc bin etc usr var opt home tmp dev proc mnt
    srv root cmd pkg internal api scripts config configs conf build dist public static assets
    components services models utils packages node_modules migrations deploy infra terraform charts
    k8s data logs log vendor examples fixtures templates views controllers include target out tools
    workspace users Users
    """
)
_HOSTS = listed(
    """
    com org net io dev ai app co cn uk de fr jp eu us edu gov mil int info biz cloud tech xyz me tv
    example test local internal invalid shop store online site ca au in nl se ch hk tw sg kr br ly
    gl gg to sh so id health bank
    """
)


def _any_of(words: frozenset[str]) -> str:
    return f"(?:{'|'.join(sorted(words, key=lambda word: (-len(word), word)))})"


_EXT, _FOLDER, _TOP = _any_of(_EXTENSIONS), _any_of(_FOLDERS), _any_of(_HOSTS)

BRANDS = listed(
    """
    node.js vue.js next.js nuxt.js react.js express.js d3.js three.js nest.js chart.js asp.net
    vb.net ado.net socket.io booking.com amazon.com salesforce.com tcp/ip ci/cd i/o n/a c/c++ os/2
    pl/sql a/b
    """
)
"""Names that look like files, hosts or paths."""

_NUMERIC = re.compile(r"[\d.,:%/+*^xX#-]+")
_IP = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?::\d{2,5})?")
_PHONE = re.compile(
    r"\+?\d{1,4}(?:-\d{3,4}){2}(?:-\d{1,5})?|0\d{2,3}-\d{7,8}(?:-\d{1,5})?|\d{3}-\d{4}|1[3-9]\d{9}"
)
_CARD = re.compile(r"\d{4}(?:-\d{4}){2,4}|\d{9,24}|\d{5,}-\d{2,}(?:-\d+)*")
_DATE = re.compile(r"(?:19|20)\d\d(?:[-/.]?(?:0?[1-9]|1[0-2])[-/.]?(?:0[1-9]|[12]\d|3[01]|[1-9]))")
_URL = re.compile(r"(?i:[a-z][a-z0-9+.-]{1,14}://|www\.)[^\s'\"]+")
_EMAIL = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}+@[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,62}){1,5}"
)
_GIT_URL = re.compile(r"git@[A-Za-z0-9.-]+:[\w./~-]+")
_HANDLE = re.compile(r"@[A-Za-z][A-Za-z0-9_-]{1,38}")
_PACKAGE = re.compile(r"@[a-z0-9][a-z0-9._-]*/[a-z0-9._-]+(?:@[\w.^~-]+)?")
_UUID = re.compile(r"(?i:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})")
_HEX = re.compile(
    r"(?i:(?:sha\d{1,3}|md5)[:-])?(?=[0-9a-fA-F]*\d)(?=[0-9a-fA-F]*[a-fA-F])(?:[0-9a-f]{7,}|[0-9A-F]{7,})"
)
_HEX_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{2,}")
_SCIENTIFIC = re.compile(r"\d+e\d+", re.IGNORECASE)
_WINDOWS = re.compile(
    r"[A-Za-z]:\\[^\s]*|\\\\[\w.$-]+\\[^\s]+|%\w+%\\[^\s]*|[\w.-]+(?:\\[\w.-]+){2,}|[\w-]+\\[\w-]+\.\w{1,5}"
)
_HOST_PATH = re.compile(rf"(?i:(?:[a-z0-9](?:[a-z0-9-]{{0,62}}[a-z0-9])?\.)+{_TOP})(?::\d{{2,5}})?/[^\s]*")
_HOST = re.compile(rf"(?:[a-z0-9](?:[a-z0-9-]{{0,62}}[a-z0-9])?\.)+{_TOP}(?::\d{{2,5}})?")
_LOCAL = re.compile(r"localhost:\d{2,5}(?:/\S*)?")
_ROOTED = re.compile(
    r"(?:~[\w-]*|\.{1,2}|\$\{?[A-Za-z_]\w*\}?)?/[\w.@%+~{}$<>:*?\[\]=&-]+(?:/[\w.@%+~{}$<>:*?\[\]=&-]*)*"
)
_PIECE = r"[\w.@%+~{}$<>*\[\]-]+"
_RELATIVE = re.compile(rf"{_PIECE}(?:/{_PIECE})+/?|{_PIECE}/")
_FILE_END = re.compile(rf"\.{_EXT}\Z")
_IN_FOLDER = re.compile(rf"(?:{_FOLDER}|\.[\w-]+)/")
_PRICE = re.compile(r"\$\d")
_BRANCH = re.compile(r"(?:feature|feat|fix|bugfix|hotfix|release|chore|origin|upstream|refs|heads)/[\w./-]+")
_FILE = re.compile(rf"[\w@+-]*[A-Za-z_][\w@+-]*(?:\.[\w-]+)*\.{_EXT}|\.[a-z][a-z0-9_-]{{2,}}(?:\.[a-z0-9]+)*")
_DOTFILE = listed(
    """
    .env .gitignore .dockerignore .npmrc .bashrc .zshrc .profile .gitattributes .editorconfig
    .eslintrc .prettierrc .babelrc .htaccess .ctxstore .git .github .vscode .ssh .aws .kube .claude
    .netrc
    """
)
_LINE = re.compile(r"(?::\d+){1,2}(?:-\d+)?\Z")
_FLAG = re.compile(r"--[A-Za-z][\w-]*(?:[= ][^\s]+)?")
_SNAKE = re.compile(r"_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_*|__\w+__")
_CALL = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*\([^()\s]*\)")
_DOTTED = re.compile(
    r"[A-Za-z_][\w]*(?:(?:\.|::)[A-Za-z_][\w]*){2,}|[A-Za-z_]\w*(?:\.|::)\w*_\w*|[A-Za-z]\w*_\w*(?:\.|::)\w+"
    r"|[A-Za-z_]\w*::\w+"
)
_SETTING = re.compile(r"[A-Za-z_][\w.-]*=[^\s=]+")
_CAMEL = re.compile(
    r"[a-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+[A-Z]?|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+(?:Error|Exception)"
)
_ISSUE = re.compile(r"#\d{1,9}|#[A-Z]{1,6}-?\d+|(?:GH|PR|MR)-?#?\d+")
_UPPER_ID = re.compile(
    r"[A-Z][A-Z0-9]{0,11}(?:[-_/][A-Z0-9]{1,16})*[-_/](?=[A-Z0-9]*\d)[A-Z0-9]{1,16}(?:[-_][A-Za-z0-9]{1,16})*"
    r"|[A-Z]{1,6}\d{2,12}[A-Z0-9]{0,8}|[A-Z]{2,6}\d{1,2}[A-Z]\w{0,8}|(?=[A-Z]*\d)[A-Z0-9]{6,24}|[A-Z]{1,3}\d[A-Z]\d[A-Z0-9]*"
)
_LOWER_ID = re.compile(
    r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+-(?=[a-z0-9]*\d)[a-z0-9]+|[a-z]{2,}-\d{2,}|[a-z]{2,}-(?=[0-9a-f]*\d)[0-9a-f]{5,}"
    r"|[a-z]{2,12}[-_](?=[A-Za-z0-9]*\d)[A-Za-z0-9]{5,40}|i-[0-9a-f]{8,}"
)
_NO_ID = re.compile(
    r"(?:Q[1-4]|H[12]|FY|CY|USD|EUR|GBP|CNY|RMB|JPY|HKD|v|V|AM|PM|UTC|GMT|T)[-/]?\d[\d./:-]*(?:[KMB]|Q[1-4])?"
    r"|(?:mid|sub|pre|post|top|under|over|non|plus|version|type|step|phase|day|days|week|page|level|tier|part|section|"
    r"covid|first|last|next|age|aged|ages|max|min|late|early|since|until|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"[-_]?\d.*|\d+[A-Z]{1,3}|[A-Z]+/[A-Z]+|.*-(?:to|or|and|by|in)-.*"
)

_TAIL = re.compile(r"[0-9a-f-]+\Z")
_HEAD = re.compile(r"[=( ]")


class Shape(NamedTuple):
    """kind: of the fact. size: how many characters of the word belong to it. key: what it says."""

    kind: str
    size: int
    key: str


@lru_cache(maxsize=1 << 14)
def shape(word: str) -> Shape | None:
    """What a word is that has a digit or a mark inside; None: nothing by its look, or what others look for
    (a number, a date, a version)."""
    if _HEX_NUMBER.fullmatch(word):
        return Shape("identifier", len(word), word.lower())
    if _NUMERIC.fullmatch(word):
        return _numeric(word)
    if "@" in word or "/" in word or "\\" in word or "." in word or ":" in word:
        if word.lower() in BRANDS:
            return None
        if (found := _address(word) or _path(word)) is not None:
            return found
    return _identifier(word) or _code(word)


def _numeric(word: str) -> Shape | None:
    if _IP.fullmatch(word):
        return Shape("identifier", len(word), word)
    if _DATE.fullmatch(word):
        return None
    if _PHONE.fullmatch(word) or _CARD.fullmatch(word) or _ISSUE.fullmatch(word):
        return Shape("identifier", len(word), word.strip("#+").replace("-", ""))
    return None


def _address(word: str) -> Shape | None:
    """A URL, a host with a path, or an e-mail address."""
    if (
        _URL.fullmatch(word)
        or _HOST_PATH.fullmatch(word)
        or _LOCAL.fullmatch(word)
        or _GIT_URL.fullmatch(word)
    ):
        return Shape("url", len(word), url_key(word))
    if "@" in word:
        if _EMAIL.fullmatch(word):
            return Shape("email", len(word), word.lower())
        if _PACKAGE.fullmatch(word):
            return Shape("code", len(word), word.lower())
        if _HANDLE.fullmatch(word):
            return Shape("name", len(word), word[1:].lower())
    if "/" not in word and _HOST.fullmatch(word):
        return Shape("url", len(word), url_key(word))
    return None


def url_key(url: str) -> str:
    """Without scheme, `www.` and a slash at the end, none of which anybody misses."""
    said = re.sub(r"\A[a-z][a-z0-9+.-]*://(?:www\.)?|\Awww\.", "", url.lower())
    return said.rstrip("/")


def _path(word: str) -> Shape | None:
    named = word
    if line := _LINE.search(word):
        named = word[: line.start()]
    if "\\" in named:
        is_path = _WINDOWS.fullmatch(named) is not None
    elif "/" in named:
        is_path = _is_slashed_path(named)
    else:
        is_path = _FILE.fullmatch(named) is not None and (
            named[0] != "." or named in _DOTFILE or named.count(".") > 1
        )
    if not is_path:
        return None
    return Shape("path", len(named), path_key(named))


def path_key(path: str) -> str:
    said = path.replace("\\", "/").lower().removeprefix("./")
    return said.rstrip("/") or "/"


def _is_slashed_path(word: str) -> bool:
    if _ROOTED.fullmatch(word):
        return any(map(str.isalpha, word)) and "//" not in word
    if not _RELATIVE.fullmatch(word) or word[0].isdigit() or _PRICE.match(word):
        return False
    if _FILE_END.search(word) or _IN_FOLDER.match(word) or _BRANCH.fullmatch(word):
        return True
    if word.endswith("/"):
        return word.count("/") > 1 or any(mark in word for mark in "_-.")
    return word.count("/") > 1 and any(mark in word for mark in "_-.*0123456789")


def _identifier(word: str) -> Shape | None:
    if _UUID.fullmatch(word):
        return Shape("identifier", len(word), word.lower())
    if _HEX.fullmatch(word) and not _SCIENTIFIC.fullmatch(word):
        return Shape("identifier", len(word), word.lower())
    if _ISSUE.fullmatch(word):
        return Shape("identifier", len(word), _bare(word))
    if (_UPPER_ID.fullmatch(word) or _LOWER_ID.fullmatch(word)) and not _NO_ID.fullmatch(word):
        return Shape("identifier", len(word), _bare(word))
    return None


def _bare(word: str) -> str:
    return re.sub(r"[-_#/]", "", word).lower()


def _code(word: str) -> Shape | None:
    for pattern in (_SNAKE, _CALL, _DOTTED, _SETTING, _CAMEL, _FLAG):
        if pattern.fullmatch(word):
            if pattern is _SETTING and shape(word.partition("=")[2]) is not None:
                # What it is set to says more than what is set.
                return None
            return Shape("code", len(word), word.lower().removesuffix("()"))
    return None


def near(kind: str, key: str) -> tuple[str, str]:
    """What two facts have in common of which one may be the other, changed."""
    if kind == "url":
        return kind, key.partition("/")[0]
    if kind == "email":
        return kind, key.partition("@")[2]
    if kind == "path":
        return kind, key.rpartition("/")[2]
    if kind == "identifier":
        return kind, str(len(key)) if key.isdigit() else _TAIL.sub("", key)
    return kind, _HEAD.split(key, maxsplit=1)[0]
