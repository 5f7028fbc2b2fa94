"""The config.toml of a new store: every key as a comment, with its default."""

from __future__ import annotations

__all__ = ["CONFIG_TEMPLATE"]

CONFIG_TEMPLATE = """\
# castore: the settings of this store. Every key is shown with its default.

[store]
# zstd level of new objects, 1 to 19; objects already stored stay as they are.
# compression-level = 3
# The scope that roots are written in when no --scope is given.
# scope = "default"
# Time between forgetting a root and its expiry: an integer and s, m, h, d or w.
# grace = "14d"
# The most bytes that all object files may have: an integer and kB, MB, GB or TB; "none" is no limit.
# quota = "none"

[scopes]
# What a caller may use that was granted nothing (by CTX_SCOPE, say): scopes, and globs such as "team/*";
# "*" is everything, and the operator's commands. []: "*" while the store has no scope but the one above,
# else that scope. A scope with a quota has a table of its own, written by 'ctx scope create'.
# granted = []

[fold]
# Values whose literal is longer than this many bytes fold.
# bytes-over = 1024
# Arrays fold if they have more items than this, too.
# items-over = 8
# The share of a value's bytes that its reference must save, 0 to 1.
# min-saving = 0.75
# What a reference shows of its object: "edges", "outliers" or "none".
# preview = "edges"

[view]
# Turns by which the boundary between what stands whole and what moved advances.
# step = 8
# More tools that write the file that their arguments name: a read after one of them is no repeat.
# write-tools = []

# What 'ctx summary' caches is kept until somebody forgets it. A table for a strategy bounds that in each
# scope; whichever went unused for the longest goes first. "none" is no bound.
#   [summary.extract]
#   entries-max = 1000
#   bytes-max = "10MB"
#   age-max = "30d"

# A bucket that 'ctx push' and 'ctx pull' speak to has a table, written by 'ctx remote add'. No credential
# stands here: they come from the environment, or from the provider's own chain (docs/sharing.md).
#   [remote.origin]
#   url = "s3://bucket/prefix"
#   endpoint = "https://objects.example.org"
#   region = "eu-central-1"
#   path-style = true
#   fetch = "on-demand"
#   conditions = "none"
#   granted = ["team/*"]
#   timeout = "60s"
#   retry = "60s"
#   workers = 32
"""
