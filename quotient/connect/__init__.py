"""Connects two contexts: makes the first state of the middles between them."""
