"""Paths, commands, identifiers, addresses, code, quotes and names: found, and looked for in a summary."""
