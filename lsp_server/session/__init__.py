"""One client: its documents, and what is shown at its cursors."""
