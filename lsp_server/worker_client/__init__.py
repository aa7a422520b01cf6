"""The server's end of its worker processes."""
