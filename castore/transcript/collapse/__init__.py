"""Collapse: spans of whole turns hidden behind a summary, as instructions over the unchanged session."""
