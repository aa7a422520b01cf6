"""The interface of a language, and the tables that the engine makes of it."""
