"""A language server with suggestions from the document: its first line is `# ["one candidate", "another"]`.

It behaves as fimlsp: all candidates for an invoked request, else the first; the rest of a candidate of which
a part is typed; a snippet if the candidate has `$0`, unless only the brackets after it are left. An accepted
candidate has a command, an empty answer has a reason in `fimlsp/status`. A candidate `later…` comes at the
second request. The command `test.heard` returns the received requests and commands.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from fimlsp import __version__
from fimlsp.lsp_server.session.status import Statistics

INVOKED = types.InlineCompletionTriggerKind.Invoked
ACCEPT, DISMISS, TOGGLE, STATISTICS, REST = (
    f"fimlsp.server.{name}" for name in ("accept", "dismiss", "toggle", "statistics", "rest")
)

PYTHON_CELLS = types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage(language="python")])
server = LanguageServer(
    "fimlsp",
    __version__,
    notebook_document_sync=types.NotebookDocumentSyncOptions(notebook_selector=[PYTHON_CELLS]),
)
heard: list[list[str]] = []
places: dict[str, str] = {}
read: set[str] = set()
rested: list[list[int]] = []
automatic = True


def hear(*event: str) -> None:
    """Note *event*, also in the file $FIMLSP_HEARD."""
    heard.append(list(event))
    if "FIMLSP_HEARD" in os.environ:
        with Path(os.environ["FIMLSP_HEARD"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(event, separators=(",", ":")) + "\n")


def tell(state: str, reason: str | None = None, uri: str | None = None, *, later: bool = False) -> None:
    told = {"state": state, "reason": reason, "uri": uri, "automatic": automatic, "later": later}
    server.protocol.notify("fimlsp/status", told | {"percent": None, "model": "scripted"})


@server.feature(types.INITIALIZED)
def initialized(_: types.InitializedParams) -> None:
    tell("idle")
    server.window_log_message(types.LogMessageParams(types.MessageType.Info, "the script is ready"))


@server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
def inline_completion(params: types.InlineCompletionParams) -> types.InlineCompletionList:
    kind = params.context.trigger_kind
    document = server.workspace.get_text_document(params.text_document.uri)
    left = document.source[: document.offset_at_position(params.position)]
    hear("asked", "invoked" if kind == INVOKED else "automatic", left.rpartition("\n")[2])
    rests = rests_of(document.uri, document.source, left)
    if kind != INVOKED:
        rests = rests[:1] if automatic else []
    is_late = any(rest.startswith("later") for _, rest in rests) and document.uri not in read
    if is_late:
        read.add(document.uri)
        rests = []
        tell("none", "the script reads on", document.uri, later=True)
    elif rests:
        tell("suggestion", uri=document.uri)
    else:
        tell("none", "the script has nothing to say", document.uri)
    at = types.Range(params.position, params.position)
    items = [types.InlineCompletionItem(text_of(rest), range=at, command=accepting(n)) for n, rest in rests]
    return types.InlineCompletionList(items)


def text_of(rest: str) -> str | types.StringValue:
    return types.StringValue(rest) if "$0" in rest else rest


def accepting(n: int) -> types.Command:
    return types.Command("Accept", ACCEPT, arguments=[str(n)])


def rests_of(uri: str, source: str, left: str) -> list[tuple[int, str]]:
    """The rest of each candidate at the end of *left*; candidates start at the first request."""
    candidates = json.loads(source.partition("\n")[0].removeprefix("# "))
    typed = left.removeprefix(places.setdefault(uri, left))
    if typed == left:
        return []
    rests = [(n, c[len(typed) :]) for n, c in enumerate(candidates) if c.startswith(typed)]
    return [(n, rest) for n, rest in rests if rest and not rest.startswith("$0")]


@server.command(ACCEPT)
def accept(identity: str) -> None:
    hear("accepted", identity)


@server.command(DISMISS)
def dismiss(identity: str) -> None:
    hear("dismissed", identity)


@server.command(TOGGLE)
def toggle() -> dict[str, bool]:
    global automatic
    automatic = not automatic
    tell("idle")
    return {"automatic": automatic}


@server.command(STATISTICS)
def statistics() -> dict[str, object]:
    return Statistics().to_json() | {"requests": len(heard)}


@server.command(REST)
def rest(_uri: str, line: int, character: int) -> None:
    rested.append([line, character])


@server.command("test.rested")
def tell_rested() -> list[list[int]]:
    return rested


@server.command("test.heard")
def tell_heard() -> list[list[str]]:
    return heard


if __name__ == "__main__":
    server.start_io()
