"""A language server of a few lines: the first line of the document chooses its answer."""

import json
import sys


def read():
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def send(**message):
    data = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Type: x\r\nContent-Length: %d\r\n\r\n%s" % (len(data), data))
    sys.stdout.buffer.flush()


def status(state, **more):
    send(method="fimlsp/status", params={"state": state, "model": "scripted", **more})


def answer(request, text):
    at = request["params"]["position"]
    place = f"{at['line']}:{at['character']} {request['params']['context']['triggerKind']}"
    order = text.partition("\n")[0]
    if order == "# die":
        sys.exit(3)
    if order == "# refuse":
        send(id=request["id"], error={"code": -32600, "message": "no"})
    elif order == "# nothing":
        status("none", reason="a reason", names="no names")
        send(id=request["id"], result={"items": []})
    else:
        status("suggestion")
        call = {"kind": "snippet", "value": "f(\\$, g($0))"}
        items = [{"insertText": call if order == "# call" else place}, {"insertText": "another"}]
        send(id=request["id"], result=items if order == "# list" else {"items": items})


def edited(text, change):
    start, end = (offset(text, change["range"][side]) for side in ("start", "end"))
    return text[:start] + change["text"] + text[end:]


def offset(text, position):
    lines = text.split("\n")
    line = lines[position["line"]].encode("utf-16-le")[: 2 * position["character"]].decode("utf-16-le")
    return sum(len(above) + 1 for above in lines[: position["line"]]) + len(line)


def main(state):
    text, told, cells = "", [], []
    while (message := read()) is not None:
        method = message.get("method")
        if method == "initialize":
            options = message["params"]["initializationOptions"]
            send(method="window/logMessage", params={"type": 2, "message": f"options {options}"})
            send(method="window/logMessage", params={"type": 3, "message": "not worth a word"})
            send(id=message["id"], result={"capabilities": {}})
        elif method == "initialized":
            send(id="c", method="workspace/configuration", params={"items": [{"section": "fimlsp"}]})
        elif message.get("id") == "c":
            assert message["result"] == [None]
            status("loading", percent=40)
            status(state, reason="because")
        elif method == "textDocument/didOpen":
            text = message["params"]["textDocument"]["text"]
            told = [text]
        elif method == "notebookDocument/didChange" and "structure" in message["params"]["change"]["cells"]:
            structure = message["params"]["change"]["cells"]["structure"]
            cells.append(structure["array"]["cells"][0]["document"])
            assert structure["array"]["start"] == len(cells) - 1
            (opened,) = structure["didOpen"]
            assert opened["uri"] == cells[-1]
            text = opened["text"]
        elif method == "notebookDocument/didChange":
            (content,) = message["params"]["change"]["cells"]["textContent"]
            assert content["document"]["uri"] == cells[-1]
            text = edited(text, content["changes"][0])
        elif method == "textDocument/didChange":
            (change,) = message["params"]["contentChanges"]
            text = edited(text, change)
            told.append(change["text"])
        elif method == "workspace/executeCommand":
            assert message["params"] == {"command": "fimlsp.server.names"}
            told.append("names")
            send(id=message["id"], result={"known": True})
        elif method == "textDocument/didClose":
            send(method="window/logMessage", params={"type": 2, "message": f"{told} made {text!r}"})
        elif method == "textDocument/inlineCompletion":
            answer(message, text)
        elif method == "shutdown":
            send(id=message["id"], result=None)
        elif method == "exit":
            return


main(sys.argv[1])
