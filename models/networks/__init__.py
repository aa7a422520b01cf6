"""Networks that predict the next token: in NumPy, in torch, and mixed with what the buffer suggests."""
