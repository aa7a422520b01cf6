"""Turns bytes into lexemes: a DFA over bytes, and an incremental lexer that can stop and resume anywhere."""
