"""Takes the settings of a client: `initializationOptions`, then section `fimlsp` of its configuration."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fimlsp.lsp_server.settings.options import SECTION, Settings, resolve, unknown_names, with_own_server

if TYPE_CHECKING:
    from fimlsp.lsp_server.protocol.server import FimServer

_PATIENCE_S = 5.0
"""How long a client may take to tell its configuration before work begins without it."""


class Configuration:
    """Keeps the server's session configured as the client wants it."""

    def __init__(self, server: FimServer) -> None:
        self._server = server
        self._initial = Settings()

    def take_initial(self, options: object) -> None:
        """`initializationOptions`: what holds where the configuration says nothing."""
        self._initial, problems = resolve(options, Settings())
        for problem in [*unknown_names(options), *problems]:
            self._server.log.warning("%s", problem)
        self._server.session.configure(self._initial)

    async def watch(self) -> None:
        """Ask the client to tell of changes, if it wants to be asked."""
        workspace = self._server.client_capabilities.workspace
        change = workspace and workspace.did_change_configuration
        if not (change and change.dynamic_registration):
            return
        await self._register(types.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": SECTION})

    async def pull(self) -> None:
        """Ask for the configuration and use it; without an answer the initial settings are used."""
        workspace = self._server.client_capabilities.workspace
        await self._use(await self._ask() if workspace and workspace.configuration else None)

    async def change(self, settings: object) -> None:
        """The client says that something changed, with or without saying what."""
        if isinstance(settings, Mapping) and SECTION in settings:
            await self._use(settings[SECTION])
        else:
            await self.pull()

    async def _register(self, method: str, options: Mapping[str, object]) -> None:
        registration = types.Registration(id=str(uuid.uuid4()), method=method, register_options=options)
        try:
            await self._server.client_register_capability_async(types.RegistrationParams([registration]))
        except JsonRpcException as error:
            self._server.log.warning("the client does not take %s: %s", method, error)

    async def _ask(self) -> object:
        item = types.ConfigurationItem(section=SECTION)
        asking = self._server.workspace_configuration_async(types.ConfigurationParams(items=[item]))
        try:
            sections = await asyncio.wait_for(asking, _PATIENCE_S)
        except (asyncio.TimeoutError, JsonRpcException) as error:
            self._server.log.warning("the client did not tell its configuration: %s", error or "no answer")
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
        """Have the menu of completions asked for, if it is wanted now and was not when the server started."""
        server = self._server
        capability = server.client_capabilities.text_document
        completion = capability and capability.completion
        is_registered = types.TEXT_DOCUMENT_COMPLETION in server.protocol.fm.features
        if is_registered or not server.session.settings.completion:
            return
        if not (completion and completion.dynamic_registration):
            server.log.warning(
                "set completion in the initialization options: the client asks for it then only"
            )
            return
        server.enable_completion()
        await self._register(types.TEXT_DOCUMENT_COMPLETION, {"documentSelector": None})
