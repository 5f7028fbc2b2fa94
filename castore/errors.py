"""Every error castore raises, in one tree; each says what happened, where, and what to do.

    CastoreError                       1   another expected failure (unreadable input, …)
    ├── SummarizerFailed               1   a summarizer gave an error, too much, too late, or nothing
    ├── FidelityShort                  3   a summary kept less of its source than was required
    ├── InvalidOption                  2   a usage mistake: option, digest, pattern, duration, name
    │   ├── InvalidConfig              2   config.toml: unknown key, wrong type, out of range
    │   ├── DerivedSource              2   what is to be summarised was itself made from something else
    │   └── NotRestored                2   a collapse was asked before its state was restored, in order
    ├── StoreUnavailable              10
    │   ├── StoreMissing                   no store there (reads never create one)
    │   ├── StoreExists                    `init` where one is already
    │   └── UnknownStoreFormat             written by another version
    ├── StoreLocked                   11   another process holds it for too long
    ├── NotFound                      12   also: what was named is no object, or several
    │   ├── ObjectMissing                  no object has this digest, or none that is visible
    │   ├── ObjectPurged                   it was removed on purpose, and this is when and why
    │   ├── ViewMissing                    markers stand in it, and no view of these bytes is recorded here
    │   ├── NameMissing                    no root has this name
    │   ├── BaseMissing                    the root that another one is based on is not there
    │   └── DigestAmbiguous                a prefix that several objects share
    ├── Damaged                       13
    │   ├── ObjectDamaged                  an object's file does not give the object's bytes
    │   ├── RootDamaged                    a root file that is not what was written
    │   ├── LogDamaged                     a record of a log is missing between others, or says what can't be
    │   ├── IndexDamaged                   the derived index can't be used and can't be rebuilt here
    │   └── BundleDamaged                  a bundle is not what was made, or never was one
    ├── ScopeDenied                   14   a write outside the granted scopes
    ├── Conflict                      15
    │   ├── NameTaken                      a name that another root of the scope has
    │   ├── NameMoved                      the name does not mean any more what the caller expects
    │   ├── LogMoved                       somebody else wrote in the log since it was read
    │   ├── RootsDiverged                  two stores have roots of one id that can't be joined
    │   ├── KeyTaken                       another root has the key than the one that was read
    │   └── SpanConflict                   a span that is unknown, overlaps, or would tear turns apart
    ├── RemoteError                   16   a remote did not do what was asked of it
    │   ├── RemoteUnavailable              it can't be reached, is too slow, or answers with errors of its own
    │   ├── RemoteDenied                   the credentials are absent, wrong, or not enough
    │   ├── RemoteMissing                  the bucket or container is not there, or no castore is in it
    │   ├── RemoteDamaged                  an object or a record there is not what was written
    │   ├── RemoteUnconditional            it does not refuse what it was asked to refuse
    │   ├── RemoteBusy                     a gc there keeps what is needed, and has not ended in time
    │   └── RemoteForbidden                what is needed lies there, and --offline forbids to get it
    ├── LimitExceeded                 17   a named limit (castore.config) or a quota
    └── DocumentInvalid               18   not a sequence of JSON values, or a malformed reference
        ├── SessionInvalid                 no session of a known format, or one that contradicts itself
        ├── UnfoldMismatch                 a reference does not fit the object it names, or the whole
        │                                  is not what was folded
        └── ValueNotFoldable               a Python value that has no exact JSON form

Laws: `exit_code` is a class attribute and never changes for a class; `fields` are JSON values, for
programs; `message` is for people, lower case, without a full stop; causes are chained (`raise … from`).
Programs branch on the class or the code, never on the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

__all__ = [
    "BaseMissing",
    "BundleDamaged",
    "CastoreError",
    "Conflict",
    "Damaged",
    "DerivedSource",
    "DigestAmbiguous",
    "DocumentInvalid",
    "FidelityShort",
    "IndexDamaged",
    "InvalidConfig",
    "InvalidOption",
    "KeyTaken",
    "LimitExceeded",
    "LogDamaged",
    "LogMoved",
    "NameMissing",
    "NameMoved",
    "NameTaken",
    "NotFound",
    "NotRestored",
    "ObjectDamaged",
    "ObjectMissing",
    "ObjectPurged",
    "RemoteBusy",
    "RemoteDamaged",
    "RemoteDenied",
    "RemoteError",
    "RemoteForbidden",
    "RemoteMissing",
    "RemoteUnavailable",
    "RemoteUnconditional",
    "RootDamaged",
    "RootsDiverged",
    "ScopeDenied",
    "SessionInvalid",
    "SpanConflict",
    "StoreExists",
    "StoreLocked",
    "StoreMissing",
    "StoreUnavailable",
    "SummarizerFailed",
    "UnfoldMismatch",
    "UnknownStoreFormat",
    "ValueNotFoldable",
    "ViewMissing",
]

_SHOWN = len("sha256:") + 16
"""Characters of a digest that a message shows; its field `digest` is whole."""

_WHOLE = len("sha256:") + 64

FieldValue = str | int | float | bool | None | list[str]


class CastoreError(Exception):
    """An expected failure. `place` says where in somebody's input; `hint` says what to do."""

    exit_code: ClassVar[int] = 1
    default_hint: ClassVar[str | None] = None
    others_hint: ClassVar[str | None] = None
    """For a caller that is not the operator, where the default hint names what is refused to it."""

    def __init__(self, message: str, *, hint: str | None = None, **fields: FieldValue) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint if hint is not None else self.default_hint
        self.fields: dict[str, FieldValue] = dict(fields)
        self.place: str | None = None

    def address_others(self) -> None:
        """The hint is one that helps a caller who is not the store's operator."""
        if self.hint == self.default_hint and self.others_hint is not None:
            self.hint = self.others_hint

    def at(self, place: str) -> CastoreError:
        """Say where it happened (`folded.json: $.rows (byte 47)`), keeping an earlier, closer place."""
        if self.place is None:
            self.place = place
        return self


