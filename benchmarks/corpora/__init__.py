"""The texts of each language for measurements."""
