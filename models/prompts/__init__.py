"""What a model reads: the files around the cursor as tokens, with a family's markers."""
