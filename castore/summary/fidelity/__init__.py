"""Fidelity: what a shorter text kept, lost and changed of its source, and what it invented. It is pure."""
