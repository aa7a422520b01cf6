"""The Earley recogniser: Earley sets as immutable values, and the rules that are open at a set."""
