"""The commands of `workspace/executeCommand`; docs/options.md says what they take and give."""

from __future__ import annotations

from collections.abc import Callable

from pygls.exceptions import JsonRpcInternalError, JsonRpcInvalidParams

from fimlsp.lsp_server.protocol.receiving import HasSession
from fimlsp.lsp_server.worker_client.found_models import NotFoundOutError, found_models

ACCEPT = "fimlsp.server.accept"


def accept(ls: HasSession, *arguments: object) -> None:
    """The user took the suggestion with the id that is given."""
    ls.session.completer.suggestions.accept(_id(arguments))


def dismiss(ls: HasSession, *arguments: object) -> None:
    """The user does not want the suggestion with the id that is given."""
    ls.session.completer.dismiss(_id(arguments))


def toggle(ls: HasSession, *arguments: object) -> dict[str, bool]:
    """Turn completions while typing on or off, or the other way; what they are now."""
    match arguments:
        case ():
            wanted = not ls.session.completer.automatic
        case (bool(wanted),):
            pass
        case _:
            raise JsonRpcInvalidParams("the argument must be true, false or left out")
    ls.session.set_automatic(wanted)
    return {"automatic": wanted}


def reload(ls: HasSession, *_: object) -> None:
    """Load the model anew."""
    ls.session.reload()


def status(ls: HasSession, *_: object) -> dict[str, object]:
    """The status as it was notified last."""
    return ls.session.describe()


def statistics(ls: HasSession, *_: object) -> dict[str, object]:
    """What became of requests and suggestions."""
    return ls.session.completer.statistics.to_json()


async def models(ls: HasSession, *_: object) -> dict[str, object]:  # noqa: ARG001 - pygls wants the name
    """The models on this machine, for a menu."""
    try:
        return {"models": await found_models()}
    except NotFoundOutError as error:
        raise JsonRpcInternalError(str(error)) from error


async def names(ls: HasSession, *_: object) -> dict[str, bool]:
    """Wait until the names that edits ask for are looked up; whether they are."""
    return {"known": await ls.session.names_are_known()}


COMMANDS: dict[str, Callable[..., object]] = {
    ACCEPT: accept,
    "fimlsp.server.dismiss": dismiss,
    "fimlsp.server.toggle": toggle,
    "fimlsp.server.reload": reload,
    "fimlsp.server.status": status,
    "fimlsp.server.statistics": statistics,
    "fimlsp.server.models": models,
    "fimlsp.server.names": names,
}


def _id(arguments: tuple[object, ...]) -> str:
    match arguments:
        case (str(suggestion),):
            return suggestion
        case _:
            raise JsonRpcInvalidParams("the argument must be the id of a suggestion")
