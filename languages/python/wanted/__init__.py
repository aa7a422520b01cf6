"""What the code around the cursor wants there: names that are used and not bound, or bound and not used."""
