"""The training loop: a fixed time, over which the learning rate falls to zero.

Matrices inside the blocks are updated by Muon (Jordan et al. 2024: momentum made orthogonal), all other
weights by AdamW. The schedule is a function of the used share of the time. That counts from the end of the
first step, in which a network may be compiled. So a run on a slower or busier machine is annealed just as
well, after fewer steps. A run that continues from saved weights continues the schedule.

A step never waits for its loss: that is summed on the device and read every few seconds. On a GPU the host is
at most two steps ahead, so the clock is that of the device.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from fimlsp.models.errors import ModelError
from fimlsp.models.training.examples import Examples
from fimlsp.models.training.network import Transformer
from fimlsp.models.training.pack import Pack

IGNORED = -100
READ_EVERY_SECONDS = 2.0
AHEAD = 2
BATCHES_AHEAD = 4
TOKENS_TOGETHER = 1 << 16
"""Tokens whose activations are in memory at once; a larger step sums the gradients of several parts."""

Precision = Literal["bfloat16", "float32"]
Loss = Callable[[Tensor, int], Tensor]
"""Loss of rows of token ids, of which one id is padding."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run: minutes, tokens per step and row, peak learning rates, precision.

    With `bfloat16`, products are computed in half precision and the weights stay in full precision. A step
    that is *compiled* is faster once PyTorch has compiled it, which takes about a minute.
    """

    minutes: float
    tokens: int = 8192
    context: int = 512
    matrix_rate: float = 0.02
    other_rate: float = 3e-3
    warm_up_steps: int = 100
    decay_share: float = 0.6
    precision: Precision = "bfloat16"
    compiled: bool = False

    @property
    def parts(self) -> int:
        """The number of parts of a step."""
        return -(-self.tokens // TOKENS_TOGETHER)

    @property
    def rows(self) -> int:
        """Rows of one part."""
        return max(1, self.tokens // self.parts // self.context)

    def rate(self, step: int, share: float) -> float:
        """Factor on the peak learning rates: warm-up by steps, level, then linear to zero at the end."""
        return max(0.0, min(1.0, (step + 1) / self.warm_up_steps, (1 - share) / self.decay_share))


@dataclass(slots=True)
class Progress:
    """The state of a run.

    *loss* is a running mean in nats per token, *share* the used share of the schedule, *seconds* the time of
    all steps. *history* has the tokens and the mean loss at every reading, *held_out* the tokens and the
    measures of `HeldOut` at every saving.
    """

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    share: float = 0.0
    loss: float = 0.0
    history: list[tuple[int, float]] = field(default_factory=list)
    held_out: list[tuple[int, Mapping[str, float]]] = field(default_factory=list)

    def record(self, loss: float) -> None:
        """Take in the mean *loss* of the steps since the last reading."""
        self.loss = loss if not self.history else self.loss + (loss - self.loss) * 0.2
        self.history.append((self.tokens, loss))


class Batches(IterableDataset[Tensor]):
    """Endless parts of steps, each [rows, context + 1] token ids; every worker process draws its own."""

    def __init__(self, pack: Pack, plan: Plan, seed: str) -> None:
        self._pack, self._plan, self._seed = pack, plan, seed

    def __iter__(self) -> Iterator[Tensor]:
        """Draw rows for ever."""
        worker = get_worker_info()
        examples = Examples(self._pack, Random(f"{self._seed} {worker.id if worker else 0}"))
        while True:
            yield torch.tensor(
                [examples.row(self._plan.context + 1) for _ in range(self._plan.rows)], dtype=torch.int32
            )

    def loaded(self, workers: int, device: torch.device) -> Iterator[Tensor]:
        """The same from *workers* processes of their own, 0: from this one; in memory that *device* reads."""
        if workers:
            os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        loader: DataLoader[Tensor] = DataLoader(
            self,
            batch_size=None,
            num_workers=workers,
            prefetch_factor=BATCHES_AHEAD if workers else None,
            multiprocessing_context="fork" if workers else None,
            pin_memory=device.type == "cuda",
        )
        return iter(loader)


class Training:
    """A training run; *progress* is that of the weights if the run continues an earlier one."""

    def __init__(self, model: Transformer, plan: Plan, progress: Progress | None = None) -> None:
        self.model = model
        self.plan = plan
        self.progress = progress or Progress()
        self._optimizers = _optimizers(model, plan)
        self._loss = _compiled(self._loss_of) if plan.compiled else self._loss_of
        self._device = model.model.embed_tokens.weight.device

    def steps(self, batches: Iterator[Tensor], pad: int, deadline: float) -> Iterator[Progress]:
        """Train the model in place until *deadline*, a time of `time.monotonic`.

        Yields the progress (the same object) whenever the loss was read: every two seconds, and at the end.
        """
        progress, clock, pace = self.progress, _Clock(self.progress, deadline), _Pace(self._device)
        losses, unread = torch.zeros((), device=self._device), 0
        while clock.leaves_a_step():
            self._set_rates(self.plan.rate(clock.steps, progress.share))
            losses += self.step(batches, pad)
            pace.wait()
            unread += 1
            clock.count(progress, self.plan.parts * self.plan.rows * self.plan.context)
            if clock.is_time_to_read():
                progress.record(float(losses) / unread)
                losses, unread = losses.zero_(), 0
                yield progress
        if unread:
            progress.record(float(losses) / unread)
        progress.share = 1.0
        yield progress

    def _set_rates(self, factor: float) -> None:
        for group in (group for optimizer in self._optimizers for group in optimizer.param_groups):
            group["lr"] = group["peak"] * factor

    def _loss_of(self, rows: Tensor, pad: int) -> Tensor:
        with torch.autocast(rows.device.type, torch.bfloat16, enabled=self.plan.precision == "bfloat16"):
            logits = self.model(rows[:, :-1])
        return next_token_loss(logits, rows, pad)

    def step(self, batches: Iterator[Tensor], pad: int) -> Tensor:
        """One step; the mean loss of its parts, which is still being computed."""
        parts = self.plan.parts
        losses = torch.zeros((), device=self._device)
        for _ in range(parts):
            # a copy that also converts would be converted first, and then be waited for
            rows = next(batches).to(self._device, non_blocking=True).long()
            loss = self._loss(rows, pad) / parts
            torch.autograd.backward(loss)
            losses += loss.detach()
        torch.nn.utils.clip_grad_norm_([self.model.model.embed_tokens.weight], 1.0)
        for optimizer in self._optimizers:
            optimizer.step()
            optimizer.zero_grad()
        return losses


class _Clock:
    """The time of a run: its share that is used, and the seconds that a step takes."""

    def __init__(self, progress: Progress, deadline: float) -> None:
        self.steps = 0
        self._first_share, self._first_seconds = progress.share, progress.seconds
        self._deadline = deadline
        self._begun = self._origin = self._last = self._read = time.monotonic()
        self._lasted = 0.0

    def leaves_a_step(self) -> bool:
        """True before the first step, and if one more ends in time, by the length of the last one."""
        return not self.steps or time.monotonic() + self._lasted < self._deadline

    def count(self, progress: Progress, tokens: int) -> None:
        """Count a step of *tokens* in *progress*. The first is not a measure: it may have compiled."""
        now = time.monotonic()
        self.steps += 1
        if self.steps == 1:
            self._origin = now
        else:
            self._lasted = now - self._last
        self._last = now
        share = min(1.0, (now - self._origin) / max(1e-9, self._deadline - self._origin))
        progress.steps += 1
        progress.tokens += tokens
        progress.seconds = self._first_seconds + now - self._begun
        progress.share = self._first_share + (1 - self._first_share) * share

    def is_time_to_read(self) -> bool:
        """True if the loss has not been read for two seconds."""
        is_time = self._last - self._read >= READ_EVERY_SECONDS
        self._read = self._last if is_time else self._read
        return is_time


class _Pace:
    """Keeps the host at most two steps ahead of a GPU, so that it neither waits for a step nor runs away."""

    def __init__(self, device: torch.device) -> None:
        self._has_queue = device.type == "cuda"
        self._done = deque[torch.cuda.Event]()

    def wait(self) -> None:
        """Wait until the step before the last two is done."""
        if not self._has_queue:
            return
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]  # torch gives it no types
        event.record()
        self._done.append(event)
        if len(self._done) > AHEAD:
            self._done.popleft().synchronize()


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


def _optimizers(model: Transformer, plan: Plan) -> list[torch.optim.Optimizer]:
    matrices = [p for name, p in model.named_parameters() if ".layers." in name and p.ndim == 2]
    others = [p for name, p in model.named_parameters() if ".layers." not in name or p.ndim != 2]
    return [
        torch.optim.Muon([{"params": matrices, "peak": plan.matrix_rate}], weight_decay=0.05),
        torch.optim.AdamW(
            [{"params": others, "peak": plan.other_rate}],
            betas=(0.9, 0.95),
            weight_decay=0.0,
            fused=others[0].is_cuda,
        ),
    ]
