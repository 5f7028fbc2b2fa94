"""From a remote's settings to its Bucket. No request is sent.

Credentials are what the client library finds: the provider's variables of the environment, a web identity,
a container's or an instance's role. None is read, held or written here.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from castore.errors import CastoreError, InvalidConfig
from castore.remote.bucket import Bucket
from castore.settings import RemoteSettings

if TYPE_CHECKING:
    from obstore.store import MemoryStore, ObjectStore

    from castore.remote.service import Service

__all__ = ["connect", "in_memory", "require_installed"]

_S3_DELETES_MAX = 1000


def connect(remote: str, settings: RemoteSettings) -> Bucket:
    """The bucket that the settings say. Raises InvalidConfig for a URL that can't be one's."""
    url = urlsplit(settings.url)
    if url.scheme == "file":
        return Bucket(remote, settings, _folder(remote, settings))
    require_installed()
    from castore.remote.cloud import Cloud

    # Only S3 deletes many at once, and is content with what is absent.
    deletes_max = _S3_DELETES_MAX if url.scheme == "s3" else 1
    service = Cloud(
        remote,
        _opened(remote, settings),
        retry_seconds=settings.retry_seconds,
        deletes_max=deletes_max,
        has_generations=url.scheme == "gs",
    )
    return Bucket(remote, settings, service)


def in_memory(store: MemoryStore | None = None, *, remote: str = "memory", workers: int = 1) -> Bucket:
    """A bucket in this process's memory: for tests. store: whose bytes are to be used."""
    from obstore.store import MemoryStore as New

    from castore.remote.cloud import Cloud

    settings = RemoteSettings(url="memory:///", workers=workers)
    service = Cloud(
        remote, New() if store is None else store, retry_seconds=1, deletes_max=1000, is_far=False
    )
    return Bucket(remote, settings, service)


def require_installed() -> None:
    """Raises CastoreError where the client library is not installed."""
    if find_spec("obstore") is None:
        raise CastoreError(
            "remotes need the package 'obstore', which is not installed",
            hint="pip install 'obstore>=0.12,<0.13'",
        )


# --- Helpers ---


def _folder(remote: str, settings: RemoteSettings) -> Service:
    from castore.remote.folder import Folder

    url = urlsplit(settings.url)
    path = unquote(url.path).rstrip("/")
    if url.netloc not in ("", "localhost") or not path or "\0" in path:
        raise _no_place(remote, "file:///FOLDER")
    if os.path.exists(f"{path}/config.toml"):
        raise InvalidConfig(
            f"the folder of remote '{remote}' is a store of its own",
            key=f"remote.{remote}.url",
            hint="a store's folder has an index beside it; give a folder that no store is in",
        )
    return Folder(remote, path)


def _opened(remote: str, settings: RemoteSettings) -> ObjectStore:
    from obstore.exceptions import BaseError

    url = urlsplit(settings.url)
    if not url.netloc or url.username is not None:
        raise _no_place(remote, f"{url.scheme}://BUCKET/PREFIX")
    try:
        return _s3(settings) if url.scheme == "s3" else _other(settings)
    except (BaseError, ValueError, OSError) as error:
        needs_account = "Account must be specified" in str(error)
        hint = "set AZURE_STORAGE_ACCOUNT_NAME" if needs_account else "see docs/sharing.md, 'Set-up'"
        key = f"remote.{remote}.url"
        raise InvalidConfig(f"remote '{remote}' can't be set up from its URL", key=key, hint=hint) from None


def _s3(settings: RemoteSettings) -> ObjectStore:
    from obstore.store import S3Store

    url = urlsplit(settings.url)
    endpoint, bucket = settings.endpoint, url.netloc
    is_path_style = settings.path_style if settings.path_style is not None else endpoint is not None
    more: dict[str, Any] = {}
    if endpoint is not None:
        more["endpoint"] = endpoint.rstrip("/") if is_path_style else _with_bucket(endpoint, bucket)
        more["region"] = settings.region or "us-east-1"
    elif settings.region is not None:
        more["region"] = settings.region
    return S3Store(
        bucket,
        prefix=url.path.strip("/") or None,
        virtual_hosted_style_request=not is_path_style,
        **more,
        **_options(settings),
    )


def _other(settings: RemoteSettings) -> ObjectStore:
    from obstore.store import from_url

    more: dict[str, Any] = {}
    if settings.endpoint is not None:
        is_google = settings.url.startswith("gs:")
        more["base_url" if is_google else "endpoint"] = settings.endpoint.rstrip("/")
    return from_url(settings.url, **more, **_options(settings))


def _options(settings: RemoteSettings) -> dict[str, Any]:
    from castore.remote.cloud import client_options, retry_options

    is_plain_http = settings.endpoint is not None and settings.endpoint.startswith("http://")
    return {
        "client_options": client_options(settings.timeout_seconds, is_plain_http=is_plain_http),
        "retry_config": retry_options(settings.retry_seconds),
    }


def _with_bucket(endpoint: str, bucket: str) -> str:
    """The endpoint whose host's name begins with the bucket's."""
    scheme, _, rest = endpoint.rstrip("/").partition("://")
    return f"{scheme}://{rest}" if rest.startswith(bucket + ".") else f"{scheme}://{bucket}.{rest}"


def _no_place(remote: str, form: str) -> InvalidConfig:
    return InvalidConfig(f"the URL of remote '{remote}' must be {form}", key=f"remote.{remote}.url")
