"""Checks checkpoints on a GPU: `python -m benchmarks.models.on_card`, within four minutes.

Networks with random weights, of four architectures, answer on the card as they do one token at a time.
Without a card the same checks run on the CPU in small, and those of graphs say "no card". Prints pass or fail
with the seconds so far; the exit status is 1 if any check fails. Times are ratios of one run.

| check | passes if |
|---|---|
| graphs | after texts of these lengths a captured step has the scores of the network itself |
| reuse | after another text with a common beginning, the scores are those of a fresh reading |
| rows | texts read side by side have the scores of texts read alone |
| half precision | the likeliest token is that of 32-bit numbers at nearly all places |
| recovery | after an error in the middle of a network, the next text is right |
| memory | all graphs, with the cache, need less than half of the weights |
| load | a checkpoint of SantaCoder's size is on the device in ten seconds |
| masks | `generate` with masks costs at most a fifth more than alone, in batches of 1, 8 and 32 |
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import click
import torch
from rich.console import Console
from transformers import (
    AutoModelForCausalLM,
    GPTBigCodeConfig,
    LlamaConfig,
    LogitsProcessorList,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Starcoder2Config,
)

from benchmarks.corpora.python import shuffled_files
from fimlsp import Engine, python
from fimlsp.models.loading import BUNDLED
from fimlsp.models.masked_logits import MaskedLogits, vocabulary_of
from fimlsp.models.networks.torch.checkpoint import CheckpointNetwork
from fimlsp.models.networks.torch.decoding_step import TOLERANCE

TOKENS = 4096
NEAR = 2 * TOLERANCE
"""Largest difference of two scores, in standard deviations of all."""

SAME_LIKELIEST = 0.95
LOAD_SECONDS, MASKS_RATIO = 10.0, 1.2


@dataclass(frozen=True, slots=True)
class Scale:
    """The sizes of the checks on a device."""

    device: str
    dtypes: tuple[torch.dtype, ...]
    width: int
    layers: int
    lengths: tuple[int, ...]
    large: tuple[int, int]
    batches: tuple[int, ...]

    @property
    def has_card(self) -> bool:
        """True if the device is a GPU."""
        return self.device == "cuda"


CARD = Scale(
    "cuda",
    (torch.bfloat16, torch.float16),
    512,
    4,
    (1, 511, 512, 513, 1023, 8191),
    (2048, 24),
    (1, 8, 32),
)
CPU = Scale("cpu", (torch.float32,), 64, 2, (1, 511, 513), (256, 2), (1, 8))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a check; *passed* is None if it needs a card."""

    check: str
    subject: str
    passed: bool | None
    detail: str


Check = Callable[[Scale], Iterator[Verdict]]


def configs(scale: Scale) -> dict[str, PretrainedConfig]:
    """The architectures, for texts of 8,192 tokens."""
    heads, room = scale.width // 32, max(scale.lengths) + 1
    common = {
        "vocab_size": TOKENS,
        "hidden_size": scale.width,
        "intermediate_size": 2 * scale.width,
        "num_hidden_layers": scale.layers,
        "num_attention_heads": heads,
        "num_key_value_heads": 1,
        "max_position_embeddings": room,
    }
    sizes = {"n_embd": scale.width, "n_layer": scale.layers, "n_head": heads, "n_positions": room}
    return {
        "GPTBigCode": GPTBigCodeConfig(vocab_size=TOKENS, multi_query=True, **sizes),
        "StarCoder2": Starcoder2Config(**common),
        "Qwen2": Qwen2Config(**common),
        "Llama": LlamaConfig(**common),
    }


def network_of(config: PretrainedConfig, scale: Scale, dtype: torch.dtype) -> PreTrainedModel:
    """A network with random weights that are large enough for scores to differ."""
    torch.manual_seed(0)
    with torch.device(scale.device):  # a billion random numbers take a CPU half a minute
        network: PreTrainedModel = AutoModelForCausalLM.from_config(config)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.08)
    return network.to(dtype).eval()


def reader(network: PreTrainedModel, scale: Scale, *, plain: bool = False) -> CheckpointNetwork:
    """A reader of texts; a *plain* one never uses a faster step."""
    made = CheckpointNetwork(network, max(scale.lengths) + 1, [b"x"] * TOKENS, frozenset())
    if plain:
        made.step = None
    return made


def text(seed: int, length: int) -> list[int]:
    """A random text."""
    return Random(seed).choices(range(TOKENS), k=length)


