"""The template of a model's conversations: a message of the user, and the start of the answer.

Templates are Jinja (`chat_template` of a checkpoint or GGUF file). They are rendered in Jinja's sandbox, with
the settings and functions that transformers documents for them. The message itself is never rendered: it is
tokenised as text and put in place of a mark. So nothing in it becomes a marker.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

from tokenizers import Tokenizer

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


def encode_marked(text: str, markers: Mapping[str, int], tokenizer: Tokenizer) -> list[int]:
    """Token ids of *text* in which *markers* count, long ones first; *tokenizer* reads the text between."""
    parts: list[str | int] = [text]
    for marker in sorted(filter(text.__contains__, markers), key=len, reverse=True):
        cut = list[str | int]()
        for part in parts:
            first, *others = part.split(marker) if isinstance(part, str) else (part,)
            cut += [first, *(piece for other in others for piece in (markers[marker], other))]
        parts = cut
    return [token for part in parts for token in (_ids(part, tokenizer) if isinstance(part, str) else [part])]


def _ids(text: str, tokenizer: Tokenizer) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False).ids if text else []


def _to_json(value: object, indent: int | None = None) -> str:
    """JSON as transformers writes it in templates, without escapes for HTML."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)


def _now(form: str) -> str:
    return datetime.now().strftime(form)
