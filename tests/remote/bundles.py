"""Tars as bundles are, and as they are not, made by hand."""

from __future__ import annotations

import io
import tarfile

from castore.digest import Digest
from castore.remote.bundle_tar import FORMAT_LINE
from castore.roots.files import encode_root
from castore.roots.model import Root, RootDraft, RootKind, merged


def listed(bundle: bytes) -> list[tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(bundle)) as tar:
        return tar.getmembers()


def contents(bundle: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(bundle)) as tar:
        found = {}
        for each in tar.getmembers():
            file = tar.extractfile(each)
            assert file is not None
            found[each.name] = file.read()
        return found


def objects_in(bundle: bytes) -> dict[str, bytes]:
    return {name: data for name, data in contents(bundle).items() if name.startswith("objects/")}


def info(name: str, data: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    made = tarfile.TarInfo(name)
    made.size = len(data)
    for key, value in fields.items():
        setattr(made, key, value)
    return made, data


def header(made: tarfile.TarInfo) -> bytes:
    return made.tobuf(tarfile.USTAR_FORMAT, "ascii", "strict")


def tarred(*added: tuple[tarfile.TarInfo, bytes] | bytes, end: bool = True) -> bytes:
    """A tar of these; bytes stand in it as they are."""
    target = b""
    for each in added:
        if isinstance(each, bytes):
            target += each
        else:
            target += header(each[0]) + each[1] + bytes(-len(each[1]) % 512)
    return target + bytes(1024) if end else target


def again(bundle: bytes, *more: tuple[tarfile.TarInfo, bytes] | bytes, **changed: bytes | None) -> bytes:
    """The same members, some changed by their names (None: left out), then `more`."""
    found = {name: changed.get(name, data) for name, data in contents(bundle).items()}
    return tarred(*(info(name, data) for name, data in found.items() if data is not None), *more)


def summed(block: bytes) -> bytes:
    """The header with a sum that fits."""
    blank = block[:148] + b" " * 8 + block[156:]
    return block[:148] + b"%06o\0 " % sum(blank) + block[156:]


FORMAT = info("format", FORMAT_LINE)


def made_root(objects: tuple[Digest, ...], **fields: object) -> Root:
    """A root that some writer may have made, with the id that it has by what it is."""
    details = fields.pop("details", {})
    scope = str(fields.pop("scope", "default"))
    draft = RootDraft(RootKind.KEEP, objects, details=details, **fields)  # type: ignore[arg-type]
    return merged(draft, scope, None, now=1_700_000_000.0, sequence=7)


def bundle_of(roots: list[Root], objects: dict[Digest, bytes]) -> bytes:
    pairs = sorted((f"roots/{root.id[:2]}/{root.id}.json", encode_root(root)) for root in roots)
    pairs += sorted((f"objects/{each.hex[:2]}/{each.hex}", data) for each, data in objects.items())
    return tarred(FORMAT, *(info(name, data) for name, data in pairs))


def renamed(bundle: bytes, old: str, new: str) -> bytes:
    found = {new if name == old else name: data for name, data in contents(bundle).items()}
    return tarred(*(info(name, data) for name, data in found.items()))
