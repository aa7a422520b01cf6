"""Measurements of the engine: the time of operations, its growth with the length of the file, and memory."""
