"""The language server with the scripted worker, over standard input and output, or `--tcp PORT`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from fimlsp.lsp_server.protocol.serving import serve_stdio, serve_tcp
from fimlsp.lsp_server.worker_pool import WorkerPool

WORKER = [sys.executable, str(Path(__file__).with_name("scripted_worker.py"))]

if __name__ == "__main__":
    if sys.argv[1:2] == ["--tcp"]:
        serve_tcp(WorkerPool(WORKER), "127.0.0.1", int(sys.argv[2]), os.environ.get("FIMLSP_TOKEN"))
    else:
        sys.exit(0 if serve_stdio(WorkerPool(WORKER)) else 1)
