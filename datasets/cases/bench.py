"""Runs cases one after the other: loads the model once, and reads each file once."""

from __future__ import annotations

import gc
import traceback
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from fimlsp.datasets.cases.case import Case
from fimlsp.datasets.cases.methods import attempts
from fimlsp.datasets.cases.result import CONSTRAINED, Result
from fimlsp.datasets.cases.shared_steps import SharedSteps
from fimlsp.datasets.cases.similarity import is_one_line
from fimlsp.datasets.cuts.cut_record import CutRecord
from fimlsp.datasets.cuts.strategies import Cut
from fimlsp.datasets.languages.known import LANGUAGES, PYTHON
from fimlsp.datasets.languages.own_grammar import OwnGrammar
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.datasets.languages.scripts import Scripts
from fimlsp.datasets.sources.source_file import SourceFile
from fimlsp.languages.python import Python, python
from fimlsp.languages.python.checks import Check
from fimlsp.languages.python.versions import PythonVersion
from fimlsp.models.completion import BUFFER_BYTES
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.networks.buffer_cache import BufferCache
from fimlsp.models.prompts.families import Order
from fimlsp.models.prompts.prompt import Prompt, beginning, ending
from fimlsp.models.protocols import NextToken
from fimlsp.quotient.engine import EditedDocument, Engine

if TYPE_CHECKING:
    from fimlsp.models.networks.torch.placement import DType

YOUNG = 1


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """What decides the answers to a case.

    Attributes:
        model: a folder or the name of a hub model; None: the bundled one.
        device: `cpu`, `cuda` or `cuda:N`; None: a GPU if there is one.
        tokens: the most that an answer may have.
        language: the name of the files' language.
        precision: of the network's numbers; the paper's is `float32`.
        family, order: the markers of the prompt and their order; None: the model's own markers, and the text
            left of the cut first if the model knows that order.
        python_version: the version of Python's grammar; None: that of the judge.
        check: whether an answer in Python has to parse or to compile.
        own: the grammar of a language of the user's own, or sLua with an interface, which then is that of the
            files.
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
        """The language, with the grammar of the version that is asked for."""
        if self.own is not None:
            return self.own.replay_language
        language = LANGUAGES[self.language]
        if not isinstance(language.grammar, Python):
            return language
        version = self.python_version or language.grammar.version
        return replace(language, grammar=python(version, self.check))


class Bench:
    """Runs cases. Those of one file should come together, as they share what the engine learnt of it.

    Raises:
        ModelError: the model cannot be loaded, or has no room for so many tokens.
    """

    def __init__(self, settings: BenchSettings, model: FimModel | None = None) -> None:
        self._language = settings.replay_language
        self._engine = Engine(self._language.grammar)
        self._tokens = settings.tokens
        self._model = model = model or load(settings)
        model.prompt(b"", b"", settings.tokens)
        self._file: tuple[str, EditedDocument] | None = None

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
        since = process_time()
        case = self._case(file, record.cut)
        setup_ms = 1000 * (process_time() - since)
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

    def _document(self, file: SourceFile) -> EditedDocument:
        """The document of *file*, with the contexts of all its lines, since its other cuts need those too."""
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
            buffer = ending(left, BUFFER_BYTES), beginning(right, BUFFER_BYTES)
            network = BufferCache(network, model.vocabulary, *buffer)
        return SharedSteps(network), prompt


def load(settings: BenchSettings) -> FimModel:
    """The model with exact weights; if it can, it reads the text left of the cut first, as in the protocol.

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
        with suppress(ModelError):  # any other fault of the model is reported by the second attempt
            return loaded("psm")
    return loaded(settings.order)


def describe(error: BaseException) -> str:
    """An error in one line, with the file and line where it was raised."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f" ({Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno})" if frame else ""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}{where}"
