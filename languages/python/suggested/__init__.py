"""Faults of a suggestion in Python that its text and the file around it show."""
