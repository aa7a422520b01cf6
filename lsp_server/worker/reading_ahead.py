"""The text that a model elsewhere reads in pauses, so that the next request finds it read.

It is the text around the place where the cursor rests, or that of a request with too little time. Prompts
stay the same up to their ends while one types, so reading goes on at the newest place.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fimlsp.lexing.interruption import Interrupted, is_interrupted
from fimlsp.lsp_server.messages import Complete, Rest
from fimlsp.models.remote.errors import ServerError

if TYPE_CHECKING:
    from fimlsp.models.protocols import NextToken, ReadsAhead

log = logging.getLogger(__name__)

READ_S = 8.0
"""A prompt is as long as the network can read in this time: after a jump all of it is read anew."""

SIZES = (512, 1024, 2048, 4096, 8192)
SLACK = 1.25
"""The size of a prompt follows larger changes of the speed only, as all is read anew when it changes."""


@dataclass(slots=True)
class ReadingAhead:
    """The *place* whose text *network* is to read, if there is one, and that which it reads *now*.

    Its prompts have a *size* in tokens, the smallest until its speed is known.
    """

    network: ReadsAhead
    place: Rest | None = None
    now: Rest | None = None
    size: int = SIZES[0]

    @classmethod
    def of(cls, network: NextToken) -> ReadingAhead | None:
        """Nothing is to be read by *network* yet; None if it reads in this process."""
        from fimlsp.models.protocols import ReadsAhead

        return cls(network) if isinstance(network, ReadsAhead) else None

    @property
    def is_alive(self) -> bool:
        """True if the network may be reading, and goes on where it was stopped."""
        return self.network.keeps_read_part and self.network.meter.is_alive

    @property
    def reading(self) -> tuple[Rest, float] | None:
        """The place whose text is read now, and the share that is read."""
        share = self.network.meter.share
        return None if share is None or self.now is None else (self.now, share)

    def prompt_tokens(self, most: int | None) -> int | None:
        """The tokens of a prompt, at most *most*, by the measured speed; None: as many as fit.

        The speed does not count for servers that keep no part of a text.
        """
        if not self.network.keeps_read_part:
            return most
        speed = self.network.meter.per_second
        if speed is not None:
            affordable = READ_S * speed
            if not self.size / SLACK <= affordable < 2 * SLACK * self.size:
                self.size = max((size for size in SIZES if size <= affordable), default=SIZES[0])
        return self.size if most is None else min(self.size, most)

    def rest(self, rest: Rest) -> None:
        """The cursor rests there. Only a server on this machine may read in vain, as others may be paid."""
        if self.network.is_own:
            self.place = rest

    def request(self, request: Complete) -> Rest:
        """The place of *request*, whose text is read from now on."""
        self.now = Rest(request.document, request.version, request.offset, request.limits)
        return self.now

    def answer(self, place: Rest, *, is_read: bool, is_cancelled: bool) -> None:
        """The request at *place* is over; its text is read on if that was not finished.

        After a cancelled request the cursor rests at *place*.
        """
        if is_read and self.place is not None and self.place.document == place.document:
            self.place = None
        elif not is_read and is_cancelled:
            self.rest(place)
        elif not is_read and self.network.keeps_read_part:
            self.place = place

    def read(
        self,
        current: Callable[[Rest], Rest | None],
        prompt_at: Callable[[Rest], Sequence[int] | None],
    ) -> None:
        """Read the prompt at the place, if there is one, until a surrounding scope is over.

        *current* moves the place to the newest version of its document.

        Raises:
            Interrupted: the scope is over. The part read by then stays read.
        """
        place, self.place = self.place and current(self.place), None
        if place is None:
            return
        self.now = place
        try:
            with self.network.cancellable(is_interrupted):
                size = None
                while size != self.prompt_tokens(None) and (prompt := prompt_at(place)) is not None:
                    size = self.prompt_tokens(None)
                    self.network.read_ahead(prompt)
        except Interrupted:
            self.place = place
            raise
        except ServerError as error:
            log.info("the model has not read the text ahead: %s", error)
