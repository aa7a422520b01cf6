"""What a language is to the engine, and the tables made of it."""
