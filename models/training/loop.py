"""The training loop: a fixed budget of minutes, over which the learning rate falls to zero.

Matrices inside the blocks are updated by Muon (Jordan et al. 2024: momentum made orthogonal), all other
weights by AdamW. Contexts start short, where a step is cheap, and grow to the full length. Everything that
depends on progress is a function of the used share of the time budget. So a run on a slower or busier machine
is annealed just as well, after fewer steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from pickle import UnpicklingError
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from fimlsp.models.errors import ModelError
from fimlsp.models.training.examples import Examples
from fimlsp.models.training.network import Transformer

IGNORED = -100
HISTORY_ONE_IN = 10

Precision = Literal["bfloat16", "float32"]
Loss = Callable[[Tensor, int], Tensor]
"""Loss of rows of token ids, of which one id is padding."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run: wall clock, tokens per step, peak learning rates, contexts by progress, precision.

    With `bfloat16`, products are computed in half precision and the weights stay in full precision. A step
    that is *compiled* is faster once PyTorch has compiled it, which takes about a minute for each context.
    """

    minutes: float
    tokens: int = 4096
    matrix_rate: float = 0.02
    other_rate: float = 3e-3
    warm_up_steps: int = 100
    decay_share: float = 0.6
    contexts: tuple[tuple[float, int], ...] = ((0.0, 256), (0.6, 512), (0.92, 1024))
    precision: Precision = "bfloat16"
    compiled: bool = False

    def further(self) -> Plan:
        """This plan for weights trained before: lower rates, larger steps, long contexts sooner."""
        longest = self.contexts[-1][1]
        return replace(
            self,
            tokens=2 * self.tokens,
            matrix_rate=self.matrix_rate * 3 / 4,
            other_rate=self.other_rate * 2 / 3,
            contexts=((0.0, 512), (0.7, longest)),
        )

    def widened(self) -> Plan:
        """This plan for weights just doubled in width: as `further`, but short contexts first."""
        longest = self.contexts[-1][1]
        return replace(self.further(), decay_share=0.45, contexts=((0.0, 256), (0.3, 512), (0.82, longest)))

    def rate(self, step: int, progress: float) -> float:
        """Factor on the peak learning rates: warm-up by steps, level, then linear to zero at the end."""
        return min(1.0, (step + 1) / self.warm_up_steps, (1 - progress) / self.decay_share)

    def context(self, progress: float) -> int:
        """Row length in tokens at *progress*."""
        return [length for start, length in self.contexts if start <= progress][-1]


@dataclass(slots=True)
class Progress:
    """The state of a run.

    *loss* is a running mean in nats per token, *share* the used share of the time budget. *history* has the
    tokens and the loss after every tenth step.
    """

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    share: float = 0.0
    loss: float = 0.0
    history: list[tuple[int, float]] = field(default_factory=list)

    def record(self, loss: float, tokens: int) -> None:
        """Count one step."""
        self.loss = (
            loss if not self.steps else self.loss + (loss - self.loss) * max(0.02, 1 / (self.steps + 1))
        )
        self.steps += 1
        self.tokens += tokens
        if self.steps % HISTORY_ONE_IN == 0:
            self.history.append((self.tokens, self.loss))


class Training:
    """A training run that can be interrupted, saved and continued."""

    def __init__(self, model: Transformer, plan: Plan) -> None:
        self.model = model
        self.plan = plan
        self.progress = Progress()
        self._optimizers = _optimizers(model, plan)
        self._loss = _compiled(self._loss_of) if plan.compiled else self._loss_of

    def steps(self, examples: Examples) -> Iterator[Progress]:
        """Train the model in place until the time is up; yields after every step (the same object)."""
        progress, plan = self.progress, self.plan
        started = time.monotonic() - progress.seconds
        device = self.model.model.embed_tokens.weight.device
        while progress.share < 1:
            rate = plan.rate(progress.steps, progress.share)
            for group in (group for optimizer in self._optimizers for group in optimizer.param_groups):
                group["lr"] = group["peak"] * rate
            rows = _batch(examples, plan.context(progress.share), plan.tokens).to(device)
            progress.record(self._step(rows, examples.markers.pad), rows.numel())
            progress.seconds = time.monotonic() - started
            progress.share = progress.seconds / (60 * plan.minutes)
            yield progress

    def _loss_of(self, rows: Tensor, pad: int) -> Tensor:
        with torch.autocast(rows.device.type, torch.bfloat16, enabled=self.plan.precision == "bfloat16"):
            logits = self.model(rows[:, :-1])
        return next_token_loss(logits, rows, pad)

    def _step(self, rows: Tensor, pad: int) -> float:
        loss = self._loss(rows, pad)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_([self.model.model.embed_tokens.weight], 1.0)
        for optimizer in self._optimizers:
            optimizer.step()
            optimizer.zero_grad()
        return float(loss.detach())

    def save(self, path: Path) -> None:
        """Write the state of the run; an older file is replaced only once the new one is complete."""
        state = {
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
            "progress": asdict(self.progress),
        }
        unfinished = path.with_suffix(".unfinished")
        torch.save(state, unfinished)
        unfinished.replace(path)

    def load(self, path: Path) -> None:
        """Continue from a file that `save` wrote, without running code of the file.

        Raises:
            ModelError: the file is damaged, or belongs to a network of other sizes.
        """
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
            self.model.load_state_dict(state["model"])
            for optimizer, saved in zip(self._optimizers, state["optimizers"], strict=True):
                optimizer.load_state_dict(saved)
            self.progress = Progress(**state["progress"])
        except (RuntimeError, KeyError, ValueError, TypeError, EOFError, OSError, UnpicklingError) as error:
            raise ModelError(
                f"{path} is damaged or is of a network of other sizes; "
                f"give the same options again, or another folder."
            ) from error
        self.progress.share = self.progress.seconds / (60 * self.plan.minutes)


def next_token_loss(logits: Tensor, rows: Tensor, pad: int, reduction: str = "mean") -> Tensor:
    """Cross entropy (nats) of each token of *rows*, given the tokens before it; padding does not count."""
    target = rows[:, 1:].masked_fill(rows[:, 1:] == pad, IGNORED).flatten()
    return functional.cross_entropy(logits.flatten(0, 1).float(), target, reduction=reduction)


def _compiled(loss: Loss) -> Loss:
    """*loss*, compiled at its first call.

    That call raises a ModelError if compiling fails, for instance because there is no compiler.
    """
    from torch._dynamo.exc import TorchDynamoException  # takes a second to import, and is seldom needed

    compiled = torch.compile(loss)

    def checked(rows: Tensor, pad: int) -> Tensor:
        try:
            return compiled(rows, pad)
        except TorchDynamoException as error:
            reason = str(error).strip().partition("\n")[0]
            raise ModelError(
                f"The training step could not be compiled ({reason}); "
                "install a C++ compiler such as g++, or train without --compile."
            ) from error

    return checked


def _batch(examples: Examples, context: int, tokens: int) -> Tensor:
    return torch.tensor([examples.row(context + 1) for _ in range(tokens // context)])


def _optimizers(model: Transformer, plan: Plan) -> list[torch.optim.Optimizer]:
    matrices = [p for name, p in model.named_parameters() if ".layers." in name and p.ndim == 2]
    others = [p for name, p in model.named_parameters() if ".layers." not in name or p.ndim != 2]
    return [
        torch.optim.Muon([{"params": matrices, "peak": plan.matrix_rate}], weight_decay=0.05),
        torch.optim.AdamW([{"params": others, "peak": plan.other_rate}], betas=(0.9, 0.95), weight_decay=0.0),
    ]
