"""`python move_name.py STORE NAME REF`: the name means what REF does, whatever it meant before."""

from __future__ import annotations

import sys

from castore import api
from castore.cli.failure import report


def main() -> int:
    folder, name, reference = sys.argv[1:]
    try:
        store = api.open_store(folder)
        store.tag(name, reference, move=True)
        store.close()
    except Exception as error:  # noqa: BLE001 - as the command line does
        return report(error, as_json=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
