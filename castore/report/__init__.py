"""Where the context of a session went: the facts, and a page that shows them."""
