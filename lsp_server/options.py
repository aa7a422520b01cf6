"""The server's options: names, values, meanings and defaults. Each option is a field of `Settings`.

A client sends an object with any of these names, as `initializationOptions` and as section `fimlsp` of
`workspace/configuration`; the latter wins. An invalid value is reported and ignored.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from difflib import get_close_matches
from reprlib import Repr
from typing import Any

from fimlsp.languages import IDENTIFIERS
from fimlsp.languages.python.versions import PYTHON_VERSIONS, PythonVersion, version_text
from fimlsp.lsp_server.messages import Limits, Load
from fimlsp.models.remote.address import is_remote


@dataclass(frozen=True, slots=True)
class AllowedValues:
    """The values that *schema* allows; *words* describes them, after "must be"."""

    words: str
    schema: Mapping[str, object]

    def allows(self, value: object) -> bool:
        """True if the JSON *value* is allowed."""
        import jsonschema  # takes 0.1 s, which would slow down `fimlsp --help`

        is_valid: bool = jsonschema.Draft202012Validator(self.schema).is_valid(value)
        return is_valid


def text(words: str) -> AllowedValues:
    """Any text; *words* describes the useful ones."""
    return AllowedValues(words, {"type": "string"})


def pattern(regex: str, words: str) -> AllowedValues:
    """Texts that match *regex* as a whole."""
    return AllowedValues(words, {"type": "string", "pattern": f"^({regex})$"})


def one_of(*texts: str) -> AllowedValues:
    """One of *texts*, two or more."""
    *others, last = (f'"{text}"' for text in texts)
    return AllowedValues(f"{', '.join(others)} or {last}", {"type": "string", "enum": list(texts)})


def whole(low: int, high: int) -> AllowedValues:
    """A whole number, including the bounds."""
    return AllowedValues(f"{low} to {high}", {"type": "integer", "minimum": low, "maximum": high})


def share() -> AllowedValues:
    """A number from 0 to 1, including the bounds."""
    return AllowedValues("0.0 to 1.0", {"type": "number", "minimum": 0, "maximum": 1})


def switch() -> AllowedValues:
    """On or off."""
    return AllowedValues("true or false", {"type": "boolean"})


def named_files(of: str, most: int) -> AllowedValues:
    """An object that maps names to files; *of* describes the names."""
    words = f"an object that maps {of} to files, at most {most:,}"
    schema = {"type": "object", "maxProperties": most, "additionalProperties": {"type": "string"}}
    return AllowedValues(words, schema)


def names(of: str, most: int) -> AllowedValues:
    """A list of at most *most* texts; *of* describes them."""
    words = f"a list of {of}, at most {most:,}"
    return AllowedValues(words, {"type": "array", "maxItems": most, "items": {"type": "string"}})


SECTION = "fimlsp"
AUTO = "auto"

TOKEN = "token"
"""The token that a client sends in `initializationOptions`, if the server requires one."""

LONGEST_QUOTED = 200
"""Characters of an invalid value in a message; a client may send anything."""


def _option(default: object, values: AllowedValues, meaning: str) -> Any:  # noqa: ANN401 - as dataclasses.field
    return field(default=default, metadata={"values": values, "meaning": meaning})


@dataclass(frozen=True, slots=True)
class Settings:
    """Resolved options: the only definition of their names, defaults, values and meanings."""

    model: str = _option(
        "",
        text("a folder, a hub name, a `.gguf` file or a server's address"),
        "The fill-in-the-middle model; empty: the bundled one. `owner/name` is a hub name, `./owner/name` a "
        "folder of the workspace. A server is `http://127.0.0.1:8012`, or `http://127.0.0.1:11434#NAME` if "
        "it has several models. A server on another machine must be set in `initializationOptions`.",
    )
    api: str = _option(
        AUTO,
        one_of(AUTO, "llama-server", "completions", "ollama", "texts"),
        "The API of a model server: that of llama.cpp, `/v1/completions` with log-probabilities as in vLLM, "
        "that of Ollama, or texts alone; auto: detected.",
    )
    api_key_variable: str = _option(
        "",
        pattern(r"[A-Za-z0-9_]{0,100}", "the name of a variable"),
        "The environment variable with the key of a model server; empty: `FIMLSP_API_KEY`. Read from "
        "`initializationOptions` only. The key itself is never in settings or logs.",
    )
    device: str = _option(
        AUTO,
        pattern(r"auto|cpu|mps|cuda(:\d+)?", '"auto", "cpu", "cuda", "cuda:N" or "mps"'),
        "The device of the model; auto: a GPU if there is one. The bundled model always runs on the CPU.",
    )
    revision: str = _option(
        "",
        text("a branch, tag or commit"),
        "The revision of a hub model; empty: the newest on this machine.",
    )
    precision: str = _option(
        AUTO,
        one_of(AUTO, "float32", "bfloat16", "float16", "int8", "int4"),
        "The precision of the model's numbers; auto: half precision on a GPU, 8 bits for large models on a "
        "CPU. int4, and int8 on a GPU, need the extra `quantized`. The bundled model has its own precision.",
    )
    family: str = _option(
        AUTO,
        text('"auto", a name such as "StarCoder", or a `.json` file'),
        "The model family, which defines the fill-in-the-middle markers, or a file that describes one "
        "(docs/models.md); auto: detected from the tokenizer.",
    )
    order: str = _option(
        AUTO,
        one_of(AUTO, "psm", "spm"),
        "The order of the prompt: prefix, suffix, middle (psm) or suffix, prefix, middle (spm); auto: spm, "
        "which is faster while typing, if the family was trained with it.",
    )
    threads: int = _option(
        0,
        whole(0, 1024),
        "The maximum number of CPU threads of the model. 0: half of the processors, at most four.",
    )
    python_version: str = _option(
        AUTO,
        one_of(AUTO, *map(version_text, PYTHON_VERSIONS)),
        "The Python version of the grammar; auto: the oldest that the project states (`requires-python`), "
        "else that of the workspace's environment (`.venv`, `venv`, `$VIRTUAL_ENV`, `.python-version`), else "
        "that of the Python that runs the server. Stubs (`*.pyi`) have the newest syntax.",
    )
    check: str = _option(
        "compile",
        one_of("compile", "parse"),
        "The check that a completed file passes: Python compiles it, which excludes a `return` outside of "
        "functions or a duplicate argument, or only parses it.",
    )
    automatic: bool = _option(
        True,
        switch(),
        "Automatic completions while typing. If false, only invoked completions are made.",
    )
    debounce_ms: int = _option(
        150,
        whole(0, 10_000),
        "Milliseconds after the last keystroke before the editor requests a completion.",
    )
    deadline_ms: int = _option(
        2000,
        whole(50, 60_000),
        "Time limit in milliseconds. At the limit, the best connecting text so far is used.",
    )
    max_tokens: int = _option(
        64,
        whole(1, 1024),
        "The maximum number of tokens of a completion. It always ends where it connects to the following "
        "text.",
    )
    one_line: str = _option(
        AUTO,
        one_of(AUTO, "always", "never"),
        "Limits a completion to one line; auto: except where a block starts at the cursor, or after a blank "
        "line or a comment.",
    )
    candidates: int = _option(
        3,
        whole(1, 10),
        "Number of candidates for an invoked completion; an automatic one has a single candidate.",
    )
    min_length: int = _option(
        2,
        whole(0, 100),
        "The minimum length, in characters, of an automatic completion.",
    )
    confidence: float = _option(
        0.5,
        share(),
        "The expected share of shown automatic completions that are right. Less confident parts are cut off "
        "or not shown; 0 shows everything. Invoked completions are always shown.",
    )
    learn: bool = _option(
        True,
        switch(),
        "Corrects the estimate of the model by the text that you then type. Counts of right and wrong "
        "suggestions are kept on this machine only, without any text; `fimlsp models forget` deletes them.",
    )
    context_escape: bool = _option(
        False,
        switch(),
        "Allows a completion to leave the bracket, block, string or comment around the cursor.",
    )
    steering: bool = _option(
        True,
        switch(),
        "Finishes a completion that runs out of tokens with the shortest connecting text.",
    )
    relaxed_contexts: bool = _option(
        True,
        switch(),
        "Completes files that are broken elsewhere: such a file is read as the nearest valid one.",
    )
    neighbour_tokens: int = _option(
        512,
        whole(0, 16_384),
        "The maximum number of tokens from other files that the model reads: imported definitions and "
        "recent edits. 0: none, and the project's files are not indexed for the bundled model.",
    )
    languages: tuple[str, ...] = _option(
        IDENTIFIERS,
        names("language identifiers", 100),
        "Language identifiers of the editor that are completed. Those of the default have grammars of their "
        "own; any other that you add is completed as Python. The bundled model is trained on Python only; in "
        "other languages it makes invoked completions only.",
    )
    grammars: tuple[tuple[str, str], ...] = _option(
        (),
        named_files("language identifiers", 20),
        'Your own Lark grammars, such as `{"query": "query.lark"}`, for documents with that language '
        "identifier, which `languages` must contain as well. The top rule is `start`. See "
        "docs/languages.md for languages that are unknown to the editor.",
    )
    interface: str = _option(
        "",
        text("a file"),
        "The file with the declarations that sLua scripts use (docs/slua.md); `languages` must contain "
        "`slua`. Empty: no declarations.",
    )
    typescript: str = _option(
        "",
        text("a folder"),
        "The folder in which you installed TypeScript 7, `.` for the workspace. Its checker then holds back "
        "suggestions with faults of types in files of TypeScript and JavaScript (docs/suggestions.md). "
        "Empty: no types are checked there. Read from `initializationOptions` only, as a program of the "
        "folder is run.",
    )
    exclude: tuple[str, ...] = _option(
        (),
        names("globs", 1_000),
        "Files that get no completions, and are not read for those in other files, such as `**/secrets/**` "
        "or `*_pb2.py`.",
    )
    completion: bool = _option(
        False,
        switch(),
        "Also answers `textDocument/completion`, for editors without inline completion.",
    )
    cache_size: int = _option(
        256,
        whole(0, 100_000),
        "Number of cached completions, which are used again for the same text. 0: none.",
    )
    log_level: str = _option(
        "info",
        one_of("error", "warning", "info", "debug"),
        "The minimum severity of logged messages. `debug` also lists the texts from which each suggestion "
        "was chosen.",
    )


_VERSION = re.compile(r"(?:c?python-?)?(\d{1,9})\.(\d{1,9})", re.IGNORECASE)


def version_of(text: str) -> PythonVersion | None:
    """The version at the start of *text*, such as `3.11.4`, or the nearest supported version."""
    match = _VERSION.match(text.strip())
    if match is None:
        return None
    return _nearest((int(match[1]), int(match[2])))


def running_version() -> PythonVersion:
    """The version of the running Python, or the nearest supported version."""
    return _nearest(sys.version_info[:2])


def _nearest(version: PythonVersion) -> PythonVersion:
    return min(max(version, PYTHON_VERSIONS[0]), PYTHON_VERSIONS[-1])


MODEL_FIELDS = tuple(of.name for of in fields(Load))
"""The settings that define the model."""


def load_of(settings: Settings) -> Load:
    """The model of *settings*."""
    values = (getattr(settings, name) for name in MODEL_FIELDS)
    return Load(*(None if value in ("", AUTO, 0) else value for value in values))


_LIMITS = {of.name for of in fields(Limits)} & {of.name for of in fields(Settings)}


def limits_of(settings: Settings, *, invoked: bool, cursor_inside: bool = False) -> Limits:
    """The limits of an *invoked* or automatic completion.

    *cursor_inside* is as in `Limits`, and applies to automatic completions only.
    """
    limits = Limits(
        **{name: getattr(settings, name) for name in _LIMITS}, explain=settings.log_level == "debug"
    )
    if invoked:
        return replace(limits, confidence=0.0, min_length=0)
    return replace(limits, candidates=1, cursor_inside=cursor_inside)


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its *name* in LSP, and the *field* of `Settings` with default, values and meaning."""

    name: str
    field: str
    default: object
    values: AllowedValues
    meaning: str

    def schema(self) -> dict[str, object]:
        """The option as a JSON schema, with its default."""
        default = list(self.default) if isinstance(self.default, tuple) else self.default
        if self.values.schema["type"] == "object":
            default = dict(self.default)  # type: ignore[call-overload]  # it has pairs
        return {**self.values.schema, "default": default}


