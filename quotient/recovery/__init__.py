"""Reads a file that is broken elsewhere, where no middle connects both contexts, as a valid one nearby."""
