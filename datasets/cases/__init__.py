"""One case, filled by every method."""
