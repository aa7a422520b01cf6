"""A small Llama in NumPy, and the buffer cache that is mixed into it."""
