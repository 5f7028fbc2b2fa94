"""`python -m castore` is `ctx`: where the program starts."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn

__all__ = ["start"]

_INTERRUPTED = 130
_YOUNG_OBJECTS_MAX = 50_000
"""New ones before Python looks for cycles among them; its own 700 is for programs that run on and on."""


def start() -> NoReturn:
    """Run the command line of this process and end it. An interrupt while modules load is quiet too."""
    # A command makes many objects and hardly a cycle: a tenth of its time went into looking for some.
    gc.set_threshold(_YOUNG_OBJECTS_MAX, *gc.get_threshold()[1:])
    try:
        from castore.cli.app import main
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    main()


if __name__ == "__main__":
    start()
