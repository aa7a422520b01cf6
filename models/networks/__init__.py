"""Networks that tell the next token."""
