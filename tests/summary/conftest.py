"""What the tests of the cache share."""

from tests.summary.caches import caching, clock  # noqa: F401 - fixtures
