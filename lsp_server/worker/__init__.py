"""The worker process, from both of its ends."""
