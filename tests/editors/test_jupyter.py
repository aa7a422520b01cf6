"""The extension in a real JupyterLab: ghost text, notebooks and files, lost servers, strangers."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
from contextlib import closing

import pytest

from ..lsp_server.waiting import block_until
from .jupyter_page import BASE, TOKEN, Lab, Page, notebook

pytestmark = pytest.mark.jupyter

READ_SETTINGS = """import json

def read_settings(path):
    with open(path) as file:
        return json.load(file)
"""


def script(*candidates, text=""):
    return f"# {json.dumps(candidates)}\n{text}"


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A Jupyter server with fimlsp as a user has it."""
    files = {
        "a.ipynb": notebook(READ_SETTINGS, "path = 'settings.json'\nopen(path, 'w').write('{}')", ""),
        "b.ipynb": notebook("def count_orders(folder):\n    return 0\n", "total = count_"),
        "c.py": READ_SETTINGS + "\n\nsettings = ",
        "r.ipynb": notebook("x <- 1", language="R", kernel="ir"),
    }
    lab = Lab(tmp_path_factory.mktemp("jupyter"), files)
    yield lab
    lab.stop()


@pytest.fixture(scope="module")
def scripted(tmp_path_factory):
    """A Jupyter server with a scripted language server."""
    files = {
        "a.ipynb": notebook(
            script("x = f(1)\ny", "xyz"),
            script("1 + 2", text="f()"),
            script("a", text="y"),
            script("one two", "three four"),
        ),
        "b.ipynb": notebook("first", script("b", text="second"), "third"),
        "c.ipynb": notebook(script("abc"), "other"),
        "d.ipynb": notebook(script("later")),
    }
    lab = Lab(tmp_path_factory.mktemp("scripted"), files, scripted=True)
    yield lab
    lab.stop()


@pytest.fixture
def page(browser, real):
    page = Page(browser, real)
    yield page
    page.tab.close()


@pytest.fixture
def scripted_page(browser, scripted):
    page = Page(browser, scripted)
    yield page
    page.tab.close()


# With fimlsp itself


def test_from_ghost_text_to_a_cell_that_runs(page):
    page.open("a.ipynb")
    page.edit(2)
    page.type("settings = read_")
    page.press("Alt+\\")
    word = re.match(r"\w+", page.ghost_appears())[0]
    page.screenshot("notebook")
    page.press("Control+ArrowRight")
    page.expect_text(2, f"settings = read_{word}")
    page.ghost_appears()
    page.press("Tab")
    block_until(lambda: page.text(2).startswith("settings = read_settings("), lambda: page.text(2))
    page.run("notebook:run-all-cells")
    block_until(lambda: page.cell(2).locator(".jp-InputPrompt").inner_text() not in ("[ ]:", "[*]:"))
    assert "SyntaxError" not in "".join(page.output(2).all_inner_texts())


def test_automatic_suggestions_in_a_file(page):
    page.open("c.py")
    editor = page.tab.locator(".jp-FileEditor .cm-content")
    editor.click()
    page.press("Control+End")
    page.type("read_s")
    assert "ettings(path)".startswith(page.ghost_appears()[:3])


def test_notebooks_of_two_tabs_do_not_mix(page):
    page.open("a.ipynb")
    page.open_beside("b.ipynb")
    page.edit(1)
    page.press("Alt+\\")
    assert page.ghost_appears().startswith("orders")
    assert len(page.lab.servers()) == 1


def test_a_notebook_in_notebook_7(page):
    page.open_in_notebook("notebooks/b.ipynb")
    page.edit(1)
    page.press("Alt+\\")
    assert page.ghost_appears().startswith("orders")
    page.screenshot("notebook-7")
    page.press("Control+ArrowRight")
    page.expect_text(1, "total = count_orders")
    page.type("(")
    rest = page.ghost_appears()
    page.press("Tab")
    page.expect_text(1, f"total = count_orders({rest}")


def test_a_file_in_notebook_7(page):
    page.open_in_notebook("edit/c.py")
    page.tab.locator(".jp-FileEditor .cm-content").click()
    page.press("Control+End", "Alt+\\")
    assert page.ghost_appears()


def test_another_kernel_is_left_alone(page):
    page.open("r.ipynb")
    page.tab.get_by_role("dialog").get_by_role("button", name="No Kernel").click()
    page.edit(0)
    page.type("y")
    page.expect_status("No suggestion: the kernel of this notebook runs r")


def test_a_killed_server_is_started_again(page):
    page.open("b.ipynb")
    (server,) = page.lab.servers()
    os.kill(server, signal.SIGKILL)
    page.expect_status("The server is not running", "Loading")
    page.expect_status("Ready")
    page.edit(1)
    page.press("Alt+\\")
    assert page.ghost_appears().startswith("orders")


