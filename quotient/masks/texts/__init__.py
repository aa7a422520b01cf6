"""The texts of a vocabulary: their trie, and what may be left of them behind a lexeme."""
