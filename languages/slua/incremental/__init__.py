"""The typed incremental parser: it reads a script byte by byte and knows the tokens that may follow."""
