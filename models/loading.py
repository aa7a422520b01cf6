"""From a name to a loaded model: the bundled one, a checkpoint folder, a hub name, a GGUF file, a server.

Only data is read: weights as safetensors (a pickle can run code) and architectures that transformers itself
has (no code of the checkpoint runs). Nothing is fetched, and no server is asked but the one that is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from fimlsp.models.acceptance.estimate import Acceptance
from fimlsp.models.catalogue import MODELS_THAT_WORK
from fimlsp.models.checkpoints.checkpoint_files import CheckpointFiles, read_files
from fimlsp.models.checkpoints.hub import find_folder
from fimlsp.models.checkpoints.memory import (
    CPU_CONTEXT_MAX,
    cache_bytes,
    check_memory,
    free_main_memory,
    needed_bytes,
)
from fimlsp.models.errors import ModelError, is_out_of_memory, require
from fimlsp.models.family_file import chosen_family
from fimlsp.models.finding.names import find_file
from fimlsp.models.networks.numpy import llama as small
from fimlsp.models.networks.torch.threads import limit_threads
from fimlsp.models.prompts.families import Order
from fimlsp.models.prompts.fim_format import FimFormat, find_format
from fimlsp.models.prompts.prompt import Prompt, build_prompt
from fimlsp.models.prompts.vocabulary import Vocabulary, read_vocabulary
from fimlsp.models.protocols import NextToken
from fimlsp.models.served.connecting.gguf_model import is_gguf, load_gguf, path_of
from fimlsp.models.served.connecting.model import ServedModel
from fimlsp.models.served.connecting.which_server import Api, connect
from fimlsp.models.served.http.address import Address, is_address

if TYPE_CHECKING:
    from fimlsp.models.networks.torch.placement import DType, WantedBits

BUNDLED = Path(__file__).parent / "bundled"
LONGEST_REASON = 200
SMALL_NUMBER_BYTES = 4


@dataclass(frozen=True, slots=True)
class FimModel:
    """A loaded model.

    Attributes:
        name: how it was asked for.
        network: predicts tokens.
        vocabulary: token ids and their bytes.
        fim: markers and order of the prompt.
        context: how many tokens prompt and middle may have together.
        device: for instance `cpu` or `cuda:1`, or the server that it is on.
        uses_buffer: whether predictions are mixed with what the buffer suggests.
        acceptance: how likely what it writes is right.
        prompt_tokens: how many tokens around the cursor it reads at most; None: as many as fit.
        heals: whether a word that has begun at a cursor is begun again (see `healing.py`); it asks for all
            candidates at once, which servers tell too slowly or not at all.
    """

    name: str
    network: NextToken
    vocabulary: Vocabulary
    fim: FimFormat
    context: int
    device: str
    uses_buffer: bool
    acceptance: Acceptance
    prompt_tokens: int | None = None
    heals: bool = False

    def prompt(self, left: bytes, right: bytes, tokens: int) -> Prompt:
        """What the network reads before it writes at most *tokens* tokens between *left* and *right*.

        Raises:
            ModelError: so many tokens do not fit into the model's context.
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
    bits: WantedBits = "auto",
    threads: int | None = None,
    uses_buffer: bool | None = None,
    api: Api | None = None,
    api_key_variable: str | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> FimModel:
    """Load a fill-in-the-middle model.

    Args:
        name_or_path: a folder; the name of a hub model on this machine; a file that ends with `.gguf`; or the
            address of a model server, such as `http://127.0.0.1:8012`, with the model's name behind a
            `#` if it has several. None: the bundled model.
        device: `cpu`, `cuda`, `cuda:N` or `mps`; None: a GPU if there is one (the bundled model always runs
            on the CPU).
        revision: branch, tag or commit of a hub model; None: the newest on this machine.
        family: the family whose markers the model has, or a file that describes it (see `family_file.py`);
            None: what a `fim.json` beside the model says, or else what the tokenizer shows.
        order: `psm` for the prefix first, `spm` for the suffix first, so that typing only appends to the
            prompt; None: the latter if the family was trained with it.
        dtype: `float32`, `bfloat16` or `float16`; None: half precision on a GPU, full precision on a CPU if
            that is not too large.
        bits: 4 or 8: weights are quantised while loading, which needs the extra `quantized` but for 8 bits
            on a CPU; None: they are not; `auto`: 8 bits on a CPU above 100 million parameters, if no *dtype*.
        threads: the most CPU threads that torch uses, in the whole process; None: as many as before. Small
            models, among them the bundled one, use one.
        uses_buffer: whether predictions are mixed with what the buffer suggests, which helps a small
            network; None: if the checkpoint's config.json asks for it, as those of `fimlsp train` do.
        api: what a model server speaks: `llama-server`, `completions` (vLLM and others) or `ollama`; None:
            that is found out.
        api_key_variable: the environment variable with the key of a model server; None: FIMLSP_API_KEY.
        on_progress: is called with the share of the weights that is there, from 0 to 1, if that is known.

    Raises:
        ModelError: it cannot be used; the message says in one sentence what to do about it.
    """
    if name_or_path is not None and is_address(name_or_path):
        own = None if family is None else chosen_family(family, Path())
        return _served(connect(Address.parse(name_or_path), api, api_key_variable, own, order), uses_buffer)
    if name_or_path is not None and (file := _gguf_file(name_or_path)) is not None:
        own = chosen_family(family, file.parent)
        return _served(load_gguf(file, device, threads, own, order), uses_buffer)
    folder = BUNDLED if name_or_path is None else find_folder(name_or_path, revision)
    checkpoint = _read_checkpoint(name_or_path or "bundled", folder, family, order, uses_buffer)
    is_plain = device in (None, "cpu") and dtype is None and bits in (None, "auto")
    files = checkpoint.files
    with _failures_told(files.name):
        if name_or_path is None or (is_plain and small.fits(files.config, files.weights)):
            return _tried_out(_load_small(checkpoint))
        return _tried_out(_load_with_transformers(checkpoint, device, dtype, bits, threads, on_progress))


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """A folder that was read but for its weights; see `FimModel`."""

    files: CheckpointFiles
    vocabulary: Vocabulary
    fim: FimFormat
    uses_buffer: bool


