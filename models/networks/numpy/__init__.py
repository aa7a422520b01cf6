"""A small Llama in NumPy, which needs no torch."""
