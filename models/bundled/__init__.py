"""The default model: weights, tokenizer, confidence estimate and model card."""
