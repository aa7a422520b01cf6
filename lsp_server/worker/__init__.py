"""The worker process: the engine's constraint at the cursor, and the model that decodes under it."""
