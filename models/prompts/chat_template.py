"""The template of a model's conversations: a message of the user, and the start of the answer.

Templates are Jinja (`chat_template` of a checkpoint or GGUF file). They are rendered in Jinja's sandbox, with
the settings and functions that transformers documents for them. The message itself is never rendered: it is
tokenised as text and put in place of a mark. So nothing in it becomes a marker.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from tokenizers import Tokenizer

from fimlsp.models.checkpoints.regular_files import TEXT_BYTES_MAX, read_bounded
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.vocabulary import ModelVocabulary

_MARK = "\ue000"
"""A character without a meaning, which stands for the message while a template is rendered."""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """The template of a model's conversations.

    Attributes:
        text: the template.
        start: the text of the token with which documents start; may be empty.
        end: the text of the token that ends texts; may be empty.
        encode: token ids of a text of the template, in which markers count as such.
    """

    text: str
    start: str
    end: str
    encode: Callable[[str], list[int]]

    def tokens(self, message: str, vocabulary: ModelVocabulary) -> list[int]:
        """The token ids of a conversation in which the user wrote *message*, up to the start of the answer.

        Raises:
            ModelError: the template cannot be used.
        """
        before, *after = self._rendered().split(_MARK)
        if len(after) != 1:
            raise ModelError(
                "Cannot use the chat template of the model: it does not write the message once. "
                "Give the text as a file with --context."
            )
        return [*self.encode(before), *vocabulary.encode(message), *self.encode(after[0])]

    def _rendered(self) -> str:
        """The conversation, with the mark in place of the message."""
        from jinja2 import TemplateError
        from jinja2.ext import loopcontrols
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
        )
        environment.filters["tojson"] = _to_json
        environment.globals.update(raise_exception=_refuse, strftime_now=_now)
        try:
            return environment.from_string(self.text).render(
                messages=[{"role": "user", "content": _MARK}],
                add_generation_prompt=True,
                bos_token=self.start,
                eos_token=self.end,
            )
        except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise ModelError(
                f"Cannot use the chat template of the model: {error}. Give the text as a file with --context."
            ) from error


def template_beside(folder: Path, tokenizer: Tokenizer) -> ChatTemplate | None:
    """The template of the checkpoint in *folder*; None if it has none, or an unreadable one."""
    config = _tokenizer_config(folder)
    try:
        text = read_bounded(folder / "chat_template.jinja", TEXT_BYTES_MAX).decode()
    except (OSError, UnicodeDecodeError):
        text = _default_template(config.get("chat_template"))
    if not text:
        return None
    added = {entry.content: token for token, entry in tokenizer.get_added_tokens_decoder().items()}
    start, end = (_token_text(config.get(key)) for key in ("bos_token", "eos_token"))
    return ChatTemplate(text, start, end, lambda part: encode_marked(part, added, tokenizer))


def encode_marked(text: str, markers: Mapping[str, int], tokenizer: Tokenizer) -> list[int]:
    """Token ids of *text* in which *markers* count; *tokenizer* reads the text between them."""
    longest_first = sorted(markers, key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, longest_first))})", text) if markers else [text]
    return [
        token for part in parts for token in ([markers[part]] if part in markers else _ids(part, tokenizer))
    ]


def _ids(text: str, tokenizer: Tokenizer) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False).ids if text else []


def _tokenizer_config(folder: Path) -> Mapping[str, Any]:
    try:
        config = json.loads(read_bounded(folder / "tokenizer_config.json", TEXT_BYTES_MAX))
    except (OSError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def _default_template(value: object) -> str:
    """The template for conversations, which may be one of several with names."""
    if isinstance(value, list):
        named = {entry.get("name"): entry.get("template") for entry in value if isinstance(entry, dict)}
        value = named.get("default")
    return value if isinstance(value, str) else ""


def _token_text(value: object) -> str:
    text = value.get("content") if isinstance(value, dict) else value
    return text if isinstance(text, str) else ""


def _to_json(value: object, indent: int | None = None) -> str:
    """JSON as transformers writes it in templates, without escapes for HTML."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)


def _now(form: str) -> str:
    return datetime.now().strftime(form)
