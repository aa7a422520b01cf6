"""Builds what a model reads: the text around the cursor and other files, as tokens with markers."""
