"""One client: its settings and folders, its requests, and the suggestions on its screen."""
