"""Fold and unfold: from bytes to references and back. `policy` decides (pure), `fold` and `unfold` do."""
