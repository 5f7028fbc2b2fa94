"""`python -m castore` is `ctx`: where the program starts."""

from __future__ import annotations

import sys
from typing import NoReturn

__all__ = ["start"]

_INTERRUPTED = 130


def start() -> NoReturn:
    """Run the command line of this process and end it. An interrupt while modules load is quiet too."""
    try:
        from castore.cli.app import main
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    main()


if __name__ == "__main__":
    start()
