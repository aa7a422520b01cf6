"""The recogniser: Earley sets as values, and the rules that are open at one."""
