"""The languages that the engine knows, each as a value that an engine is made for."""
