"""Parses a valid file one logical line at a time: tokens, expressions, patterns, statements."""
