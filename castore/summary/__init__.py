"""Summaries: derived texts, cached by all that they depend on, and held against their source."""
