"""The editor's side of Python: comments, blocks, and the checks of suggestions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from fimlsp.languages.python.names.code_state import CodeState, state_at_end
from fimlsp.languages.python.names.known_names import BUILTIN_NAMES
from fimlsp.languages.python.suggestion_checks.checks import first_unwanted, stops_idly
from fimlsp.languages.python.suggestion_checks.unknown_names import first_unknown_name
from fimlsp.quotient.language.editor_policy import Comment, EditorPolicy

_OPENS_BLOCK = re.compile(
    rb"\s*(?:async|case|class|def|elif|else|except|finally|for|if|match|try|while|with)\b.*:\s*(?:#.*)?"
)
_NOT_CODE = re.compile(
    rb"#[^\n]*|\"\"\"(?:\\.|.)*?(?:\"\"\"|\Z)|'''(?:\\.|.)*?(?:'''|\Z)"
    rb"|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?",
    re.DOTALL,
)


@dataclass(frozen=True)
class PythonPolicy(EditorPolicy):
    """Python's policy, with the checks of `suggestion_checks/`.

    With *top_level_await* statements outside functions may wait.
    """

    top_level_await: bool = False

    def opens_block(self, line: bytes) -> bool:
        """As in `EditorPolicy`."""
        return _OPENS_BLOCK.fullmatch(line) is not None

    def ends_header(self, left: bytes, text: bytes) -> bool:
        """As in `EditorPolicy`; a header of several lines starts above. An annotation is none."""
        return super().ends_header(left, text) or bool(state_at_end(left).brackets)

    def is_header(self, left: bytes, text: bytes) -> bool:
        """As in `EditorPolicy`."""
        return text.endswith(b":") and state_at_end(left).feed(text) == CodeState()

    def ends_in_code(self, text: bytes) -> bool:
        """As in `EditorPolicy`; strings of several lines count, too."""
        return not state_at_end(text).quote

    def first_unwanted(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """As in `EditorPolicy`."""
        return first_unwanted(left, text, right, top_level_await=self.top_level_await)

    def stops_idly(self, left: bytes, text: bytes, right: bytes, whole: bytes) -> bool:
        """As in `EditorPolicy`."""
        return stops_idly(left, text, right, whole)

    def first_unknown_name(
        self,
        left: bytes,
        text: bytes,
        right: bytes,
        is_visible: Callable[[bytes], bool] = lambda _: False,
    ) -> int | None:
        """As in `EditorPolicy`."""
        return first_unknown_name(left, text, right, is_visible)


PYTHON_POLICY = PythonPolicy(
    file_ending=".py",
    comment=Comment("#"),
    known_names=BUILTIN_NAMES,
    header_end=b":",
    shortest_body=b" ...",
    block_closer=re.compile(rb"[)\]},:\s]*\Z"),
    not_code=_NOT_CODE,
    prose=re.compile(rb"\s*#|.*(?:\"\"\"|''')", re.DOTALL),
)

CELL_POLICY = replace(PYTHON_POLICY, top_level_await=True)
"""The policy in the cells of notebooks."""
