"""Groups the texts of a vocabulary: those of one group mean the same to the parser in a lexer state."""
