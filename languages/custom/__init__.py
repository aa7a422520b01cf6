"""Any language that is given as a Lark grammar."""

from fimlsp.languages.custom.language import LarkLanguage, load_grammar

__all__ = ["LarkLanguage", "load_grammar"]
