"""A proxy on loopback between a client and a server of HTTP/1.1, which does to requests what a script says.

    .  passes it
    5  answers 500, and the server never hears of it
    3  answers 503 in the same way
    q  resets the connection when half of the request has been passed on
    a  resets the connection when half of the answer has been passed back
    l  the answer is lost whole: the server has done what was asked, and the connection is reset
    c  the connection ends in good order, but in the middle of the answer's body
    d  waits DELAY_SECONDS of its own first

A script says what is done to each request, in the order in which they begin, and starts again at its end.
Requests are passed on byte for byte: what the client signed, its Host (the proxy's own address) included, is
what the server checks.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple, Self
from urllib.parse import unquote

__all__ = ["Proxy", "Request"]

_PIECE = 1 << 16
_HEAD_BYTES_MAX = 1 << 16
_RESET = struct.pack("ii", 1, 0)
_STATUSES = {"5": b"500 Internal Server Error", "3": b"503 Service Unavailable"}
_WAIT_SECONDS = 60
_LETTERS = frozenset(".53qalcd")


class Request(NamedTuple):
    """method: `PUT`. path: decoded, of the bucket and the key, without a query."""

    method: str
    path: str


class _Gone(Exception):
    """One of both sides has ended the connection."""


class Proxy:
    """Passes all until it is told otherwise. port: of the server, on 127.0.0.1.

    seen: what was asked for, by method. hurt: requests that the script did not let pass, by letter.
    """

    def __init__(self, port: int) -> None:
        self.server_port = port
        self.delay_seconds = 0.0
        self.seen: Counter[str] = Counter()
        self.hurt: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._script, self._at = ".", 0
        self._methods: frozenset[str] = frozenset()
        self._part = ""
        self._listener: socket.socket | None = None
        self._open: set[socket.socket] = set()
        self.port = 0
        self.resume()

    @classmethod
    def before(cls, endpoint: str) -> Self:
        """Of a server by its URL."""
        return cls(int(endpoint.rpartition(":")[2]))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def begun(self) -> int:
        """How many requests have come since the last script."""
        with self._lock:
            return self.seen.total()

    def script(self, letters: str, *, methods: str = "", part: str = "") -> None:
        """From now on; of `methods` (words, all if none) and of paths that hold `part` alone."""
        assert letters
        assert _LETTERS.issuperset(letters), letters
        with self._lock:
            self._script, self._at = letters, 0
            self._methods, self._part = frozenset(methods.split()), part
            self.hurt.clear()
            self.seen.clear()

    def stop(self) -> None:
        """Nobody listens on its port, and every connection is reset."""
        with self._lock:
            listener, self._listener = self._listener, None
            connections = list(self._open)
        if listener is not None:
            # It wakes the thread that accepts: closing alone would leave the port open while it waits.
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for each in connections:
            _reset(each)

    def resume(self) -> None:
        """It listens, on the port that it had."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(128)
        self.port = listener.getsockname()[1]
        with self._lock:
            self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # --- A connection ---

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with self._lock:
                is_stopped = self._listener is not listener
                if not is_stopped:
                    self._open.add(client)
            if is_stopped:
                _reset(client)
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server: socket.socket | None = None
        try:
            server = socket.create_connection(("127.0.0.1", self.server_port))
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                each.settimeout(_WAIT_SECONDS)
            with self._lock:
                self._open.add(server)
            from_client, from_server = _Reader(client), _Reader(server)
            while self._exchange(client, server, from_client, from_server):
                pass
        except (_Gone, OSError):
            pass
        finally:
            with self._lock:
                self._open -= {client, server}
            for each in (client, server):
                if each is not None:
                    each.close()

    def _exchange(self, client: socket.socket, server: socket.socket, asked: _Reader, told: _Reader) -> bool:
        """One request and its answer. False: the connection is over."""
        head = asked.head()
        request = _request_of(head)
        letter = self._letter(request)
        if letter == "d":
            threading.Event().wait(self.delay_seconds)
        if letter in _STATUSES:
            for _ in asked.body(head):
                pass
            client.sendall(b"HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n" % _STATUSES[letter])
            return True
        if letter == "q":
            whole = head + b"".join(asked.body(head))
            server.sendall(whole[: len(whole) // 2])
            _reset(server)
            _reset(client)
            return False
        server.sendall(head)
        for piece in asked.body(head):
            server.sendall(piece)
        answer = told.head()
        while answer.startswith(b"HTTP/1.1 100"):
            client.sendall(answer)
            answer = told.head()
        is_bare = request.method == "HEAD" or answer.split(b" ", 2)[1] in (b"204", b"304")
        body = iter(()) if is_bare else told.body(answer, is_answer=True)
        if letter in "alc":
            whole = answer + b"".join(body)
            self._break_off(client, whole, len(answer), letter)
            return False
        client.sendall(answer)
        for piece in body:
            client.sendall(piece)
        return b"connection: close" not in answer.lower()

    def _break_off(self, client: socket.socket, whole: bytes, head_bytes: int, letter: str) -> None:
        if letter == "a":
            client.sendall(whole[: len(whole) // 2])
        elif letter == "c":
            client.sendall(whole[: head_bytes + (len(whole) - head_bytes) // 2])
            with suppress(OSError):
                client.shutdown(socket.SHUT_WR)
            return
        _reset(client)

    def _letter(self, request: Request) -> str:
        with self._lock:
            self.seen[request.method] += 1
            if (self._methods and request.method not in self._methods) or self._part not in request.path:
                return "."
            letter = self._script[self._at % len(self._script)]
            self._at += 1
            if letter != ".":
                self.hurt[letter] += 1
            return letter


class _Reader:
    """What one side says, cut into heads and bodies."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._left = b""

    def head(self) -> bytes:
        while (end := self._left.find(b"\r\n\r\n")) < 0:
            if len(self._left) > _HEAD_BYTES_MAX:
                raise _Gone
            self._left += self._more()
        head, self._left = self._left[: end + 4], self._left[end + 4 :]
        return head

    def body(self, head: bytes, *, is_answer: bool = False) -> Iterator[bytes]:
        """The body's bytes as they came, with what chunks are framed by."""
        length = _field(head, b"content-length")
        if b"chunked" in (_field(head, b"transfer-encoding") or b"").lower():
            yield from self._chunks()
        elif length is not None:
            yield from self._counted(int(length))
        elif is_answer:
            yield self._left
            with suppress(_Gone):
                while True:
                    yield self._more()

    def _counted(self, count: int) -> Iterator[bytes]:
        while count:
            piece = self._left or self._more()
            self._left = piece[count:]
            yield piece[:count]
            count -= len(piece[:count])

    def _chunks(self) -> Iterator[bytes]:
        while True:
            line = self._line()
            yield line
            size = int(line.split(b";")[0], 16)
            if size == 0:
                break
            yield from self._counted(size + 2)
        while (line := self._line()) != b"\r\n":
            yield line
        yield line

    def _line(self) -> bytes:
        while (end := self._left.find(b"\n")) < 0:
            self._left += self._more()
        line, self._left = self._left[: end + 1], self._left[end + 1 :]
        return line

    def _more(self) -> bytes:
        piece = self._connection.recv(_PIECE)
        if not piece:
            raise _Gone
        return piece


def _request_of(head: bytes) -> Request:
    method, target, _ = head.split(b" ", 2)
    return Request(method.decode(), unquote(target.split(b"?", 1)[0].decode()))


def _field(head: bytes, name: bytes) -> bytes | None:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return None


def _reset(connection: socket.socket) -> None:
    """The other side is told that it is over, and not that all is well."""
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        # A thread that waits for it is woken by this, and closes it; only then is the reset sent.
        connection.shutdown(socket.SHUT_RD)
    with suppress(OSError):
        connection.close()
