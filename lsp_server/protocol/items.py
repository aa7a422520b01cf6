"""Turns offers into items of the protocol: of inline completion, or of the menu."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lsprotocol import types

from fimlsp.lsp_server.documents.text_positions import units
from fimlsp.lsp_server.protocol.commands import ACCEPT
from fimlsp.lsp_server.session.completer import Offer, Ticket

SNIPPETS = "inlineCompletionSnippets"
"""The experimental capability of a client that inserts a `StringValue`; the protocol has no word for it."""

_WORD = re.compile(r"\w*\Z")
_SPECIAL = re.compile(r"[\\$}]")


def to_inline_list(ticket: Ticket, offer: Offer) -> types.InlineCompletionList:
    """Items for inline completion. The range is empty, as each text connects to what follows the cursor."""
    here = types.Position(ticket.line, ticket.character)
    return types.InlineCompletionList(
        [
            types.InlineCompletionItem(
                insert_text=text if number else _inserted(text, offer.closing),
                range=types.Range(here, here),
                command=types.Command("Completion accepted", ACCEPT, arguments=[f"{offer.id}.{number}"]),
            )
            for number, text in enumerate(offer.texts)
        ]
    )


def takes_snippets(capabilities: types.ClientCapabilities) -> bool:
    """Whether the client says that it inserts snippets of inline completion."""
    experimental = capabilities.experimental
    return isinstance(experimental, Mapping) and experimental.get(SNIPPETS) is True


def _inserted(text: str, closing: str) -> str | types.StringValue:
    return types.StringValue(snippet(text, closing)) if closing else text


def snippet(text: str, closing: str) -> str:
    """The snippet that inserts *text* and puts the cursor before *closing*, with which it ends."""
    return f"{_escaped(text.removesuffix(closing))}$0{_escaped(closing)}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


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
