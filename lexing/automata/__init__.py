"""From regular expressions to one table of bytes: syntax tree, nondeterministic and deterministic automaton."""
