"""Cases decoded by every method, in worker processes, with results on disk."""
