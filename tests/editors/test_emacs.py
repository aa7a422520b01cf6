"""The configurations for Emacs in editors/README.md, in a real Emacs with the real server."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ..lsp_server.waiting import HANG_GUARD_S

pytestmark = pytest.mark.emacs

README = (Path(__file__).parents[2] / "editors" / "README.md").read_text(encoding="utf-8")
CONFIGURATIONS = re.findall(r"```elisp\n(.*?)```", README, re.DOTALL)

CONNECT = {
    "eglot": """
        (require 'eglot) (setq eglot-sync-connect t eglot-connect-timeout 600)
        {open} (call-interactively #'eglot)""",
    "lsp-mode": """
        (require 'lsp-mode) (require 'lsp-completion)
        (setq lsp-client-packages nil lsp-session-file (expand-file-name "session"))
        (lsp-workspace-folders-add default-directory) {open} (lsp) (lsp-completion-mode 1)""",
}

COMPLETE = """
    (goto-char (point-max)) (backward-char 1)
    (let ((before (buffer-string)))
      (while (equal before (buffer-string))
        (sleep-for 0.3)
        (ignore-errors (completion-at-point))))
    (write-region nil nil "completed")
    (kill-emacs 0)"""


@pytest.mark.parametrize("client", CONNECT)
def test_the_configuration_completes(client, tmp_path):
    """As the whole of completion at point, as there is but one suggestion."""
    (configuration,) = [block for block in CONFIGURATIONS if f"'{client}\n" in block]
    text = "def area(width, height):\n    return widt\n"
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    fimlsp = tmp_path / "bin" / "fimlsp"
    fimlsp.parent.mkdir()
    fimlsp.write_text(f'#!/bin/sh\nexec {sys.executable} -m fimlsp "$@"\n', encoding="utf-8")
    fimlsp.chmod(0o755)
    connect = CONNECT[client].format(open='(find-file "a.py")')
    script = "\n".join(["(package-initialize)", configuration, connect, COMPLETE])
    (tmp_path / "try.el").write_text(script, encoding="utf-8")
    environment = os.environ | {"PATH": f"{fimlsp.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    result = subprocess.run(
        ["emacs", "--batch", "-l", "try.el"],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_GUARD_S,
        check=False,
    )
    assert (tmp_path / "completed").exists(), result.stderr
    completed = (tmp_path / "completed").read_text(encoding="utf-8")
    assert completed.startswith(text[:-1])
    assert len(completed) > len(text)
    ast.parse(completed)
