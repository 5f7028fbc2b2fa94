"""Access: which scopes a caller may see, and in which one it writes.

Laws:
- What a caller may use is granted to it by whoever starts it, never by itself. A scope that it selects
  lies within that, or is ScopeDenied, the same whether or not such a scope exists.
- The grant `*` is the operator's: everything that is there, named or not, and what acts on the whole
  store. No other glob covers the operator's own scope, which is called `*` too.
- A caller that was granted nothing, by argument or setting, is the operator of a store that has no scope
  but the default one, and else has the default scope alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from castore.config import OPERATOR, parse_grants, parse_scope
from castore.errors import ScopeDenied

__all__ = ["Access", "Granted", "resolve_access"]


@dataclass(frozen=True, slots=True)
class Access:
    """As asked for. grants: scopes and globs; None: what the store says. scope: selected within them.

    scopes: several that are selected within them, to see all of these, and to write in the first; none: ().
    """

    grants: tuple[str, ...] | None = None
    scope: str | None = None
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Granted:
    """What a caller may use. grants: scopes and globs. default_scope: the store's.

    is_by_default: nobody granted it; it follows from there being no other scope in the store.
    """

    grants: tuple[str, ...]
    default_scope: str
    scope: str | None = None
    is_by_default: bool = False

    @property
    def is_operator(self) -> bool:
        """Sees all that is there, and may act on the whole store."""
        return OPERATOR in self.grants and self.scope in (None, OPERATOR)

    @property
    def seen(self) -> tuple[str, ...] | None:
        """The scopes and globs whose roots are seen; None: all."""
        if self.is_operator:
            return None
        return self.grants if self.scope is None else (self.scope,)

    @property
    def reader(self) -> str:
        """The scope or grant that stands for whoever reads, told to those whose grants cover it."""
        if self.scope not in (None, OPERATOR):
            return self.scope
        if self.is_by_default:
            return self.default_scope
        if self.is_operator:
            return OPERATOR
        exact = [each for each in self.grants if "*" not in each]
        return (*exact, *self.grants, self.default_scope)[0]

    def covers(self, scope: str) -> bool:
        """Whether roots of this scope are seen."""
        seen = self.seen
        return seen is None or _covers(seen, scope)

    def writing_scope(self, asked: str | None = None) -> str:
        """The scope of what is written. asked: the writer's own wish. Raises ScopeDenied, InvalidOption."""
        wanted = self.scope if asked is None and self.scope != OPERATOR else asked
        if wanted is not None:
            parse_scope(wanted)
            if not _covers(self.grants, wanted) or self.scope not in (None, OPERATOR, wanted):
                raise _denied(wanted)
            return wanted
        exact = next((each for each in self.grants if "*" not in each), None)
        if exact is not None:
            return exact
        if _covers(self.grants, self.default_scope):
            return self.default_scope
        raise ScopeDenied("no scope is granted to write in", hint="name one within the grant: --scope")

    def require_operator(self, act: str) -> None:
        """Raises ScopeDenied unless the caller may act on the whole store."""
        if not self.is_operator:
            raise ScopeDenied(
                f"{act} is for the operator of the store",
                hint="the operator is granted all scopes: CTX_SCOPE='*'",
            )


def resolve_access(
    access: Access, configured: tuple[str, ...] | None, default: str, *, alone: bool
) -> Granted:
    """What `access` comes to. configured: the store's setting; alone: it has no scope but `default`.

    Raises ScopeDenied, InvalidOption.
    """
    grants = configured
    if access.grants is not None:
        # What a program passes is checked here like what a person wrote: both matchers rely on it.
        grants = tuple(grant for each in access.grants for grant in parse_grants(each))
    is_by_default = grants is None
    if grants is None:
        grants = (OPERATOR,) if alone else (default,)
    if access.scopes:
        for each in access.scopes:
            _check_selected(grants, each)
        grants, is_by_default = access.scopes, False
    if access.scope is not None:
        _check_selected(grants, access.scope)
    return Granted(grants, default, access.scope, is_by_default)


def _check_selected(grants: tuple[str, ...], scope: str) -> None:
    if scope != OPERATOR or OPERATOR not in grants:
        parse_scope(scope)
    if not _covers(grants, scope):
        raise _denied(scope)


def _covers(grants: Iterable[str], scope: str) -> bool:
    from fnmatch import fnmatchcase

    if scope == OPERATOR:
        return OPERATOR in grants
    # No scope and no grant holds `?` or `[`, so the only sign with a meaning is the star.
    return any(each == scope or ("*" in each and fnmatchcase(scope, each)) for each in grants)


def _denied(scope: str) -> ScopeDenied:
    return ScopeDenied(f"scope '{scope}' is not granted", subject=scope)
