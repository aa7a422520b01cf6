"""The server's options: their names, values, meanings and defaults.

A client gives an object with any of these names, as `initializationOptions` and as section `fimlsp` of
`workspace/configuration`; the latter wins. A value that cannot be used is reported and leaves the option as
it was. Each option is a field of `Settings`; `settings_table.py` makes the table of docs/options.md of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from difflib import get_close_matches
from reprlib import Repr
from typing import Any

from fimlsp.languages import IDENTIFIERS
from fimlsp.languages.python.versions import PYTHON_VERSIONS, version_text
from fimlsp.lsp_server.messages import Limits, Load
from fimlsp.lsp_server.settings.option_values import (
    Values,
    named_files,
    names,
    one_of,
    pattern,
    share,
    switch,
    text,
    whole,
)
from fimlsp.models.served.http.address import is_elsewhere

SECTION = "fimlsp"
AUTO = "auto"

TOKEN = "token"
"""What a server that was given a token asks for; beside the options in `initializationOptions`."""

LONGEST_TOLD = 200
"""Characters of a wrong value that are told; a client may send anything."""


def _option(default: object, values: Values, meaning: str) -> Any:  # noqa: ANN401 - as dataclasses.field
    return field(default=default, metadata={"values": values, "meaning": meaning})


@dataclass(frozen=True, slots=True)
class Settings:
    """Resolved options. Their names, defaults, values and meanings are here and nowhere else."""

    model: str = _option(
        "",
        text("a folder, a hub name, a `.gguf` file or a server's address"),
        "The fill-in-the-middle model that writes the completions; empty: the bundled one. `owner/name` is "
        "always a hub name; a folder of the workspace is written `./owner/name`. A server is "
        "`http://127.0.0.1:8012`, and `http://127.0.0.1:11434#NAME` if it has several models; one on another "
        "machine must be named in `initializationOptions`.",
    )
    api: str = _option(
        AUTO,
        one_of(AUTO, "llama-server", "completions", "ollama"),
        "What a model server speaks: that of llama.cpp, `/v1/completions` with log-probabilities as vLLM has "
        "it, or Ollama's; auto: that is found out.",
    )
    api_key_variable: str = _option(
        "",
        pattern(r"[A-Za-z0-9_]{0,100}", "the name of a variable"),
        "The environment variable that has the key of a model server; empty: `FIMLSP_API_KEY`. Taken from "
        "`initializationOptions` alone; the key itself is in no setting and no log.",
    )
    device: str = _option(
        AUTO,
        pattern(r"auto|cpu|mps|cuda(:\d+)?", '"auto", "cpu", "cuda", "cuda:N" or "mps"'),
        "Where the model runs; auto: on a GPU if there is one. The bundled model always runs on the CPU.",
    )
    revision: str = _option(
        "",
        text("a branch, tag or commit"),
        "Which revision of a hub model is used; empty: the newest on this machine.",
    )
    precision: str = _option(
        AUTO,
        one_of(AUTO, "float32", "bfloat16", "float16", "int8", "int4"),
        "How exact the model's numbers are; auto: half precision on a GPU, 8 bits for large models on a CPU. "
        "int4, and int8 on a GPU, need the extra `quantized`. The bundled model has a precision of its own.",
    )
    family: str = _option(
        AUTO,
        text('"auto", a name such as "StarCoder", or a `.json` file'),
        "The family whose markers the model was trained with, or a file that describes one "
        "(docs/models.md); auto: seen from its tokenizer.",
    )
    order: str = _option(
        AUTO,
        one_of(AUTO, "psm", "spm"),
        "Whether the model reads the text before the cursor first (psm) or that after it (spm); auto: the "
        "latter where its family was trained with it, as it is quicker while typing.",
    )
    threads: int = _option(
        0,
        whole(0, 1024),
        "The most threads that a model uses on the CPU. 0: half of the processors, four at most.",
    )
    python_version: str = _option(
        AUTO,
        one_of(AUTO, *map(version_text, PYTHON_VERSIONS)),
        "The Python whose grammar holds; auto: that of the workspace's environment (`.venv`, `venv`, "
        "`$VIRTUAL_ENV`, `.python-version`), else that of the Python that runs the server.",
    )
    check: str = _option(
        "compile",
        one_of("compile", "parse"),
        "What Python has to make of a file with a completion in it: compile it, so that no `return` stands "
        "outside of functions and no argument is named twice, or only parse it.",
    )
    automatic: bool = _option(
        True,
        switch(),
        "Whether to complete while typing; when false only a suggestion asked for by hand is made.",
    )
    debounce_ms: int = _option(
        150,
        whole(0, 10_000),
        "Milliseconds without a keystroke before a completion is asked for; kept by the editor's side.",
    )
    deadline_ms: int = _option(
        2000,
        whole(50, 60_000),
        "Milliseconds after which the best connecting text so far is given.",
    )
    max_tokens: int = _option(
        64,
        whole(1, 1024),
        "The most tokens one completion may have; it always ends where it connects to the text that follows.",
    )
    one_line: str = _option(
        AUTO,
        one_of(AUTO, "always", "never"),
        "Whether a completion ends with its line; auto: unless a block begins at the cursor, "
        "or a blank line or a comment stands before it.",
    )
    candidates: int = _option(
        3,
        whole(1, 10),
        "How many completions to choose from are made when asked by hand; one while typing.",
    )
    min_length: int = _option(
        2,
        whole(0, 100),
        "Shorter completions (in characters) are not suggested while typing.",
    )
    confidence: float = _option(
        0.5,
        share(),
        "How sure the model must be while typing: of ten suggestions that are shown, about ten times this "
        "many are right. What it is less sure of is cut off or not shown; 0: all is shown. By hand all is "
        "shown anyway.",
    )
    context_escape: bool = _option(
        False,
        switch(),
        "Whether a completion may leave the bracket, block, string or comment that the cursor is in.",
    )
    steering: bool = _option(
        True,
        switch(),
        "Whether a completion that runs out of tokens is finished by the shortest text that connects.",
    )
    relaxed_contexts: bool = _option(
        True,
        switch(),
        "Whether files that are broken elsewhere get completions: they are read as the valid ones that "
        "they most nearly are.",
    )
    neighbour_tokens: int = _option(
        512,
        whole(0, 16_384),
        "The most tokens of other files that the model reads: what the buffer imports, and what was edited "
        "last. 0: none, and the project's files are not indexed for the bundled model either.",
    )
    languages: tuple[str, ...] = _option(
        IDENTIFIERS,
        names("language identifiers", 100),
        "The editor's names of the languages that are completed: `json`, `lua`, `go` and `slua` in their "
        "own grammars, others that you add as Python. The bundled model knows Python only; elsewhere it "
        "writes only when asked by hand.",
    )
    grammars: tuple[tuple[str, str], ...] = _option(
        (),
        named_files("language identifiers", 20),
        'Lark grammars of your own, such as `{"query": "query.lark"}`: documents of that language are '
        "completed in that grammar, if `languages` has it too. A file begins with the rule `start`. "
        "docs/languages.md says what to do where the editor does not know the language.",
    )
    interface: str = _option(
        "",
        text("a file"),
        "The file that declares what sLua scripts are given (docs/slua.md); `languages` must have `slua`. "
        "Empty: they are given nothing.",
    )
    exclude: tuple[str, ...] = _option(
        (),
        names("globs", 1_000),
        "Files that get no completions and are not read for those of others, such as `**/secrets/**` or "
        "`*_pb2.py`.",
    )
    completion: bool = _option(
        False,
        switch(),
        "Whether to answer `textDocument/completion` as well, for editors without inline completion.",
    )
    cache_size: int = _option(
        256,
        whole(0, 100_000),
        "How many completions are remembered for when the same text comes again. 0: none.",
    )
    log_level: str = _option(
        "info",
        one_of("error", "warning", "info", "debug"),
        "The least severe messages that are logged.",
    )


MODEL_FIELDS = tuple(of.name for of in fields(Load))
"""The settings that tell which model is loaded, and how."""


def load_of(settings: Settings) -> Load:
    """The model that *settings* name."""
    chosen = (getattr(settings, name) for name in MODEL_FIELDS)
    return Load(*(None if value in ("", AUTO, 0) else value for value in chosen))


_LIMITS = {of.name for of in fields(Limits)} & {of.name for of in fields(Settings)}


def limits_of(settings: Settings, *, by_hand: bool, cursor_inside: bool = False) -> Limits:
    """What *settings* say of one completion, asked for *by_hand* or while typing.

    *cursor_inside*: as in `Limits`; what is asked for by hand is written out.
    """
    limits = Limits(**{name: getattr(settings, name) for name in _LIMITS})
    if by_hand:
        return replace(limits, confidence=0.0, min_length=0)
    return replace(limits, candidates=1, cursor_inside=cursor_inside)


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its *name* on the wire, the *field* of `Settings`, and what that says of it."""

    name: str
    field: str
    default: object
    values: Values
    meaning: str

    def schema(self) -> dict[str, object]:
        """The option as a JSON schema, with its default."""
        default = list(self.default) if isinstance(self.default, tuple) else self.default
        if self.values.schema["type"] == "object":
            default = dict(self.default)  # type: ignore[call-overload]  # pairs, then
        return {**self.values.schema, "default": default}


