"""Reads a script that is broken away from the cursor as the right one that it most nearly is."""
