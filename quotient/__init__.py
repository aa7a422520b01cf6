"""Computes the grammar of the middles that connect two contexts, by left and right quotients."""
