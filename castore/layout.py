"""Every path under a store's folder, one function each, and the store format's version.

format             one line, the version
config.toml        settings
objects/ab/<hex>   objects: read-only, private (0400 in 0700; shared: 0440 in 2770)
roots/ab/<id>.json roots
index.sqlite       derived from the two above
tombstones/<hex>.json  what purge removed, when and why
scopes             is there once a root was in another scope than the default one
reads              when objects were last read: notes, best effort
remotes/           what names meant at remotes when they were last seen there: notes
tmp/               staged files, swept after a day
damaged/           what repair moved away
"""

from __future__ import annotations

import re

__all__ = ["FORMAT_VERSION", "ROOT_ID_HEX", "Layout"]

FORMAT_VERSION = "castore 1"
"""The first line of `format`; a store that says anything else is refused."""

ROOT_ID_HEX = 32

OBJECT_NAME = re.compile(r"[0-9a-f]{64}\Z")
SHARD_NAME = re.compile(r"[0-9a-f]{2}\Z")
TOMBSTONE_NAME = re.compile(r"([0-9a-f]{64})\.json\Z")
KEY = re.compile(r"[0-9a-f]{64}\Z")
ROOT_ID = re.compile(rf"[0-9a-f]{{{ROOT_ID_HEX}}}\Z")
ROOT_NAME = re.compile(rf"([0-9a-f]{{{ROOT_ID_HEX}}})\.json\Z")

SHARDS = tuple(f"{number:02x}" for number in range(256))

GITIGNORE_PRIVATE = "*\n"
GITIGNORE_TRACKED = "/index.sqlite*\n/reads\n/remotes/\n/tmp/\n/damaged/\n"
GITATTRIBUTES_TRACKED = "* binary\n"


class Layout:
    """The paths of one store; `folder` is an absolute path without a slash at its end."""

    __slots__ = (
        "config",
        "damaged",
        "folder",
        "format",
        "gitattributes",
        "gitignore",
        "index",
        "objects",
        "reads",
        "remotes",
        "roots",
        "scopes",
        "tmp",
        "tombstones",
    )

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.format = folder + "/format"
        self.config = folder + "/config.toml"
        self.gitignore = folder + "/.gitignore"
        self.gitattributes = folder + "/.gitattributes"
        self.objects = folder + "/objects"
        self.roots = folder + "/roots"
        self.index = folder + "/index.sqlite"
        self.reads = folder + "/reads"
        self.scopes = folder + "/scopes"
        self.remotes = folder + "/remotes"
        self.tmp = folder + "/tmp"
        self.tombstones = folder + "/tombstones"
        self.damaged = folder + "/damaged"

    def object_folder(self, hex_digits: str) -> str:
        """The folder of every object whose digest begins with these two digits (or more)."""
        return f"{self.objects}/{hex_digits[:2]}"

    def object_file(self, hex_digits: str) -> str:
        return f"{self.objects}/{hex_digits[:2]}/{hex_digits}"

    def root_folder(self, root_id: str) -> str:
        return f"{self.roots}/{root_id[:2]}"

    def root_file(self, root_id: str) -> str:
        return f"{self.roots}/{root_id[:2]}/{root_id}.json"

    def tombstone(self, hex_digits: str) -> str:
        return f"{self.tombstones}/{hex_digits}.json"

    def staged_file(self, name: str) -> str:
        return f"{self.tmp}/{name}"
