"""Finds a short text that completes a middle."""
