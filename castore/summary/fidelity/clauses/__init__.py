"""Conditions, exceptions, negations, deadlines and promises: found, and looked for in a summary."""
