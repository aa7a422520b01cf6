"""Where the files of each language are cut: its tokens, found by another lexer than ours."""
