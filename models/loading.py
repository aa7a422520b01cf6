"""Loads a model by name: the bundled one, a checkpoint folder, a hub name, a GGUF file, or a server.

Only data is read. Weights must be safetensors, as a pickle can run code, and no code of a checkpoint runs:
the architecture must be one of transformers itself. Nothing is downloaded, and only a named server is used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from fimlsp.lexing.automata.cached_files import cache_folder
from fimlsp.models.catalogue import MODELS_THAT_WORK
from fimlsp.models.checkpoints.checkpoint_files import BUNDLED as BUNDLED
from fimlsp.models.checkpoints.checkpoint_files import (
    CheckpointFiles,
    end_tokens,
    read_files,
    template_beside,
)
from fimlsp.models.checkpoints.eight_bits import read_tensors, stored_tensors
from fimlsp.models.checkpoints.hub import find_folder
from fimlsp.models.checkpoints.memory import (
    CPU_CONTEXT_MAX,
    cache_bytes,
    check_memory,
    free_main_memory,
    needed_bytes,
)
from fimlsp.models.confidence import GENERAL, WITHOUT_PROBABILITIES, ConfidenceEstimate
from fimlsp.models.errors import ModelError, is_out_of_memory, require
from fimlsp.models.gguf_stores import find_gguf
from fimlsp.models.networks.llama_shape import is_supported
from fimlsp.models.networks.torch.threads import limit_threads
from fimlsp.models.prompts.chat_template import ChatTemplate
from fimlsp.models.prompts.families import OWN_FAMILIES, Order, chosen_family
from fimlsp.models.prompts.fim_format import FimFormat, find_format
from fimlsp.models.prompts.prompt import Prompt, build_prompt
from fimlsp.models.prompts.vocabulary import ModelVocabulary, read_vocabulary
from fimlsp.models.protocols import NextToken
from fimlsp.models.remote.address import Address, is_address
from fimlsp.models.remote.gguf_server import is_gguf, load_gguf, path_of
from fimlsp.models.remote.look_ahead import RemoteModel
from fimlsp.models.remote.open_model import open_model
from fimlsp.models.server_kinds import Api

if TYPE_CHECKING:
    from fimlsp.models.networks.torch.placement import BitsChoice, DType

UNTRAINED = "not trained to fill in the middle"
"""The remark after the name of a model without markers."""

REASON_MAX = 200
SMALL_NUMBER_BYTES = 4


@dataclass(frozen=True, slots=True)
class FimModel:
    """A loaded model.

    Attributes:
        name: name of the model, as the user gave it.
        network: predicts tokens. `dataclasses.replace` puts another one with the same tokens in its place.
        vocabulary: token ids and their bytes.
        fim: markers and order of the prompt.
        context: maximum number of tokens of prompt and middle together.
        device: for instance `cpu` or `cuda:1`, or the address of its server.
        uses_buffer: True if predictions are mixed with those of the buffer cache.
        acceptance: estimates the probability that its text is right.
        estimates: the folder of its own estimate, where `fimlsp calibrate` puts one.
        prompt_tokens: maximum number of tokens around the cursor that it reads; None: as many as fit.
        heals: True if a word or space that ends at a cursor is written anew (see `healing.py`). This needs
            probabilities, which some servers do not report.
        chat: the template of its conversations; None: it has none.
    """

    name: str
    network: NextToken
    vocabulary: ModelVocabulary
    fim: FimFormat
    context: int
    device: str
    uses_buffer: bool
    acceptance: ConfidenceEstimate
    estimates: Path
    prompt_tokens: int | None = None
    heals: bool = False
    chat: ChatTemplate | None = None

    @property
    def estimate_key(self) -> str:
        """The name of its estimate, under which its corrections are kept. About 1 ms."""
        return self.acceptance.key("bundled" if self.estimates == BUNDLED else str(self.estimates))

    def prompt(self, left: bytes, right: bytes, tokens: int) -> Prompt:
        """The prompt for at most *tokens* tokens between *left* and *right*.

        Raises:
            ModelError: *tokens* do not fit into the model's context.
        """
        return build_prompt(
            self.vocabulary, self.fim, self.context, left, right, tokens, most_tokens=self.prompt_tokens
        )


def load_model(
    name_or_path: str | None = None,
    *,
    device: str | None = None,
    revision: str | None = None,
    family: str | None = None,
    order: Order | None = None,
    dtype: DType | None = None,
    bits: BitsChoice = "auto",
    threads: int | None = None,
    uses_buffer: bool | None = None,
    context: int | None = None,
    api: Api | None = None,
    api_key_variable: str | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> FimModel:
    """Load a model; best one that was trained to fill in the middle.

    Another causal model reads the text after the cursor first (see `models.prompts.families`).

    Args:
        name_or_path: a folder; the name of a hub model on this machine; a file that ends with `.gguf`; or the
            address of a model server, such as `http://127.0.0.1:8012`. If the server has several models, the
            name follows a `#`. None: the bundled model.
        device: `cpu`, `cuda`, `cuda:N` or `mps`; None: a GPU if there is one. The bundled model always runs
            on the CPU.
        revision: branch, tag or commit of a hub model; None: the newest on this machine.
        family: the family of the model's markers, or a file that describes it (see `families.py`); None:
            that of a `fim.json` beside the model, or else that of the markers in the tokenizer.
        order: `psm`: the prefix first. `spm`: the suffix first, so that typing only appends to the prompt.
            None: the latter if the family was trained with it.
        dtype: `float32`, `bfloat16` or `float16`; None: half precision on a GPU, full precision on a CPU if
            that is not too large. The bundled model multiplies in 8 bits, and with `float32` in 32 bits.
        bits: 4 or 8 to quantise weights while loading, which needs the extra `quantized` except for 8 bits on
            a CPU; None: not quantised; `auto`: 8 bits on a CPU above 100 million parameters, if no *dtype*.
        threads: maximum number of CPU threads; None: one for a small model, such as the bundled one, and
            for others as many as torch uses. With torch it holds for the whole process.
        uses_buffer: True to mix predictions with those of the buffer cache, which helps a small network;
            None: as the checkpoint's config.json declares, as those of `fimlsp train` do.
        context: maximum number of tokens of prompt and text together, for a model that runs here; it never
            has more than it was trained with. None: 2,048 on a CPU, which reads slowly, and more on a GPU.
        api: API of a model server: `llama-server`, `completions` (as of vLLM), `ollama` or `texts`; None:
            detected.
        api_key_variable: the environment variable with the key of a model server; None: FIMLSP_API_KEY.
        on_progress: called with the loaded share of the weights, from 0 to 1, if it is known.

    Raises:
        ModelError: the model cannot be used; the message gives the reason and the remedy.
    """
    if name_or_path is not None and is_address(name_or_path):
        own_family = None if family is None else chosen_family(family, Path())
        remote = open_model(Address.parse(name_or_path), api, api_key_variable, own_family, order)
        return _from_remote(remote, uses_buffer)
    if name_or_path is not None and (file := gguf_file(name_or_path)) is not None:
        own_family = chosen_family(family, file.parent)
        return _from_remote(load_gguf(file, device, threads, own_family, order, context), uses_buffer)
    folder = BUNDLED if name_or_path is None else find_folder(name_or_path, revision)
    checkpoint = _read_checkpoint(name_or_path or "bundled", folder, family, order, uses_buffer)
    is_plain = device in (None, "cpu") and dtype is None and bits in (None, "auto")
    files = checkpoint.files
    with _load_errors(files.name):
        if name_or_path is None or (is_plain and is_supported(files.config, files.weights)):
            return _checked(_load_small(checkpoint, threads or 1, context, is_exact=dtype == "float32"))
        return _checked(
            _load_with_transformers(checkpoint, device, dtype, bits, threads, context, on_progress)
        )


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """A folder that was read except for its weights; see `FimModel`."""

    files: CheckpointFiles
    vocabulary: ModelVocabulary
    fim: FimFormat
    uses_buffer: bool


def _read_checkpoint(
    name: str, folder: Path, family: str | None, order: Order | None, uses_buffer: bool | None
) -> _Checkpoint:
    files = read_files(folder, name)
    ids = files.tokenizer.get_vocab(with_added_tokens=True)
    chosen = chosen_family(family, folder)
    fim = find_format(ids, name, architecture=files.architecture, family=chosen, order=order, untrained=True)
    fim = fim.ending_also(end_tokens(folder, files.tokenizer))
    wants_buffer = files.asks_for_buffer if uses_buffer is None else uses_buffer
    return _Checkpoint(files, _exact_vocabulary(files, fim), fim, wants_buffer)


def _exact_vocabulary(files: CheckpointFiles, fim: FimFormat) -> ModelVocabulary:
    vocabulary = read_vocabulary(files.tokenizer, fim.markers)
    if not vocabulary.is_exact():
        raise ModelError(
            f"Cannot load {files.name}: its tokenizer fails on ordinary text, or changes it. "
            f"Use a model such as {MODELS_THAT_WORK}."
        )
    return vocabulary


@contextmanager
def _load_errors(name: str) -> Iterator[None]:
    """Turns any error into a `ModelError`: on damaged files, libraries raise errors of any class."""
    try:
        with np.errstate(all="ignore"):
            yield
    except ModelError:
        raise
    except Exception as error:
        raise _cannot_load(name, error) from error


def _load_small(checkpoint: _Checkpoint, threads: int, most: int | None, *, is_exact: bool) -> FimModel:
    from fimlsp.models.networks.onnx_llama import OnnxLlama

    files, fim = checkpoint.files, checkpoint.fim
    context = min(files.config["max_position_embeddings"], most or CPU_CONTEXT_MAX)
    cache = cache_bytes(files.config, context, SMALL_NUMBER_BYTES)
    check_memory(
        files.name, "cpu", needed_bytes(files.n_parameters, SMALL_NUMBER_BYTES, cache), free_main_memory()
    )
    table = checkpoint.vocabulary.token_bytes
    weights = read_tensors(files.weights) if is_exact else stored_tensors(files.weights)
    network = OnnxLlama.load(files.config, weights, table, fim.stops, context, threads)
    return _model_of(checkpoint, network, context, "cpu")


def _load_with_transformers(
    checkpoint: _Checkpoint,
    device: str | None,
    dtype: DType | None,
    bits: BitsChoice,
    threads: int | None,
    context: int | None,
    on_progress: Callable[[float], None],
) -> FimModel:
    files = checkpoint.files
    require("checkpoints", f"Cannot load {files.name}: it needs PyTorch and transformers")
    from fimlsp.models.networks.torch.checkpoint import CheckpointNetwork
    from fimlsp.models.networks.torch.placement import choose_placement

    if threads is not None:
        limit_threads(threads)
    placement = choose_placement(files, device, dtype, bits, context)
    table, stops = checkpoint.vocabulary.token_bytes, checkpoint.fim.stops
    network = CheckpointNetwork.load(files, placement, table, stops, on_progress)
    return _model_of(checkpoint, network, placement.context, placement.device)


def _model_of(checkpoint: _Checkpoint, network: NextToken, context: int, device: str) -> FimModel:
    files, fim = checkpoint.files, checkpoint.fim
    return FimModel(
        files.name if fim.is_trained else f"{files.name} ({UNTRAINED})",
        network,
        checkpoint.vocabulary,
        fim,
        context,
        device,
        checkpoint.uses_buffer,
        ConfidenceEstimate.load(files.folder) or _general_estimate(GENERAL),
        files.folder,
        files.prompt_tokens,
        heals=True,
        chat=template_beside(files.folder, files.tokenizer),
    )


def gguf_file(name: str) -> Path | None:
    """The GGUF file with this name or path; None if *name* is neither."""
    return find_gguf(name) or (path_of(name) if is_gguf(name) else None)


def _from_remote(remote: RemoteModel, uses_buffer: bool | None) -> FimModel:
    """The model *remote*, with the estimate of `fimlsp calibrate`, that in its file, or a general one."""
    folder = _estimates_of(remote.identity)
    general = GENERAL if remote.has_probabilities else WITHOUT_PROBABILITIES
    in_file = ConfidenceEstimate.read(remote.estimate, remote.name) if remote.estimate else None
    model = FimModel(
        f"{remote.name} ({', '.join([remote.kind, *(() if remote.fim.is_trained else (UNTRAINED,))])})",
        remote.network,
        remote.vocabulary,
        remote.fim,
        remote.context,
        remote.device,
        _wants_buffer(remote) if uses_buffer is None else uses_buffer,
        ConfidenceEstimate.load(folder) or in_file or _general_estimate(general),
        folder,
        remote.prompt_tokens,
        heals=remote.has_probabilities,
        chat=remote.chat,
    )
    return _checked(model)


def _wants_buffer(remote: RemoteModel) -> bool:
    """True if a small model is to be mixed with the buffer cache, as its file declares.

    If the server does not show its file, those of our own families are: `fimlsp train` makes no others.
    """
    if remote.wants_buffer is None:
        return remote.has_probabilities and remote.fim.family in OWN_FAMILIES
    return remote.wants_buffer


def _estimates_of(identity: str) -> Path:
    """The folder in the cache with the estimate of a model that has no folder; it may not exist."""
    try:
        cache = cache_folder()
    except RuntimeError:
        cache = BUNDLED
    return cache / "estimates" / hashlib.sha256(identity.encode()).hexdigest()[:32]


def _general_estimate(file: str) -> ConfidenceEstimate:
    """The estimate in *file* for models that have none of their own.

    Raises:
        ModelError: it is missing.
    """
    estimate = ConfidenceEstimate.load(BUNDLED, file)
    if estimate is None:
        raise ModelError(f"Cannot load the model: {file} of fimlsp is missing. Install fimlsp again.")
    return estimate


def _checked(model: FimModel) -> FimModel:
    """*model*, after it has read an empty prompt, so that a defect shows now and not at every request.

    Raises:
        ModelError: the scores are not finite, for instance because they are too large for their type.
    """
    candidates = model.network.begin(model.fim.arrange([], []))
    if not isfinite(candidates.log_probabilities[0]):
        raise ModelError(
            f"Cannot use {model.name} on {model.device}: its scores are not finite. Its weights are damaged "
            f"or too large for the precision: load it in float32, or download it again."
        )
    return model


def _cannot_load(name: str, error: Exception) -> ModelError:
    message = shorten(str(error), REASON_MAX, placeholder=" …").rstrip(".")
    reason = message if " " in message else f"{type(error).__name__} {message}".strip()
    if "ignore_mismatched_sizes" in message:
        reason = "the sizes of its weights differ from config.json"
    if isinstance(error, ImportError):
        return ModelError(f"Cannot load {name}: {reason}. Install fimlsp with its packages again.")
    if is_out_of_memory(error):
        return ModelError(
            f"Cannot load {name}: not enough free memory ({reason}). Close other programs, "
            f"load it in 4 bits or on another device, or use a smaller model."
        )
    return ModelError(
        f"Cannot load {name}: {reason}. Download it again, or use another model, such as {MODELS_THAT_WORK}."
    )