class InvalidOption(CastoreError):
    exit_code = 2


class InvalidConfig(InvalidOption):
    pass


class DerivedSource(InvalidOption):
    """What is to be summarised was made from something else: a summary of it drifts further from the source.

    digest: of it. by: what made it: a strategy (`extract@1`), `view` or `collapse`. made_of: the digest of
    what it was made from; None: turns of a session. source_name: what that, or the session, is called.
    """

    def __init__(
        self, digest: str, by: str, *, made_of: str | None = None, source_name: str | None = None
    ) -> None:
        if made_of is not None:
            origin = f"'{made_of[:_SHOWN]}'"
        else:
            origin = "turns of a session" if source_name is None else f"turns of the session '{source_name}'"
        super().__init__(
            f"'{digest[:_SHOWN]}' is derived: it was made from {origin} by '{by}'",
            hint="summarise the source itself; --allow-derived records the steps back to it",
            digest=digest,
            by=by,
            made_of=made_of,
            source_name=source_name,
        )


class StoreUnavailable(CastoreError):
    exit_code = 10


class StoreMissing(StoreUnavailable):
    default_hint = "'ctx init' makes one; --store and CTX_STORE name the .ctxstore folder itself"


class StoreExists(StoreUnavailable):
    default_hint = "it was left as it was, and is ready for use"


class UnknownStoreFormat(StoreUnavailable):
    default_hint = "use the version of castore that wrote this store, or a newer one"


class StoreLocked(CastoreError):
    exit_code = 11
    default_hint = "another process is writing; try again when it has ended"


