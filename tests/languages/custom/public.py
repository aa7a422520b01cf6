"""Public grammars held against Lark, run as their authors do: `python -m tests.languages.custom.public FOLDER`.

FOLDER holds the packages of `GRAMMARS`, downloaded from the index and unpacked, such as by
`pip download --no-deps -d FOLDER` and `unzip`. Nothing of them is run. Each grammar reads ordinary text of its
language (`public_texts.txt`), and the result is one of those in `OUTCOMES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ACCEPTS, REFUSES, SILENT, TRACEBACK = OUTCOMES = (
    "accepts",
    "refuses with a reason",
    "refuses silently",
    "traceback",
)


@dataclass(frozen=True)
class Public:
    """A public grammar: its `path` among unpacked packages, its start, and how its author runs it."""

    path: str
    start: str = "start"
    lexer: str = "contextual"
    added: str = ""
    """Comments that the grammar needs here, as they replace a program of its author."""


GRAMMARS = {
    "markers": Public("poetry/core/version/grammars/markers.lark"),
    "pep508": Public("poetry/core/version/grammars/pep508.lark"),
    "ldl": Public("pylogics/parsers/ldl.lark"),
    "ltl": Public("pylogics/parsers/ltl.lark"),
    "pl": Public("pylogics/parsers/pl.lark"),
    "pltl": Public("pylogics/parsers/pltl.lark"),
    "prover9": Public("syncode/parsers/grammars/prover9.lark"),
    "java": Public("syncode/parsers/grammars/java.lark"),
    "go": Public("syncode/parsers/grammars/go.lark"),
    "c": Public("syncode/parsers/grammars/c.lark"),
    "sql": Public("syncode/parsers/grammars/sql.lark"),
    "syncode-json": Public("syncode/parsers/grammars/json.lark"),
    "calc": Public("syncode/parsers/grammars/calc.lark"),
    "syncode-python": Public("syncode/parsers/grammars/python.lark"),
    "invariants": Public("syncode/parsers/grammars/invariants.lark"),
    "python": Public("lark/grammars/python.lark", "file_input"),
    "lark": Public("lark/grammars/lark.lark"),
    "sparql": Public("larql/sparql.lark", lexer="dynamic"),
    "graphql-sdl": Public("tartiflette/language/parsers/lark/graphql_sdl_grammar.lark", "document"),
    "openscad": Public("openscad_lalr_parser/grammar.lark"),
    "cel": Public("celpy/cel.lark", "expr"),
    "optimade": Public("optimade/grammar/v1.2.0.lark", "filter", "dynamic"),
    "pddl-domain": Public("pddl/parser/grammar.lark", "domain"),
    "pddl-problem": Public("pddl/parser/grammar.lark", "problem"),
    "tptp": Public("tptp_lark_parser/resources/TPTP.lark", "tptp_file"),
    "beancount": Public("beancount_parser/grammar/beancount.lark"),
    "dotmotif": Public("dotmotif/parsers/v2/grammar.lark", lexer="dynamic"),
    "sqlpp": Public("lark_sqlpp/sqlpp.lark", lexer="dynamic"),
    "lammps": Public("lammps_ast/grammar/lammps_grammar_20240829.lark"),
    "hcl2": Public("python_hcl2/hcl2/hcl2.lark", added='// heredoc = ["EOF"]\n// heredoc_trim = ["EOT"]'),
    "hcl2-4": Public(
        "python-hcl2-4.0.0/hcl2/hcl2.lark", added='// heredoc = ["EOF"]\n// heredoc_trim = ["EOT"]'
    ),
    "gdscript": Public("gdtoolkit/parser/gdscript.lark"),
    "gdscript-comments": Public("gdtoolkit/parser/comments.lark"),
    "mapfile": Public("mappyfile/mapfile.lark"),
    "dbml": Public("lark_dbml/dbml.lark"),
    "vyper": Public("vyper/ast/grammar.lark", "module"),
    "latex": Public("sympy/parsing/latex/lark/grammar/latex.lark", "latex_string", "dynamic"),
    "rfc3987": Public("rfc3987_syntax/syntax_rfc3987.lark", "iri", "dynamic"),
    "iec": Public("blark/iec.lark", "iec_source", "dynamic"),
}
