"""verify --remote: what is wrong with what a remote has of FILES, or with all of it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from castore.cli import output
from castore.cli.files import STANDARD, readable, rereadable
from castore.cli.fold import finding_record
from castore.cli.locate import find_store
from castore.cli.offline import require_online
from castore.cli.output import plural
from castore.errors import InvalidOption

if TYPE_CHECKING:
    from castore.objects.finding import Finding, FindingName
    from castore.store import Store

__all__ = ["verify_at_remote"]

_FINDINGS = 3

_FILES_SHOWN = 4
"""In a call that is to be copied."""


def verify_at_remote(
    files: Sequence[str] | None,
    remote: str | None,
    *,
    full: bool,
    scope: str | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Findings a line, as of verify; 3 if there is one. Nothing is written."""
    if remote is None:
        raise InvalidOption("--full is about a remote", hint="say --remote NAME", option="--full")
    opened = find_store(store, scope).get()
    require_online(remote)
    if files:
        return _files(opened, remote, files, full=full, as_json=as_json)
    return _all(opened, remote, full=full, as_json=as_json)


def _files(opened: Store, remote: str, files: Sequence[str], *, full: bool, as_json: bool) -> int:
    from castore import api

    checked = readable(files, as_json=as_json)
    if not checked:
        return 1
    named = list[str]()
    names: Counter[FindingName] = Counter()

    def each_told() -> Iterator[tuple[str, BinaryIO]]:
        """Each file, which is noted if something is wrong with it."""
        for path, (name, source) in zip(checked, rereadable(checked), strict=True):
            before = names.total()
            yield name, source
            if names.total() > before:
                named.append(path)

    with output.working("verifying"):
        _tell(api.verify_at_remote(opened, each_told(), remote=remote, full=full), names, as_json)
    wrong = names.total()
    if wrong or as_json or output.is_attended():
        words = f"{plural(wrong, 'finding') if wrong else 'no findings'} in {plural(len(checked), 'file')}"
        hint = _remedy(remote, names, named) if wrong else None
        said = f"{words} at '{remote}'" if hint is None else f"{words} at '{remote}': {hint}"
        counts = {"roots": None, "names": None, "objects": None, "unnamed": None}
        output.summary(said, findings=wrong, files=len(checked), hint=hint, **counts)
    return _FINDINGS if wrong or len(checked) < len(files) else 0


def _all(opened: Store, remote: str, *, full: bool, as_json: bool) -> int:
    from castore import api
    from castore.remote.survey import BucketSurvey

    told = BucketSurvey()
    names: Counter[FindingName] = Counter()
    with output.working(f"verifying {remote}") as progress:
        findings = api.verify_at_remote(opened, remote=remote, full=full, told=told, progress=progress)
        _tell(findings, names, as_json)
    wrong = names.total()
    if wrong or as_json or output.is_attended():
        words = f"{plural(wrong, 'finding') if wrong else 'no findings'} at '{remote}': "
        words += (
            f"{plural(told.roots, 'root')}, {plural(told.names, 'name')}, {plural(told.objects, 'object')}"
        )
        words += "" if full else ", by presence alone"
        words += f" ({told.unnamed:,} that no root names)" if told.unnamed else ""
        hint = _remedy(remote, names, None) if wrong else None
        output.summary(
            words if hint is None else f"{words}; {hint}",
            findings=wrong,
            files=0,
            hint=hint,
            roots=told.roots,
            names=told.names,
            objects=told.objects,
            unnamed=told.unnamed,
        )
    return _FINDINGS if wrong else 0


def _tell(findings: Iterable[Finding], names: Counter[FindingName], as_json: bool) -> None:
    """stdout has each; `names` counts them."""
    for finding in findings:
        names[finding.name] += 1
        output.table([finding_record(finding)], as_json)


def _remedy(remote: str, names: Iterable[FindingName], files: Sequence[str] | None) -> str | None:
    """The call that puts right what was found, from a store that has it; None if no push does.

    files: that lack something; None: all is meant.
    """
    from castore.objects.finding import FindingName

    found = set(names)
    if found.isdisjoint((FindingName.MISSING, FindingName.DAMAGED, FindingName.MISMATCH)):
        return None
    words = ["ctx", "push", remote, *(["--all"] if files is None else files[:_FILES_SHOWN])]
    if files is not None and (STANDARD in files or len(files) > _FILES_SHOWN):
        words = ["ctx", "push", remote, "FILE"]
    # What is only missing is sent without being told to.
    words += [] if found == {FindingName.MISSING} else ["--anew"]
    return f"'{shlex.join(words)}' from a store that has it mends that"
