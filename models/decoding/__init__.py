"""The decoding loop: candidates of the network in turn, those that the constraint refuses left out."""
