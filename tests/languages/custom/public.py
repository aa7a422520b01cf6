"""Public grammars, run as their authors do: `python -m tests.languages.custom.public FOLDER [NAME...]`.

FOLDER holds the packages of `GRAMMARS`, unpacked, each from `pip download --no-deps PACKAGE`. Nothing of them
is run. Each grammar reads ordinary text of its language (`public_texts.txt`) that Lark accepts, with the
lexer and the parser of its author. Its result, one of `OUTCOMES`, is printed as it is found, with seconds of
the processor. After it follows the number of whole files in FOLDER that are read, of those that Lark accepts.
FOLDER may hold source distributions as well, which have tests.
"""

from __future__ import annotations

import ast
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import process_time

from lark import Lark
from lark.exceptions import LarkError
from lark.indenter import PythonIndenter

from fimlsp.languages.custom import load_grammar
from fimlsp.languages.custom.trial import refusal
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.quotient.language.contract import Language

TEXTS = Path(__file__).parent / "public_texts.txt"
READS, REFUSES, REMEDY, SILENT, TRACEBACK = OUTCOMES = (
    "reads",
    "grammar refused with a reason",
    "text refused with a remedy",
    "text refused silently",
    "traceback",
)
HEREDOCS = '// heredoc = ["EOF"]\n// heredoc_trim = ["EOT"]\n'
MOST_TEXTS, MOST_BYTES = 30, 40_000
REMEDIES = ("higher priority", "write // lexer")


@dataclass(frozen=True)
class Public:
    """A public grammar: its `path` among unpacked packages, its start, and the lexer of its author.

    `added` are comments that take the place of a program of its author. `files` is a pattern of files
    in its language. If these are tests in Python, their strings are taken, and of METADATA the requirements.
    """

    path: str
    start: str = "start"
    lexer: str = "contextual"
    added: str = ""
    files: str = ""


GRAMMARS = {
    "markers": Public("poetry/core/version/grammars/markers.lark", files="METADATA"),
    "pep508": Public("poetry/core/version/grammars/pep508.lark", files="METADATA"),
    "ldl": Public("pylogics/parsers/ldl.lark"),
    "ltl": Public("pylogics/parsers/ltl.lark"),
    "pl": Public("pylogics/parsers/pl.lark"),
    "pltl": Public("pylogics/parsers/pltl.lark"),
    "prover9": Public("syncode/parsers/grammars/prover9.lark"),
    "java": Public("syncode/parsers/grammars/java.lark"),
    "go": Public("syncode/parsers/grammars/go.lark"),
    "c": Public("syncode/parsers/grammars/c.lark"),
    "sql": Public("syncode/parsers/grammars/sql.lark"),
    "syncode-json": Public("syncode/parsers/grammars/json.lark", files="*.json"),
    "calc": Public("syncode/parsers/grammars/calc.lark"),
    "syncode-python": Public("syncode/parsers/grammars/python.lark"),
    "invariants": Public("syncode/parsers/grammars/invariants.lark"),
    "python": Public("lark/grammars/python.lark", "file_input", files="*.py"),
    "lark": Public("lark/grammars/lark.lark", files="*.lark"),
    "sparql": Public("larql/sparql.lark", lexer="dynamic"),
    "graphql-sdl": Public(
        "tartiflette/language/parsers/lark/graphql_sdl_grammar.lark", "document", files="*.graphql"
    ),
    "openscad": Public("openscad_lalr_parser/grammar.lark"),
    "cel": Public("celpy/cel.lark", "expr"),
    "optimade": Public("optimade/grammar/v1.2.0.lark", "filter", "dynamic", files="optimade*/tests/**/*.py"),
    "pddl-domain": Public("pddl/parser/grammar.lark", "domain", files="domain*.pddl"),
    "pddl-problem": Public("pddl/parser/grammar.lark", "problem", files="p[0-9]*.pddl"),
    "tptp": Public("tptp_lark_parser/resources/TPTP.lark", "tptp_file", files="*.p"),
    "beancount": Public("beancount_parser/grammar/beancount.lark"),
    "dotmotif": Public("dotmotif/parsers/v2/grammar.lark", lexer="dynamic"),
    "sqlpp": Public("lark_sqlpp/sqlpp.lark", lexer="dynamic"),
    "lammps": Public("lammps_ast/grammar/lammps_grammar_20240829.lark"),
    "hcl2": Public("python_hcl2/hcl2/hcl2.lark", added=HEREDOCS),
    "hcl2-4": Public("python-hcl2-4.0.0/hcl2/hcl2.lark", added=HEREDOCS),
    "gdscript": Public("gdtoolkit/parser/gdscript.lark"),
    "gdscript-comments": Public("gdtoolkit/parser/comments.lark"),
    "mapfile": Public("mappyfile/mapfile.lark"),
    "dbml": Public("lark_dbml/dbml.lark", files="lark_dbml-*/**/test*.py"),
    "vyper": Public("vyper/ast/grammar.lark", "module"),
    "latex": Public(
        "sympy/parsing/latex/lark/grammar/latex.lark", "latex_string", "dynamic", files="test_latex_lark.py"
    ),
    "rfc3987": Public("rfc3987_syntax/syntax_rfc3987.lark", "iri", "dynamic"),
    "iec": Public("blark/iec.lark", "iec_source", "dynamic"),
}


