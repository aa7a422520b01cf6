"""The names known at a cursor, and how well a continuation fits them."""
