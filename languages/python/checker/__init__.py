"""Checks the types of a joined text: a process with a type checker, the modules it sees, and a client."""
