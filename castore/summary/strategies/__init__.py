"""What makes summaries: a file each, and the registry of their names."""
