"""Checkpoints run by transformers and torch, which are imported nowhere else but in training."""
