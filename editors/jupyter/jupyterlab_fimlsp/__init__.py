"""Completions of fimlsp in JupyterLab: the server's extension, and the page's as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

ROOT_URI = "fimlspRootUri"
"""The page's option with the folder of the notebooks, as a URI."""


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "jupyterlab-fimlsp"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    return [{"module": "jupyterlab_fimlsp"}]


def _load_jupyter_server_extension(server: ServerApp) -> None:
    """Serve `fimlsp/lsp` and `fimlsp/doctor` below the base URL of *server*."""
    from jupyterlab_fimlsp.handlers import handlers

    root = Path(server.root_dir).expanduser().resolve()
    options = server.web_app.settings.setdefault("page_config_data", {})
    options[ROOT_URI] = root.as_uri()
    server.web_app.add_handlers(".*$", handlers(server.base_url, root))
