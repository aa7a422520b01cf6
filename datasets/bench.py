"""Runs cases in sequence. The model is loaded once, each file is read once, each token is predicted once."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from fimlsp.datasets.case_result import CONSTRAINED, Result
from fimlsp.datasets.cuts import Cut, CutRecord
from fimlsp.datasets.languages import LANGUAGES
from fimlsp.datasets.languages.lua import Scripts
from fimlsp.datasets.languages.own_grammar import OwnGrammar
from fimlsp.datasets.languages.python import PYTHON
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.datasets.methods import Case, attempts, is_one_line
from fimlsp.datasets.sources import SourceFile
from fimlsp.languages.python import Python, python
from fimlsp.languages.python.versions import Check, PythonVersion
from fimlsp.models.completion import BUFFER_BYTES
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.networks.copy_cache import CopyCache
from fimlsp.models.prompts.families import Order
from fimlsp.models.prompts.prompt import Prompt, first_bytes, last_bytes
from fimlsp.models.protocols import Candidates, NextToken
from fimlsp.quotient.engine import Document, Engine

if TYPE_CHECKING:
    from fimlsp.models.networks.torch.placement import DType

YOUNG = 1
"""The generation of the garbage collector that is collected before each file."""


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """The settings that decide the answers to a case.

    Attributes:
        model: a folder or the name of a hub model; None: the bundled one.
        device: `cpu`, `cuda` or `cuda:N`; None: a GPU if there is one.
        tokens: the maximum length of an answer.
        language: the name of the files' language.
        precision: of the network's numbers; the paper's is `float32`.
        family, order: the markers of the prompt and their order; None: the model's own markers, and the text
            left of the cut first if the model knows that order.
        python_version: the version of Python's grammar; None: that of the running Python.
        check: `compile` if an answer in Python must compile, `parse` if it only has to parse.
        own: the user's own grammar, or sLua with an interface; it takes precedence over `language`.
    """

    model: str | None = None
    device: str | None = None
    tokens: int = 500
    language: str = PYTHON.name
    precision: DType = "float32"
    family: str | None = None
    order: Order | None = None
    python_version: PythonVersion | None = None
    check: Check = "parse"
    own: OwnGrammar | Scripts | None = None

    @property
    def replay_language(self) -> ReplayLanguage:
        """The language, with the grammar of the chosen version."""
        if self.own is not None:
            return self.own.replay_language
        language = LANGUAGES[self.language]
        if not isinstance(language.grammar, Python):
            return language
        version = self.python_version or language.grammar.version
        return replace(language, grammar=python(version, self.check))


class Bench:
    """Runs cases. Cases of one file should follow one another, since they share the file's analysis.

    Raises:
        ModelError: the model cannot be loaded, or has no room for so many tokens.
    """

    def __init__(self, settings: BenchSettings, model: FimModel | None = None) -> None:
        self._language = settings.replay_language
        self._engine = Engine(self._language.grammar)
        self._tokens = settings.tokens
        self._model = model = model or load(settings)
        model.prompt(b"", b"", settings.tokens)
        self._file: tuple[str, Document] | None = None

    @classmethod
    def in_worker(cls, settings: BenchSettings) -> Bench:
        """A bench in a process of its own, which collects garbage only between files.

        The engine leaves no garbage, but a collection at any other time would walk through all its values.
        """
        gc.disable()
        return cls(settings)

    def run(self, file: SourceFile, record: CutRecord) -> Result:
        """The result of one case. An error that ends it is part of the result."""
        try:
            return self._run(file, record)
        except Exception as error:
            return Result(record.to_json(), crash=describe(error), traceback=traceback.format_exc())

    def _run(self, file: SourceFile, record: CutRecord) -> Result:
        is_first = self._file is None or self._file[0] != file.hash
        if is_first and not gc.isenabled():
            gc.collect(YOUNG)
        started = process_time()
        case = self._case(file, record.cut)
        setup_ms = 1000 * (process_time() - started)
        network, prompt = self._prepare(case)
        answers = attempts(network, prompt, case, self._tokens)
        return Result(
            record=record.to_json(),
            size=len(file.text),
            truth=len(case.truth),
            one_line=is_one_line(case.truth),
            connects=case.start is not None,
            compiles=self._language.compile_error(file.text) is None,
            first=is_first,
            setup_ms=round(setup_ms, 3),
            check_ms=round(case.check_ms((answers["unconstrained"].text or "").encode(errors="ignore")), 3),
            attempts=answers,
            excerpt=None if all(answers[name].ok for name in CONSTRAINED) else case.excerpt(),
        )

    def _case(self, file: SourceFile, cut: Cut) -> Case:
        if cut.end < cut.start:
            return Case.overlapping(cut, file.text, self._engine, self._language)
        return Case.at(cut, file.text, self._document(file), self._language)

    def _document(self, file: SourceFile) -> Document:
        """The document of *file*, with the contexts of all its lines for its other cuts."""
        if self._file is None or self._file[0] != file.hash:
            document = self._engine.document(file.text.encode())
            document.prepare()
            self._file = file.hash, document
        return self._file[1]

    def _prepare(self, case: Case) -> tuple[NextToken, Prompt]:
        """The network and the prompt that all methods share."""
        model = self._model
        left, right = case.left.encode(), case.right.encode()
        prompt = model.prompt(left, right, self._tokens)
        network = model.network
        if model.uses_buffer:
            buffer = last_bytes(left, BUFFER_BYTES), first_bytes(right, BUFFER_BYTES)
            network = CopyCache(network, model.vocabulary, *buffer)
        return SharedSteps(network), prompt


def load(settings: BenchSettings) -> FimModel:
    """The model with exact weights. The text left of the cut comes first if the model supports that order.

    Raises:
        ModelError: it cannot be loaded.
    """

    def loaded(order: Order | None) -> FimModel:
        return load_model(
            settings.model,
            device=settings.device,
            bits=None,
            dtype=settings.precision,
            family=settings.family,
            order=order,
        )

    if settings.order is None:
        with suppress(ModelError):  # any other error of the model recurs in the second call
            return loaded("psm")
    return loaded(settings.order)


def describe(error: BaseException) -> str:
    """An error in one line, with the file and line that raised it."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    origin = f" ({Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno})" if frame else ""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}{origin}"


