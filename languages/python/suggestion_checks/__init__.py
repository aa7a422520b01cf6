"""Finds issues of a suggestion in Python by its text and the file around it."""
