"""Agent sessions: what they consist of, what may leave them, and the view that is left.

source bytes -> records -> a format (turns, messages, parts with their spans) -> strategies (decisions,
pure) -> render (splices) -> view (bytes, and a root that takes them back). docs/transcripts.md.
"""
