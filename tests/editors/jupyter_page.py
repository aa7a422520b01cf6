"""A real JupyterLab in a browser, driven by keyboard and read from the screen."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from uuid import uuid4

from ..lsp_server.waiting import HANG_GUARD_S, block_until

JUPYTER = Path(os.environ.get("FIMLSP_JUPYTER", Path.home() / ".cache" / "fimlsp-jupyter"))
SCRIPTED = Path(__file__).with_name("scripted_jupyter.py")
TOKEN = "the-token-of-the-tests"
BASE = "/user/me/"
QUIET = {
    "@jupyterlab/apputils-extension": {
        "notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": False}
    },
    "@jupyterlab/docmanager-extension": {"plugin": {"autosave": False}},
}
PATIENT = {"confidence": 0, "debounceMs": 0, "deadlineMs": 60_000}
SHARING = ("@jupyter/collaboration-extension", "@jupyter/docprovider-extension")
MS = 1000


def notebook(*cells, language="python", kernel="python3"):
    """The text of a notebook with code cells."""
    return json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code",
                    "execution_count": None,
                    "id": f"cell-{number}",
                    "metadata": {},
                    "outputs": [],
                    "source": source,
                }
                for number, source in enumerate(cells)
            ],
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": language, "name": kernel},
                "language_info": {"name": language},
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def listens(port):
    """True if a server accepts connections at *port*."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def write_settings(folder, own):
    """Write the settings of JupyterLab, with those of fimlsp in *own*."""
    for package, plugins in {**QUIET, "jupyterlab-fimlsp": {"plugin": own}}.items():
        for plugin, values in plugins.items():
            path = folder / package / f"{plugin}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))


class Lab:
    """A Jupyter server with *files* by name, a base URL and a token.

    Its suggestions may be *scripted*, its documents *shared* by jupyter-collaboration. Extensions of the page
    may be *disabled*.
    """

    def __init__(self, folder, files, *, scripted=False, shared=False, disabled=(), settings=None):
        self.folder, self.root, self.scripted = folder, folder / "root", scripted
        self.port = free_port()
        self.root.mkdir(parents=True)
        for name, text in files.items():
            (self.root / name).write_text(text, encoding="utf-8")
        write_settings(folder / "settings", {**PATIENT, **(settings or {})})
        self.server_extensions = {"jupyter_lsp": False, "jupyter_server_ydoc": shared}
        off = dict.fromkeys([*disabled, *(() if shared else SHARING)], True)
        (folder / "config" / "labconfig").mkdir(parents=True)
        config = folder / "config" / "labconfig" / "page_config.json"
        config.write_text(json.dumps({"disabledExtensions": off}))
        self.process = None
        self.start()

    def start(self):
        places = {
            "HOME": "home",
            "XDG_CACHE_HOME": "cache",
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "IPYTHONDIR": "ipython",
            "FIMLSP_HEARD": "heard",
        }
        for name in ("home", "cache"):
            (self.folder / name).mkdir(exist_ok=True)
        command = [JUPYTER / "bin" / "python", *([SCRIPTED] if self.scripted else ["-m", "jupyterlab"])]
        options = {
            "--ServerApp.port": self.port,
            "--ServerApp.root_dir": self.root,
            "--ServerApp.base_url": BASE,
            "--IdentityProvider.token": TOKEN,
            "--LabApp.expose_app_in_browser": True,
            "--LabApp.extension_manager": "readonly",
        }
        extensions = [
            f"--ServerApp.jpserver_extensions={name}={is_on}"
            for name, is_on in self.server_extensions.items()
        ]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *command,
                    "--no-browser",
                    "--allow-root",
                    *(f"{name}={value}" for name, value in options.items()),
                    *extensions,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,  # jupyter-collaboration keeps a database there
                env={**os.environ, **{name: str(self.folder / place) for name, place in places.items()}},
            )
        block_until(self.listens, self.log)

    def listens(self):
        assert self.process.poll() is None, self.log()
        return listens(self.port)

    def log(self):
        return (self.folder / "log").read_text(errors="replace")[-3000:]

    def heard(self):
        """The events of the scripted server."""
        path = self.folder / "heard"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def servers(self):
        """The ids of the processes of fimlsp."""
        import psutil

        children = psutil.Process(self.process.pid).children()
        return [child.pid for child in children if any("sys.path" in part for part in child.cmdline())]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def address(self, path="lab", token=TOKEN):
        return f"http://127.0.0.1:{self.port}{BASE}{path}?token={token}"


