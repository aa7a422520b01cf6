"""Masks: which of all tokens of a vocabulary may come next, exactly."""
