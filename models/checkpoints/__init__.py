"""Checkpoints and GGUF files: reading them safely, the memory they need, and downloads from the hub."""
