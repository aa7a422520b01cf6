"""Texts of each language to measure on."""
