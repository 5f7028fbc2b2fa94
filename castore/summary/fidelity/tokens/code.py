"""Code: what stands between backticks or in fences, and commands, those in prose too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from castore.summary.fidelity.model import Fact, Text
from castore.summary.fidelity.tokens.listed import listed
from castore.summary.fidelity.tokens.shapes import near, path_key, shape

__all__ = ["code_facts", "prose_commands"]

PROGRAMS = listed(
    """
    git npm npx pnpm yarn bun node deno pip pip3 pipx uv poetry conda python python3 pytest ruff
    mypy tox nox make cmake ninja cargo rustc rustup go gofmt javac java mvn gradle gradlew docker
    docker-compose podman kubectl helm terraform tofu ansible ansible-playbook vagrant aws gcloud az
    gsutil gh glab hub curl wget ssh scp rsync sftp psql mysql sqlite3 redis-cli mongo mongosh
    pg_dump pg_restore mysqldump systemctl service journalctl crontab sudo su chmod chown mkdir
    rmdir rm cp mv ln ls cat tail head less grep rg sed awk find xargs tar unzip zip gzip echo
    export source cd touch df du ps kill top htop lsof netstat dig nslookup ping traceroute openssl
    apt apt-get yum dnf brew apk choco winget snap bash sh zsh pwsh powershell vim nano code tmux
    screen jq yq ctx nginx php composer bundle rake rails ruby gem dotnet msbuild swift xcodebuild
    flutter dart eslint prettier tsc jest vitest webpack vite next turbo nx lerna alembic flask
    django-admin uvicorn gunicorn celery airflow dbt spark-submit hadoop hdfs kafka-topics etcdctl
    vault consul nomad istioctl argocd flux skaffold kustomize golangci-lint pre-commit virtualenv
    supabase vercel netlify heroku fly railway firebase wrangler mise asdf
    """
)
_SHELLS = frozenset(
    ("sh", "bash", "shell", "zsh", "console", "terminal", "shell-session", "powershell", "cmd")
)
_TEXTS = frozenset(
    ("json", "yaml", "yml", "toml", "text", "txt", "md", "markdown", "csv", "ini", "xml", "html")
)

_FENCE = re.compile(r"```(?<!````)`*+([A-Za-z+#-]{0,20})[^\n`]{0,80}\n")
_SPAN = re.compile(r"``?+([^`\n]{1,300}+)`")
_PROMPT = re.compile(r"\n[ \t>|]{0,8}\$ ([a-z~./][^\n]{1,300})")
_NUMERIC = re.compile(r"[$¥€£]?[vV]?\d[\d.,:/%年月日-]*\s?[a-zA-Z%]{0,12}|\s*")
_SAID = re.compile(r"[^\s][^\n]*+")
_SPACES = re.compile(r"\s+")


def code_facts(text: Text) -> Iterator[Fact]:
    """Code with marks around it. Takes what it finds."""
    if "`" in text.plain:
        yield from _fenced(text)
        yield from _spans(text)
    if "$ " in text.plain:
        yield from _prompted(text)


def _fenced(text: Text) -> Iterator[Fact]:
    plain = text.plain
    at = 0
    while (found := _FENCE.search(plain, at)) is not None:
        end = plain.find("```", found.end())
        if end < 0:
            return
        at = end + 3
        language = found.group(1).lower()
        if language in _TEXTS:
            # What stands in it is text like any other; just its fence says nothing.
            text.take(found.start(), found.end())
            text.take(end, at)
            continue
        yield from _lines(text, found.end(), end, language)
        text.take(found.start(), at)


def _lines(text: Text, start: int, end: int, language: str) -> Iterator[Fact]:
    """Commands, a line each; or all of it as one piece of code."""
    plain = text.plain
    first = _SAID.search(plain, start, end)
    if first is None:
        return
    is_shell = language in _SHELLS or (not language and _is_shell(plain[first.start() : first.end()]))
    if not is_shell:
        until = first.start() + len(plain[first.start() : end].rstrip())
        key = _key(text.lower[first.start() : until])
        yield Fact("code", first.start(), until, key, near("code", key))
        return
    has_prompts = plain.startswith("$ ", first.start())
    for line in _SAID.finditer(plain, start, end):
        begin, until = line.span()
        if has_prompts and not plain.startswith("$ ", begin):
            continue
        begin += 2 * has_prompts
        until = begin + len(plain[begin:until].rstrip())
        if plain[begin] != "#" and until > begin:
            yield _command(text, begin, until)


def _is_shell(line: str) -> bool:
    return line.startswith("$ ") or _is_command(line)


def _spans(text: Text) -> Iterator[Fact]:
    taken = text.taken
    known: set[str] = set()
    for match in _SPAN.finditer(text.plain):
        said = match[1]
        begin, until = match.span()
        if taken[begin]:
            continue
        if said not in known:
            bare = said.strip()
            if not bare or _NUMERIC.fullmatch(bare):
                continue
            known.add(said)
            start = match.start(1) + said.index(bare[0])
            yield _marked(text, start, start + len(bare), bare)
        taken[begin:until] = b"\1" * (until - begin)


def _marked(text: Text, start: int, end: int, said: str) -> Fact:
    """What stands between backticks: by its look, a command, or else just code."""
    if " " not in said:
        found = shape(said)
        if found is not None:
            return Fact(found.kind, start, end, found.key, near(found.kind, found.key))
        if "/" in said and said[0] in "/~." and len(said) > 1:
            key = path_key(said)
            return Fact("path", start, end, key, near("path", key))
        key = said.lower().removesuffix("()")
        return Fact("code", start, end, key, near("code", key))
    if _is_command(said):
        return _command(text, start, end)
    key = _key(text.lower[start:end])
    return Fact("code", start, end, key, near("code", key))


def _prompted(text: Text) -> Iterator[Fact]:
    for match in _PROMPT.finditer("\n" + text.plain):
        start, end = match.start(1) - 1, match.end(1) - 1
        if not text.taken[start]:
            end = start + len(text.plain[start:end].rstrip())
            text.take(start, end)
            yield _command(text, start, end)


_IN_PROSE = ("git", "npm", "pip", "docker", "kubectl", "pytest", "curl", "systemctl")
_BEHIND_PROGRAM = re.compile(f" (?<={'|'.join(program[-3:] + ' ' for program in _IN_PROSE)})")
"""A space that stands behind one, by its last letters: to look from a space back is faster than for words."""
_ARGUMENT = re.compile(
    r" ?(?:-{1,2}[A-Za-z][\w-]*(?:=\S+)?|[\w@.:/=+-]*[./:=@_-][\w@./:=+*-]*[\w/*]|\"[^\"\n]{0,80}\")(?![\w'])"
)
_VERBS = listed(
    """
    add apply bisect branch build checkout cherry-pick clean clone commit compose config create
    delete deploy describe destroy diff down exec fetch fmt get init install i inspect lint list log
    logs login merge plan prune publish pull push rebase reload remove reset restart restore revert
    rm rollout rollback run scale start stash status stop switch sync tag test uninstall up update
    upgrade uninstall version undo images ps enable disable ci audit outdated dev serve preview
    check clippy bench doc bump downgrade set view pr issue release repo s3 ec2 all head origin main
    master
    """
)
_VERB = re.compile(r" ?([a-z][a-z0-9-]*)(?![\w'])")


def prose_commands(text: Text) -> Iterator[Fact]:
    """Commands in a sentence, without marks: a program, and words that can only be its arguments."""
    plain = text.plain
    for match in _BEHIND_PROGRAM.finditer(plain):
        end = match.start()
        program = next((each for each in _IN_PROSE if plain.endswith(each, 0, end)), None)
        if program is None:
            continue
        start = end - len(program)
        if text.taken[start] or (start and (plain[start - 1] in "_./-" or _is_latin(plain[start - 1]))):
            continue
        until = _arguments(plain, end)
        if until > end:
            end = until - _size_of_stops(plain, start, until)
            text.take(start, end)
            yield _command(text, start, end)


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _size_of_stops(plain: str, start: int, end: int) -> int:
    said = plain[start:end]
    return len(said) - len(said.rstrip(".,:;"))


def _arguments(plain: str, at: int) -> int:
    for _ in range(12):
        found = _ARGUMENT.match(plain, at)
        if found is None:
            verb = _VERB.match(plain, at)
            if verb is None or verb.group(1) not in _VERBS or plain[at] != " ":
                return at
            found = verb
        at = found.end()
    return at


def _is_command(said: str) -> bool:
    first, _, rest = said.partition(" ")
    if "=" in first and rest and first.partition("=")[0].isupper():
        return True
    program = first.removeprefix("./").removeprefix("$")
    if first.startswith("./") and rest:
        return True
    return bool(rest) and (program in PROGRAMS or (" -" in said and program.isascii() and program.islower()))


def _command(text: Text, start: int, end: int) -> Fact:
    key = _key(text.lower[start:end])
    return Fact("command", start, end, key, near("command", key))


def _key(lower: str) -> str:
    return _SPACES.sub(" ", lower).strip()
