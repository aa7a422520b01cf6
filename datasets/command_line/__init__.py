"""The command `fimlsp replay`."""
