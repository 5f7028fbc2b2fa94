"""The index: facts derived from objects/ and roots/, in SQLite. Deleting it loses nothing."""
