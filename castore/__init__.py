"""castore: a content-addressed store for the context of LLM agents."""

__version__ = "0.1.0"