def _to_option(of: Field[Any]) -> Option:
    first, *rest = of.name.split("_")
    name = first + "".join(word.capitalize() for word in rest)
    return Option(name, of.name, of.default, of.metadata["values"], of.metadata["meaning"])


OPTIONS = tuple(_to_option(of) for of in fields(Settings))


def with_own_server(settings: Settings, own: Settings) -> tuple[Settings, list[str]]:
    """*settings* without what only the user's *own* settings may say, and one sentence for what was left out.

    Other settings may be a workspace's. Those must neither send code to another machine nor give the value of
    an environment variable to anybody.
    """
    problems = []
    if settings.api_key_variable != own.api_key_variable:
        settings = replace(settings, api_key_variable=own.api_key_variable)
        problems.append("apiKeyVariable is taken from initializationOptions only; it is ignored here.")
    if is_elsewhere(settings.model) and settings.model != own.model:
        settings = replace(settings, model=own.model)
        problems.append(
            "A model server on another machine is taken from initializationOptions only; it is ignored here."
        )
    return settings, problems


def resolve(raw: object, base: Settings) -> tuple[Settings, list[str]]:
    """*base* with the options of *raw*, and one sentence for each value that cannot be used.

    *raw* is what the client sent, of any shape. null means "not set", as editors send it for settings the
    user left alone, and so does the empty string where it is no default; other names are the editor's own
    business.
    """
    if raw is None:
        return base, []
    if not isinstance(raw, Mapping):
        return base, [f"The settings must be an object, not {_told(raw)}; they are ignored."]
    given = [
        (option, raw[option.name])
        for option in OPTIONS
        if raw.get(option.name) is not None and (raw[option.name] != "" or option.default == "")
    ]
    chosen: dict[str, Any] = {}
    problems = []
    for option, value in given:
        if option.values.allows(value):
            chosen[option.field] = _as_setting(option, value)
        else:
            words = option.values.words
            problems.append(f"{option.name} must be {words}, not {_told(value)}; it is ignored.")
    return replace(base, **chosen), problems


def _told(value: object) -> str:
    """*value* in messages. O(1), as a client may send anything."""
    told = _SHORT.repr(value)
    return told if len(told) <= LONGEST_TOLD else f"{told[:LONGEST_TOLD]} …"


_SHORT = Repr()
_SHORT.maxstring = LONGEST_TOLD


def _as_setting(option: Option, value: Any) -> object:  # noqa: ANN401 - whatever JSON holds
    """A value of JSON as `Settings` has it; some editors write whole numbers as 5.0, and 1.0 as 1."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, Mapping):
        return tuple(value.items())
    if isinstance(option.default, float):
        return float(value)
    return int(value) if isinstance(value, float) else value


def unknown_names(raw: object) -> list[str]:
    """One sentence for each name in *raw* that is no option, for settings meant for this server alone."""
    if not isinstance(raw, Mapping):
        return []
    known = [option.name for option in OPTIONS]
    return [
        f"There is no option {_told(name)}{_meant(name, known)}; docs/options.md lists all."
        for name in raw
        if name not in (*known, TOKEN)
    ]


def _meant(name: object, known: Sequence[str]) -> str:
    """Which of the *known* options somebody who wrote *name* may have meant."""
    close = get_close_matches(str(name)[:50], known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
