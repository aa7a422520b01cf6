"""Finds out which names are known at a cursor: a process that asks the library jedi, and its client."""