class NewLineIndenter(PythonIndenter):
    """As in grammars whose line ends are called _NL."""

    NL_type = "_NL"


def accepts(file: Path, of: Public, text: str) -> str | None:
    """The reason for which Lark refuses *text*, read as the author does; None if it accepts it."""
    options: dict[str, object] = {"parser": "earley" if of.lexer == "dynamic" else "lalr", "start": of.start}
    grammar = file.read_text()
    if "_INDENT" in grammar:
        options["postlex"] = NewLineIndenter() if "_NL:" in grammar else PythonIndenter()
    if "\\p{" in grammar:
        options["regex"] = True
    try:
        Lark.open(str(file), **options).parse(text)
    except (LarkError, ImportError) as error:
        return " ".join(str(error).split())[:200]
    return None


def loaded(file: Path, of: Public, lexer: str) -> Language:
    """The language of the grammar with *lexer*."""
    if of.added:
        return load_grammar(text=of.added + file.read_text(), start=of.start, lexer=lexer)
    return load_grammar(file, of.start, lexer=lexer)


def outcome(file: Path, of: Public, text: str) -> tuple[str, str]:
    """The best outcome of the lexers for *text*, and the lexer or the reason."""
    found: list[tuple[str, str]] = []
    for lexer in ("contextual", "basic", "dynamic"):
        try:
            place = refusal(loaded(file, of, lexer), text.encode())
        except GrammarError as error:
            found.append((REFUSES, str(error)))
        except Exception as error:
            found.append((TRACEBACK, repr(error)))
        else:
            said = str(place)
            is_helped = any(remedy in said for remedy in REMEDIES)
            found.append((READS, lexer) if place is None else (REMEDY if is_helped else SILENT, said))
    kinds = [kind for kind, _ in found]
    order = (TRACEBACK, READS, REMEDY, SILENT, REFUSES)
    return found[kinds.index(next(kind for kind in order if kind in kinds))]


def whole_texts(path: Path, of: Public) -> Iterator[str]:
    """The text of a file, or the texts in it."""
    text = path.read_text(errors="replace")
    if path.name == "METADATA":
        requirements = [
            line.partition(": ")[2] for line in text.split("\n") if line.startswith("Requires-Dist: ")
        ]
        of_markers = (marker.strip() for _, _, marker in (one.partition(";") for one in requirements))
        yield from filter(None, of_markers) if "markers" in of.path else requirements
    elif path.suffix == ".py" and of.start != "file_input":
        nodes = ast.walk(ast.parse(text))
        yield from (
            node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
    else:
        yield text


def whole_files(folder: Path, file: Path, of: Public, lexer: str) -> Iterator[tuple[str, str | None]]:
    """Texts in files of *folder* that Lark accepts, and the reason for which each is refused, if it is."""
    language = loaded(file, of, lexer)
    found = (path for path in sorted(folder.rglob(of.files)) if path.is_file())
    small = (path for path in found if path.stat().st_size <= MOST_BYTES)
    texts = [*dict.fromkeys(text for path in small for text in whole_texts(path, of) if len(text) > 1)]
    random.Random(1).shuffle(texts)
    kept = islice((text for text in texts if accepts(file, of, text) is None), MOST_TEXTS)
    for text in kept:
        place = refusal(language, text.encode())
        yield text, None if place is None else str(place)


def main() -> None:
    """Print the outcome of each grammar as it is found, then how many there are of each."""
    folder, *names = sys.argv[1:]
    parts = TEXTS.read_text().split("=== ")[1:]
    texts, counts = dict(part.split("\n", 1) for part in parts), Counter[str]()
    for name in names or GRAMMARS:
        began = process_time()
        file, kind, said = of_grammar(Path(folder), GRAMMARS[name], texts[name])
        counts[kind] += 1
        print(f"{name:18} {process_time() - began:6.1f} s  {kind}: {said}", flush=True)
        if file is not None and kind == READS and GRAMMARS[name].files:
            read = [*whole_files(Path(folder), file, GRAMMARS[name], said)]
            wrong = [(text, reason) for text, reason in read if reason is not None]
            print(f"  {len(read) - len(wrong)} of {len(read)} whole texts are read", flush=True)
            for text, reason in wrong:
                print(f"  {text[:60]!r}: {reason}", flush=True)
    print(dict(counts))


def of_grammar(folder: Path, of: Public, text: str) -> tuple[Path | None, str, str]:
    """The file of a grammar among the packages of *folder*, the outcome, and the lexer or the reason."""
    file = next((path for path in sorted(folder.rglob(of.path))), None)
    if file is None:
        return None, "not found", of.path
    wrong = accepts(file, of, text) and accepts(file, of, text := text.rstrip("\n"))
    return (file, "no text of its language", wrong) if wrong else (file, *outcome(file, of, text))


if __name__ == "__main__":
    main()
