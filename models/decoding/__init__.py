"""The decoding loop: writes tokens of a network, one after another, that a constraint allows."""
