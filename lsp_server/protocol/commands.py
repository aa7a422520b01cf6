"""The commands of `workspace/executeCommand`. docs/options.md describes arguments and results."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pygls.exceptions import JsonRpcInternalError, JsonRpcInvalidParams

from fimlsp.errors import UserError
from fimlsp.lsp_server.protocol.receiving import HasSession

LIST_MODELS_COMMAND = (
    sys.executable,
    "-c",
    "import sys; sys.path = [p for p in sys.path if p]; sys.argv = ['fimlsp', 'models', 'list', '--json']; "
    "from fimlsp.__main__ import main; main()",
)
LIST_MODELS_S = 60.0
"""Time limit for the list of models."""

LARGEST_LIST = 1 << 23
"""Bytes of the list of models."""


class ModelListError(UserError):
    """The models on this machine cannot be listed."""


async def local_models() -> list[dict[str, Any]]:
    """The models on this machine, each as the fields of `fimlsp.models.local_models.LocalModel`.

    A separate process reads the headers of model files and queries model servers: neither may block the
    editor's side or fill its memory.

    Raises:
        ModelListError: The process failed or took too long.
    """
    process = await asyncio.create_subprocess_exec(
        *LIST_MODELS_COMMAND,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=LARGEST_LIST,
    )
    try:
        answer = await asyncio.wait_for(process.stdout.readline(), LIST_MODELS_S) if process.stdout else b""
        models = json.loads(answer)["models"]
    except (TimeoutError, asyncio.TimeoutError, ValueError, KeyError, TypeError) as error:
        raise ModelListError(
            "Cannot list the models on this machine. Run `fimlsp models list` to see the error."
        ) from error
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return list(models)


ACCEPT = "fimlsp.server.accept"


def accept(ls: HasSession, *arguments: object) -> None:
    """The user accepted the suggestion with the given id."""
    ls.session.completer.suggestions.accept(_id(arguments))


def dismiss(ls: HasSession, *arguments: object) -> None:
    """The user dismissed the suggestion with the given id."""
    ls.session.completer.dismiss(_id(arguments))


def toggle(ls: HasSession, *arguments: object) -> dict[str, bool]:
    """Turn automatic completion on or off, or toggle it; returns the new state."""
    match arguments:
        case ():
            is_on = not ls.session.completer.automatic
        case (bool(is_on),):
            pass
        case _:
            raise JsonRpcInvalidParams("the argument must be true, false or omitted")
    ls.session.set_automatic(is_on)
    return {"automatic": is_on}


def reload(ls: HasSession, *_: object) -> None:
    """Load the model again."""
    ls.session.reload()


def status(ls: HasSession, *_: object) -> dict[str, object]:
    """The status of the last notification."""
    return ls.session.describe()


def statistics(ls: HasSession, *_: object) -> dict[str, object]:
    """Counts of requests and suggestions, and latencies."""
    return ls.session.completer.statistics.to_json()


async def models(ls: HasSession, *_: object) -> dict[str, object]:  # noqa: ARG001 - pygls passes it by name
    """The models on this machine, for a menu."""
    try:
        return {"models": await local_models()}
    except ModelListError as error:
        raise JsonRpcInternalError(str(error)) from error


async def names(ls: HasSession, *_: object) -> dict[str, bool]:
    """Wait until the names at the cursor are looked up; false if that takes too long."""
    return {"known": await ls.session.names_are_known()}


def rest(ls: HasSession, *arguments: object) -> None:
    """The cursor rests at a position: a slow model may read the text around it before a request."""
    match arguments:
        case (str(uri), int(line), int(character)) if line >= 0 and character >= 0:
            ls.session.rest(uri, line, character)
        case _:
            raise JsonRpcInvalidParams("the arguments must be a URI, a line and a character")


COMMANDS: dict[str, Callable[..., object]] = {
    ACCEPT: accept,
    "fimlsp.server.dismiss": dismiss,
    "fimlsp.server.toggle": toggle,
    "fimlsp.server.reload": reload,
    "fimlsp.server.status": status,
    "fimlsp.server.statistics": statistics,
    "fimlsp.server.models": models,
    "fimlsp.server.names": names,
    "fimlsp.server.rest": rest,
}


def _id(arguments: tuple[object, ...]) -> str:
    match arguments:
        case (str(suggestion),):
            return suggestion
        case _:
            raise JsonRpcInvalidParams("the argument must be the id of a suggestion")
