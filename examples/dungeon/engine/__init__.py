"""A small turn-based game with scripted talents and effects. The interface's objects are classes here."""
