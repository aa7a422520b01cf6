"""The contexts of every line: what the text before it opens, and what the text after it closes."""
