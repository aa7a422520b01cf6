"""Files of a workspace, which may be hostile: which of them may be read, and how."""
