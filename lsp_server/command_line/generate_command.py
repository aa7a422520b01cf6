"""`fimlsp generate`: writes a program from left to right, and shows it as it is generated."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from fimlsp.languages import LANGUAGES, language_named
from fimlsp.languages.command_options import GRAMMAR, INTERFACE, SCHEMA, START
from fimlsp.lsp_server.command_line.parameters import PYTHON, is_given, model_options, read_text, to_grammar
from fimlsp.lsp_server.options import Settings, load_of

if TYPE_CHECKING:
    from fimlsp.languages.python.versions import PythonVersion
    from fimlsp.lsp_server.command_line.generating import Prompt

SLUA, SQL = "slua", "sql"


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The options that say which programs are valid."""

    language: str
    grammar: Path | None
    start: str | None
    interface: Path | None
    root: str | None
    schema: Path | None
    python: PythonVersion
    check: Literal["parse", "compile"]

    def prompt(self, text: bytes) -> Prompt:
        """The prompt *text*, with the state at its end."""
        from fimlsp.languages.python import Python
        from fimlsp.lsp_server.command_line.generating import (
            prompt_in_language,
            prompt_in_slua,
            prompt_in_sql,
        )

        if self.grammar is not None:
            return prompt_in_language(to_grammar(self.grammar, self.start or "start"), text)
        if self.language == SLUA:
            return prompt_in_slua(self.interface, self.root, text)
        if self.schema is not None:
            return prompt_in_sql(self.schema, text)
        if self.language == "python":
            return prompt_in_language(Python(self.python, self.check), text)
        return prompt_in_language(language_named(self.language), text)

    def check_combination(self, context: click.Context) -> None:
        """Refuse options that exclude or miss each other.

        Raises:
            click.UsageError: For the first such pair.
        """
        language = self.language if self.grammar is None else None
        is_python, is_slua = language == "python", language == SLUA
        faults = {
            "Give either --language or --grammar.": language is None and is_given(context, "language"),
            "--start needs --grammar.": self.start is not None and self.grammar is None,
            "--interface is for --language slua.": is_given(context, "interface") and not is_slua,
            "--root is for --language slua.": is_given(context, "root") and not is_slua,
            "--root needs --interface.": self.root is not None and self.interface is None,
            "--schema is for --language sql.": is_given(context, "schema") and language != SQL,
            "--language sql needs --schema.": self.schema is None and language == SQL,
            "--python-version is for --language python.": is_given(context, "python") and not is_python,
            "--check is for --language python.": is_given(context, "check") and not is_python,
        }
        for message, applies in faults.items():
            if applies:
                raise click.UsageError(message)


@click.command()
@click.option(
    "--language",
    default="python",
    show_default=True,
    type=click.Choice([*LANGUAGES, SQL]),
    help="The language of the program.",
)
@click.option(
    "--prompt",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="The start of the program; - reads standard input. Default: empty.",
)
@click.option(
    "--context",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A text that the model reads first and that is no part of the program, such as examples.",
)
@click.option(
    "--instructions",
    default="",
    metavar="TEXT",
    help="A message for a model with a chat template; the context is a part of it, the program the answer.",
)
@GRAMMAR
@START
@INTERFACE
@SCHEMA
@click.option(
    "--root",
    metavar="NAME",
    help="For slua: a kind of scripts that --interface declares, or the type of a single value to write.",
)
@PYTHON
@click.option(
    "--check",
    type=click.Choice(["parse", "compile"]),
    default="compile",
    show_default=True,
    help="The check that the program passes: Python parses it, or compiles it as well.",
)
@click.option(
    "--tokens", default=256, show_default=True, type=click.IntRange(1), help="Maximum number of tokens."
)
@click.option(
    "--context-tokens",
    type=click.IntRange(1),
    help="The most that the model reads and writes together.  [default: 2,048 on a CPU, more on a GPU]",
)
@click.option(
    "--temperature",
    default=0.0,
    show_default=True,
    type=click.FloatRange(0),
    help="0 always takes the likeliest token. Otherwise tokens are sampled; higher values are more random.",
)
@click.option(
    "--top-p",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True),
    help="Sample from the likeliest tokens that hold this share of the probability.",
)
@click.option("--top-k", type=click.IntRange(1), help="Sample from this many of the likeliest tokens.")
@click.option(
    "--min-p",
    default=0.0,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Sample from tokens with at least this share of the likeliest token's probability.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Random seed.")
@click.option(
    "--beams",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Width of the beam search. With more than 1, the program is shown when the search has ended.",
)
@model_options
def generate(
    language: str,
    prompt: Path | None,
    context: Path | None,
    instructions: str,
    grammar: Path | None,
    start: str | None,
    interface: Path | None,
    root: str | None,
    schema: Path | None,
    python: PythonVersion,
    check: Literal["parse", "compile"],
    tokens: int,
    context_tokens: int | None,
    temperature: float,
    top_p: float,
    top_k: int | None,
    min_p: float,
    seed: int,
    beams: int,
    **model: Any,
) -> None:
    """Write a program from left to right, and show it as it is generated.

    The program is valid at its end, even if generation stops at --tokens or by Ctrl+C.
    """
    if beams > 1 and temperature:
        raise click.UsageError("Give either --beams or --temperature: a beam search does not sample.")
    options = ProgramOptions(language, grammar, start, interface, root, schema, python, check)
    options.check_combination(click.get_current_context())
    from fimlsp.lsp_server.command_line.generating import load, write_program
    from fimlsp.models.decoding.settings import DecodeSettings

    read_first = b"" if context is None else read_text(context)
    given = replace(options.prompt(_read_prompt(prompt)), context=read_first, instructions=instructions)
    settings = DecodeSettings(
        tokens=tokens,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        min_p=min_p,
        seed=seed,
        beams=beams,
        stop_when=given.stop_when,
    )
    write_program(load(load_of(Settings(**model)), context_tokens), given, settings)


def _read_prompt(file: Path | None) -> bytes:
    if file is None:
        return b""
    return sys.stdin.buffer.read() if str(file) == "-" else read_text(file)
