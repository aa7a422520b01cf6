"""Grammars, Earley sets, and the grammar of every middle that connects two contexts."""
