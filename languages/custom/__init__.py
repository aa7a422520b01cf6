"""Any language that is given as a Lark grammar."""

from fimlsp.languages.custom.language import LarkLanguage, load_grammar
from fimlsp.languages.custom.regular import choice, regular

__all__ = ["LarkLanguage", "choice", "load_grammar", "regular"]
