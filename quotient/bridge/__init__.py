"""Builds the grammar of the middles between two contexts."""
