"""Grammars: read from a file, turned into rules, and what their cheapest sentences cost."""
