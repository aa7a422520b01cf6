"""The adapter of vLLM in vLLM's own manager of structured outputs, with drafts that are rolled back."""

import ast
import random
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import PreTrainedTokenizerFast

from fimlsp import Engine, fill_in_middle, python, vocabulary_of

from ..models.tiny_checkpoints import STARCODER, byte_tokenizer
from .engine_modules import FOLDER, Engines

pytestmark = [pytest.mark.engines, pytest.mark.usefixtures("vllm")]

PLACE = "vllm.v1.structured_output"
REAL = ("vllm", "vllm.v1", PLACE, f"{PLACE}.backend_types", f"{PLACE}.request")
DRAFTS = 3
LEFT, RIGHT = b"def area(width):\n    return (", b")\n\nprint(area(2))\n"
TOKENIZER = PreTrainedTokenizerFast(tokenizer_object=byte_tokenizer(STARCODER), eos_token=STARCODER[0])
VOCABULARY = vocabulary_of(TOKENIZER)
STOP = TOKENIZER.eos_token_id
CONFIG = SimpleNamespace(
    structured_outputs_config=SimpleNamespace(
        backend="guidance",
        disable_any_whitespace=True,
        reasoning_parser="",
        reasoning_parser_plugin="",
        enable_in_reasoning=False,
    ),
    parallel_config=SimpleNamespace(distributed_executor_backend="mp"),
    scheduler_config=SimpleNamespace(max_num_seqs=4),
    model_config=SimpleNamespace(
        skip_tokenizer_init=False, is_diffusion=False, get_vocab_size=lambda: len(TOKENIZER) + 50
    ),
    num_speculative_tokens=DRAFTS,
)


@pytest.fixture
def vllm():
    """vLLM's modules; the package itself is made up, so that nothing of it is loaded in passing."""
    given = {
        "vllm.tokenizers": {"cached_tokenizer_from_config": lambda **_: TOKENIZER},
        "vllm.logger": {"init_logger": __import__("logging").getLogger},
        "vllm.utils.import_utils": {"LazyLoader": lambda *_: torch},
        f"{PLACE}.utils": {"strip_speculative_padding": lambda tokens: [t for t in tokens if t >= 0]},
        "vllm.v1.core.sched.async_scheduler": {"AsyncScheduler": Scheduler},
    }
    with Engines("vllm", REAL[2:], given) as engines:
        yield engines


class Scheduler:
    """As vLLM's own: it keeps the manager under this name (checked below)."""

    def __init__(self, structured_output_manager):
        self.structured_output_manager = structured_output_manager


def manager_of(config=CONFIG):
    from vllm.v1.structured_output import StructuredOutputManager

    from fimlsp.backends.vllm_scheduler import MaskScheduler

    manager = StructuredOutputManager(config)
    MaskScheduler(structured_output_manager=manager)
    return manager


def request_for(**constraint):
    from vllm.v1.structured_output.request import StructuredOutputRequest

    names = ("json", "json_object", "regex", "choice", "grammar", "structural_tag")
    asked = SimpleNamespace(**{**dict.fromkeys(names), **constraint}, _backend="guidance")
    return SimpleNamespace(
        request_id="1",
        use_structured_output=True,
        structured_output_request=StructuredOutputRequest(params=asked),
        sampling_params=SimpleNamespace(structured_outputs=asked, all_stop_token_ids={STOP}),
        all_token_ids=[],
        prompt_token_ids=[],
    )


def grammar_of(manager, request):
    manager.grammar_init(request)
    manager.executor.submit(int).result()
    while not request.structured_output_request.is_grammar_ready:
        pass
    return request.structured_output_request.grammar


def rows_of(manager, request, drafts):
    rows = manager.grammar_bitmask({"1": request}, ["1"], {"1": drafts})
    return [set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))) for row in rows]


