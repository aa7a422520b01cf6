"""The grammar of the middles between two contexts."""
