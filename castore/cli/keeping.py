"""log, tag, forget, gc: what is kept, and until when."""
