"""Names that the code around the cursor lacks: used and not bound, or bound and not used."""
