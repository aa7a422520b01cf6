"""Suggestions while people write: real edits between releases, files written from empty, corrections."""
