"""What each change of a line costs in the search for its cheapest repair."""

PASSED = 16
"""What it costs to pass over a lexeme."""
PASSED_LINE = 50
"""What it costs to pass over a whole line; no repair is dearer."""
PASSED_REST = 34
"""What it costs to pass over the rest of a line."""
MISFIT = 25
"""What it costs if a line that should open a block does not, or the other way round."""
OWN_LINE = 12
"""Extra cost of a change before a line in brackets that might as well stand outside them."""
HEADER = 2
"""Extra cost of a line that has to be changed to go on, although it ends and is followed like a header."""
BRACKET = 2
"""Extra cost of a bracket that is assumed to open, as it takes one that closes."""
WORD = 14
"""Extra cost of a word that is assumed in a line that may go on behind the cursor."""
