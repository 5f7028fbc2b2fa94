"""From a remote's settings to its Bucket. No request is sent.

Credentials are what the client library finds: the provider's variables of the environment, a web identity,
a container's or an instance's role. None is read, held or written here.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from castore.errors import CastoreError, InvalidConfig, RemoteDenied
from castore.remote.bucket import Bucket
from castore.remote.failures import Spot, credentials_hint, is_panic
from castore.settings import RemoteSettings, places

if TYPE_CHECKING:
    from obstore.store import MemoryStore, ObjectStore

    from castore.remote.service import Service

__all__ = ["connect", "in_memory", "require_installed", "require_no_store"]

_S3_DELETES_MAX = 1000


def connect(remote: str, settings: RemoteSettings) -> Bucket:
    """The bucket that the settings say.

    Raises InvalidConfig for a URL, an endpoint or a region that can't be one, and a folder that a store is
    in; RemoteDenied where there is a part of credentials alone.
    """
    _require_valid(remote, settings)
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
        timeout_seconds=settings.timeout_seconds,
        spot=Spot(url.scheme, None if settings.endpoint is None else urlsplit(settings.endpoint).netloc),
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


def require_no_store(remote: str, settings: RemoteSettings, own: str | None = None) -> None:
    """The remote is no folder that is a store, or lies in one; nor one that the store `own` lies in.

    Raises InvalidConfig.
    """
    path = os.path.realpath(places.folder_of(settings.url))
    found, what = path, "is a store of its own"
    while not _is_store(found):
        parent = os.path.dirname(found)
        if parent == found:
            break
        found, what = parent, "lies in a store"
    else:
        raise _in_the_way(remote, what, found)
    if own is not None and os.path.realpath(own).startswith(f"{path}/"):
        raise _in_the_way(remote, "has this store in it", os.path.realpath(own))


# --- Helpers ---


def _is_store(folder: str) -> bool:
    return os.path.exists(f"{folder}/config.toml") and os.path.exists(f"{folder}/format")


def _in_the_way(remote: str, what: str, store: str) -> InvalidConfig:
    beside = f"{os.path.dirname(os.path.dirname(store)).rstrip('/')}/castore-bucket"
    return InvalidConfig(
        f"the folder of remote '{remote}' {what}: '{store}'",
        key=f"remote.{remote}.url",
        hint=f"give a folder that no store is in and that is in none, such as file://{quote(beside)}",
    )


def _require_valid(remote: str, settings: RemoteSettings) -> None:
    """As what config.toml says: settings may also be made by a caller."""
    places.url(f"remote.{remote}.url", settings.url)
    if settings.endpoint is not None:
        places.endpoint(f"remote.{remote}.endpoint", settings.endpoint)
    if settings.region is not None:
        places.region(f"remote.{remote}.region", settings.region)


def _folder(remote: str, settings: RemoteSettings) -> Service:
    from castore.remote.folder import Folder

    require_no_store(remote, settings)
    return Folder(remote, places.folder_of(settings.url))


def _opened(remote: str, settings: RemoteSettings) -> ObjectStore:
    from obstore.exceptions import BaseError

    url = urlsplit(settings.url)
    try:
        return _s3(settings) if url.scheme == "s3" else _other(settings)
    except (BaseError, ValueError, OSError) as error:
        raise _no_client(remote, url.scheme, str(error)) from None
    except BaseException as error:
        if not is_panic(error):
            raise
        raise _no_client(remote, url.scheme, "") from None


def _no_client(remote: str, scheme: str, text: str) -> CastoreError:
    """text: of the client library; not to be told."""
    if "Missing AccessKeyId" in text or "Missing SecretAccessKey" in text:
        words = f"only a part of the credentials for remote '{remote}' is in the environment"
        return RemoteDenied(remote, words, hint=credentials_hint(scheme))
    hint = credentials_hint(scheme)
    if "Account must be specified" in text:
        hint = "set AZURE_STORAGE_ACCOUNT_NAME"
    words = f"remote '{remote}' can't be set up from its URL and the environment"
    return InvalidConfig(words, key=f"remote.{remote}.url", hint=hint)


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
