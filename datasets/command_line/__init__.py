"""`fimlsp replay`."""
