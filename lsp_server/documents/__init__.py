"""The open documents: their text as bytes, positions in it, and their names."""
