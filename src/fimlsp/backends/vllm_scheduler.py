"""vLLM's scheduler with masks of fimlsp: `--scheduler-cls fimlsp.backends.vllm_scheduler.MaskScheduler`."""

from __future__ import annotations

from typing import Any

from vllm.v1.core.sched.async_scheduler import AsyncScheduler

from fimlsp.backends.vllm import put_in


class MaskScheduler(AsyncScheduler):
    """The scheduler of vLLM, unchanged but for the backend of structured outputs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        put_in(self.structured_output_manager)
