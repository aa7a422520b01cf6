"""The states of a middle after some of its bytes, and the texts that complete it."""
