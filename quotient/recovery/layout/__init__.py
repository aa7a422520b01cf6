"""What is seen of broken lines: their lexemes, and what columns tell of brackets and of the cursor's line."""
