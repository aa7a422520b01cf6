"""Networks that predict the next token: in NumPy, in torch, and mixed with text that followed before."""
