"""What a client of object storage says of a failed request, in few words of our own. Pure.

Law: nothing of what the client or the server wrote goes into an error but a status and a code, each of
letters and digits: their texts hold URLs, and those may hold signatures.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from castore.errors import RemoteDenied, RemoteError, RemoteMissing, RemoteUnavailable, RemoteUnconditional

__all__ = [
    "NOWHERE",
    "Failure",
    "Spot",
    "credentials_hint",
    "is_beyond_end",
    "is_no_bucket",
    "is_no_range",
    "is_panic",
    "read_failure",
]

_STATUS = re.compile(r"status code: ([0-9]{3})")
_CODE = re.compile(r"<Code>([A-Za-z0-9.]{1,64})</Code>|\(code: ([A-Za-z0-9.]{1,64})\)")
_CREDENTIAL_HOSTS = re.compile(
    r"//(?:169\.254\.169\.254|169\.254\.170\.[0-9]+|\[fd00:ec2[0-9a-f:]*\]|metadata\.google\.internal"
    r"|sts\.[a-z0-9.-]+|oauth2\.googleapis\.com|login\.microsoftonline\.com)[/:?]"
)
"""Whom the client asks for credentials, where the environment has none, or what is to be changed for some."""

_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist")
_UNTRUSTED = "InvalidCertificate("
_CAUSES = (
    ("ConnectionRefused", "nobody listens there"),
    ("dns error", "no address of that name is known"),
    ("NetworkUnreachable", "there is no network to it"),
    ("HostUnreachable", "there is no way to it"),
    ("ConnectionReset", "it broke off"),
    ("BrokenPipe", "it broke off"),
    ("IncompleteMessage", "it broke off"),
    ("ended early", "it broke off"),
)
"""Of what the client writes of a connection the words that we know, and ours for them."""

_BEYOND_END = ("status code: 416", "StartTooLarge")
_TRANSPORT = ("HTTP error", "HttpError", "reqwest", "hyper")
_CLIENT_ERRORS = frozenset(("GenericError", "InvalidPathError", "JoinError", "NotModifiedError", "BaseError"))
"""Of the client library; others are of the system: a connection or a stream that broke."""

_UNKNOWN_CODES = frozenset(("InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken"))
_PATIENCE_SECONDS = 10
_DENIED_CODES = _UNKNOWN_CODES | {"AccessDenied"}


_CREDENTIALS = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; of a profile or single sign-on: "
    'eval "$(aws configure export-credentials --format env)"',
    "gs": "set GOOGLE_SERVICE_ACCOUNT, the path of an account's key, or run 'gcloud auth "
    "application-default login'",
    "az": "set AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN, or AZURE_USE_AZURE_CLI=true",
}


class Spot(NamedTuple):
    """What a remote's own settings say of where it is. scheme: of its URL. host: of its endpoint, with the
    port. retry_seconds: until no other try is made."""

    scheme: str = ""
    host: str | None = None
    retry_seconds: int = 0


NOWHERE = Spot()


def credentials_hint(scheme: str) -> str | None:
    """Where the client looks for credentials first. None: that is not known."""
    return _CREDENTIALS.get(scheme)


class Failure:
    """Why a request failed. is_passing: the same request may do better in a moment. cause: of a connection
    that was none, in our words."""

    __slots__ = ("cause", "code", "is_passing", "kind", "status")

    def __init__(
        self, kind: str, status: int | None, code: str | None, cause: str | None = None, *, is_passing: bool
    ) -> None:
        self.kind = kind
        self.status = status
        self.code = code
        self.cause = cause
        self.is_passing = is_passing

    def error(self, remote: str, operation: str, key: str, spot: Spot = NOWHERE) -> RemoteError:
        """As the error that a caller is told. operation: `get`, `put` …"""
        told = " ".join(str(each) for each in (self.status, self.code) if each is not None)
        fields: dict[str, Any] = {"operation": operation, "key": key}
        fields.update(status=self.status, code=self.code)
        what = f"{operation} of '{key}'" if key else operation
        if self.kind == "denied":
            words = f"remote '{remote}' refuses the credentials for {what}" + (f" ({told})" if told else "")
            lacking = "they lack the right to do it, or are others than were meant"
            hint = credentials_hint(spot.scheme) if self.code in _UNKNOWN_CODES else lacking
            return RemoteDenied(remote, words, hint=hint, **fields)
        if self.kind == "no credentials":
            words = f"no credentials for remote '{remote}' were found"
            return RemoteDenied(remote, words, hint=credentials_hint(spot.scheme), **fields)
        if self.kind == "no bucket":
            return RemoteMissing(remote, f"the bucket of remote '{remote}' is not there", **fields)
        if self.kind == "unsupported":
            return RemoteUnconditional(remote, f"remote '{remote}' can't do a conditional write", **fields)
        if self.kind == "untrusted":
            words = f"the certificate of the server of remote '{remote}' is not one that is trusted here"
            hint = "is its endpoint right? SSL_CERT_FILE names a file with more of those who are trusted"
            return RemoteUnavailable(remote, words, hint=hint, **fields)
        if self.kind in ("timeout", "unreachable"):
            fields["cause"] = self.cause or self.kind
        if self.kind == "timeout":
            words = f"remote '{remote}'{_at(spot)} did not answer {what} in time"
            return RemoteUnavailable(remote, words, hint=_patience(remote, spot), **fields)
        if self.kind == "unreachable":
            words = (
                f"remote '{remote}' can't be reached{_at(spot)}: {self.cause or 'no answer came'} ({what})"
            )
            return RemoteUnavailable(remote, words, hint=_patience(remote, spot), **fields)
        if self.kind == "strange":
            words = f"remote '{remote}' did not answer {what} as object storage does"
            return RemoteUnavailable(
                remote, words, hint="is it one? see its URL in 'ctx remote list'", **fields
            )
        elsewhere = "is its region right? see 'ctx remote list'" if self.status in (301, 307, 308) else None
        words = f"remote '{remote}' failed to do {what}" + (f": {told}" if told else "")
        return RemoteUnavailable(remote, words, hint=elsewhere, **fields)


def read_failure(name: str, text: str, *, operation: str) -> Failure:
    """name: of the class of the client's exception. text: what it says, unbounded and not to be trusted."""
    text = text[: 1 << 16]
    head = text.partition("\n\nDebug source:")[0]
    status_match, code_match = _STATUS.search(head), _CODE.search(head)
    status = int(status_match[1]) if status_match else None
    code = code_match[1] or code_match[2] if code_match else None
    kind, is_passing = _kind(name, head, text, status, code, operation)
    cause = next((words for sign, words in _CAUSES if sign in text), None)
    return Failure(kind, status, code, cause, is_passing=is_passing)


