"""What is in an object, and what stands apart in it: from its bytes alone."""
