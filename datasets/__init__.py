"""Cutting holes into source files and measuring how they are filled: batch replay (`fimlsp replay`).

The protocol and the tables to compare with are those of Melcer et al. 2024 (arXiv 2402.17988), section VII.
"""
