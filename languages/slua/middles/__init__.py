"""The search for a middle: candidate tokens that connect two parts of a script, by its types too."""
