"""`fimlsp replay` and `fimlsp calibrate`."""
