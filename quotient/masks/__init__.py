"""Masks: the tokens of a vocabulary that may come next, exactly."""
