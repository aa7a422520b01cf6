"""One client: its settings and folders, its requests, and what is shown at its cursors."""
