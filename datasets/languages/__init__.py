"""The languages that can be replayed: their files, their reference parsers, and their places for holes."""