def difference(scores: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest difference, in standard deviations of the expected scores."""
    return float((scores.float() - expected.float()).abs().max() / expected.float().std())


def readers(scale: Scale) -> Iterator[tuple[str, CheckpointNetwork, CheckpointNetwork]]:
    """Each architecture in each precision: its name, a fast reader and a plain one of the same network."""
    for name, config in configs(scale).items():
        for dtype in scale.dtypes:
            network = network_of(config, scale, dtype)
            yield (
                f"{name}, {str(dtype).removeprefix('torch.')}",
                reader(network, scale),
                reader(network, scale, plain=True),
            )


def near(check: str, subject: str, differences: Sequence[float]) -> Verdict:
    """Pass if all *differences* are small."""
    worst = max(differences)
    return Verdict(check, subject, worst <= NEAR, f"differs by at most {worst:.3f} deviations")


def graphs(scale: Scale) -> Iterator[Verdict]:
    """One step after texts of different lengths, by a graph and by the network."""
    for subject, fast, plain in readers(scale):
        if not scale.has_card:
            yield Verdict("graphs", subject, None, "no card")
        elif fast.step is None:
            yield Verdict("graphs", subject, False, "capturing failed; the log has the reason")
        else:
            yield near("graphs", subject, [step_after(fast, plain, length) for length in scale.lengths])


def step_after(fast: CheckpointNetwork, plain: CheckpointNetwork, length: int) -> float:
    """The difference of the scores after one more token than *length* - 1."""
    ids = text(length, length)
    for one in (fast, plain):
        if length > 1:
            one.begin(ids[:-1])
        else:
            one.begin(ids)
    if length == 1:
        ids = [*ids, 7]
    return difference(fast.read_on(ids[-1:]), plain.read_on(ids[-1:]))


def reuse(scale: Scale) -> Iterator[Verdict]:
    """A text with the beginning of another, some steps of which were taken."""
    for subject, fast, plain in readers(scale):
        found = list[float]()
        for kept in (1, 60, 200):
            fast.begin(text(0, 256))
            for token in text(1, 4):
                fast.advance(token)
            ids = [*text(0, 256)[:kept], *text(2, 40)]
            fast.begin(ids)
            plain.begin([0])
            plain.begin(ids)
            found.append(difference(fast.read_on([5]), plain.read_on([5])))
        yield near("reuse", subject, found)


def rows(scale: Scale) -> Iterator[Verdict]:
    """Texts of different lengths after a common beginning, side by side and alone."""
    for subject, fast, plain in readers(scale):
        shared, texts = text(0, 100), [text(seed, length) for seed, length in ((1, 1), (2, 5), (3, 9))]
        side = fast.side_by_side(shared, 16)
        if side is None:
            yield Verdict("rows", subject, True, "read one by one")
            continue
        together = side.begin(texts)
        alone = [plain.begin([*shared, *ids]) for ids in texts]
        apart = [
            abs(found.log_probabilities[0] - expected.log_probabilities[0])
            for found, expected in zip(together, alone, strict=True)
        ]
        yield Verdict("rows", subject, max(apart) <= NEAR, f"differ by at most {max(apart):.3f} nats")


def half_precision(scale: Scale) -> Iterator[Verdict]:
    """The likeliest tokens of half precision beside those of 32-bit numbers."""
    for name, config in configs(scale).items():
        ids = torch.tensor([text(0, 500)], device=scale.device)
        found = [
            network_of(config, scale, dtype)(ids).logits.argmax(-1)
            for dtype in (torch.float32, torch.bfloat16)
        ]
        same = float((found[0] == found[1]).float().mean())
        yield Verdict("half precision", name, same >= SAME_LIKELIEST, f"the same likeliest at {same:.1%}")


def recovery(scale: Scale) -> Iterator[Verdict]:
    """A text after one whose reading failed in the middle of the network."""
    for subject, fast, plain in readers(scale):
        ids, layers = text(0, 300), [module for _, module in fast.network.named_modules()]
        inner = next(
            module for module in reversed(layers) if isinstance(module, torch.nn.LayerNorm | torch.nn.Linear)
        )

        def fail(*_: object) -> None:
            raise RuntimeError("on purpose")

        fast.begin(ids[:100])
        hook = inner.register_forward_pre_hook(fail)
        try:
            fast.begin(ids)
            failed = False
        except RuntimeError:
            failed = True
        hook.remove()
        fast.begin(ids)
        plain.begin(ids)
        apart = difference(fast.read_on([5]), plain.read_on([5]))
        yield Verdict("recovery", subject, failed and apart <= NEAR, f"differs by {apart:.3f} deviations")


def memory(scale: Scale) -> Iterator[Verdict]:
    """The memory of graphs for five sizes of context, beside that of the weights."""
    if not scale.has_card:
        yield Verdict("memory", "five graphs", None, "no card")
        return
    width, layers = scale.large
    config = GPTBigCodeConfig(
        vocab_size=TOKENS, n_positions=8192, n_embd=width, n_layer=layers, n_head=16, multi_query=True
    )
    network = network_of(config, scale, torch.bfloat16)
    weights = torch.cuda.memory_reserved()
    made = CheckpointNetwork(network, 8192, [b"x"] * TOKENS, frozenset())
    used = torch.cuda.memory_reserved() - weights
    detail = f"{used / 1e6:.0f} MB with the cache, weights {weights / 1e6:.0f} MB"
    yield Verdict("memory", "five graphs", made.step is not None and used < weights / 2, detail)


def load(scale: Scale) -> Iterator[Verdict]:
    """From files to the device."""
    width, layers = scale.large
    config = GPTBigCodeConfig(
        vocab_size=49_280, n_positions=2048, n_embd=width, n_layer=layers, n_head=16, multi_query=True
    )
    with TemporaryDirectory() as folder:
        network_of(config, scale, torch.bfloat16).save_pretrained(folder)
        size = sum(path.stat().st_size for path in Path(folder).glob("*.safetensors"))
        started = perf_counter()
        loaded = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).to(scale.device)
        loaded(torch.tensor([[1]], device=scale.device))
        seconds = perf_counter() - started
    yield Verdict("load", f"{size / 1e9:.2f} GB", seconds <= LOAD_SECONDS, f"{seconds:.1f} s")


def masks(scale: Scale) -> Iterator[Verdict]:
    """`generate` with masks for Python beside `generate` alone."""
    fast = PreTrainedTokenizerFast(tokenizer_file=str(BUNDLED / "tokenizer.json"), eos_token="<|endoftext|>")
    fast.pad_token, fast.padding_side = "<|pad|>", "left"
    vocabulary = vocabulary_of(fast)
    vocabulary.prepare()
    width, layers = scale.large
    sizes = {"n_embd": width, "n_layer": layers, "n_head": 16, "n_positions": 2048}
    config = GPTBigCodeConfig(vocab_size=TOKENS, multi_query=True, bos_token_id=0, eos_token_id=0, **sizes)
    network, engine = network_of(config, scale, scale.dtypes[0]), Engine(python())
    for size in scale.batches:
        lefts = [
            data[:400].rpartition(b"\n")[0] + b"\n" for _, data in islice(shuffled_files(Random(1)), size)
        ]
        prompts = fast([left.decode() for left in lefts], padding=True, return_tensors="pt").to(scale.device)
        starts = [engine.document(left).middle(len(left), len(left)).start for left in lefts]
        times = [
            [
                seconds_of(network, prompts, processors)
                for processors in ([], [MaskedLogits(vocabulary, starts)])
            ]
            for _ in range(3)
        ]
        ratio = min(held for _, held in times[1:]) / min(alone for alone, _ in times[1:])
        passed = ratio <= MASKS_RATIO if scale.has_card else None
        yield Verdict("masks", f"batch {size}", passed, f"{ratio:.2f} times as long")


def seconds_of(network: Any, prompts: Any, processors: list[MaskedLogits]) -> float:
    """The time of 24 tokens."""
    torch.manual_seed(0)
    started = perf_counter()
    options = {"do_sample": True, "min_new_tokens": 24, "max_new_tokens": 24, "pad_token_id": 0}
    written = network.generate(**prompts, logits_processor=LogitsProcessorList(processors), **options)
    written.cpu()
    return perf_counter() - started


CHECKS: tuple[Check, ...] = (graphs, reuse, rows, half_precision, recovery, memory, load, masks)


@click.command(help=__doc__)
@click.option(
    "--seconds", default=230.0, show_default=True, help="Checks that would start later are left out."
)
@torch.inference_mode()
def main(seconds: float) -> None:
    """Check and print."""
    scale = CARD if torch.cuda.is_available() else CPU
    console, started, failed = Console(width=120), perf_counter(), False
    name = torch.cuda.get_device_name() if scale.has_card else "no card, on the CPU in small"
    console.print(f"{name}, torch {torch.__version__}")
    for verdict in verdicts(scale, lambda: perf_counter() - started < seconds):
        passed = {True: "pass", False: "FAIL", None: "-"}[verdict.passed]
        after = f"{perf_counter() - started:4.0f} s"
        console.print(f"{after}  {passed:4}  {verdict.check:14}  {verdict.subject:22}  {verdict.detail}")
        failed |= verdict.passed is False
    sys.exit(failed)


def verdicts(scale: Scale, is_in_time: Callable[[], bool]) -> Iterator[Verdict]:
    """All verdicts, each as soon as it is known."""
    for check in CHECKS:
        name = check.__name__.replace("_", " ")
        if not is_in_time():
            yield Verdict(name, "", False, "not begun in time")
            continue
        try:
            yield from check(scale)
        except Exception as error:  # whatever fails on a card is the result
            yield Verdict(name, "", False, f"{type(error).__name__}: {error}"[:200])


if __name__ == "__main__":
    main()
