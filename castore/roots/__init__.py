"""Roots: the small files that keep objects."""
