"""The engine and its peers with a JSON Schema: each compiles a schema, then makes texts with masks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fimlsp import Engine, Vocabulary, json_schema
from fimlsp.quotient.masks.vocabulary import Bitmask
from measures.mask_peers import GrammarText, GuidanceText, Judged, OutlinesText

Compiler = Callable[[Any], Callable[[], Judged]]
"""Takes a schema, and returns a maker of its texts; it raises if the schema is refused."""


class _Ours:
    """A text of this engine."""

    def __init__(self, engine: Engine, vocabulary: Vocabulary) -> None:
        self._state = engine.document(b"").middle(0, 0).start
        self._vocabulary = vocabulary

    def add(self, token: int) -> bool:
        """As in `Masks`."""
        self._state = self._state and self._state.feed(self._vocabulary.token_bytes[token] or b"")
        return self._state is not None

    def mask(self) -> Bitmask:
        """As in `Masks`."""
        assert self._state is not None
        return self._state.mask(self._vocabulary)

    def accepts(self, token: int) -> bool:
        """As in `Judged`."""
        assert self._state is not None
        if token in self._vocabulary.stops:
            return self._state.complete
        return self._state.feed(self._vocabulary.token_bytes[token] or b"") is not None


def ours(tokenizer: Path, token_bytes: list[bytes | None], stop: int) -> Compiler:
    """This engine."""
    del tokenizer
    vocabulary = Vocabulary(token_bytes, stops=[stop])

    def compiled(schema: Any) -> Callable[[], Judged]:
        engine = Engine(json_schema(schema, compact=True))
        return lambda: _Ours(engine, vocabulary)

    return compiled


def llguidance_schema(tokenizer: Path, token_bytes: list[bytes | None], stop: int) -> Compiler:
    """The engine llguidance."""
    import llguidance

    del token_bytes
    tokens = llguidance.LLTokenizer(tokenizer.read_text(), eos_token=stop)

    def compiled(schema: Any) -> Callable[[], Judged]:
        grammar = llguidance.LLMatcher.grammar_from_json_schema(
            json.dumps(schema), defaults={"whitespace_flexible": False}
        )
        first = llguidance.LLMatcher(tokens, grammar)
        if first.is_error():
            raise ValueError(first.get_error())
        return lambda: GuidanceText(first.deep_copy(), -(-tokens.vocab_size // 32))

    return compiled


def xgrammar_schema(tokenizer: Path, token_bytes: list[bytes | None], stop: int) -> Compiler:
    """The engine xgrammar."""
    import xgrammar

    del tokenizer
    info = xgrammar.TokenizerInfo([text or b"" for text in token_bytes], stop_token_ids=[stop])
    compiler = xgrammar.GrammarCompiler(info, cache_enabled=False)

    def compiled(schema: Any) -> Callable[[], Judged]:
        made = compiler.compile_json_schema(
            json.dumps(schema), any_whitespace=False, separators=(",", ":"), strict_mode=False
        )
        return lambda: GrammarText(xgrammar.GrammarMatcher(made), len(token_bytes))

    return compiled


def outlines_schema(tokenizer: Path, token_bytes: list[bytes | None], stop: int) -> Compiler:
    """The engine outlines-core."""
    import outlines_core
    from outlines_core.json_schema import build_regex_from_schema

    del tokenizer
    ids: dict[bytes, list[int]] = {}
    for token, text in enumerate(token_bytes):
        if text and token != stop:
            ids.setdefault(text, []).append(token)
    vocabulary = outlines_core.Vocabulary(stop, ids)

    def compiled(schema: Any) -> Callable[[], Judged]:
        index = outlines_core.Index(build_regex_from_schema(json.dumps(schema)), vocabulary)
        return lambda: OutlinesText(outlines_core.Guide(index), -(-len(token_bytes) // 32))

    return compiled


SCHEMA_PEERS: dict[str, Callable[[Path, list[bytes | None], int], Compiler]] = {
    "llguidance": llguidance_schema,
    "xgrammar": xgrammar_schema,
    "outlines-core": outlines_schema,
}
