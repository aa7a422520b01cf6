"""What to do where no middle connects all of both contexts."""
