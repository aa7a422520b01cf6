"""What users of the server are shown, judged against the code that really stood at the cursor."""
