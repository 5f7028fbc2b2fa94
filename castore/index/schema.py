"""The index's tables. A changed schema is a rebuild, never a migration: everything here is derived."""

from __future__ import annotations

from hashlib import sha256

__all__ = ["APPLICATION_ID", "FINGERPRINT", "SCHEMA", "SCHEMA_VERSION"]

APPLICATION_ID = 0x63747831
"""`ctx1`, in the file's header."""

SCHEMA_VERSION = 6
"""Grows with every change of SCHEMA; an index with a larger one was written by a newer castore."""

SCHEMA = (
    # Every object that a transaction has published, and what its file was then.
    """CREATE TABLE objects(
        digest BLOB PRIMARY KEY,
        size INTEGER NOT NULL,
        stored_bytes INTEGER NOT NULL,
        file_sha256 BLOB NOT NULL
    ) STRICT, WITHOUT ROWID""",
    # The digest of what the rows about an object's frames say.
    """CREATE TABLE frame_checks(
        digest BLOB PRIMARY KEY,
        sha256 BLOB NOT NULL
    ) STRICT, WITHOUT ROWID""",
    # What is in each frame of an object that has a row, and FRAME_BYTES or more (castore.objects.frames).
    """CREATE TABLE frames(
        digest BLOB NOT NULL,
        number INTEGER NOT NULL,
        sha256 BLOB NOT NULL,
        newlines INTEGER NOT NULL,
        characters INTEGER NOT NULL,
        commas INTEGER NOT NULL,
        depth INTEGER NOT NULL,
        state INTEGER NOT NULL,
        PRIMARY KEY(digest, number)
    ) STRICT, WITHOUT ROWID""",
    # Every root file, and its stamp when it was read or written.
    """CREATE TABLE roots(
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        scope TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT,
        source_name TEXT,
        source_digest BLOB,
        source_size INTEGER,
        document_digest BLOB,
        document_size INTEGER,
        created REAL NOT NULL,
        sequence INTEGER NOT NULL,
        expires REAL,
        forgotten REAL,
        expires_unforgotten REAL,
        details TEXT NOT NULL,
        base TEXT,
        expires_alone REAL,
        place INTEGER,
        key TEXT,
        inode INTEGER NOT NULL,
        file_bytes INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL
    ) STRICT""",
    "CREATE INDEX roots_document ON roots(document_digest) WHERE document_digest IS NOT NULL",
    "CREATE INDEX roots_name ON roots(name) WHERE name IS NOT NULL",
    "CREATE INDEX roots_base ON roots(base) WHERE base IS NOT NULL",
    "CREATE INDEX roots_log ON roots(kind, scope, source_name, place) WHERE place IS NOT NULL",
    "CREATE INDEX roots_key ON roots(kind, sequence) WHERE key IS NOT NULL",
    "CREATE INDEX roots_expires ON roots(expires) WHERE expires IS NOT NULL",
    "CREATE INDEX roots_sequence ON roots(sequence)",
    "CREATE INDEX roots_scope ON roots(scope)",
    # The whole graph: how many roots name an object is a count of this.
    """CREATE TABLE root_objects(
        digest BLOB NOT NULL,
        root INTEGER NOT NULL,
        PRIMARY KEY(digest, root)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX root_objects_root ON root_objects(root)",
    # The mtime of each roots/ab folder after our last change to it.
    "CREATE TABLE root_shards(shard TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE facts(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID",
)

FINGERPRINT = int.from_bytes(sha256("\n".join(SCHEMA).encode()).digest()[:6], "big")
"""Of the statements above: an index that was made by others is rebuilt, even if the version is the same."""
