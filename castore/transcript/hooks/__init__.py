"""Hooks: what a harness asks on its way, and what it may be answered. One file a harness, pure; `answering`
has the store.
"""
