"""The model that is used when no other is configured: weights, tokenizer and card."""
