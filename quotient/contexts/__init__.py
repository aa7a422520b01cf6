"""The contexts of every line: enclosures that the text before it opens, and that the text after it closes."""
