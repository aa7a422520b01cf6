"""Many cases, in worker processes, with results on disk."""
