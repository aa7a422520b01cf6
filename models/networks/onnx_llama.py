"""A small network of the Llama family in ONNX Runtime, on the CPU.

For such a model torch costs more than the arithmetic: its import takes seconds and a fifth of a gigabyte.
Here one call of the runtime reads the new tokens of a text, with the weights as they are stored (see
`llama_graph.py`). Keys and values stand in arrays that are allocated once. Tests compare the logits with
those of transformers' implementation on the same folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else its import stores an id and connects
import onnxruntime

from fimlsp.models.networks.candidates import best_candidates, n_known
from fimlsp.models.networks.llama_graph import (
    HEAD,
    LARGEST_LEVEL,
    PROBED,
    Weights,
    cache_names,
    cache_shape,
    largest_sum_graph,
    llama_graph,
)
from fimlsp.models.networks.llama_shape import LlamaShape
from fimlsp.models.protocols import Candidates

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Vocabulary


Array = NDArray[np.float32]

CHUNK = 256
"""Tokens that are read at once; attention needs memory for this many rows."""

ERRORS_ONLY = 3


class OnnxLlama:
    """`NextToken` over the weights of a checkpoint; reads one text at a time."""

    def __init__(
        self,
        shape: LlamaShape,
        weights: Weights,
        token_bytes: Sequence[bytes | None],
        stops: frozenset[int],
        threads: int,
    ) -> None:
        self.token_bytes = token_bytes
        self.stops = stops
        self._context = shape.max_position_embeddings
        self._session = session_of(llama_graph(shape, weights, len(token_bytes)), threads, sums_are_exact())
        self._step = self._session.io_binding()
        names = cache_names(shape.num_hidden_layers)
        self._cache: Array = np.zeros((len(names), *cache_shape(shape)), np.float32)
        for (past, new), part in zip(names, self._cache, strict=True):
            memory = onnxruntime.OrtValue.ortvalue_from_numpy(part)
            self._step.bind_ortvalue_input(past, memory)
            self._step.bind_ortvalue_output(new, memory)
        self._logits: Array = np.zeros(len(token_bytes), np.float32)
        memory = onnxruntime.OrtValue.ortvalue_from_numpy(self._logits)
        self._step.bind_ortvalue_output("logits", memory)
        self._read = list[int]()

    @cached_property
    def mask_vocabulary(self) -> Vocabulary:
        """See `fimlsp.models.protocols.Maskable`."""
        from fimlsp.quotient.masks.vocabulary import Vocabulary

        return Vocabulary(self.token_bytes, self.stops)

    @classmethod
    def load(
        cls,
        config: Mapping[str, Any],
        weights: Weights,
        token_bytes: Sequence[bytes | None],
        stops: frozenset[int],
        context: int,
        threads: int,
    ) -> OnnxLlama:
        """The network with the *weights* of a supported checkpoint, for texts of up to *context* tokens.

        Those of 8 bits are used as they are. Calls compute on *threads* threads.

        Raises:
            KeyError: a size or a weight is missing.
        """
        if HEAD not in weights and not config.get("tie_word_embeddings"):
            raise KeyError(f"{HEAD} is missing")
        shape = replace(LlamaShape.from_config(config), max_position_embeddings=context)
        return cls(shape, weights, token_bytes, stops, threads)

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt and the tokens *written* after it; their common prefix with the last text is reused.

        Raises:
            ValueError: the text is longer than the context.
        """
        return best_candidates(self._logits_after([*tokens, *written]), self.stops)

    def log_probabilities(self, tokens: Sequence[int]) -> Array:
        """See `fimlsp.models.protocols.Scoring`."""
        logits = self._logits_after(tokens)
        logits = logits - logits.max()
        scores: Array = logits - np.log(np.exp(logits).sum())
        return scores

    def more_after(
        self, tokens: Sequence[int], written: Sequence[int], _most: int | None = None
    ) -> Candidates | None:
        """See `fimlsp.models.protocols.ListsMore`: all; None if another text was read last."""
        if self._read != [*tokens, *written]:
            return None
        return best_candidates(self._logits, self.stops, len(self._logits))

    def _logits_after(self, text: Sequence[int]) -> Array:
        known = n_known(self._read, text)
        del self._read[known:]
        for start in range(known, len(text), CHUNK):
            logits = self.logits(text[start : start + CHUNK])
        return logits

    def advance(self, token: int) -> Candidates:
        """Read one more token.

        Raises:
            ValueError: the context is full.
        """
        return best_candidates(self.logits([token]), self.stops)

    def logits(self, tokens: Sequence[int]) -> Array:
        """Logits [vocabulary] after *tokens* (at most 256), read after the text read so far."""
        total = len(self._read) + len(tokens)
        if total > self._context:
            raise ValueError(
                f"{len(self._read)} tokens were read and {len(tokens)} more do not fit into a context of "
                f"{self._context}"
            )
        self._step.bind_cpu_input("tokens", np.array([tokens], np.int64))
        self._step.bind_cpu_input("last", np.array([total - 1], np.int32))
        self._step.bind_cpu_input("total", np.array(total, np.int32))
        self._session.run_with_iobinding(self._step)
        self._read.extend(tokens)  # only now are keys and values of all layers written
        return self._logits.copy()


@cache
def sums_are_exact() -> bool:
    """True if sums of products in 8 bits are exact on this processor.

    Without instructions such as AVX-512 VNNI, x86 adds pairs of products in 16 bits, which may overflow.
    """
    session = session_of(largest_sum_graph(), 1, is_exact=True)
    (total,) = session.run(["sum"], {"inputs": np.ones((1, PROBED), np.float32)})
    return bool(np.isclose(total, PROBED * LARGEST_LEVEL).all())


def session_of(graph: bytes, threads: int, is_exact: bool) -> onnxruntime.InferenceSession:
    """A session whose idle threads sleep; *is_exact* if the fastest products need not be avoided."""
    onnxruntime.disable_telemetry_events()  # older builds for Windows know no variable
    options = onnxruntime.SessionOptions()
    options.log_severity_level = ERRORS_ONLY
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.x64quantprecision", "0" if is_exact else "1")
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
