"""The decoding loop: one token after another from a network, under a constraint. It knows both as protocols."""