def _to_option(of: Field[Any]) -> Option:
    first, *rest = of.name.split("_")
    name = first + "".join(word.capitalize() for word in rest)
    return Option(name, of.name, of.default, of.metadata["values"], of.metadata["meaning"])


OPTIONS = tuple(_to_option(of) for of in fields(Settings))


def with_own_server(settings: Settings, own: Settings) -> tuple[Settings, list[str]]:
    """*settings* without options that only the user's *own* settings may have; a sentence for each of them.

    *settings* may come from a workspace. That must not send code to another machine, name a program or expose
    the value of an environment variable.
    """
    problems = []
    if settings.api_key_variable != own.api_key_variable:
        settings = replace(settings, api_key_variable=own.api_key_variable)
        problems.append("apiKeyVariable is read from initializationOptions only; it is ignored here.")
    if settings.typescript != own.typescript:
        settings = replace(settings, typescript=own.typescript)
        problems.append("typescript is read from initializationOptions only; it is ignored here.")
    if is_remote(settings.model) and settings.model != own.model:
        settings = replace(settings, model=own.model)
        problems.append(
            "A model server on another machine is read from initializationOptions only; it is ignored here."
        )
    return settings, problems


def resolve(raw: object, base: Settings) -> tuple[Settings, list[str]]:
    """*base* with the options of *raw*, and one sentence for each invalid value.

    *raw* is a JSON value of any shape from the client. null means "not set", and so does the empty string
    unless it is the default. Editors send these for unchanged settings. Unknown names are ignored.
    """
    if raw is None:
        return base, []
    if not isinstance(raw, Mapping):
        return base, [f"The settings must be an object, not {_quoted(raw)}; they are ignored."]
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
            problems.append(f"{option.name} must be {words}, not {_quoted(value)}; it is ignored.")
    return replace(base, **chosen), problems


def _quoted(value: object) -> str:
    """*value* for messages. O(1), as a client may send anything."""
    text = _SHORT.repr(value)
    return text if len(text) <= LONGEST_QUOTED else f"{text[:LONGEST_QUOTED]} …"


_SHORT = Repr()
_SHORT.maxstring = LONGEST_QUOTED


def _as_setting(option: Option, value: Any) -> object:  # noqa: ANN401 - any JSON value
    """A JSON value in the type of `Settings`; some editors send 5.0 for whole numbers, and 1 for 1.0."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, Mapping):
        return tuple(value.items())
    if isinstance(option.default, float):
        return float(value)
    return int(value) if isinstance(value, float) else value


def unknown_names(raw: object) -> list[str]:
    """One sentence for each unknown name in *raw*, for settings that are meant for this server only."""
    if not isinstance(raw, Mapping):
        return []
    known = [option.name for option in OPTIONS]
    return [
        f"Unknown option {_quoted(name)}{_hint(name, known)}; docs/options.md lists all."
        for name in raw
        if name not in (*known, TOKEN)
    ]


def _hint(name: object, known: Sequence[str]) -> str:
    """The *known* option most similar to *name*, as a question."""
    close = get_close_matches(str(name)[:50], known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
