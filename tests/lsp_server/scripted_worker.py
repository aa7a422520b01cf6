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
        if line == b"# die":
            os._exit(3)
        if line == b"# kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if line == b"# stuck":
            time.sleep(3600)
        if line == b"# raise":
            raise ValueError("the script says so")
        steps = 0
        if line == b"# slow":
            print("decoding", request.id, file=sys.stderr, flush=True)
        while line == b"# slow":
            if should_stop():
                print("stopped", request.id, file=sys.stderr, flush=True)
                return Completion(tokens=steps, reason="cancelled")
            steps += 1
            time.sleep(0.005)
        if line == b"# nothing":
            return Completion(reason="the script has nothing to say", final=True)
        if line == b"# later" and request.document not in self.promised:
            self.promised.add(request.document)
            return Completion(reason="the script reads", later=True)
        if line == b"# reads":
            place = Rest(request.document, request.version, request.offset, request.limits)
            for percent in range(100):
                self.is_read = place, percent / 100
                should_stop()
                time.sleep(0.02)
            self.is_read = None
        if line == b"# cells":
            orders = "; ".join(
                " ".join(uri.partition("#")[2] for uri in uris) for uris in self.notebooks.values()
            )
            return Completion((f"cells {orders}",), complete=True)
        if line == b"# told":
            workspace = self.workspaces[request.document.client]
            told = (self.grammars[request.document], workspace.folders, workspace.exclude, request.limits)
            return Completion((repr(told),), complete=True, final=True)
        if line.startswith(b"# say "):
            said = ast.literal_eval(line[6:].decode() + ",")[: request.limits.candidates]
            return Completion(said, complete=True, final=True)
        if line.startswith(b"# cut "):
            said = ast.literal_eval(line[6:].decode() + ",")
            is_whole = request.is_unhurried
            return Completion(said if is_whole else said[:1], complete=True, final=is_whole)
        if line.startswith(b"# call ") and line.endswith(b"'"):
            closing = ")" if request.limits.cursor_inside else ""
            said = (ast.literal_eval(line[7:].decode()),)
            return Completion(said, complete=True, final=True, closing=closing)
        if line.startswith(b"# header "):
            is_alone = request.limits.confidence > 0
            text = ast.literal_eval(line[9:].decode()) + ("" if is_alone else " ...")
            return Completion((text,), complete=not is_alone, final=True)
        if line.startswith((b"# even ", b"# held ")):
            kind, said = line[2:6], ast.literal_eval(line[7:].decode())
            log_odds = 0.0 if request.correction is None else request.correction.whole.bias
            estimated = Estimated("scripted", said.encode(), 0.0, 0.0)
            texts = (said,) if kind == b"even" and log_odds >= 0 else ()
            return Completion(texts, complete=True, final=True, estimated=estimated)
        if line.startswith(b"# without "):
            name = line.decode().split("'")[1]
            return Completion(("text",), complete=True, left_out=f"{name} is left out.")
        if line.startswith(b"# rest "):
            _, text, typed = line.decode().split("'")
            return Completion((text.removeprefix(typed),), complete=True, final=True)
        right = data[request.offset :].partition(b"\n")[0]
        text = f"{self.model} v{version} {left.decode()!r} {right.decode()!r}"
        return Completion((text,), complete=True, final=True)


if __name__ == "__main__":
    serve(ScriptedBackend())