def test_the_jupyter_server_is_restarted_under_the_page(page):
    page.open("b.ipynb")
    page.lab.stop()
    page.expect_status("The server is not running")
    page.lab.start()
    page.expect_status("Ready")
    page.edit(1)
    page.press("Alt+\\")
    assert page.ghost_appears().startswith("orders")


def test_a_closed_page_ends_its_server(page):
    page.open("b.ipynb")
    assert page.lab.servers()
    page.tab.goto("about:blank")
    block_until(lambda: not page.lab.servers())


def test_variables_of_the_kernel(browser, tmp_path):
    cells = 'globals()["shipping_" + "costs"] = {"express": 9}', "x = shipping_"
    settings = {"kernelVariables": True}
    lab = Lab(tmp_path / "lab", {"k.ipynb": notebook(*cells)}, settings=settings)
    page = Page(browser, lab)
    page.open("k.ipynb")
    page.edit(0)
    page.press("Control+Enter")
    page.expect_sent(json.dumps('shipping_costs = {"express": ...}')[1:-1])
    page.edit(1)
    page.press("Alt+\\")
    assert page.ghost_appears().startswith("costs")
    page.tab.close()
    lab.stop()


# With a script


def open_in_lab(page, name):
    page.open(name)


def open_in_notebook_7(page, name):
    page.open_in_notebook(f"notebooks/{name}")


@pytest.mark.parametrize("opened", [open_in_lab, open_in_notebook_7])
def test_candidates_words_and_lines(scripted_page, opened):
    page = scripted_page
    opened(page, "a.ipynb")
    page.edit(0)
    page.press("Alt+\\")
    page.expect_ghost("x = f(1)\ny")
    page.press("Alt+]")
    page.expect_ghost("xyz")
    page.press("Alt+[")
    page.expect_ghost("x = f(1)\ny")
    page.press("Control+ArrowRight")
    page.expect_ghost(" = f(1)\ny")
    page.press("Control+Alt+ArrowRight")
    page.expect_ghost("\ny")
    page.press("Control+ArrowRight")
    page.expect_text(0, script("x = f(1)\ny", "xyz") + "x = f(1)\ny")


def test_a_word_of_another_candidate(scripted_page):
    page = scripted_page
    page.open("a.ipynb")
    page.edit(3)
    page.press("Alt+\\")
    page.expect_ghost("one two")
    page.press("Alt+]")
    page.expect_ghost("three four")
    page.press("Control+ArrowRight")
    page.expect_ghost(" four")
    page.press("Tab")
    page.expect_text(3, script("one two", "three four") + "three four")
    assert ["accepted", "1"] in page.lab.heard()


def test_within_a_line(scripted_page):
    page = scripted_page
    page.open("a.ipynb")
    page.edit(1)
    page.press("ArrowLeft", "Alt+\\")
    page.expect_ghost("1 + 2")
    page.type("1")
    page.expect_ghost(" + 2")
    block_until(lambda: ["asked", "automatic", "f(1"] in page.lab.heard())
    page.press("Tab")
    page.expect_text(1, script("1 + 2", text="f(1 + 2)"))


def test_the_reason_for_nothing(scripted_page):
    page = scripted_page
    page.open("a.ipynb")
    page.edit(2)
    page.press("Alt+\\")
    page.expect_ghost("a")
    page.type("x")
    page.expect_ghost("")
    page.expect_status("No suggestion: the script has nothing to say")


def test_the_reason_for_nothing_in_notebook_7(scripted_page):
    page = scripted_page
    page.open_in_notebook("notebooks/c.ipynb")
    page.edit(0)
    page.press("Alt+\\")
    page.expect_ghost("abc")
    page.type("x")
    page.press("Alt+\\")
    page.tab.get_by_text("No suggestion: the script has nothing to say").wait_for()


def test_the_palette(page):
    """Automatic suggestions off and on, the doctor and the statistics, by Jupyter's palette."""
    page.open("b.ipynb")
    page.choose("fimlsp: Suggest While Typing")
    page.expect_status("Ready, on request only")
    page.choose("fimlsp: Suggest While Typing")
    block_until(lambda: page.status() == "fimlsp: Ready", page.status)
    for label, part in (
        ("Run the Doctor", "ok     engine"),
        ("Show Statistics", "Suggestions: 0 for 0 requests"),
    ):
        page.choose(f"fimlsp: {label}")
        dialog = page.tab.get_by_role("dialog").filter(has_text=part)
        dialog.wait_for()
        dialog.get_by_role("button", name="Ok").click()


def test_where_the_cursor_rests(scripted_page):
    page = scripted_page
    page.open("a.ipynb")
    page.edit(1)
    page.expect_sent(",1,3]}")
    page.press("ArrowLeft")
    page.expect_sent(",1,2]}")
    page.edit(0)
    page.expect_sent(",1,0]}")


@pytest.mark.parametrize("opened", [open_in_lab, open_in_notebook_7])
def test_a_suggestion_that_comes_later(scripted_page, opened):
    page = scripted_page
    opened(page, "d.ipynb")
    page.edit(0)
    page.press("Alt+\\")
    page.expect_ghost("later")
    assert page.lab.heard()[-2:] == [["asked", "invoked", ""]] * 2


