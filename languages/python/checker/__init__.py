"""The types of Python by ty: the copies of modules that it sees, and the diagnostics that count."""