class NotFound(CastoreError):
    """Nothing has this digest or name, or what has it is not the one object that is needed."""

    exit_code = 12
    elsewhere_hint: ClassVar[str | None] = None
    """Said after what a pull may bring; None: the hint as it is."""

    pulled_from: str | None = None
    """The remote from which a pull may bring it, as the hint says."""

    def offer_pull(self, remote: str, what: str) -> None:
        """The hint begins with the pull that brings it; said again, with that of something else.

        what: FILE or REF, as the command line takes it.
        """
        if self.pulled_from is None:
            self._rest = self.elsewhere_hint or self.hint
        self.pulled_from = remote
        offer = f"'ctx pull {remote} {what}' brings it if it was pushed"
        self.hint = offer if self._rest is None else f"{offer}; {self._rest}"


class ObjectMissing(NotFound):
    """No object with this digest is here (or none that the caller may see: the two read alike).

    digest: whole, or as many of its digits as were given.
    """

    default_hint = (
        "'ctx repair --from FILE' heals it if FILE has the bytes; 'ctx verify' lists all damage; "
        "--store or CTX_STORE names another store"
    )
    others_hint = "ask the store's operator to run 'ctx verify'; --store or CTX_STORE names another store"
    elsewhere_hint = "--store or CTX_STORE names another store"

    def __init__(self, digest: str, *, hint: str | None = None) -> None:
        message = f"object '{digest[:_SHOWN]}' is missing"
        if len(digest) < _WHOLE:
            message = f"no object's digest begins with '{digest.removeprefix('sha256:')}'"
            hint = hint or "'ctx ls' lists the objects; --store or CTX_STORE names another store"
        super().__init__(message, hint=hint, digest=digest)


class ObjectPurged(NotFound):
    """The object was removed on purpose. Told to those who could see it; to others it is missing.

    purged: when, unix seconds. reason: as it was given. refused: where bytes of several are refused at once,
    all their digests.
    """

    default_hint = "putting its bytes again takes --allow-purged"

    def __init__(self, digest: str, *, purged: float, date: str, reason: str) -> None:
        super().__init__(
            f"object '{digest[:_SHOWN]}' was purged on {date}: {reason}",
            digest=digest,
            purged=purged,
            reason=reason,
        )
        self.refused: tuple[str, ...] = (digest,)


class ViewMissing(NotFound):
    """Bytes with markers of ours for whole strings, of which no record says how to take them back."""

    default_hint = (
        "its record is in another store, or was forgotten and collected; "
        "if it is no view, it can be stored with 'ctx put' and folded with 'ctx fold'"
    )

    def __init__(self, marker: str) -> None:
        super().__init__(
            f"markers stand in it, as '{marker}', and no view of these bytes is recorded here", marker=marker
        )


class NameMissing(NotFound):
    default_hint = "'ctx log' lists the names in use"

    def __init__(self, name: str, *, what: str = "object or name", hint: str | None = None) -> None:
        super().__init__(f"no {what} '{name}'", hint=hint, subject=name)


class BaseMissing(NotFound):
    """The root that another one is based on is not there, has expired, or is of another scope.

    base: its id. Who writes may write a root that is based on none.
    """

    default_hint = "'ctx verify' lists all damage"

    def __init__(self, base: str) -> None:
        super().__init__(f"root '{base}' is missing, and another is based on it", base=base)


class DigestAmbiguous(NotFound):
    default_hint = "give more digits"

    def __init__(self, prefix: str, candidates: Sequence[str]) -> None:
        listed = ", ".join(candidates[:4]) + (", …" if len(candidates) > 4 else "")
        super().__init__(
            f"digest '{prefix}' is ambiguous: {listed}", prefix=prefix, candidates=list(candidates)
        )


class Damaged(CastoreError):
    exit_code = 13
    default_hint = "'ctx verify' lists all damage"
    others_hint = "ask the store's operator to run 'ctx verify'"


