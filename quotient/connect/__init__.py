"""From two contexts to the first state of their middles."""
