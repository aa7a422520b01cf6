"""Finds the models that are on this machine: files that other programs fetched, and servers that answer."""
