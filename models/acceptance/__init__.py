"""Which beginning of a middle is worth showing, and how likely it is right."""
