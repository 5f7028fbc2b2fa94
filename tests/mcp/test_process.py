"""The process: how it starts and ends, and what it does with lines that the SDK's client would never send."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from castore.cli import serving
from castore.cli.app import run
from castore.mcp import worker
from castore.mcp.calls import Place
from castore.mcp.transport import MESSAGE_BYTES_MAX
from castore.mcp.worker import place_line
from tests.mcp.agent import Raw, environment, processes_of, server_command
from tests.mcp.test_sessions import with_xs

pytestmark = pytest.mark.usefixtures("interruptible")


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids: list[int], seconds: float = 15) -> bool:
    until = time.monotonic() + seconds
    while any(map(is_running, pids)):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


class TestEnding:
    def test_when_the_client_goes(self, samples: Path) -> None:
        with Raw(samples) as client:
            assert client.hello()["result"]["serverInfo"]["name"] == "castore"
            assert not client.call("ctx_read", ref="rows", items="0")["isError"]
            theirs = processes_of(client.process.pid)
            assert theirs
            assert client.end() == (0, b"")
            assert gone(theirs)

    def test_before_it_said_anything(self, samples: Path) -> None:
        with Raw(samples) as client:
            assert client.end() == (0, b"")

    def test_with_stdin_closed(self, samples: Path) -> None:
        line = " ".join(map(shlex.quote, server_command(samples)))
        done = subprocess.run(["sh", "-c", f"{line} <&-"], capture_output=True, env=environment(), timeout=60)
        assert done.returncode != 70
        assert b"Traceback" not in done.stderr

    def test_while_a_call_runs(self, folder: Path) -> None:
        with Raw(with_xs(folder)) as client:
            client.hello()
            client.start("tools/call", name="ctx_grep", arguments={"pattern": "(x+x+)+y", "refs": ["xs"]})
            assert not client.call("ctx_read", ref="rows", items="0")["isError"]
            theirs = processes_of(client.process.pid)
            code, said = client.end()
            assert (code, said) == (0, b"")
            assert gone(theirs)

    @pytest.mark.parametrize(
        ("number", "code", "words"),
        [(signal.SIGINT, 130, b"error: interrupted\n"), (signal.SIGTERM, -signal.SIGTERM, b"")],
    )
    def test_by_a_signal(self, samples: Path, number: int, code: int, words: bytes) -> None:
        with Raw(samples) as client:
            client.hello()
            client.start("tools/call", name="ctx_read", arguments={"ref": "rows"})
            theirs = processes_of(client.process.pid)
            client.process.send_signal(number)
            assert client.process.wait(20) == code
            assert client.process.stderr is not None
            assert client.process.stderr.read() == words
            assert gone(theirs)

    def test_by_a_signal_while_the_client_does_not_read(self, samples: Path) -> None:
        with Raw(samples) as client:
            client.hello()
            for _ in range(8):  # More than a pipe holds.
                client.start("tools/call", name="ctx_read", arguments={"ref": "rows", "max_bytes": 65536})
            assert client.process.stdout is not None
            client.process.stdout.readline()
            theirs = processes_of(client.process.pid)
            client.process.send_signal(signal.SIGTERM)
            assert client.process.wait(30) == -signal.SIGTERM
            assert gone(theirs)

    def test_killed_it_leaves_no_process(self, folder: Path) -> None:
        with Raw(folder) as client:
            client.hello()
            client.call("ctx_put", text="kept", name="kept")
            theirs = processes_of(client.process.pid)
            client.process.kill()
            assert gone(theirs)
        with Raw(folder) as client:
            client.hello()
            assert client.call("ctx_read", ref="kept")["structuredContent"]["text"] == "kept"

    def test_a_client_that_reads_no_more(self, samples: Path) -> None:
        with Raw(samples) as client:
            client.hello()
            assert client.process.stdout is not None
            client.process.stdout.close()
            client.start("tools/call", name="ctx_read", arguments={"ref": "rows"})
            assert client.end() == (0, b"")


@pytest.fixture(scope="module")
def one_client(samples: Path) -> Iterator[Raw]:
    """Of a server that ends well whatever was said to it."""
    with Raw(samples) as client:
        client.hello()
        yield client
        code, said = client.end()
        assert code == 0
        assert b"Traceback" not in said


@pytest.fixture
def client(one_client: Raw) -> Iterator[Raw]:
    """What follows is served, too."""
    yield one_client
    assert not one_client.call("ctx_read", ref="rows", items="0")["isError"]


class TestLines:
    """Each of these is answered, or passed over."""

    @pytest.mark.parametrize(
        "line",
        [
            b"\n",
            b"   \n",
            b"nonsense\n",
            b"{}\n",
            b"[]\n",
            b"null\n",
            b'{"jsonrpc":"2.0"}\n',
            b"\xff\xfe\n",
            b"[" * 100_000 + b"\n",
            b'{"jsonrpc":"2.0","method":"notifications/nothing"}\n',
            b'{"jsonrpc":"2.0","id":77,"result":{}}\n',
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}\n',
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}\n',
        ],
    )
    def test_that_no_answer_is_due_to(self, client: Raw, line: bytes) -> None:
        client.send(line)

    @pytest.mark.parametrize(
        "line",
        [
            b'{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"ctx_read","arguments":[]}}\n',
            b'{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":7}}\n',
            b'{"jsonrpc":"2.0","id":"a-1","method":"tools/call"}\n',
            b'{"jsonrpc":"2.0","id":"a-1","method":"nothing/here","params":{}}\n',
            b'{"jsonrpc":"2.0","id":"a-1","method":"castore/unreadable"}\n',
            b'{"jsonrpc":"2.0","id":"a-1","method":"resources/read","params":{"uri":"http://x"}}\n',
            # A half of a character, as JavaScript writes it.
            b'{"method":"tools/call","params":{"name":"ctx_grep","arguments":{"pattern":"\\ud83d"}},'
            b'"jsonrpc":"2.0","id":"a-1"}\n',
            b'{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"ctx_read",}}\n',
            b'{"jsonrpc":"2.0","id":"a-1","method":"x","params":' + b"[" * 5000 + b"]" * 5000 + b"}\n",
        ],
    )
    def test_that_are_errors(self, client: Raw, line: bytes) -> None:
        client.send(line)
        error = client.answer("a-1")["error"]
        assert error["code"] < 0
        assert len(error["message"]) < 500

    def test_one_that_is_too_long(self, client: Raw) -> None:
        text = "x" * (MESSAGE_BYTES_MAX + 1)
        number = client.start("tools/call", name="ctx_put", arguments={"text": text})
        assert "can't be read" in client.answer(number)["error"]["message"]

    def test_a_long_one_that_is_not(self, client: Raw) -> None:
        """Nothing is stored: it is no name."""
        number = client.start("tools/call", name="ctx_put", arguments={"text": "x" * (8 << 20), "name": "-"})
        assert client.answer(number)["result"]["structuredContent"]["error"] == "invalid"

    def test_many_at_once_are_refused_or_answered(self, client: Raw) -> None:
        numbers = [client.start("tools/call", name="ctx_read", arguments={"ref": "nope"}) for _ in range(300)]
        left, codes = set(numbers), set()
        assert client.process.stdout is not None
        while left:
            found = json.loads(client.process.stdout.readline())
            left.discard(found.get("id"))
            codes.add(found["result"]["structuredContent"]["error"])
        assert codes <= {"not_found", "limit"}


class TestWorkers:
    """The processes that answer, without a server."""

    def answers(self, folder: Path, count: int) -> list[dict[str, Any]]:
        request = {"tool": "ctx_read", "arguments": {"ref": "rows", "items": "0"}, "seconds": 60}
        lines = place_line(Place(str(folder))) + count * (json.dumps(request).encode() + b"\n")
        said = io.BytesIO()
        worker._serve(io.BytesIO(lines), said)
        return [json.loads(line) for line in said.getvalue().splitlines()]

    def test_answer_until_nobody_asks(self, samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        # Here the process is that of the tests, which may have had more memory than an answer takes.
        monkeypatch.setattr(worker, "_PEAK_BYTES_MAX", 1 << 50)
        worker._serve(io.BytesIO(), io.BytesIO())
        found = self.answers(samples, 3)
        assert len(found) == 3
        assert all(each.keys() == {"structured", "text"} for each in found)

    def test_that_grew_large_answer_once_more(self, samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(worker, "_PEAK_BYTES_MAX", 1)
        (found,) = self.answers(samples, 3)
        assert found[worker.RETIRING]
        assert found["text"]


class TestStarting:
    def test_without_the_extra(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        monkeypatch.setattr(serving, "find_spec", lambda name: None)
        assert run(["mcp", "--store", str(tmp_path / ".ctxstore")]) == 1
        assert "hint: pip install 'mcp>=2.3,<3'\n" in capsys.readouterr().err

    def test_the_hint_installs_what_the_extra_does(self) -> None:
        project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
        assert project["optional-dependencies"]["mcp"] == ["mcp>=2.3,<3"]

    @pytest.mark.parametrize(
        ("options", "variables", "code"),
        [
            (["--scope", "Not A Scope"], {}, 2),
            (["--scope", "team/*"], {}, 2),
            (["--scope", "other"], {"CTX_SCOPE": "team/a"}, 14),
            (["--scope", "*"], {"CTX_SCOPE": "team/a"}, 2),
            ([], {"CTX_SCOPE": " "}, 2),
            (["--timeout", "0s"], {}, 2),
            (["--timeout", "2h"], {}, 2),
            (["--timeout", "soon"], {}, 2),
            (["--foo"], {}, 2),
            (["extra"], {}, 2),
        ],
    )
    @pytest.mark.parametrize("is_there", [True, False])
    def test_what_every_call_would_meet_is_said_at_once(
        self,
        samples: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        options: list[str],
        variables: dict[str, str],
        code: int,
        is_there: bool,
    ) -> None:
        monkeypatch.delenv("CTX_SCOPE", raising=False)
        for key, value in variables.items():
            monkeypatch.setenv(key, value)
        folder = samples if is_there else tmp_path / ".ctxstore"
        assert run(["mcp", "--store", str(folder), *options]) == code
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("error: ")
        assert "hint: " in told.err
        assert not os.path.lexists(tmp_path / ".ctxstore")

    def test_a_store_of_another_format(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "format").chmod(0o600)
        (folder / "format").write_text("castore 99\n")
        assert run(["mcp", "--store", str(folder)]) == 10
        assert capsys.readouterr().out == ""
