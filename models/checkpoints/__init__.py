"""Checkpoints on disk: their files, how much memory they need, and how they are fetched from the hub."""
