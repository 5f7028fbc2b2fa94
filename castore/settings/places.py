"""Where a remote is: URLs, endpoints and regions that can be ones. Pure; no request is sent.

Law: what is taken can be spoken to without an error but of the server or the network: each part is looked at
here, as client libraries of object storage fail in many ways over a part that is none. A credential is
refused, wherever it stands: settings are read by others and kept in git.
"""

from __future__ import annotations

import re
from typing import Any

from castore.errors import InvalidConfig

__all__ = ["endpoint", "folder_of", "region", "url"]

_URL = re.compile(r"(s3|gs|az|file)://([^/]*)(/.*)?\Z")
_ENDPOINT = re.compile(
    r"https?://(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]+))(?::([0-9]{1,5}))?((?:/[\w.~-]+)*)/?\Z", re.A
)
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\Z")
_NUMBER = re.compile(r"(?:0[xX][0-9A-Fa-f]*|[0-9]+)\Z")
_REGION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?\Z")
_SECRET = re.compile(r"://[^/]*@|[?#]")
_PRINTABLE = re.compile(r"[!-~]+\Z")
_HOST_CHARACTERS_MAX = 253
_PORT_MAX = 65_535

_BUCKETS = {
    "s3": (
        re.compile(r"(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\Z"),
        "3 to 63 of a to z, 0 to 9, '-' and '.'",
    ),
    "gs": (
        re.compile(r"(?!.*\.\.)[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]\Z"),
        "3 to 222 of a to z, 0 to 9, '-', '_' and '.'",
    ),
    "az": (
        re.compile(r"(?=.{3,63}\Z)(?:[a-z0-9]+(?:-[a-z0-9]+)*|\$root|\$web)\Z"),
        "3 to 63 of a to z, 0 to 9 and single '-'",
    ),
}
"""By the scheme what a bucket's name may be, and that in words."""


def url(key: str, value: Any) -> str:
    """The URL of a bucket, or of a folder. Raises InvalidConfig, as the others do."""
    text = _plain(key, value)
    match = _URL.match(text)
    if match is None:
        raise InvalidConfig(f"config key '{key}' must be an s3://, gs://, az:// or file:// URL", key=key)
    scheme, place, path = match[1], match[2], match[3] or ""
    if scheme == "file":
        _require_folder(key, place, path)
    else:
        _require_bucket(key, scheme, place, path)
    return text


def folder_of(url: str) -> str:
    """The absolute path that a valid file:// URL means, without `.` and `..`."""
    from posixpath import normpath
    from urllib.parse import unquote

    named = unquote(url.removeprefix("file://").removeprefix("localhost"))
    return normpath("/" + named.strip("/"))


def endpoint(key: str, value: Any) -> str:
    text = _plain(key, value)
    match = _ENDPOINT.match(text)
    if match is None or not _is_host(match[1], match[2]) or not 0 < int(match[3] or 1) <= _PORT_MAX:
        raise InvalidConfig(
            f"config key '{key}' must be an http:// or https:// URL of a server",
            key=key,
            hint="it is https://HOST or https://HOST:PORT; the bucket stands in the remote's url",
        )
    if {".", ".."} & set(match[4].split("/")):
        raise InvalidConfig(f"config key '{key}' can't have '.' or '..' in its path", key=key)
    return text


def region(key: str, value: Any) -> str:
    if not isinstance(value, str) or _REGION.match(value) is None:
        raise InvalidConfig(
            f"config key '{key}' must be a region's name", key=key, hint="such as eu-central-1, or auto"
        )
    return value


# --- Helpers ---


def _plain(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidConfig(f"config key '{key}' must be a string", key=key)
    if _SECRET.search(value):
        raise InvalidConfig(
            f"config key '{key}' has a user, a query or a fragment",
            key=key,
            hint="credentials come from the environment or the provider's own chain",
        )
    if _PRINTABLE.match(value) is None:
        raise InvalidConfig(
            f"config key '{key}' has a character that no URL has",
            key=key,
            hint="in a folder's name it is written with a percent sign: a space is %20",
        )
    return value


def _require_folder(key: str, place: str, path: str) -> None:
    from urllib.parse import quote, unquote

    if place not in ("", "localhost"):
        words = f"config key '{key}' must be file:///FOLDER, a folder of this machine from its root on"
        raise InvalidConfig(words, key=key, hint=f"with three slashes, as file:///{place[:80]}{path[:80]}")
    try:
        named = unquote(path, errors="strict")
    except UnicodeDecodeError:
        named = ""
    if not named.isprintable() or folder_of(f"file://{quote(named)}") == "/":
        words = f"config key '{key}' must be file:///FOLDER, with a folder's name in UTF-8"
        raise InvalidConfig(words, key=key, hint="such as file:///srv/castore")


def _require_bucket(key: str, scheme: str, bucket: str, path: str) -> None:
    pattern, words = _BUCKETS[scheme]
    form = f"{scheme}://BUCKET/PREFIX"
    if not bucket:
        raise InvalidConfig(f"config key '{key}' must be {form}", key=key, hint="it names no bucket")
    if pattern.match(bucket) is None:
        raise InvalidConfig(
            f"config key '{key}': '{bucket[:80]}' can't be the name of a bucket",
            key=key,
            hint=f"one is {words}; a server's address is the remote's endpoint",
        )
    parts = path.strip("/").split("/") if path.strip("/") else []
    if path.startswith("//") or {"", ".", ".."} & set(parts):
        right = "/".join(each for each in parts if each not in ("", ".", ".."))
        raise InvalidConfig(
            f"config key '{key}' must be {form}",
            key=key,
            hint=f"without '.', '..' and empty parts, as {scheme}://{bucket}/{right[:200]}",
        )


def _is_host(address: str | None, name: str | None) -> bool:
    """A name, or an address of four numbers; `address` stood in brackets."""
    import ipaddress

    try:
        if address is not None:
            ipaddress.IPv6Address(address)
            return True
        labels = (name or "").removesuffix(".").split(".")
        if _NUMBER.match(labels[-1]):
            ipaddress.IPv4Address(name or "")
            return True
        for each in labels:
            if each[:4].lower() == "xn--":
                each.encode("ascii").decode("idna")
    except (UnicodeError, ValueError):
        return False
    return len(name or "") <= _HOST_CHARACTERS_MAX and all(_LABEL.match(each) for each in labels)
