"""Offers as the protocol has them: items of inline completion, or of the menu."""

from __future__ import annotations

import re

from fimlsp.lsp_server.documents.text_positions import units
from fimlsp.lsp_server.protocol.commands import ACCEPT
from fimlsp.lsp_server.session.completer import Asked, Offer
from lsprotocol import types

_WORD = re.compile(r"\w*\Z")


def to_inline_list(asked: Asked, offer: Offer) -> types.InlineCompletionList:
    """Items for inline completion. The range is empty, as each text connects to what follows the cursor."""
    here = types.Position(asked.line, asked.character)
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


def to_completion_list(asked: Asked, offer: Offer, encoding: str) -> types.CompletionList:
    """One item for the menu, which replaces the word that was begun by the whole word and what follows it."""
    if not offer.texts or asked.place is None:
        return types.CompletionList(is_incomplete=True, items=[])
    document, offset = asked.place.document, asked.place.offset
    before = document.text.data[document.text.line_start(asked.line) : offset].decode()
    word = _WORD.search(before)
    begun = word[0] if word else ""
    start = types.Position(asked.line, asked.character - units(begun, encoding))
    text = begun + offer.texts[0]
    item = types.CompletionItem(
        label=text.strip().partition("\n")[0].rstrip() or text,
        kind=types.CompletionItemKind.Text,
        detail="fimlsp",
        documentation=text if "\n" in text else None,
        filter_text=text,
        text_edit=types.TextEdit(types.Range(start, types.Position(asked.line, asked.character)), text),
        command=types.Command("Completion accepted", ACCEPT, arguments=[f"{offer.id}.0"]),
    )
    return types.CompletionList(is_incomplete=True, items=[item])
