"""Who says whether a text is right: a parser of each language that is not ours."""
