"""Searching inside objects, by what they say."""

from castore.retrieve.grep.page import GrepPage, Pager, grep_page, hit_facts, json_bytes
from castore.retrieve.grep.pattern import GrepOptions
from castore.retrieve.grep.search import Hit, Search, grep

__all__ = [
    "GrepOptions",
    "GrepPage",
    "Hit",
    "Pager",
    "Search",
    "grep",
    "grep_page",
    "hit_facts",
    "json_bytes",
]
