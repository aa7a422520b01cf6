"""A worker whose engine and model are a script: the document contains the answers.

The answer depends on the cursor's line:

- `# die` and `# kill` end the process.
- `# slow` decodes until it is cancelled, `# stuck` for ever.
- `# raise` fails, `# nothing` has no suggestion.
- `# later` is answered at the second request, `# reads` after the model has read for two seconds.
- `# say 'a', 'b'` suggests these texts.
- `# cut 'a', 'b'` suggests the first text, cut off, and all of them to an unhurried request.
- `# call 'f()'` suggests this text with the cursor before its last bracket.
- `# header 'if x:'` suggests this header, which lacks a body, and to an invoked request a whole text.
- `# rest 'abc'a` suggests the rest of the text after its typed part.
- `# even 'a'` suggests a text that is right in one of two cases, `# held 'a'` holds it back.
- `# without 'a'` suggests a text without the file `a`.
- `# cells` suggests the order of the cells in each notebook.
- `# told` suggests the grammar, workspace and limits of the request.
- Any other line gets the name of the model, the version and the text around the cursor.

The look-up of names never ends if a document starts with `# names never`; it ends with the next message if it
starts with `# names soon`.
"""

from __future__ import annotations

import ast
import os
import signal
import sys
import time
from functools import partial

from fimlsp.lsp_server.messages import Complete, Completion, Estimated, Rest
from fimlsp.lsp_server.worker.worker import serve
from fimlsp.models.errors import MissingExtraError, ModelError


