"""What is known after some bytes of a middle."""
