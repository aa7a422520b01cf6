"""The worker process: the engine at the cursor, and the model that writes within it."""
