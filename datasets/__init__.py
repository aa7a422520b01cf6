"""Cutting holes into source files and measuring how they are filled."""
