"""Queries of SQL over a known schema."""
