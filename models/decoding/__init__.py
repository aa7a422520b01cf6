"""The decoding loop: tokens from a network, one after another, that a constraint allows."""
