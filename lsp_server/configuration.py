"""Where settings come from: `initializationOptions`, then section `fimlsp` of the client's configuration."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fimlsp.lsp_server.settings import SECTION, Settings, resolve, unknown_names
from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from fimlsp.lsp_server.server import FimServer

log = logging.getLogger(__name__)

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
            log.warning("%s", problem)
        self._server.session.configure(self._initial)

    async def watch(self) -> None:
        """Ask the client to tell of changes, if it wants to be asked."""
        workspace = self._server.client_capabilities.workspace
        change = workspace and workspace.did_change_configuration
        if not (change and change.dynamic_registration):
            return
        registration = types.Registration(
            id=str(uuid.uuid4()),
            method=types.WORKSPACE_DID_CHANGE_CONFIGURATION,
            register_options={"section": SECTION},
        )
        try:
            await self._server.client_register_capability_async(types.RegistrationParams([registration]))
        except JsonRpcException as error:
            log.warning("the client does not tell of changed settings: %s", error)

    async def pull(self) -> None:
        """Ask for the configuration and use it; without an answer the initial settings are used."""
        workspace = self._server.client_capabilities.workspace
        self._use(await self._ask() if workspace and workspace.configuration else None)

    async def change(self, settings: object) -> None:
        """The client says that something changed, with or without saying what."""
        if isinstance(settings, Mapping) and SECTION in settings:
            self._use(settings[SECTION])
        else:
            await self.pull()

    async def _ask(self) -> object:
        item = types.ConfigurationItem(section=SECTION)
        asking = self._server.workspace_configuration_async(types.ConfigurationParams(items=[item]))
        try:
            sections = await asyncio.wait_for(asking, _PATIENCE_S)
        except (asyncio.TimeoutError, JsonRpcException) as error:
            log.warning("the client did not tell its configuration: %s", error or "no answer")
            return None
        return sections[0] if sections else None

    def _use(self, raw: object) -> None:
        settings, problems = resolve(raw, self._initial)
        for problem in problems:
            log.warning("%s", problem)
        self._server.session.configure(settings)
