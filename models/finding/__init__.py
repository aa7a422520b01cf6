"""Finds the models on this machine: files that other programs downloaded, and servers that answer."""
