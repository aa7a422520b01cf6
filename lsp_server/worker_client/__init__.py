"""The server's end of its worker processes: who uses which, and what happens when one dies."""