class ScriptedBackend:
    def __init__(self):
        self.model = "none"
        self.texts = {}
        self.grammars = {}
        self.workspaces = {}
        self.notebooks = {}
        self.are_names_new = True
        self.promised = set()
        self.is_read = None

    def load(self, load, report):
        model = load.model
        print("a library that prints does not break the protocol")
        report("reading", 0)
        if model == "missing":
            raise ModelError("there is no model missing")
        if model == "large":
            raise MissingExtraError("checkpoints", "large needs PyTorch")
        if model == "endless":
            time.sleep(3600)
        self.model = model or "scripted"
        return self.model

    def is_there(self, _load):
        return True

    def enter(self, workspace):
        self.workspaces[workspace.client] = workspace

    def leave(self, client):
        self.texts = {name: text for name, text in self.texts.items() if name.client != client}
        self.notebooks = {name: cells for name, cells in self.notebooks.items() if name[0] != client}

    def open(self, uri, version, data, grammar):
        self.texts[uri] = (version, data)
        self.grammars[uri] = grammar

    def edit(self, uri, version, replacement):
        data = self.texts[uri][1]
        self.texts[uri] = (version, data[: replacement.start] + replacement.text + data[replacement.end :])

    def close(self, uri):
        self.texts.pop(uri, None)

    def arrange(self, client, notebook, cells):
        self.notebooks[client, notebook] = cells

    def prepare(self):
        return False

    def rest(self, rest):
        pass

    def reading(self):
        return self.is_read

    def has_names(self, tell):
        begins = [data.partition(b"\n")[0] for _, data in self.texts.values()]
        if b"# names never" in begins:
            return False
        if b"# names soon" in begins and self.are_names_new:
            self.are_names_new = False
            tell()
            return False
        return True

    def line(self, request):
        """The text left of the cursor in its line."""
        return self.texts[request.document][1][: request.offset].rpartition(b"\n")[2]

    def complete(self, request: Complete, should_stop):
        version, data = self.texts[request.document]
        assert version == request.version
        left, line = data[: request.offset], self.line(request)
        if line in TROUBLES:
            TROUBLES[line]()
        if line == b"# slow":
            return self.slow(request, should_stop)
        if line == b"# reads":
            self.read(request, should_stop)
        for command, answer in ANSWERS.items():
            is_meant = line.startswith(command) if command.endswith(b" ") else line == command
            if is_meant and (said := answer(self, request, line.decode())) is not None:
                return said
        right = data[request.offset :].partition(b"\n")[0]
        text = f"{self.model} v{version} {left.decode()!r} {right.decode()!r}"
        return Completion((text,), complete=True, final=True)

    def slow(self, request, should_stop):
        """Decode until the request is cancelled."""
        print("decoding", request.id, file=sys.stderr, flush=True)
        steps = 0
        while not should_stop():
            steps += 1
            time.sleep(0.005)
        print("stopped", request.id, file=sys.stderr, flush=True)
        return Completion(tokens=steps, reason="cancelled")

    def read(self, request, should_stop):
        """Report the reading of a prompt, percent by percent."""
        place = Rest(request.document, request.version, request.offset, request.limits)
        for percent in range(100):
            self.is_read = place, percent / 100
            should_stop()
            time.sleep(0.02)
        self.is_read = None

    def later(self, request, _):
        """Promise a text, once for each document."""
        if request.document in self.promised:
            return None
        self.promised.add(request.document)
        return Completion(reason="the script reads", later=True)

    def cells(self, _request, _line):
        orders = (" ".join(uri.partition("#")[2] for uri in uris) for uris in self.notebooks.values())
        return Completion((f"cells {'; '.join(orders)}",), complete=True)

    def told(self, request, _):
        workspace = self.workspaces[request.document.client]
        told = (self.grammars[request.document], workspace.folders, workspace.exclude, request.limits)
        return Completion((repr(told),), complete=True, final=True)

    def say(self, request, line):
        return Completion(quoted(line)[: request.limits.candidates], complete=True, final=True)

    def cut(self, request, line):
        said, is_whole = quoted(line), request.is_unhurried
        return Completion(said if is_whole else said[:1], complete=True, final=is_whole)

    def call(self, request, line):
        if not line.endswith("'"):
            return None
        closing = ")" if request.limits.cursor_inside else ""
        return Completion(quoted(line), complete=True, final=True, closing=closing)

    def header(self, request, line):
        is_alone = request.limits.confidence > 0
        text = quoted(line)[0] + ("" if is_alone else " ...")
        return Completion((text,), complete=not is_alone, final=True)

    def estimate(self, request, line):
        """A text that is right in one of two cases; that of a line `# held` is held back."""
        said = quoted(line)
        log_odds = 0.0 if request.correction is None else request.correction.whole.bias
        estimated = Estimated("scripted", said[0].encode(), 0.0, 0.0)
        texts = said if line.startswith("# even") and log_odds >= 0 else ()
        return Completion(texts, complete=True, final=True, estimated=estimated)

    def without(self, _request, line):
        (name,) = quoted(line)
        return Completion(("text",), complete=True, left_out=f"{name} is left out.")

    def remainder(self, _request, line):
        _, text, typed = line.split("'")
        return Completion((text.removeprefix(typed),), complete=True, final=True)


def quoted(line):
    """The texts in quotes after the second word of a line."""
    return ast.literal_eval(line.split(" ", 2)[2] + ",")


def fail():
    raise ValueError("the script says so")


TROUBLES = {
    b"# die": partial(os._exit, 3),
    b"# kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    b"# stuck": partial(time.sleep, 3600),
    b"# raise": fail,
}

ANSWERS = {
    b"# nothing": lambda *_: Completion(reason="the script has nothing to say", final=True),
    b"# later": ScriptedBackend.later,
    b"# cells": ScriptedBackend.cells,
    b"# told": ScriptedBackend.told,
    b"# say ": ScriptedBackend.say,
    b"# cut ": ScriptedBackend.cut,
    b"# call ": ScriptedBackend.call,
    b"# header ": ScriptedBackend.header,
    b"# even ": ScriptedBackend.estimate,
    b"# held ": ScriptedBackend.estimate,
    b"# without ": ScriptedBackend.without,
    b"# rest ": ScriptedBackend.remainder,
}


if __name__ == "__main__":
    serve(ScriptedBackend())
