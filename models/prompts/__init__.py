"""Builds the tokens that a model reads: the text around the cursor and other files, with markers."""
