"""What each version of Python knows about Unicode: characters of identifiers, and names of characters."""
