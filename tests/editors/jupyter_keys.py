"""Milliseconds of a key in long notebooks, with fimlsp and without: `python -m tests.editors.jupyter_keys`.

The page is a real JupyterLab in Chromium, prepared by `prepare_jupyter.sh`. *Painted* is the time from a key
to the end of the frame after it. *Own work* is the time in which a function of fimlsp was on the stack, by
Chromium's profile. These are wall-clock times: run on an idle machine.
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from .jupyter_page import CURRENT_TAB, Lab, Page, chromium, notebook

FUNCTION = """def function_{0}(values, limit={0}):
    total = 0
    for value in values:
        total += value
    return total
"""
TYPED = "total = function_1([1, 2, 3])"
PAUSE_S = 0.2
NOTEBOOKS = {  # the cells, and the one in which to type
    "one short cell": ([FUNCTION.format(1), ""], 1),
    "500 cells": ([*map(FUNCTION.format, range(500)), ""], 500),
    "a cell of 2,000 lines": (["".join(map(FUNCTION.format, range(400)))], 0),
}
ENTER = """number => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  [notebook.activeCellIndex, notebook.mode] = [number, 'edit'];
  return notebook.scrollToItem(number).catch(() => null);
}"""
FOCUS = """() => {
  const { editor } = window.jupyterapp.shell.currentWidget.content.activeCell;
  editor.focus();
  editor.setCursorPosition(editor.getPositionAt(editor.model.sharedModel.getSource().length));
  editor.revealPosition(editor.getCursorPosition());
}"""
IS_DRAWN = """count => {
  const cells = window.jupyterapp.shell.currentWidget?.content?.widgets ?? [];
  return cells.length === count && cells.every(({ editor }) => editor);
}"""
OBSERVE = """() => {
  window.painted = [];
  document.addEventListener('keydown', () => {
    const start = performance.now();
    requestAnimationFrame(() => setTimeout(() => window.painted.push(performance.now() - start)));
  }, true);
}"""


def measure(page, name):
    """The times from key to paint, and milliseconds of fimlsp's own work for each key."""
    cells, number = NOTEBOOKS[name]
    page.tab.goto(page.lab.address(f"lab/tree/{file_of(name)}"))
    page.tab.locator(CURRENT_TAB, has_text=file_of(name)).wait_for()
    page.tab.wait_for_function(IS_DRAWN, arg=len(cells))  # JupyterLab draws all cells by and by
    page.tab.evaluate(ENTER, number)
    page.tab.wait_for_timeout(8_000)  # the kernel starts, and the server loads its model
    page.tab.evaluate(FOCUS)
    page.press("Enter")
    page.tab.evaluate(OBSERVE)
    profiler = page.tab.context.new_cdp_session(page.tab)
    profiler.send("Profiler.enable")
    profiler.send("Profiler.start")
    for key in TYPED:
        page.press(key)
        time.sleep(PAUSE_S)
    profile = profiler.send("Profiler.stop")["profile"]
    return page.tab.evaluate("window.painted"), own_work(profile) / len(TYPED)


def own_work(profile):
    """Milliseconds in which a function of fimlsp's script was on the stack."""
    parents = {child: node["id"] for node in profile["nodes"] for child in node.get("children", ())}
    urls = {node["id"]: node["callFrame"]["url"] for node in profile["nodes"]}

    def is_own(node):
        while node is not None:
            if "jupyterlab-fimlsp" in urls[node]:
                return True
            node = parents.get(node)
        return False

    own = {node for node in urls if is_own(node)}
    steps = zip(profile["samples"], profile["timeDeltas"], strict=True)
    return sum(step for node, step in steps if node in own) / 1000


def file_of(name):
    return f"{name.replace(' ', '-').replace(',', '')}.ipynb"


def main():
    from playwright.sync_api import sync_playwright

    table = Table("notebook", "fimlsp", "painted, median", "worst", "own work", title="Milliseconds of a key")
    files = {file_of(name): notebook(*cells) for name, (cells, _) in NOTEBOOKS.items()}
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for fimlsp, disabled in (("with", ()), ("without", ["jupyterlab-fimlsp"])):
            lab = Lab(Path(folder) / fimlsp, files, disabled=disabled)
            for name in NOTEBOOKS:
                page = Page(browser, lab)
                painted, own = measure(page, name)
                times = [f"{each:.0f}" for each in (median(painted), max(painted))]
                table.add_row(name, fimlsp, *times, f"{own:.1f}")
                page.tab.close()
            lab.stop()
        browser.close()
    Console().print(table)


if __name__ == "__main__":
    main()
