"""Checkpoints run by torch and transformers, which only this package and training import."""
