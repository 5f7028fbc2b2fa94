"""The two stores, built once; a test that writes gets copies of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from castore.objects.database import encode_object
from castore.roots.model import Root
from tests.access.sessions import write_files
from tests.access.world import DIGESTS, OBJECTS, OWN, build, reference
from tests.remote.bundles import bundle_of, made_root


class Twins:
    """shared: with the others. alone: without. documents: files that a caller has."""

    def __init__(self, shared: Path, alone: Path, documents: Path) -> None:
        self.shared = shared
        self.alone = alone
        self.documents = documents

    def copied(self, folder: Path) -> Twins:
        return Twins(
            *(Path(shutil.copytree(each, folder / name / ".ctxstore")) for each, name in self._stores()),
            documents=self.documents,
        )

    def _stores(self) -> list[tuple[Path, str]]:
        return [(self.shared, "shared"), (self.alone, "alone")]


def claiming(what: str) -> Root:
    """A root of our own scope that names the object, as it may come in a bundle."""
    return made_root((DIGESTS[what],), scope=OWN, source_name=f"{what}.json")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Twins:
    folder = tmp_path_factory.mktemp("twins")
    documents = folder / "documents"
    documents.mkdir()
    for what, data in OBJECTS.items():
        (documents / f"{what}.json").write_bytes(reference(data))
        (documents / f"{what}.bin").write_bytes(data)
        files = {DIGESTS[what]: encode_object(data, 3).file}
        (documents / f"{what}.bundle.tar").write_bytes(bundle_of([claiming(what)], files))
        (documents / f"{what}.claim.tar").write_bytes(bundle_of([claiming(what)], {}))
        result = {"tool_name": "Bash", "tool_input": {}, "tool_response": {"stdout": data.decode()}}
        after = {"hook_event_name": "PostToolUse", **result}
        ended = {"hook_event_name": "SessionEnd", "transcript_path": str(documents / f"{what}.json")}
        for name, told in (("after", after), ("ended", ended)):
            (documents / f"{what}.{name}.json").write_text(json.dumps({"session_id": "s-1", **told}))
    write_files(documents)
    return Twins(
        build(folder / "shared" / ".ctxstore", with_others=True),
        build(folder / "alone" / ".ctxstore", with_others=False),
        documents,
    )


@pytest.fixture
def twins(built: Twins, fast_path: Path) -> Twins:
    """Copies of the two stores."""
    return built.copied(fast_path)
