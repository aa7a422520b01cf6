"""Several middles for one cursor: branches of the best, beams, and texts that are read side by side."""
