"""Bytes to terminals: a byte-level DFA, and a lexer that can stop and go on anywhere."""