@dataclass(slots=True)
class _Prediction:
    """The candidates after some tokens, and the predictions after each of the chosen candidates."""

    candidates: Candidates
    after: dict[int, _Prediction] = field(default_factory=dict)


class SharedSteps:
    """A `NextToken` that remembers the predictions of *network* for one prompt.

    Greedy decodings under different constraints agree up to the first token that one of them rejects. The
    network computes that part once, and reads it again only when a decoding departs from the previous one.
    """

    def __init__(self, network: NextToken) -> None:
        self.token_bytes = network.token_bytes
        self.stops = network.stops
        self._network = network
        self._prompt: tuple[int, ...] = ()
        self._root: _Prediction | None = None
        self._at: _Prediction | None = None
        self._written = list[int]()
        self._read = list[int]()

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt, or return to the end of the same one; then read the tokens *written* after it."""
        if self._root is None or self._prompt != tuple(tokens):
            self._prompt, self._read = tuple(tokens), []
            self._root = _Prediction(self._network.begin(tokens))
        self._at, self._written = self._root, []
        for token in written:
            self.advance(token)
        return self._at.candidates

    def advance(self, token: int) -> Candidates:
        """Read one more token."""
        if self._at is None:
            raise RuntimeError("advance comes after begin")
        self._written.append(token)
        if token not in self._at.after:
            self._at.after[token] = _Prediction(self._predict(token))
        self._at = self._at.after[token]
        return self._at.candidates

    def _predict(self, token: int) -> Candidates:
        if self._read == self._written[:-1]:
            candidates = self._network.advance(token)
        else:
            candidates = self._network.begin(self._prompt, self._written)
        self._read = list(self._written)
        return candidates
