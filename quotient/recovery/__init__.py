"""What to do if no middle connects the whole of both contexts."""
