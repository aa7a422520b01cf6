"""JSON as RFC 8259 defines it."""

from fimlsp.languages.json.language import Json, json

__all__ = ["Json", "json"]