def _read_checkpoint(
    name: str, folder: Path, family: str | None, order: Order | None, uses_buffer: bool | None
) -> _Checkpoint:
    files = read_files(folder, name)
    ids = files.tokenizer.get_vocab(with_added_tokens=True)
    chosen = chosen_family(family, folder)
    fim = find_format(ids, name, architecture=files.architecture, family=chosen, order=order)
    wants_buffer = files.asks_for_buffer if uses_buffer is None else uses_buffer
    return _Checkpoint(files, _exact_vocabulary(files, fim), fim, wants_buffer)


def _exact_vocabulary(files: CheckpointFiles, fim: FimFormat) -> Vocabulary:
    vocabulary = read_vocabulary(files.tokenizer, fim.markers)
    if not vocabulary.is_exact():
        raise ModelError(
            f"The tokenizer of {files.name} fails on ordinary text or changes it, so nothing that it writes "
            f"would fit; use a model such as {MODELS_THAT_WORK}."
        )
    return vocabulary


@contextmanager
def _failures_told(name: str) -> Iterator[None]:
    """Makes a `ModelError` of whatever goes wrong: where files are damaged, libraries raise any error."""
    try:
        with np.errstate(all="ignore"):
            yield
    except ModelError:
        raise
    except Exception as error:
        raise _cannot_load(name, error) from error


def _load_small(checkpoint: _Checkpoint) -> FimModel:
    files, fim = checkpoint.files, checkpoint.fim
    context = min(files.config["max_position_embeddings"], CPU_CONTEXT_MAX)
    cache = cache_bytes(files.config, context, SMALL_NUMBER_BYTES)
    check_memory(
        files.name, "cpu", needed_bytes(files.n_parameters, SMALL_NUMBER_BYTES, cache), free_main_memory()
    )
    table = checkpoint.vocabulary.token_bytes
    network = small.SmallNetwork.load(files.config, files.weights, table, fim.stops, context)
    return _model_of(checkpoint, network, context, "cpu")


