"""Requests of the server to its client: for the configuration, and for a progress bar.

Settings are those of `initializationOptions`, overridden by section `fimlsp` of the configuration.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.progress import Progress

from fimlsp.lsp_server.messages import Loading, NotReady, Reading, Ready
from fimlsp.lsp_server.options import SECTION, Settings, resolve, unknown_names, with_own_server

if TYPE_CHECKING:
    from fimlsp.lsp_server.protocol.server import FimServer


CONFIGURATION_S = 5.0
"""Time limit for the client to send its configuration; without it, the initial settings are used."""


READING, READ = "the model reads the code", "read"


class Configuration:
    """Applies the client's settings to the server's session."""

    def __init__(self, server: FimServer) -> None:
        self._server = server
        self._initial = Settings()

    def take_initial(self, options: object) -> None:
        """Use the `initializationOptions`, which are the defaults of the configuration."""
        self._initial, problems = resolve(options, Settings())
        for problem in [*unknown_names(options), *problems]:
            self._server.log.warning("%s", problem)
        self._server.session.configure(self._initial)

    async def watch(self) -> None:
        """Register for changes of the configuration, if the client supports that."""
        workspace = self._server.client_capabilities.workspace
        change = workspace and workspace.did_change_configuration
        if not (change and change.dynamic_registration):
            return
        await self._register(types.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": SECTION})

    async def pull(self) -> None:
        """Request the configuration and use it; without an answer the initial settings are used."""
        workspace = self._server.client_capabilities.workspace
        await self._use(await self._request() if workspace and workspace.configuration else None)

    async def change(self, settings: object) -> None:
        """The configuration changed. Some clients send the new *settings*."""
        if isinstance(settings, Mapping) and SECTION in settings:
            await self._use(settings[SECTION])
        else:
            await self.pull()

    async def _register(self, method: str, options: Mapping[str, object]) -> None:
        registration = types.Registration(id=str(uuid.uuid4()), method=method, register_options=options)
        try:
            await self._server.client_register_capability_async(types.RegistrationParams([registration]))
        except JsonRpcException as error:
            self._server.log.warning("the client refused to register %s: %s", method, error)

    async def _request(self) -> object:
        item = types.ConfigurationItem(section=SECTION)
        answer = self._server.workspace_configuration_async(types.ConfigurationParams(items=[item]))
        try:
            sections = await asyncio.wait_for(answer, CONFIGURATION_S)
        except (asyncio.TimeoutError, JsonRpcException) as error:
            self._server.log.warning("the client did not send its configuration: %s", error or "no answer")
            return None
        return sections[0] if sections else None

    async def _use(self, raw: object) -> None:
        resolved, problems = resolve(raw, self._initial)
        settings, refused = with_own_server(resolved, self._initial)
        for problem in problems + refused:
            self._server.log.warning("%s", problem)
        self._server.session.configure(settings)
        await self._register_completion()

    async def _register_completion(self) -> None:
        """Register for the completion menu, if it is enabled now but was not at the start."""
        server = self._server
        capability = server.client_capabilities.text_document
        completion = capability and capability.completion
        is_registered = types.TEXT_DOCUMENT_COMPLETION in server.protocol.fm.features
        if is_registered or not server.session.settings.completion:
            return
        if not (completion and completion.dynamic_registration):
            server.log.warning("this client needs option completion in its initialization options")
            return
        server.enable_completion()
        await self._register(types.TEXT_DOCUMENT_COMPLETION, {"documentSelector": None})


class ProgressBar:
    """Work-done progress of one kind: a bar from the first step to the end, and a new one after that.

    Creating a bar takes a round trip to the client, so steps are queued, and a task shows them in order.
    """

    def __init__(self, progress: Progress, log: logging.Logger) -> None:
        self._progress = progress
        self._log = log
        self._steps: asyncio.Queue[tuple[str, int | None]] = asyncio.Queue()
        self._token: str | None = None
        self._task = asyncio.get_running_loop().create_task(self._show_all())

    def show(self, step: str, percent: int) -> None:
        """Show a step after all earlier ones."""
        self._steps.put_nowait((step, percent))

    def end(self, message: str) -> None:
        """End the bar, if there is one, with *message*."""
        self._steps.put_nowait((message, None))

    def close(self) -> None:
        """The client is gone."""
        self._task.cancel()

    async def _show_all(self) -> None:
        try:
            while True:
                message, percent = await self._steps.get()
                if percent is None:
                    self._end(message)
                else:
                    await self._show(message, percent)
        except JsonRpcException as error:
            self._log.warning("the client refused to show progress: %s", error)

    async def _show(self, step: str, percent: int) -> None:
        if self._token is not None:
            report = types.WorkDoneProgressReport(message=step, percentage=percent)
            self._progress.report(self._token, report)
            return
        token = str(uuid.uuid4())
        await self._progress.create_async(token)
        self._progress.begin(
            token,
            types.WorkDoneProgressBegin(title="fimlsp", message=step, percentage=percent, cancellable=False),
        )
        self._token = token

    def _end(self, message: str) -> None:
        if self._token is not None:
            self._progress.end(self._token, types.WorkDoneProgressEnd(message=message))
            self._token = None


class ProgressBars:
    """The bars of a client: for a model that is loading, and for one that reads a text for long."""

    def __init__(self, progress: Progress, log: logging.Logger) -> None:
        self._loading = ProgressBar(progress, log)
        self._reading = ProgressBar(progress, log)

    def loading(self, report: Loading | Ready | NotReady) -> None:
        """Show *report* on loading a model."""
        match report:
            case Loading(step, percent):
                self._loading.show(step, percent)
            case Ready(model, problem):
                self._loading.end(problem or model)
            case NotReady(reason):
                self._loading.end(reason)

    def reading(self, report: Reading | None) -> None:
        """Show how much the model has read; None: it does not read any more."""
        if report is None:
            self._reading.end(READ)
        else:
            self._reading.show(READING, report.percent)

    def close(self) -> None:
        """The client is gone."""
        self._loading.close()
        self._reading.close()
