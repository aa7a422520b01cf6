"""What the model reads of other files."""
