"""A disk whose power can be cut: ext4 in a file, on a loop device.

The cut is ext4's own: the ioctl EXT4_IOC_SHUTDOWN with NOLOGFLUSH stops the file system where it stands,
and what was not on the disk by then never gets there. The page cache, which survives a kill -9, does not.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
from pathlib import Path

__all__ = ["Disk", "why_not"]

_SHUTDOWN = 0x8004587D
_NO_LOG_FLUSH = struct.pack("I", 2)
_OPTIONS = "loop,commit=600"
"""ext4 writes out by itself after 600 s, and not after 5: what nobody synced is then surely lost."""


def why_not() -> str | None:
    """Why power can't be cut here; None if it can."""
    if os.geteuid() != 0:
        return "mounting a disk needs root"
    for program in ("mkfs.ext4", "mount", "umount"):
        if shutil.which(program) is None:
            return f"there is no {program}"
    if not os.path.exists("/dev/loop-control"):
        return "there are no loop devices"
    return None


class Disk:
    """Mounted at `folder` after `mount`. image: a file that is made, of 64 MiB."""

    def __init__(self, image: Path, folder: Path) -> None:
        self.image = image
        self.folder = folder
        self.is_mounted = False
        with open(image, "wb") as file:
            file.truncate(64 << 20)
        _run("mkfs.ext4", "-q", "-F", str(image))
        folder.mkdir()

    def mount(self) -> None:
        """Raises OSError saying why, where that is not allowed."""
        _run("mount", "-t", "ext4", "-o", _OPTIONS, str(self.image), str(self.folder))
        self.is_mounted = True

    def unmount(self, *, even_if_busy: bool = False) -> None:
        """even_if_busy: whoever still has a file open there keeps it until it is closed."""
        if self.is_mounted:
            _run("umount", *(["--lazy"] if even_if_busy else []), str(self.folder))
            self.is_mounted = False

    def cut(self) -> None:
        """The power fails now. Whoever uses the disk meets errors until `restore`."""
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, _NO_LOG_FLUSH)
        finally:
            os.close(descriptor)

    def restore(self) -> None:
        """Power is back, and the disk is mounted again. Nobody has a file open there."""
        self.unmount()
        self.mount()


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")