def written(manager, request, seed, most=80):
    """A random text, with drafts of the same kind: whatever vLLM masks, takes and drops on the way."""
    random_, tokens = random.Random(seed), []
    while not tokens or (tokens[-1] != STOP and len(tokens) < most):
        drafts = manager.validate_tokens(request, random_.choices(range(len(TOKENIZER)), k=DRAFTS))
        rows = rows_of(manager, request, drafts)
        if STOP not in drafts:
            assert all(draft in row for draft, row in zip(drafts, rows, strict=False))
        kept = drafts[: random_.randrange(len(drafts) + 1)]
        taken = [*kept, random_.choice(sorted(rows[len(kept)]))] if STOP not in kept else kept
        assert manager.accept_tokens(request, taken)
        tokens += taken
    return tokens


@pytest.mark.parametrize("seed", range(5))
def test_what_vllm_writes_connects(seed):
    manager, request = manager_of(), request_for(json=fill_in_middle(LEFT.decode(), RIGHT.decode()))
    grammar = grammar_of(manager, request)
    tokens = written(manager, request, seed)
    text = b"".join(VOCABULARY.token_bytes[token] or b"" for token in tokens)
    start = Engine(python()).document(LEFT + RIGHT).middle(len(LEFT), len(LEFT)).start
    state = start.feed(text)
    assert state is not None
    assert grammar.is_terminated() == (tokens[-1] == STOP)
    rest = b"" if tokens[-1] == STOP else state.shortest_completion
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about numbers that run into keywords
        ast.parse((LEFT + text + rest + RIGHT).decode())


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        ({"choice": ["yes", "no"]}, "yes"),
        ({"regex": "[0-9]{3}"}, "123"),
        ({"json": {"type": "array", "items": {"type": "integer"}}}, "[1,2]"),
        ({"json": '{"type": "integer"}'}, "7"),
        ({"json_object": True}, '{"a":[1]}'),
        ({"grammar": 'root ::= "a"+'}, "aa"),
        ({"grammar": 'start: "a"+'}, "aa"),
    ],
    ids=str,
)
def test_each_kind_of_request_is_kept(constraint, text):
    manager, request = manager_of(), request_for(**constraint)
    grammar = grammar_of(manager, request)
    tokens = [*TOKENIZER.encode(text, add_special_tokens=False), STOP]
    assert manager.validate_tokens(request, tokens) == tokens
    assert manager.accept_tokens(request, tokens)
    assert grammar.is_terminated()
    grammar.reset()
    assert not manager.accept_tokens(request, [STOP])


def test_a_request_that_cannot_be_kept_fails_alone(caplog):
    manager = manager_of()
    for constraint in ({"structural_tag": "{}"}, {"regex": "("}):
        assert isinstance(grammar_of(manager, request_for(**constraint)), ValueError)
    assert "Failed to compile grammar" in caplog.text
    assert not isinstance(grammar_of(manager, request_for(regex="a")), Exception)


def test_a_manager_without_a_place_for_a_backend_is_refused():
    manager = manager_of()
    from fimlsp.backends.vllm import put_in

    with pytest.raises(RuntimeError, match="no free place"):
        put_in(manager)
    with pytest.raises(RuntimeError, match="no free place"):
        put_in(SimpleNamespace(vllm_config=CONFIG))
    settings = SimpleNamespace(**{**vars(CONFIG.structured_outputs_config), "backend": "auto"})
    with pytest.raises(RuntimeError, match="Do: --structured-outputs-config"):
        manager_of(SimpleNamespace(**{**vars(CONFIG), "structured_outputs_config": settings}))


def test_the_scheduler_is_given_the_manager_and_keeps_it():
    core = (FOLDER / "vllm/v1/engine/core.py").read_text(encoding="utf-8")
    assert "structured_output_manager=self.structured_output_manager" in core
    scheduler = (FOLDER / "vllm/v1/core/sched/scheduler.py").read_text(encoding="utf-8")
    assert "self.structured_output_manager = structured_output_manager" in scheduler
    assert "class AsyncScheduler(Scheduler)" in (FOLDER / "vllm/v1/core/sched/async_scheduler.py").read_text(
        encoding="utf-8"
    )
    assert "scheduler_cls" in (FOLDER / "vllm/config/scheduler.py").read_text(encoding="utf-8")
