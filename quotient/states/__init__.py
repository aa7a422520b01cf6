"""The states of a middle: what is known after some of its bytes."""
