"""The options and where they come from."""
