"""The language server with the scripted worker, over standard input and output."""

from __future__ import annotations

import sys
from pathlib import Path

from fimlsp.lsp_server.server import create_server, run

if __name__ == "__main__":
    run(create_server([sys.executable, str(Path(__file__).with_name("scripted_worker.py"))]), None)
