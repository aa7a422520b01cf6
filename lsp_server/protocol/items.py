"""Turns offers into items of the protocol: of inline completion, or of the menu."""

from __future__ import annotations

import re

from fimlsp.lsp_server.documents.text_positions import units
from fimlsp.lsp_server.protocol.commands import ACCEPT
from fimlsp.lsp_server.session.completer import Offer, Ticket
from lsprotocol import types

_WORD = re.compile(r"\w*\Z")


def to_inline_list(ticket: Ticket, offer: Offer) -> types.InlineCompletionList:
    """Items for inline completion. The range is empty, as each text connects to what follows the cursor."""
    here = types.Position(ticket.line, ticket.character)
    return types.InlineCompletionList(
        [
            types.InlineCompletionItem(
                insert_text=text,
                range=types.Range(here, here),
                command=types.Command("Completion accepted", ACCEPT, arguments=[f"{offer.id}.{number}"]),
            )
            for number, text in enumerate(offer.texts)
        ]
    )


def to_completion_list(ticket: Ticket, offer: Offer, encoding: str) -> types.CompletionList:
    """One item for the menu, which replaces the word before the cursor by the whole word and what follows."""
    if not offer.texts or ticket.cursor is None:
        return types.CompletionList(is_incomplete=True, items=[])
    document, offset = ticket.cursor.document, ticket.cursor.offset
    before = document.text.data[document.text.line_start(ticket.line) : offset].decode()
    found = _WORD.search(before)
    word = found[0] if found else ""
    start = types.Position(ticket.line, ticket.character - units(word, encoding))
    text = word + offer.texts[0]
    item = types.CompletionItem(
        label=text.strip().partition("\n")[0].rstrip() or text,
        kind=types.CompletionItemKind.Text,
        detail="fimlsp",
        documentation=text if "\n" in text else None,
        filter_text=text,
        text_edit=types.TextEdit(types.Range(start, types.Position(ticket.line, ticket.character)), text),
        command=types.Command("Completion accepted", ACCEPT, arguments=[f"{offer.id}.0"]),
    )
    return types.CompletionList(is_incomplete=True, items=[item])
