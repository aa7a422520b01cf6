"""TOML 1.0."""

from fimlsp.languages.toml.language import Toml, toml

__all__ = ["Toml", "toml"]
