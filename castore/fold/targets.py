"""Words that may be a FILE or a REF: which of the two each is.

Law: no word is taken for one where it may be the other as well: that is an error which says how to tell them
apart.
"""

from __future__ import annotations

import os

from castore.errors import DigestAmbiguous, InvalidOption, NameMissing, NotFound
from castore.store import Store

__all__ = ["is_file", "is_regular", "neither"]


def is_file(store: Store, target: str) -> bool:
    """Whether FILE is meant. Raises InvalidOption if REF may be meant as well."""
    if not is_regular(target):
        return False
    try:
        store.find(target)
    except DigestAmbiguous:
        pass  # It means something, even if not one thing.
    except NotFound:
        return True
    raise InvalidOption(
        f"'{target}' is a file, and the store knows it too",
        hint=f"write './{target}' for the file; for the other, its digest or more of its digits",
        subject=target,
    )


def is_regular(path: str) -> bool:
    return "\0" not in path and os.path.isfile(path)


def neither(target: str) -> NameMissing:
    """The error for what is no file, and of which the store knows nothing."""
    hint = "check the path; 'ctx log' lists the names in use, 'ctx ls' the objects"
    if "\0" not in target and os.path.exists(target):
        hint = "what has this path is not a regular file"
    return NameMissing(target, what="file, object or name", hint=hint)
