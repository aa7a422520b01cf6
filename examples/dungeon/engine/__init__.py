"""A small turn-based game with scripted talents and effects. Its interface's objects are classes here."""
