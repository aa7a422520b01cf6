"""Lists the models on this machine, in a process of its own.

The headers of files that other programs fetched are read there, and servers asked; none of that may hold up
the editor's side, nor fill its memory.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from typing import Any

from fimlsp.errors import UserError

LIST_COMMAND = (
    sys.executable,
    "-c",
    "import sys; sys.path = [p for p in sys.path if p]; sys.argv = ['fimlsp', 'models', 'list', '--json']; "
    "from fimlsp.__main__ import main; main()",
)
PATIENCE_S = 60.0
ANSWER_MAX = 1 << 23


class NotFoundOutError(UserError):
    """Which models are on this machine could not be found out."""


async def found_models() -> list[dict[str, Any]]:
    """The models on this machine, each as the fields of `fimlsp.models.finding.listing.Found`.

    Raises:
        NotFoundOutError: it took too long, or failed.
    """
    process = await asyncio.create_subprocess_exec(
        *LIST_COMMAND,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=ANSWER_MAX,
    )
    try:
        answer = await asyncio.wait_for(process.stdout.readline(), PATIENCE_S) if process.stdout else b""
        models = json.loads(answer)["models"]
    except (TimeoutError, asyncio.TimeoutError, ValueError, KeyError, TypeError) as error:
        raise NotFoundOutError(
            "Which models are here could not be found out; `fimlsp models list` says why."
        ) from error
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return list(models)
