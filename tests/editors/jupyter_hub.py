"""A real JupyterHub with users, and a proxy in front of a Jupyter server."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
from contextlib import closing

from ..lsp_server.waiting import block_until
from .jupyter_page import JUPYTER, PATIENT, free_port, listens, write_settings

PROXY = JUPYTER / "proxy" / "node_modules" / ".bin" / "configurable-http-proxy"
SITE = "/site/"
ADMIN = "the-token-of-the-tests-of-the-hub"
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
CONFIGURATION = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}{site}"
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.services = [{{"name": "tests", "api_token": "{admin}"}}]
c.JupyterHub.load_roles = [
    {{"name": "tests", "scopes": ["admin:users", "admin:servers", "tokens"], "services": ["tests"]}}
]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.ConfigurableHTTPProxy.command = ["{proxy}"]
c.Authenticator.allow_all = True
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}/{{username}}"
c.Spawner.cmd = ["{jupyter}/bin/jupyterhub-singleuser"]
c.Spawner.args = ["--allow-root"]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {{
    "JUPYTERLAB_SETTINGS_DIR": "{folder}/settings",
    "PATH": "{jupyter}/bin:/usr/bin:/bin",
}}
c.Spawner.start_timeout = c.Spawner.http_timeout = 600
"""


def answer(host, method, address, headers=None):
    """The status and the body of an answer; those of an open WebSocket have no body."""
    with closing(http.client.HTTPConnection(host)) as connection:
        connection.request(method, address, headers=headers or {})
        response = connection.getresponse()
        return response.status, b"" if response.status == 101 else response.read()


class Program:
    """A process with a log in *folder*, which has started when it listens at *port*."""

    def __init__(self, command, folder, port, **environment):
        self.path = folder / "log"
        with self.path.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={**os.environ, "PATH": f"{JUPYTER}/bin:{os.environ['PATH']}", **environment},
            )
        block_until(lambda: self.listens(port), self.log)

    def listens(self, port):
        assert self.process.poll() is None, self.log()
        return listens(port)

    def log(self):
        return self.path.read_text(errors="replace")[-3000:]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Proxy:
    """A proxy in front of the server *lab*."""

    def __init__(self, lab, folder):
        folder.mkdir()
        self.lab = lab
        self.port, api_port = free_port(), free_port()
        ports = [f"--port={self.port}", f"--api-port={api_port}"]
        target = f"--default-target=http://127.0.0.1:{lab.port}"
        command = [PROXY, "--ip=127.0.0.1", *ports, target]
        self.program = Program(command, folder, self.port)

    def address(self, path):
        return self.lab.address(path).replace(f":{self.lab.port}/", f":{self.port}/")

    def log(self):
        return self.program.log() + self.lab.log()

    def stop(self):
        self.program.stop()


class Hub:
    """A JupyterHub below `SITE` with *users*, whose folders have *files* by name and whose servers run."""

    def __init__(self, folder, users, files):
        self.folder = folder
        self.port, hub_port, proxy_port = free_port(), free_port(), free_port()
        folder.mkdir()
        write_settings(folder / "settings", PATIENT)
        configuration = folder / "jupyterhub_config.py"
        values = {"port": self.port, "hub_port": hub_port, "proxy_port": proxy_port, "folder": folder}
        paths = {"site": SITE, "admin": ADMIN, "proxy": PROXY, "jupyter": JUPYTER}
        configuration.write_text(CONFIGURATION.format(**values, **paths))
        self.program = Program([JUPYTER / "bin" / "jupyterhub"], folder, self.port)
        block_until(lambda: self.ask("GET", "")[0] == 200, self.program.log)
        self.tokens = {user: self.enter(user, files) for user in users}

    def ask(self, method, path):
        """The answer of the hub's own interface."""
        headers = {"Authorization": f"token {ADMIN}"}
        return answer(f"127.0.0.1:{self.port}", method, f"{SITE}hub/api/{path}", headers)

    def enter(self, user, files):
        """Start the server of *user*, and return a token for it."""
        home = self.folder / user
        home.mkdir()
        for name, text in files.items():
            (home / name).write_text(text, encoding="utf-8")
        self.ask("POST", f"users/{user}")
        self.ask("POST", f"users/{user}/server")
        block_until(lambda: json.loads(self.ask("GET", f"users/{user}")[1])["server"], self.program.log)
        return json.loads(self.ask("POST", f"users/{user}/tokens")[1])["token"]

    def knock(self, owner, token):
        """The status with which the server of *owner* answers a WebSocket with *token*."""
        headers = UPGRADE | ({} if token is None else {"Authorization": f"token {token}"})
        return answer(f"127.0.0.1:{self.port}", "GET", f"{SITE}user/{owner}/fimlsp/lsp", headers)[0]

    def seat(self, user):
        return Seat(self, user)

    def stop(self):
        self.program.stop()  # with the servers of its users


class Seat:
    """The server of *user* as a page needs it."""

    def __init__(self, hub, user):
        self.hub, self.user = hub, user

    def address(self, path):
        return f"http://127.0.0.1:{self.hub.port}{SITE}user/{self.user}/{path}"

    def login(self, tab):
        tab.goto(f"http://127.0.0.1:{self.hub.port}{SITE}hub/login")
        tab.fill("#username_input", self.user)
        tab.click("#login_submit")
        tab.wait_for_url(f"**{SITE}user/{self.user}/**")

    def log(self):
        return self.hub.program.log()
