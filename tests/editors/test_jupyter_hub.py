"""The extension in a real JupyterHub with two users, and after a proxy with a base URL."""

from __future__ import annotations

import pytest

from .jupyter_hub import Hub, Proxy
from .jupyter_page import Lab, Page, notebook

pytestmark = pytest.mark.jupyter

CELLS = "def count_orders(folder):\n    return 0\n", "total = count_"
USERS = "one", "other"
OPENS = """address => new Promise(done => {
  const socket = new WebSocket(address);
  socket.onopen = () => { socket.close(); done(true); };
  socket.onerror = () => done(false);
})"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    hub = Hub(tmp_path_factory.mktemp("hub") / "site", USERS, {"b.ipynb": notebook(*CELLS)})
    yield hub
    hub.stop()


def expect_ghost_text(page):
    page.open("b.ipynb")
    page.edit(1)
    page.press("Alt+\\")
    assert page.ghost_appears().startswith("orders(")


def test_two_users_of_a_hub(browser, hub):
    """Each has ghost text, and the page of one cannot use the server of the other."""
    for user, stranger in (USERS, USERS[::-1]):
        seat = hub.seat(user)
        page = Page(browser, seat)
        seat.login(page.tab)
        expect_ghost_text(page)
        addresses = [
            hub.seat(each).address("fimlsp/lsp").replace("http", "ws", 1) for each in (user, stranger)
        ]
        assert [page.tab.evaluate(OPENS, address) for address in addresses] == [True, False]
        page.tab.close()


KEYS = {  # the owner of the server, the owner of the token, the status
    "one at his own": ("one", "one", 101),
    "other at his own": ("other", "other", 101),
    "one at that of the other": ("other", "one", 403),
    "other at that of one": ("one", "other", 403),
    "nobody": ("one", None, 403),
}


@pytest.mark.parametrize("name", KEYS)
def test_whose_token_opens_which_server(hub, name):
    server, owner, status = KEYS[name]
    assert hub.knock(server, hub.tokens.get(owner)) == status


def test_ghost_text_through_a_proxy(browser, tmp_path):
    lab = Lab(tmp_path / "lab", {"b.ipynb": notebook(*CELLS)})
    proxy = Proxy(lab, tmp_path / "proxy")
    page = Page(browser, proxy)
    expect_ghost_text(page)
    page.tab.close()
    proxy.stop()
    lab.stop()
