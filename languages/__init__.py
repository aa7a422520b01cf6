"""The languages: what the engine is given of each, as a value."""
