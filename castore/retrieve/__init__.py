"""Reading back: ranges, selection and search inside objects, always bounded; see docs/retrieval.md."""
