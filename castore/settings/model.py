"""What config.toml says, as values. A Config that exists is valid: castore.settings.parsing makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Config", "FoldDefaults", "RemoteSettings", "ScopeSettings", "SummaryPolicy", "ViewDefaults"]


@dataclass(frozen=True, slots=True)
class FoldDefaults:
    """What `ctx fold` does where an option does not say otherwise."""

    bytes_over: int = 1024
    items_over: int = 8
    min_saving: float = 0.75
    preview: str = "edges"


@dataclass(frozen=True, slots=True)
class ViewDefaults:
    """What `ctx view` does where an option does not say otherwise. write_tools: in lower case, sorted."""

    step: int = 8
    write_tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """What config.toml says of one scope. `quota_bytes`: full size of all objects it names; None: any."""

    quota_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class SummaryPolicy:
    """How long and how many summaries of one strategy a scope's cache holds; None: that says nothing.

    bytes_max: of their texts. age_seconds_max: an older one is made anew when it is asked for.
    """

    entries_max: int | None = None
    bytes_max: int | None = None
    age_seconds_max: int | None = None


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """A bucket by a name: where it is and how to speak to it; never a credential.

    url: `s3://BUCKET/PREFIX`, `gs://…`, `az://…` or `file:///FOLDER`. endpoint: of another server than the
    provider's; path_style: the bucket stands in the path of requests, not in the host's name; None: if there
    is an endpoint. fetch: `whole`, or `on-demand`: a pull brings roots, and reads bring objects. conditions:
    `required`, or `none` for a server without conditional writes, to which one store alone may push at a
    time. granted: scopes of it that may be used; None: all. timeout_seconds: of one request; retry_seconds:
    until no other try is made. workers: requests at once.
    """

    url: str
    endpoint: str | None = None
    region: str | None = None
    path_style: bool | None = None
    fetch: str = "whole"
    conditions: str = "required"
    granted: tuple[str, ...] | None = None
    timeout_seconds: int = 60
    retry_seconds: int = 60
    workers: int = 32


@dataclass(frozen=True, slots=True)
class Config:
    """One store's settings. `grace_seconds`: between forgetting a root and its expiry.

    quota_bytes: of all object files; None: any. granted: what a caller may use who was granted nothing;
    None: what castore.store.access says. scopes: those that have settings. summary: of strategies by name,
    those that have settings. remotes: by name.
    """

    compression_level: int = 3
    scope: str = "default"
    grace_seconds: int = 14 * 86_400
    quota_bytes: int | None = None
    granted: tuple[str, ...] | None = None
    fold: FoldDefaults = field(default_factory=FoldDefaults)
    view: ViewDefaults = field(default_factory=ViewDefaults)
    scopes: Mapping[str, ScopeSettings] = field(default_factory=dict)
    summary: Mapping[str, SummaryPolicy] = field(default_factory=dict)
    remotes: Mapping[str, RemoteSettings] = field(default_factory=dict)
