"""The training loop: a fixed budget of minutes, at whose end the learning rate has come down to zero.

Matrices inside the blocks are updated by Muon (Jordan et al. 2024: momentum made orthogonal), all else by
AdamW. Contexts start short, where a step is cheap, and grow to the full length. Everything that depends on
progress is a function of the share of the time budget that is used up, so a run on a slower or busier
machine ends as well annealed, only earlier.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from fimlsp.models.training.examples import Examples
from fimlsp.models.training.network import Transformer
from torch import Tensor
from torch.nn import functional

IGNORED = -100


@dataclass(frozen=True, slots=True)
class Plan:
    """How to train: wall clock, tokens per step, peak learning rates, contexts by progress."""

    minutes: float
    tokens: int = 4096
    matrix_rate: float = 0.02
    other_rate: float = 3e-3
    warm_up_steps: int = 100
    decay_share: float = 0.6
    contexts: tuple[tuple[float, int], ...] = ((0.0, 256), (0.6, 512), (0.92, 1024))

    def rate(self, step: int, progress: float) -> float:
        """Factor on the peak learning rates: warm-up by steps, level, then linear to zero at the end."""
        return min(1.0, (step + 1) / self.warm_up_steps, (1 - progress) / self.decay_share)

    def context(self, progress: float) -> int:
        """Row length in tokens at *progress*."""
        return [length for begin, length in self.contexts if begin <= progress][-1]


@dataclass(slots=True)
class Progress:
    """Where a run stands; *loss* is a running mean in nats per token, *share* the part of the time used."""

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    share: float = 0.0
    loss: float = 0.0
    history: list[tuple[float, float]] = field(default_factory=list)

    def record(self, loss: float, tokens: int) -> None:
        """Count one step."""
        self.loss = (
            loss if not self.steps else self.loss + (loss - self.loss) * max(0.02, 1 / (self.steps + 1))
        )
        self.steps += 1
        self.tokens += tokens


def initialise(model: Transformer) -> None:
    """Make every block start as the identity and every next token about equally likely."""
    torch.nn.init.normal_(model.model.embed_tokens.weight, std=0.02)
    for name, parameter in model.named_parameters():
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            torch.nn.init.zeros_(parameter)


def train(model: Transformer, examples: Examples, plan: Plan) -> Iterator[Progress]:
    """Train *model* in place until the time is up; yields after every step (the same, updated, object)."""
    optimizers = _optimizers(model, plan)
    progress, started = Progress(), time.monotonic()
    while progress.share < 1:
        rate = plan.rate(progress.steps, progress.share)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["peak"] * rate
        rows = _batch(examples, plan.context(progress.share), plan.tokens).to(
            model.model.embed_tokens.weight.device
        )
        loss = _step(model, rows, examples.markers.pad, optimizers)
        progress.record(loss, rows.numel())
        progress.seconds = time.monotonic() - started
        progress.share = progress.seconds / (60 * plan.minutes)
        yield progress


def next_token_loss(logits: Tensor, rows: Tensor, pad: int, reduction: str = "mean") -> Tensor:
    """Cross entropy in nats of each token of *rows* given those before it; padding does not count."""
    target = rows[:, 1:].masked_fill(rows[:, 1:] == pad, IGNORED).flatten()
    return functional.cross_entropy(logits.flatten(0, 1).float(), target, reduction=reduction)


def _batch(examples: Examples, context: int, tokens: int) -> Tensor:
    return torch.tensor([examples.row(context + 1) for _ in range(tokens // context)])


def _step(model: Transformer, rows: Tensor, pad: int, optimizers: list[torch.optim.Optimizer]) -> float:
    with torch.autocast(rows.device.type, torch.bfloat16):
        logits = model(rows[:, :-1])
    loss = next_token_loss(logits, rows, pad)
    backward: Callable[[], None] = loss.backward  # type: ignore[no-untyped-call,unused-ignore]
    backward()
    torch.nn.utils.clip_grad_norm_([model.model.embed_tokens.weight], 1.0)
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()
    return float(loss.detach())


def _optimizers(model: Transformer, plan: Plan) -> list[torch.optim.Optimizer]:
    matrices = [p for name, p in model.named_parameters() if ".layers." in name and p.ndim == 2]
    others = [p for name, p in model.named_parameters() if ".layers." not in name or p.ndim != 2]
    return [
        torch.optim.Muon([{"params": matrices, "peak": plan.matrix_rate}], weight_decay=0.05),
        torch.optim.AdamW([{"params": others, "peak": plan.other_rate}], betas=(0.9, 0.95), weight_decay=0.0),
    ]
