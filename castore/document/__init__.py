"""JSON bytes, and nothing else: what a document is, where its values are, and how a span is replaced.

Pure: no store, no files, no clock. Everything works on byte offsets of the source and never on parsed
values, so key order, spacing, number spelling and escapes come back because they were never touched.
"""