class ObjectDamaged(Damaged):
    """The file is there but does not give the object's bytes; `reason` says in what way."""

    default_hint = "'ctx repair --from FILE' heals it if FILE has the bytes; 'ctx verify' lists all damage"
    others_hint = "put its bytes again, or ask the store's operator to run 'ctx repair --from FILE'"

    def __init__(self, digest: str, reason: str, *, hint: str | None = None) -> None:
        super().__init__(
            f"object '{digest[:_SHOWN]}' is damaged: {reason}", hint=hint, digest=digest, reason=reason
        )


class RootDamaged(Damaged):
    default_hint = "'ctx verify' lists all damage; 'ctx repair' puts right what can be, and deletes nothing"
    others_hint = "ask the store's operator to run 'ctx repair'"

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"root file '{file}' is damaged: {reason}", file=file, reason=reason)


class IndexDamaged(Damaged):
    default_hint = "the index is derived: run this again, and it is built anew"
    others_hint = default_hint


class LogDamaged(Damaged):
    """A log of a session lacks a record between others, or one of them says what can't be."""

    default_hint = "'ctx repair' may bring it back; 'ctx collapse reset' begins the log anew"


class BundleDamaged(Damaged):
    """A bundle is not what `ctx bundle create` makes; `member` says where. Nothing of it was imported."""

    default_hint = "nothing of it was imported: copy the bundle again, or make it again"
    others_hint = default_hint

    def __init__(self, member: str | None, reason: str, *, hint: str | None = None) -> None:
        message = reason if member is None else f"the bundle is damaged at '{member}': {reason}"
        super().__init__(message, hint=hint, member=member)


class ScopeDenied(CastoreError):
    """What was asked for lies outside what the caller was granted, whether or not it exists."""

    exit_code = 14
    default_hint = "CTX_SCOPE says which scopes are granted; 'ctx scope list' lists them"


class Conflict(CastoreError):
    exit_code = 15


class NameTaken(Conflict):
    default_hint = "choose another name, or see what has it with 'ctx log'"

    def __init__(
        self,
        name: str,
        scope: str,
        *,
        message: str | None = None,
        hint: str | None = None,
        **fields: FieldValue,
    ) -> None:
        """fields: `root`, the id of what has it, where that is known."""
        super().__init__(message or f"name '{name}' is taken", hint=hint, subject=name, scope=scope, **fields)


class NameMoved(Conflict):
    default_hint = "somebody else moved it: look with 'ctx show', and decide again"

    def __init__(
        self,
        name: str,
        scope: str,
        *,
        message: str | None = None,
        hint: str | None = None,
        **fields: FieldValue,
    ) -> None:
        """fields: `root`, the id of what has it, where that is known."""
        words = message or f"name '{name}' does not mean what was expected"
        super().__init__(words, hint=hint, subject=name, scope=scope, **fields)


class LogMoved(Conflict):
    """Somebody else wrote in the log since it was read, and what was to be written rests on that."""

    default_hint = "another process works on the same session: run it again"


class KeyTaken(Conflict):
    """Another root has the key than the one that was read, and what was to be written is in place of that."""

    default_hint = "somebody else wrote it since it was read: read it again, and decide"

    def __init__(self, key: str, scope: str, *, message: str | None = None, hint: str | None = None) -> None:
        words = message or f"key '{key[:16]}' has another root by now"
        super().__init__(words, hint=hint, subject=key, scope=scope)


class RootsDiverged(Conflict):
    """Two stores have roots of one id, of a log or with a key, that say different things."""

    def __init__(self, root_id: str, what: str) -> None:
        hint = (
            "both stay as they are; forget the one that is not wanted, then push or pull it again: "
            f"'ctx forget --now --root {root_id}' here, or 'ctx remote forget --now NAME {root_id}' there"
        )
        super().__init__(f"root '{root_id[:16]}' is another one there: {what}", hint=hint, subject=root_id)


