"""Names in Python code: their role at a cursor, and how well a continuation fits the known ones."""
