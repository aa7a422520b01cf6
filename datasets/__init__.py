"""Batch replay (`fimlsp replay`): cuts holes into source files and measures how they are filled.

The protocol, and the tables to compare with, are those of Melcer et al. 2024 (arXiv 2402.17988), section VII.
"""