class SpanConflict(Conflict):
    """A span that can't be collapsed: it is unknown, overlaps another, or would tear turns apart."""

    default_hint = "'ctx collapse log' shows what is collapsed; a span is whole turns"


class RemoteError(CastoreError):
    """A remote did not do what was asked of it; `remote` is its name. Nothing here was lost."""

    exit_code = 16

    def __init__(self, remote: str, message: str, *, hint: str | None = None, **fields: FieldValue) -> None:
        super().__init__(message, hint=hint, remote=remote, **fields)


class RemoteUnavailable(RemoteError):
    default_hint = "run it again: it goes on where it was"


class RemoteDenied(RemoteError):
    default_hint = "credentials come from the environment or the provider's own chain: see docs/sharing.md"


class RemoteMissing(RemoteError):
    default_hint = "'ctx remote list' shows where it is looked for; make the bucket with the provider's tools"


class RemoteDamaged(RemoteError):
    """What lies there under a key is not what was written."""

    def __init__(self, remote: str, key: str, reason: str, *, hint: str | None = None) -> None:
        message = f"'{key}' at remote '{remote}' is damaged: {reason}"
        hint = hint or f"'ctx push {remote} FILE|REF --anew' from a store that has it replaces it"
        super().__init__(remote, message, hint=hint, key=key, reason=reason)


class RemoteUnconditional(RemoteError):
    default_hint = "'ctx remote check' says what it refuses; docs/sharing.md says what may be done without"


class RemoteBusy(RemoteError):
    default_hint = "run it again in some minutes"


class RemoteForbidden(RemoteError):
    default_hint = "without --offline it is fetched"


class LimitExceeded(CastoreError):
    """A limit of castore.config was met; `limit` is its name there."""

    exit_code = 17
    default_hint = "the limits are those of castore; make the input smaller, or split it"

    def __init__(self, message: str, *, limit: str, hint: str | None = None, **fields: FieldValue) -> None:
        super().__init__(message, hint=hint, limit=limit, **fields)


class DocumentInvalid(CastoreError):
    """Not a sequence of JSON values, or a `$ctx` member that is not a reference.

    `offset` counts bytes from 0, `line` and `column` from 1 (columns count bytes, plus one).
    """

    exit_code = 18
    default_hint = (
        "fold takes JSON values one after another (RFC 8259), unfold what fold wrote; "
        "'ctx put' stores any file"
    )

    def __init__(
        self,
        message: str,
        *,
        offset: int | None = None,
        line: int | None = None,
        column: int | None = None,
        path: str | None = None,
        hint: str | None = None,
        **fields: FieldValue,
    ) -> None:
        super().__init__(message, hint=hint, offset=offset, line=line, column=column, path=path, **fields)
        self.offset = offset


class NotRestored(InvalidOption):
    """A collapse was asked for something before its state was read, or its state out of order."""

    default_hint = "restore the messages, then the views, then the log; then project"


class SummarizerFailed(CastoreError):
    """What was to make a summary did not: it said so, took too long, or gave too much, or nothing."""


class FidelityShort(CastoreError):
    """A summary kept less of its source than was required. Nothing was committed.

    short: the shares that were kept (`number=0.4`), of the kinds that fell short; `invented=2` for how many
    facts it invented. missed: some of what was lost or changed, as the source spells it, or invented.
    findings: the same in words, each with its kind and its line and column in the source.
    """

    exit_code = 3
    default_hint = "make another summary, or ask for less; --json names up to 100 of what it did not keep"


class UnfoldMismatch(DocumentInvalid):
    default_hint = "undo the edit of the reference, or fold the source again"


class SessionInvalid(DocumentInvalid):
    """Not a session that can be read: of no known format, or its records contradict each other."""

    default_hint = "'ctx fold' takes any JSON; docs/formats.md says which sessions can be viewed"


class ValueNotFoldable(DocumentInvalid):
    default_hint = "fold None, bool, int, finite float, str, list, and dict with string keys"
