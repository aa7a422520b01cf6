"""What is wrong with a suggestion in Python, told from its text and the file around it before it is shown."""
