"""Any language that is given as a Lark grammar."""

from fimlsp.languages.custom.gbnf import gbnf
from fimlsp.languages.custom.language import LarkLanguage, load_grammar
from fimlsp.languages.custom.regular import choice, regular

__all__ = ["LarkLanguage", "choice", "gbnf", "load_grammar", "regular"]
