"""From an address or a GGUF file to the model behind it."""