STRUCTURE = {  # a command of Jupyter in the second of three cells, a cell then, and the end of its last line
    "split": ("notebook:split-cell-at-cursor", 1, script("b")[:-1]),
    "moved up": ("notebook:move-cell-up", 0, "second"),
    "merged": ("notebook:merge-cell-below", 1, "third"),
    "duplicated": ("notebook:duplicate-below", 2, "second"),
}


@pytest.mark.parametrize("name", STRUCTURE)
def test_cells_that_change_places(browser, scripted, name):
    page = Page(browser, scripted)
    command, number, last = STRUCTURE[name]
    page.open("b.ipynb")
    page.edit(1)
    page.press("Home")
    page.run(command)
    page.edit(number)
    page.press("Alt+\\")
    block_until(lambda: ["asked", "invoked", last] in page.lab.heard(), lambda: str(page.lab.heard()[-3:]))
    (page.lab.folder / "heard").unlink()
    page.tab.close()


def test_two_tabs_of_a_notebook(scripted_page):
    page = scripted_page
    page.open("c.ipynb")
    page.run("docmanager:clone")
    panel = page.tab.locator(".jp-NotebookPanel").nth(1)
    panel.locator(".jp-CodeCell .cm-content").first.click()
    page.press("Control+End")
    page.type("x")
    page.press("Alt+\\")
    page.expect_ghost("abc")
    page.press("Tab")
    block_until(lambda: page.tab.get_by_text("xabc").count() == 2)


def test_a_notebook_that_two_users_edit(browser, tmp_path):
    lab = Lab(tmp_path / "lab", {"c.ipynb": notebook(script("abc"), "other")}, scripted=True, shared=True)
    one, other = Page(browser, lab), Page(browser, lab)
    for page in (one, other):
        page.open("c.ipynb")
        page.edit(1)
    one.type("5")
    other.expect_text(1, "other5")
    other.expect_sent('"text":"5"')
    other.edit(0)
    other.press("Alt+\\")
    other.expect_ghost("abc")
    other.press("Tab")
    one.expect_text(0, script("abc", text="abc"))
    one.expect_sent('"text":"abc"')
    one.edit(1)
    one.run("notebook:move-cell-up")
    other.expect_text(0, "other5")
    other.expect_sent('"structure":{"array":{"start":0')
    one.edit(0)
    one.press("ArrowLeft", "ArrowLeft")
    one.run("notebook:split-cell-at-cursor")
    other.expect_text(1, "r5")
    other.expect_sent('"text":"othe"}')
    for page in (one, other):
        page.tab.close()
    lab.stop()


# Strangers

OWN, FOREIGN = "http://{host}", "http://evil.example"
DOORS = {  # the token in the address, True for the cookie of a login, the origin, and the status
    "the user": (TOKEN, False, None, 101),
    "the page itself": (None, True, OWN, 101),
    "no token": (None, False, None, 403),
    "no token, the own origin": (None, False, OWN, 403),
    "another token": ("another", False, None, 403),
    "another token, the own origin": ("another", False, OWN, 403),
    "a page of another site in the user's browser": (None, True, FOREIGN, 403),
    "a page of another site with another token": ("another", False, FOREIGN, 403),
}


class Visitor:
    """Someone who sends requests to the Jupyter server, with the cookie of a login or without."""

    def __init__(self, lab, *, is_user):
        self.host = f"127.0.0.1:{lab.port}"
        self.cookie = {}
        if is_user:
            answer = self.request("GET", lab.address())
            cookies = (value for name, value in answer.getheaders() if name.lower() == "set-cookie")
            self.cookie = {"Cookie": "; ".join(value.partition(";")[0] for value in cookies)}

    def request(self, method, address, headers=None, body=None):
        with closing(http.client.HTTPConnection(self.host)) as connection:
            connection.request(method, address, body=body, headers=self.cookie | (headers or {}))
            return connection.getresponse()


@pytest.mark.parametrize("name", DOORS)
def test_who_gets_in(scripted, name):
    token, is_user, origin, status = DOORS[name]
    visitor = Visitor(scripted, is_user=is_user)
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    if origin is not None:
        upgrade["Origin"] = origin.format(host=visitor.host)
    query = "" if token is None else f"?token={token}"
    before = set(scripted.servers())
    assert visitor.request("GET", f"{BASE}fimlsp/lsp{query}", upgrade).status == status
    assert status == 101 or set(scripted.servers()) <= before


@pytest.mark.parametrize("is_user", [False, True])
def test_the_doctor_is_for_pages_of_users(scripted, is_user):
    """The cookie alone, which a form of another site would send as well, is not enough."""
    visitor = Visitor(scripted, is_user=is_user)
    assert visitor.request("POST", f"{BASE}fimlsp/doctor", body="{}").status == 403
