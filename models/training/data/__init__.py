"""What a model learns from: source files, their tokens, and examples made of them."""
