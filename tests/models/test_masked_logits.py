"""`generate` of transformers with masks: whatever ends with a stop token is complete."""

import ast
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from fimlsp import Engine, Vocabulary, python
from fimlsp import json as json_language
from fimlsp.models.errors import ModelError
from fimlsp.models.masked_logits import (
    MaskedLogits,
    allocate_bitmask,
    apply_bitmask,
    fill_bitmask,
    vocabulary_of,
)

from .tiny_checkpoints import QWEN, STARCODER, byte_tokenizer, llama, write_checkpoint

LEFT, RIGHT = b"def area(width):\n    return ", b"\n\nprint(area(2))\n"
TOKENS = 40
PAGE = Path(__file__).parents[2] / "docs" / "masks.md"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A network with random weights, which writes any tokens, with the tokenizer of transformers."""
    tokenizer = byte_tokenizer(STARCODER)
    folder = write_checkpoint(tmp_path_factory.mktemp("tiny"), llama(tokenizer.get_vocab_size()), tokenizer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=STARCODER[0], pad_token=STARCODER[0])
    fast.padding_side = "left"
    return AutoModelForCausalLM.from_pretrained(folder).eval(), fast


def start_of(left, right, language=None):
    return Engine(language or python()).document(left + right).middle(len(left), len(left)).start


def check(checkpoint, sides, rows, parse=ast.parse, language=None, **settings):
    """Generate *rows* texts between each pair of *sides*, and hold every one against the parser."""
    network, tokenizer = checkpoint
    vocabulary = vocabulary_of(tokenizer)
    masked = MaskedLogits(vocabulary, [start_of(left, right, language) for left, right in sides])
    prompts = tokenizer([left.decode() or " " for left, _ in sides], padding=True, return_tensors="pt")
    torch.manual_seed(1)
    stops = sorted(vocabulary.stops)
    settings |= {"max_new_tokens": TOKENS, "eos_token_id": stops, "pad_token_id": stops[0]}
    with torch.no_grad():
        written = network.generate(**prompts, logits_processor=[masked], **settings)
    assert len(written) == rows * len(sides)
    length = prompts.input_ids.shape[1]
    for row, sequence in enumerate(written):
        left, right = sides[row // rows]
        text = b"".join(vocabulary.token_bytes[token] or b"" for token in sequence[length:].tolist())
        rest = masked.rest_of(sequence, row // rows)
        if vocabulary.stops & set(sequence[length:].tolist()):
            assert rest == b""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about numbers that run into keywords
            parse((left + text + rest + right).decode())


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"do_sample": True, "temperature": 1.0, "top_k": 0},
        {"do_sample": True, "top_p": 0.9, "num_return_sequences": 3},
        {"num_beams": 4, "num_return_sequences": 2},
        {"num_beams": 3, "do_sample": True},
    ],
    ids=str,
)
def test_what_is_generated_connects(checkpoint, settings):
    sides = [(LEFT, RIGHT), (b"x = [1, ", b"]\n"), (b"if x:\n    y = 'a", b"b'\nelse:\n    z\n")]
    check(checkpoint, sides, settings.get("num_return_sequences", 1), **settings)


def test_the_example_of_the_page_runs(checkpoint, tmp_path, capsys):
    network, tokenizer = checkpoint
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    example = next(block for block in blocks if "MaskedLogits" in block)
    lines = [line for line in example.splitlines() if line and not line.startswith(("from", "name"))]
    assert len(lines) <= 10
    torch.manual_seed(1)
    exec(example.replace('"bigcode/gpt_bigcode-santacoder"', repr(str(tmp_path))), {})
    assert capsys.readouterr().out


def test_left_to_right_a_program_comes_out(checkpoint):
    check(checkpoint, [(b"", b"")], 1, do_sample=True, top_k=0)
    check(checkpoint, [(b'{"a": [', b"")], 1, json.loads, json_language, do_sample=True, top_k=0)


def test_draws_are_the_renormalised_distribution(checkpoint):
    _, tokenizer = checkpoint
    vocabulary = vocabulary_of(tokenizer)
    state = start_of(LEFT, RIGHT)
    scores = torch.randn(1, len(vocabulary) + 7)
    masked = MaskedLogits(vocabulary, state)(torch.zeros(1, 3, dtype=torch.long), scores)
    bits = np.unpackbits(state.mask(vocabulary).view(np.uint8), bitorder="little")[: len(vocabulary)]
    allowed = torch.zeros(scores.shape, dtype=torch.bool)
    allowed[0, : len(vocabulary)] = torch.from_numpy(bits.astype(bool))
    assert allowed.any()
    assert torch.equal(torch.isfinite(masked), allowed)
    assert torch.equal(masked[allowed], scores[allowed])


@pytest.mark.parametrize(
    "bitmask",
    [
        torch.full((2, 40), 7, dtype=torch.int32),
        np.full((2, 40), 7, np.int32),
        np.full((2, 40), 7, np.uint32),
    ],
    ids=["torch", "int32", "uint32"],
)
def test_a_row_of_a_bitmask_is_filled_in_place(bitmask):
    vocabulary = Vocabulary([b"1", b"x", b")", *[b"y"] * 30, None], stops=[33])
    state = start_of(b"x = ", b"\n").feed(b"2")
    fill_bitmask(bitmask, 1, state, vocabulary)
    assert (np.asarray(bitmask[0]) == 7).all()
    assert np.asarray(bitmask[1]).view(np.uint32)[:2].tolist() == state.mask(vocabulary).tolist()
    assert not np.asarray(bitmask[1])[2:].any()


def test_a_row_that_is_too_short_is_refused():
    vocabulary, state = Vocabulary([b"1"] * 33), start_of(b"x = ", b"\n")
    with pytest.raises(ValueError, match="Cannot write 2 words"):
        fill_bitmask(np.zeros((1, 1), np.uint32), 0, state, vocabulary)


def test_a_vocabulary_that_cannot_go_on_is_told():
    masked = MaskedLogits(Vocabulary([b")"]), start_of(b"x = ", b"\n"))
    with pytest.raises(ModelError, match="no allowed token"):
        masked(torch.zeros(1, 1, dtype=torch.long), torch.zeros(1, 1))


def test_a_bitmask_applied_to_logits_refuses_what_its_state_refuses():
    vocabulary, state = (
        Vocabulary([b"1", b"x", b")", *[b"y"] * 30, None], stops=[33]),
        start_of(b"x = ", b"\n"),
    )
    bitmask, logits = allocate_bitmask(2, len(vocabulary) + 3), torch.zeros(2, len(vocabulary) + 40)
    fill_bitmask(bitmask, 0, state, vocabulary)
    apply_bitmask(logits, bitmask)
    assert torch.isfinite(logits[0]).nonzero().flatten().tolist() == [0, 1, *range(3, 33)]
    assert torch.isfinite(logits[1]).nonzero().flatten().tolist() == list(range(64))


def test_greedy_tries_tokens_in_their_order_and_writes_the_same(checkpoint, monkeypatch):
    network, tokenizer = checkpoint
    vocabulary, start = vocabulary_of(tokenizer), start_of(LEFT, RIGHT)
    prompt = tokenizer(LEFT.decode(), return_tensors="pt")

    def written(**settings):
        masked = [MaskedLogits(vocabulary, start, **settings)]
        stops = sorted(vocabulary.stops)
        return network.generate(
            **prompt, logits_processor=masked, max_new_tokens=TOKENS, do_sample=False, eos_token_id=stops
        )

    expected = written()
    monkeypatch.setattr(MaskedLogits, "_allowed", None)  # of 263 tokens 24 are enough here
    assert torch.equal(written(greedy=True), expected)


def test_greedy_asks_for_a_mask_where_all_that_were_tried_are_refused():
    vocabulary = Vocabulary([*[b")"] * 30, b"1", None], stops=[31])
    scores = torch.arange(32, 0, -1, dtype=torch.float)[None]
    masked = MaskedLogits(vocabulary, start_of(b"x = ", b"\n"), greedy=True)
    prompt = torch.zeros(1, 1, dtype=torch.long)
    assert torch.isfinite(masked(prompt, scores)).nonzero().tolist() == [[0, 30]]
    after = torch.tensor([[0, 30]])
    assert torch.isfinite(masked(after, scores.flip(1))).nonzero().tolist() == [[0, 31]]
    assert torch.isfinite(masked(torch.tensor([[0, 30, 31]]), scores)).nonzero().tolist() == [[0, 31]]


def test_a_start_that_is_none_is_told():
    start = start_of(b"x = ", b"\n")
    for starts, message in (
        (None, "the start of prompt 0 is None"),
        ([start, None], "the start of prompt 1 is None"),
        ([], "without a start"),
    ):
        with pytest.raises(ModelError, match=message):
            MaskedLogits(Vocabulary([b"1"]), starts)


@pytest.mark.parametrize(
    ("first", "later", "is_known"),
    [
        ([[5, 6]], [[5, 6, 0]], True),
        ([[5, 6]], [[5, 6]], True),
        ([[5, 6], [7, 8]], [[7, 8, 0], [5, 6, 0]], True),
        ([[5, 6]], [[5, 7, 0]], False),
        ([[5, 6]], [[5]], False),
        ([[5, 6]], [[6]], False),
        ([[5, 6], [7, 8]], [[5, 6, 0], [5, 8, 0]], False),
    ],
)
def test_another_prompt_than_that_of_the_first_call_is_told(first, later, is_known):
    masked = MaskedLogits(Vocabulary([b"1"]), start_of(b"x = ", b"\n"))
    masked(torch.tensor(first), torch.zeros(len(first), 1))
    if is_known:
        masked(torch.tensor(later), torch.zeros(len(later), 1))
        return
    with pytest.raises(ModelError, match="another prompt than that of the first call"):
        masked(torch.tensor(later), torch.zeros(len(later), 1))


def test_ends_are_those_of_the_family_of_the_files_and_of_the_caller(tmp_path):
    tokenizer = byte_tokenizer([*QWEN, "<|ours|>", "<|custom|>", "<think>"])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>")
    id_of = tokenizer.token_to_id
    family = {id_of("<|endoftext|>"), id_of("<|fim_pad|>")}
    assert family <= vocabulary_of(fast).stops
    assert id_of("<|ours|>") not in vocabulary_of(fast).stops
    assert id_of("<|custom|>") in vocabulary_of(fast, [id_of("<|custom|>")]).stops
    fast.save_pretrained(tmp_path)
    ends = {"eos_token_id": [id_of("<|ours|>"), id_of("<|endoftext|>")]}
    (tmp_path / "generation_config.json").write_text(json.dumps(ends))
    vocabulary = vocabulary_of(PreTrainedTokenizerFast.from_pretrained(tmp_path))
    assert id_of("<|ours|>") in vocabulary.stops
    markers = ("<|fim_prefix|>", "<|fim_middle|>", "<think>")
    assert [vocabulary.token_bytes[id_of(text)] for text in markers] == [None] * 3


def test_rows_of_other_prompts_are_told():
    masked = MaskedLogits(Vocabulary([b"1"]), [start_of(b"x = ", b"\n")] * 2)
    with pytest.raises(ModelError, match="3 rows"):
        masked(torch.zeros(3, 1, dtype=torch.long), torch.zeros(3, 1))
