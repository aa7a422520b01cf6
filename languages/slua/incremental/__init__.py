"""The parser that reads a script byte by byte and knows, after each, what may still be written."""
