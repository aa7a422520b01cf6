"""Checkpoints on this machine and on the hub: found, fetched, looked at, placed."""
