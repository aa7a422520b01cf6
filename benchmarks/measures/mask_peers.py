"""Other mask engines: llguidance, xgrammar and outlines-core with a grammar of JSON (RFC 8259), and SynCode.

The first three are of the extra `peers`. None of them reads the text after the cursor or indentation. So
llguidance has grammars of Lua, and of Python without indentation, that are about as large as those here.
Xgrammar has a grammar of its own. The package outlines-core has regular expressions only; it gets JSON of at
most four levels. SynCode, if it is installed, has its own grammars of JSON, Go, and Python with indentation.
It does not read the text after the cursor either.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fimlsp.quotient.masks.vocabulary import Bitmask

_STRING = r'"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
_NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_GRAMMARS = Path(__file__).parent.parent / "corpora"
_DEPTH = 4


class Masks(Protocol):
    """A text of an engine, to which tokens are added."""

    def add(self, token: int) -> bool:
        """Add a token; True if the engine accepts it."""

    def mask(self) -> Bitmask:
        """The mask of the next token."""


class Judged(Masks, Protocol):
    """A text of an engine that also judges each token by itself."""

    def accepts(self, token: int) -> bool:
        """True if the engine accepts *token*, which is not added."""


class GuidanceText:
    """A text of llguidance."""

    def __init__(self, matcher: Any, n_words: int) -> None:
        self._matcher = matcher
        self._words = np.zeros(n_words, np.uint32)

    def add(self, token: int) -> bool:
        """As in `Masks`."""
        return bool(self._matcher.consume_token(token))

    def mask(self) -> Bitmask:
        """As in `Masks`."""
        self._matcher.unsafe_compute_mask_ptr(self._words.ctypes.data, self._words.nbytes)
        return self._words

    def accepts(self, token: int) -> bool:
        """As in `Judged`."""
        return bool(self._matcher.validate_tokens([token]))


class GrammarText:
    """A text of xgrammar."""

    def __init__(self, matcher: Any, size: int) -> None:
        import xgrammar

        self._matcher = matcher
        self._bitmask = xgrammar.allocate_token_bitmask(1, size)

    def add(self, token: int) -> bool:
        """As in `Masks`."""
        return bool(self._matcher.accept_token(token))

    def mask(self) -> Bitmask:
        """As in `Masks`."""
        self._matcher.fill_next_token_bitmask(self._bitmask)
        words: Bitmask = self._bitmask[0].numpy().view(np.uint32)
        return words

    def accepts(self, token: int) -> bool:
        """As in `Judged`."""
        is_accepted = bool(self._matcher.accept_token(token))
        if is_accepted:
            self._matcher.rollback(1)
        return is_accepted


class OutlinesText:
    """A text of outlines-core."""

    def __init__(self, guide: Any, n_words: int) -> None:
        self._guide = guide
        self._words = np.zeros(n_words, np.uint32)

    def add(self, token: int) -> bool:
        """As in `Masks`."""
        try:
            self._guide.advance(token, False)
        except ValueError:
            return False
        return True

    def mask(self) -> Bitmask:
        """As in `Masks`."""
        self._words[:] = 0
        self._guide.write_mask_into(self._words.ctypes.data, len(self._words), 4)
        return self._words

    def accepts(self, token: int) -> bool:
        """As in `Judged`."""
        return bool(self._guide.accepts_tokens([token]))


class _SynCode:
    """A text of SynCode, which reads all uncached parts again for each mask."""

    def __init__(self, processor: Any, size: int) -> None:
        import torch

        processor.reset()
        self._processor = processor
        self._tokens: list[int] = []
        self._scores = torch.zeros((1, size))
        self._words = np.zeros(-(-size // 32), np.uint32)

    def add(self, token: int) -> bool:
        self._tokens.append(token)
        return True

    def mask(self) -> Bitmask:
        import torch

        held = self._processor(torch.tensor([self._tokens]), self._scores.clone())
        allowed = np.packbits(torch.isfinite(held[0]).numpy(), bitorder="little")
        self._words.view(np.uint8)[: len(allowed)] = allowed
        return self._words


def llguidance_lark(
    language: str, tokenizer: Path, token_bytes: list[bytes | None], stop: int
) -> Callable[[], Masks]:
    """Makes texts of llguidance by a Lark grammar of *language*."""
    import llguidance

    del token_bytes
    tokens = llguidance.LLTokenizer(tokenizer.read_text(), eos_token=stop)
    grammar = llguidance.LLMatcher.grammar_from_lark((_GRAMMARS / f"{language}.lark").read_text())
    first = llguidance.LLMatcher(tokens, grammar)
    if first.is_error():
        raise ValueError(first.get_error())
    return lambda: GuidanceText(first.deep_copy(), -(-tokens.vocab_size // 32))


def xgrammar_json(tokenizer: Path, token_bytes: list[bytes | None], stop: int) -> Callable[[], Masks]:
    """Makes texts of xgrammar."""
    import xgrammar

    del tokenizer
    info = xgrammar.TokenizerInfo([text or b"" for text in token_bytes], stop_token_ids=[stop])
    compiled = xgrammar.GrammarCompiler(info).compile_grammar(xgrammar.Grammar.builtin_json_grammar())
    return lambda: GrammarText(xgrammar.GrammarMatcher(compiled), len(token_bytes))


def outlines_json(tokenizer: Path, token_bytes: list[bytes | None], stop: int) -> Callable[[], Masks]:
    """Makes texts of outlines-core."""
    import outlines_core

    del tokenizer
    ids: dict[bytes, list[int]] = {}
    for token, text in enumerate(token_bytes):
        if text and token != stop:
            ids.setdefault(text, []).append(token)
    index = outlines_core.Index(_nested_json(_DEPTH), outlines_core.Vocabulary(stop, ids))
    return lambda: OutlinesText(outlines_core.Guide(index), -(-len(token_bytes) // 32))


def syncode(
    language: str, tokenizer: Path, token_bytes: list[bytes | None], stop: int
) -> Callable[[], Masks]:
    """Makes texts of SynCode in a *language* of its own, which keeps its tables in `SYNCODE_CACHE`."""
    from syncode import Grammar, SyncodeLogitsProcessor
    from transformers import PreTrainedTokenizerFast

    names = PreTrainedTokenizerFast(tokenizer_file=str(tokenizer))
    names.add_special_tokens({"eos_token": names.convert_ids_to_tokens(stop)})
    processor = SyncodeLogitsProcessor(
        Grammar(language), names, parse_output_only=False, indent=language == "python"
    )
    return lambda: _SynCode(processor, len(token_bytes))


def _nested_json(depth: int) -> str:
    """JSON of at most *depth* levels, as a regular expression."""
    blank = r"[ \t\n\r]*"
    simple = f"({_STRING}|{_NUMBER}|true|false|null)"
    if not depth:
        return simple
    inner = _nested_json(depth - 1)
    pair = f"{_STRING}{blank}:{blank}{inner}"
    array = rf"\[{blank}({inner}({blank},{blank}{inner})*{blank})?\]"
    mapping = rf"\{{{blank}({pair}({blank},{blank}{pair})*{blank})?\}}"
    return f"({simple}|{array}|{mapping})"


_MAKERS: dict[str, tuple[str, dict[str, Callable[..., Callable[[], Masks]]]]] = {
    "llguidance": (
        "llguidance",
        {name: partial(llguidance_lark, name) for name in ("json", "python", "lua")},
    ),
    "xgrammar": ("xgrammar", {"json": xgrammar_json}),
    "outlines-core": ("outlines_core", {"json": outlines_json}),
    "SynCode": ("syncode", {name: partial(syncode, name) for name in ("json", "python", "go")}),
}
PEERS: dict[str, dict[str, Callable[[Path, list[bytes | None], int], Callable[[], Masks]]]] = {
    language: {
        name: makers[language]
        for name, (module, makers) in _MAKERS.items()
        if language in makers and find_spec(module)
    }
    for language in ("json", "python", "go", "lua")
}
"""By language what makes texts of each engine that is installed."""
