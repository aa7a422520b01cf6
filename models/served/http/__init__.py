"""HTTP with a model server: where it is, one connection, JSON there and back, and what can go wrong."""
