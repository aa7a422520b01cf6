"""Constraints of requests to inference engines, and their masks."""
