"""Compiles regular expressions over bytes into one minimal DFA: syntax tree, NFA, DFA."""
