"""Keeps what a model writes as people write it: no drift, no repetition, blanks where they belong."""
