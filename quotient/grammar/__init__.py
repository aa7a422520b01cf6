"""Context-free grammars: loaded from files, turned into numbered rules, with their cheapest derivations."""
