"""Editors for the tests: a real Neovim without a terminal, driven through its API; a browser for Jupyter."""

from __future__ import annotations

import gc
import os
import shutil
import socket
import subprocess
import warnings
from pathlib import Path

import pytest

from ..lsp_server.waiting import HANG_GUARD_S, block_until
from .jupyter_page import JUPYTER, chromium

PLUGIN = Path(__file__).parents[2] / "editors" / "neovim"
NEOVIMS = Path(os.environ.get("FIMLSP_NEOVIM", Path.home() / ".cache" / "fimlsp-neovim"))
QUIET = "vim.g.python_recommended_style = 0"  # a tab is a tab


class Neovim:
    """One Neovim. Files are marked texts: `<|>` is the cursor, where insert mode starts."""

    def __init__(self, executable, folder, *arguments):
        import pynvim

        self.folder = folder
        address = folder / "socket"
        command = [str(executable), "--headless", "-n", "--listen", str(address), *arguments]
        places = {
            name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
        }
        with (folder / "output").open("wb") as out:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=os.environ | places
            )
        self.assert_soon(lambda: listens(address), (folder / "output").read_text)
        self.api = pynvim.attach("socket", path=str(address))
        self.api.command("set columns=100 lines=30")

    def lua(self, code, *arguments):
        return self.api.exec_lua(code, *arguments)

    def open(self, marked, name="a.py"):
        """Open a file and enter insert mode at its cursor."""
        left, _, right = marked.partition("<|>")
        path = self.folder / name
        path.write_text(left + right, encoding="utf-8")
        self.api.command(f"edit {path}")
        row, column = left.count("\n") + 1, len(left.rpartition("\n")[2].encode())
        self.assert_soon(lambda: self.state() == "idle" or None)
        self.api.current.window.cursor = (row, column)
        self.api.input("i" if column < len(self.api.current.line.encode()) else "a")

    def type(self, keys):
        self.api.input(keys)

    def state(self):
        return self.lua("return require('fimlsp.status').latest.state")

    def suggested(self):
        return self.lua("return require('fimlsp').suggested()")

    def text(self):
        return "\n".join(self.api.current.buffer[:]) + "\n"

    def screen(self):
        """The lines that a user sees."""
        self.api.command("redraw")
        code = """
            return vim.tbl_map(function(row)
              local cells = {}
              for column = 1, vim.o.columns do cells[column] = vim.fn.screenstring(row, column) end
              return (table.concat(cells):gsub('%s+$', ''))
            end, vim.fn.range(1, vim.o.lines))"""
        return self.lua(code)

    def assert_shows(self, line):
        """Wait until the screen has *line*, white space around it aside."""
        self.assert_soon(
            lambda: line.strip() in [shown.strip() for shown in self.screen()],
            lambda: "\n".join(self.screen()),
        )

    def assert_soon(self, condition, otherwise=lambda: ""):
        def state():
            messages = self.api.command_output("messages") if hasattr(self, "api") else ""
            return f"{otherwise()}\n{messages}"

        block_until(condition, state)

    def heard(self):
        """The requests and commands that the scripted server has received."""
        return self._told("test.heard")

    def rested(self):
        """The places where the cursor rested, as the scripted server was told."""
        return self._told("test.rested")

    def _told(self, command):
        code = """
            local told
            require('fimlsp.client').execute(..., {}, function(result) told = result end)
            vim.wait(600000, function() return told ~= nil end, 10)
            return told"""
        return [tuple(event) for event in self.lua(code, command)]

    def close(self):
        self.api.command("qall!", async_=True)
        self.api.close()
        self.process.wait(HANG_GUARD_S)
        del self.api
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ResourceWarning
            )  # pynvim leaves its socket to the garbage collector
            gc.collect()


def listens(path):
    """True if the socket accepts a connection."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def neovim_of(kind):
    """The executable that prepare_neovim.sh made, or one of that kind which is installed."""
    prepared = NEOVIMS / kind
    if prepared.exists():
        return prepared
    found = shutil.which("nvim")
    if found is None:
        pytest.fail(f"there is no {prepared}: run tests/editors/prepare_neovim.sh")
    return Path(found)


@pytest.fixture
def start_neovim(tmp_path):
    """Start a Neovim with the plugin: `start_neovim(kind, options, before)`, both as Lua source.

    With *folder* it takes the user's configuration from there instead.
    """
    started = []

    def start(kind, options="{}", before="", folder=None):
        if folder is None:
            folder = tmp_path / str(len(started))
            folder.mkdir()
            init = folder / "init.lua"
            path = f"vim.opt.runtimepath:prepend({str(PLUGIN)!r})"
            setup = f"require('fimlsp').setup({options})"
            init.write_text("\n".join([path, QUIET, before, setup]), encoding="utf-8")
            started.append(Neovim(neovim_of(kind), folder, "--clean", "-u", str(init)))
        else:
            started.append(Neovim(neovim_of(kind), folder))
        return started[-1]

    yield start
    for neovim in started:
        neovim.close()


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    assert (JUPYTER / "bin" / "jupyter-lab").exists(), "run tests/editors/prepare_jupyter.sh first"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()