def _load_with_transformers(
    checkpoint: _Checkpoint,
    device: str | None,
    dtype: DType | None,
    bits: WantedBits,
    threads: int | None,
    on_progress: Callable[[float], None],
) -> FimModel:
    files = checkpoint.files
    require("checkpoints", f"{files.name} needs PyTorch and transformers")
    from fimlsp.models.networks.torch.checkpoint import CheckpointNetwork
    from fimlsp.models.networks.torch.placement import choose_placement

    if threads is not None:
        limit_threads(threads)
    placement = choose_placement(files, device, dtype, bits)
    table, stops = checkpoint.vocabulary.token_bytes, checkpoint.fim.stops
    network = CheckpointNetwork.load(files, placement, table, stops, on_progress)
    return _model_of(checkpoint, network, placement.context, placement.device)


def _model_of(checkpoint: _Checkpoint, network: NextToken, context: int, device: str) -> FimModel:
    files = checkpoint.files
    return FimModel(
        files.name,
        network,
        checkpoint.vocabulary,
        checkpoint.fim,
        context,
        device,
        checkpoint.uses_buffer,
        _estimate_of(files.folder),
        files.prompt_tokens,
        heals=True,
    )


def _gguf_file(name: str) -> Path | None:
    """The GGUF file that *name* stands for, or whose path it is; None if it is none."""
    return find_file(name) or (path_of(name) if is_gguf(name) else None)


def _served(served: ServedModel, uses_buffer: bool | None) -> FimModel:
    wants_buffer = served.wants_buffer if uses_buffer is None else uses_buffer
    acceptance = _estimate_of(BUNDLED)
    model = FimModel(
        f"{served.name} ({served.kind}{'' if served.is_exact else ', approximate'})",
        served.network,
        served.vocabulary,
        served.fim,
        served.context,
        served.device,
        wants_buffer,
        acceptance,
    )
    return _tried_out(model)


def _estimate_of(folder: Path) -> Acceptance:
    """How likely what the model in *folder* writes is right; if nobody fitted that, as for the bundled one.

    Its features are properties of the text and its log-probabilities in all, whatever the tokens are.

    Raises:
        ModelError: the file is damaged; or the bundled one is missing.
    """
    found = Acceptance.load(folder) or Acceptance.load(BUNDLED)
    if found is None:
        raise ModelError("The bundled model has no acceptance.json; install fimlsp again.")
    return found


def _tried_out(model: FimModel) -> FimModel:
    """*model*, which has read an empty prompt, so that a fault shows now and not at every request.

    Raises:
        ModelError: the scores are no numbers, for instance because they are too large for their type.
    """
    candidates = model.network.begin(model.fim.arrange([], []))
    if not isfinite(candidates.log_probabilities[0]):
        raise ModelError(
            f"{model.name} gives no numbers on {model.device}: its weights are damaged, or too large for the "
            f"precision; load it in float32, or fetch it again."
        )
    return model


def _cannot_load(name: str, error: Exception) -> ModelError:
    message = shorten(str(error), LONGEST_REASON, placeholder=" …").rstrip(".")
    reason = message if " " in message else f"{type(error).__name__} {message}".strip()
    if "ignore_mismatched_sizes" in message:
        reason = "its weights have other sizes than config.json gives"
    if is_out_of_memory(error):
        return ModelError(
            f"{name} does not fit into the memory that is free ({reason}); close what else uses it, "
            f"load it in 4 bits or on another device, or use a smaller model."
        )
    return ModelError(
        f"{name} cannot be loaded ({reason}); fetch it again, or use another model, "
        f"such as {MODELS_THAT_WORK}."
    )
