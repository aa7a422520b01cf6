"""Logical lines of a broken text: where each ends, how it is read, what it lacks to stand in its block."""
