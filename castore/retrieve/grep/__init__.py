"""Searching inside objects, by what they say."""

from castore.retrieve.grep.page import GrepPage, grep_page
from castore.retrieve.grep.pattern import GrepOptions
from castore.retrieve.grep.search import Hit, Search, grep

__all__ = ["GrepOptions", "GrepPage", "Hit", "Search", "grep", "grep_page"]
