"""A small turn-based game, whose talents and effects are scripts. Its interface's objects are classes here."""
