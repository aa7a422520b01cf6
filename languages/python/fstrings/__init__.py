"""F-strings: which parts of them are open around a byte, and which may be open at a cursor."""
