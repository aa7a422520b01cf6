"""GGUF files: what their header says of a model, and whether it was trained to fill in the middle."""
