"""The adapter of SGLang in SGLang's own registry, with its masks, jumps, drafts and cache."""

import ast
import json
import random
import warnings
from importlib.metadata import entry_points
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import PreTrainedTokenizerFast

from fimlsp import Engine, fill_in_middle, python, vocabulary_of

from ..models.tiny_checkpoints import STARCODER, byte_tokenizer
from .engine_modules import Engines

pytestmark = pytest.mark.engines

PLACE = "sglang.srt.constrained.base_grammar_backend"
REAL = (PLACE, "sglang.srt.arg_groups.choices", "sglang.srt.plugins")
LEFT, RIGHT = b"def area(width):\n    return (", b")\n\nprint(area(2))\n"
TOKENIZER = PreTrainedTokenizerFast(tokenizer_object=byte_tokenizer(STARCODER), eos_token=STARCODER[0])
VOCABULARY = vocabulary_of(TOKENIZER)
STOP = TOKENIZER.eos_token_id
WIDTH = len(TOKENIZER) + 50
ARGUMENTS = SimpleNamespace(constrained_json_disable_any_whitespace=True)


@pytest.fixture
def backend():
    """Our backend as SGLang makes it: by its plugins, then by the name of the command line."""
    choices = []
    given = {
        "sglang.srt.server_args": {"add_grammar_backend_choices": choices.extend},
        "sglang.srt.runtime_context": {
            "get_exec": lambda: SimpleNamespace(kernel=SimpleNamespace(grammar_backend="fimlsp"))
        },
        "sglang.srt.environ": {"envs": Settings()},
        "sglang.srt.plugins.hook_registry": {
            "_current_plugin_source": SimpleNamespace(set=lambda _: None, reset=lambda _: None),
            "HookRegistry": SimpleNamespace(apply_hooks=lambda: None),
        },
    }
    with Engines("sglang", REAL, given):
        from sglang.srt.constrained.base_grammar_backend import create_grammar_backend
        from sglang.srt.plugins import load_plugins

        load_plugins()
        assert choices == ["fimlsp"]
        yield create_grammar_backend(ARGUMENTS, TOKENIZER, WIDTH, {STOP})


class Settings:
    """SGLang's environment variables, none of which is set."""

    def __getattr__(self, name):
        return SimpleNamespace(get=lambda: None)


def grammar_of(backend, kind, text):
    """As SGLang's manager: made in a thread, put into the cache, and copied from there."""
    made, is_cached = backend.get_cached_or_future_value((kind, text), False)
    if not is_cached:
        made = made.result()
        backend.set_cache((kind, text), made.copy())
    return made


def test_sglang_finds_the_adapter_by_its_entry_point():
    (found,) = [each for each in entry_points(group="sglang.srt.plugins") if each.name == "fimlsp"]
    assert found.value == "fimlsp.backends.sglang:register"


@pytest.mark.parametrize("seed", range(5))
def test_what_sglang_writes_connects(backend, seed):
    """Logits at random, masked in one bitmask with a request that has no constraint."""
    random_, tokens = random.Random(seed), []
    torch.manual_seed(seed)
    grammar = grammar_of(backend, "json", json.dumps(fill_in_middle(LEFT.decode(), RIGHT.decode())))
    while not grammar.is_terminated() and len(tokens) < 60:
        logits = torch.randn(2, WIDTH)
        free = logits[1].clone()
        mask = grammar.allocate_vocab_mask(WIDTH, 2, "cpu")
        grammar.fill_vocab_mask(mask, 0)
        grammar.apply_vocab_mask(logits, grammar.move_vocab_mask(mask, "cpu"))
        assert torch.equal(logits[1], free)
        allowed = set(torch.isfinite(logits[0]).nonzero().flatten().tolist())
        for draft in random_.sample(range(len(TOKENIZER)), 5):
            if draft in allowed:
                grammar.accept_token(draft)
                grammar.rollback(1)
            else:
                with pytest.raises(ValueError, match="the constraint refuses it"):
                    grammar.accept_token(draft)
        tokens.append(int(logits[0].argmax()))
        grammar.accept_token(tokens[-1])
    text = b"".join(VOCABULARY.token_bytes[token] or b"" for token in tokens)
    start = Engine(python()).document(LEFT + RIGHT).middle(len(LEFT), len(LEFT)).start
    state = start.feed(text)
    assert state is not None
    rest = b"" if grammar.is_terminated() else state.shortest_completion
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about numbers that run into keywords
        ast.parse((LEFT + text + rest + RIGHT).decode())


@pytest.mark.parametrize(
    ("kind", "constraint", "text"),
    [
        ("json", '{"type": "array", "items": {"type": "integer"}}', "[1,2]"),
        ("json", "$$ANY$$", "[1, 2]"),
        ("regex", "[0-9]{3}", "123"),
        ("ebnf", 'root ::= "a"+', "aa"),
        ("ebnf", 'start: "a"+', "aa"),
    ],
)
def test_each_kind_of_request_is_kept_also_from_the_cache(backend, kind, constraint, text):
    for _ in range(2):
        grammar = grammar_of(backend, kind, constraint)
        for token in [*TOKENIZER.encode(text, add_special_tokens=False), STOP]:
            assert not grammar.is_terminated()
            grammar.accept_token(token)
        assert grammar.is_terminated()


@pytest.mark.parametrize(
    ("kind", "constraint"), [("structural_tag", "{}"), ("regex", "("), ("json", "{"), ("ebnf", "start: a")]
)
def test_a_request_that_cannot_be_kept_is_refused(backend, kind, constraint):
    from sglang.srt.constrained.base_grammar_backend import InvalidGrammarObject

    grammar = grammar_of(backend, kind, constraint)
    assert isinstance(grammar, InvalidGrammarObject)
    assert grammar.error_message


def test_forced_text_is_jumped_over_and_its_tokens_exchanged(backend):
    grammar = grammar_of(backend, "regex", "return x[0-9]")
    old = TOKENIZER.encode("ret", add_special_tokens=False)
    for token in old:
        grammar.accept_token(token)
    helper = grammar.try_jump_forward(TOKENIZER)
    text, following = grammar.jump_forward_str_state(helper)
    assert text == "urn x"
    new = TOKENIZER.encode("ret" + text, add_special_tokens=False)
    assert new[: len(old)] != old
    grammar.jump_and_retokenize(old, new, following)
    assert grammar.try_jump_forward(TOKENIZER) is None
    grammar.accept_token(TOKENIZER.encode("7")[0])
    mask = grammar.allocate_vocab_mask(WIDTH, 1, "cpu")
    grammar.fill_vocab_mask(mask, 0)
    assert np.flatnonzero(np.unpackbits(mask.numpy().view(np.uint8), bitorder="little")).tolist() == [STOP]
    grammar.reset_vocab_mask(mask)
    assert (mask == -1).all()