class Page:
    """A tab of the browser with JupyterLab or Notebook 7. Methods `expect_…` wait, and fail after a while."""

    def __init__(self, browser, lab):
        self.lab = lab
        self.tab = browser.new_page(viewport={"width": 1000, "height": 600})
        self.tab.set_default_timeout(HANG_GUARD_S * MS)
        self.console = []
        self.tab.on("console", lambda message: self.console.append(f"{message.type}: {message.text}"))
        self.tab.on("pageerror", lambda error: self.console.append(f"uncaught: {error}"))
        self.sent = []
        self.tab.on("websocket", self._listen)
        lost = self.tab.get_by_role("dialog", name="Server Connection Error")  # JupyterLab's own, at any time
        self.tab.add_locator_handler(lost, lambda dialog: dialog.get_by_role("button").last.click())
        slow = self.tab.get_by_role("dialog", name="Loading")  # of a shared document on a slow machine
        self.tab.add_locator_handler(
            slow, lambda dialog: dialog.get_by_role("button", name="waiting").click()
        )

    def _listen(self, connection):
        if "/fimlsp/" in connection.url:
            connection.on("framesent", lambda message: self.sent.append(message))

    def open(self, name):
        """Open a file in a workspace of its own, without the tabs of other pages, and wait for the server."""
        self.tab.goto(self.lab.address(f"lab/workspaces/{uuid4().hex}/tree/{name}"))
        self.tab.locator(CURRENT_TAB, has_text=name).wait_for()
        self.expect_status("Ready")

    def open_in_notebook(self, path):
        """Open a page of Notebook 7, which has no status bar, and wait for the server."""
        with self.tab.expect_console_message(lambda message: message.text.endswith(" is ready")):
            self.tab.goto(self.lab.address(path))

    def open_beside(self, name):
        """Open another file in the same page."""
        self.tab.locator(".jp-DirListing-item", has_text=name).dblclick()
        self.tab.locator(CURRENT_TAB, has_text=name).wait_for()

    def status(self):
        item = self.tab.locator("#fimlsp-status")
        return item.inner_text() if item.count() else ""

    def expect_status(self, *beginnings):
        block_until(
            lambda: self.status().removeprefix("fimlsp: ").startswith(beginnings),
            lambda: f"{self.status()!r}, {self.console[-5:]}, {self.lab.log()}",
        )

    def run(self, command):
        """Run a command of JupyterLab."""
        self.tab.evaluate("command => window.jupyterapp.commands.execute(command).then(() => null)", command)

    def choose(self, label):
        """Choose a command of the palette."""
        self.press("Control+Shift+C")
        self.tab.locator(".lm-CommandPalette-itemLabel", has_text=label).click()

    def cell(self, number):
        return self.tab.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell").nth(number)

    def text(self, number):
        """The text of a cell, without the ghost text in it."""
        return self.tab.evaluate(READ_CELL, number)

    def texts(self):
        count = self.tab.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell").count()
        return [self.text(number) for number in range(count)]

    def edit(self, number):
        """Put the cursor at the end of a cell."""
        self.cell(number).locator(".cm-content").click()
        self.press("Control+End")

    def press(self, *keys):
        for key in keys:
            self.tab.keyboard.press(key)

    def type(self, text):
        self.tab.keyboard.type(text, delay=40)

    def ghost(self):
        return self.tab.evaluate(READ_GHOST)

    def expect_ghost(self, expected):
        block_until(
            lambda: self.ghost() == expected,
            lambda: f"{self.ghost()!r}, {self.status()!r}, {self.texts()}, {self.console[-5:]}",
        )

    def ghost_appears(self):
        block_until(self.ghost, lambda: f"{self.status()!r}, {self.texts()}, {self.console[-5:]}")
        return self.ghost()

    def expect_text(self, number, expected):
        block_until(lambda: self.text(number) == expected, lambda: repr(self.text(number)))

    def expect_sent(self, part):
        """Wait until a message to fimlsp has the text *part*."""

        def is_sent():
            self.tab.evaluate("null")  # receives events
            return any(part in message for message in self.sent)

        block_until(is_sent, lambda: f"{self.sent[-3:]}")

    def output(self, number):
        return self.cell(number).locator(".jp-OutputArea-output")

    def screenshot(self, name):
        folder = Path("build") / "screenshots"
        folder.mkdir(parents=True, exist_ok=True)
        time.sleep(0.5)  # ghost text fades in
        self.tab.screenshot(path=folder / f"jupyter-{name}.png")


CURRENT_TAB = ".lm-TabBar-tab.jp-mod-current"
READ_CELL = """number => {
  const cell = document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell')[number];
  return [...cell.querySelectorAll('.cm-line')].map(line => {
    const copy = line.cloneNode(true);
    copy.querySelectorAll('.jp-GhostText, .jp-GhostText-lineSpacer').forEach(ghost => ghost.remove());
    return copy.textContent;
  }).join('\\n');
}"""
READ_GHOST = """() => {
  const ghost = [...document.querySelectorAll('.jp-GhostText')].find(each => each.offsetParent !== null);
  if (!ghost) return '';
  return [...ghost.childNodes].map(node => node.nodeName === 'BR' ? '\\n' : node.textContent).join('');
}"""


def chromium():
    """The path of the browser."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "there is no chromium on the PATH; install Debian's"
    return found
