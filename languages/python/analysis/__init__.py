"""Finds the names that are known at a cursor: a process that runs the library jedi, and its client."""
