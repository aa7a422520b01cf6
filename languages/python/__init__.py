"""Python 3.8 to 3.15."""

from fimlsp.languages.python.language import Python, python

__all__ = ["Python", "python"]
