"""Checks the types of a joined text: a process with a type checker of the language, and a client of it."""