def _kind(
    name: str, head: str, text: str, status: int | None, code: str | None, operation: str
) -> tuple[str, bool]:
    if is_no_bucket(head) or (operation == "list" and status == 404):
        return "no bucket", False
    if name in ("NotSupportedError", "NotImplementedError") or status == 501:
        return ("unsupported" if operation in ("create", "replace") else "failed"), False
    if _CREDENTIAL_HOSTS.search(head):
        return "no credentials", False
    if name in ("PermissionDeniedError", "UnauthenticatedError") or status in (401, 403):
        return "denied", False
    if code in _DENIED_CODES:
        return "denied", False
    if status is not None:
        return "failed", status >= 500 or status in (408, 409, 429)
    if _UNTRUSTED in text:
        return "untrusted", False
    if name == "TimeoutError" or "kind: Timeout" in text or "timed out" in text:
        return "timeout", True
    is_transport = name not in _CLIENT_ERRORS or any(each in text for each in _TRANSPORT)
    return ("unreachable", True) if is_transport else ("strange", False)


def is_panic(error: BaseException) -> bool:
    """The client library itself failed; such an error is none of Python's `Exception`s."""
    return type(error).__module__ == "pyo3_runtime"


def is_no_bucket(text: str) -> bool:
    """The bucket is not there, rather than the key."""
    return any(each in text[: 1 << 16] for each in _NO_BUCKET)


def is_no_range(text: str) -> bool:
    """The whole came where a range was asked for."""
    return "source: NotPartial" in text[: 1 << 16]


def is_beyond_end(text: str) -> bool:
    """A range was asked for that begins where nothing is."""
    return any(each in text[: 1 << 16] for each in _BEYOND_END)


def _at(spot: Spot) -> str:
    return "" if spot.host is None else f" at {spot.host}"


def _patience(remote: str, spot: Spot) -> str:
    hint = f"is its endpoint {'left out' if spot.host is None else 'right'}? see 'ctx remote list'"
    if spot.retry_seconds <= _PATIENCE_SECONDS:
        return hint
    told = f"'ctx config remote.{remote}.retry {_PATIENCE_SECONDS}s' gives up sooner"
    return f"{hint}; it was tried for {spot.retry_seconds} s: {told}"
