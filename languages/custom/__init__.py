"""Any language that is given as a Lark grammar."""

from fimlsp.languages.custom.gbnf import gbnf
from fimlsp.languages.custom.language import LarkLanguage, load_grammar
from fimlsp.languages.custom.regular import choice, regular
from fimlsp.languages.custom.schema.language import json_schema

__all__ = ["LarkLanguage", "choice", "gbnf", "json_schema", "load_grammar", "regular"]
