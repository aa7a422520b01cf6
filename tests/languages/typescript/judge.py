"""The parsers of TypeScript and of acorn as judges, in a program of their own."""

from __future__ import annotations

import re

from fimlsp.datasets.languages.typescript import refusal

_BY_FUNCTION = re.compile(rb"await|yield")
"""Words whose meaning depends on the function around them, which the grammar does not know."""


def is_typescript(text: bytes) -> bool | None:
    """True if TypeScript's parser accepts *text*; None if it may only refuse the place of an `await`."""
    if refusal("typescript", text) is None:
        return True
    return None if _BY_FUNCTION.search(text) else False


def is_tsx(text: bytes) -> bool | None:
    """As `is_typescript`, with JSX."""
    if refusal("tsx", text) is None:
        return True
    return None if _BY_FUNCTION.search(text) else False


def is_jsx(text: bytes) -> bool | None:
    """As `is_javascript`, with JSX."""
    told = refusal("jsx", text)
    if told is None:
        return True
    return None if told.later or b"#" in text or b"yield" in text else False


def is_refused_by_tsx_checker(text: bytes) -> bool:
    """As `is_refused_by_checker`, with JSX."""
    return _BY_FUNCTION.search(text) is not None or refusal("checked-tsx", text) is not None


def is_refused_by_checker(text: bytes) -> bool:
    """True if TypeScript's checker refuses the syntax of *text*, which its parser accepts, or may do so."""
    return _BY_FUNCTION.search(text) is not None or refusal("checked", text) is not None


def is_javascript(text: bytes) -> bool | None:
    """True if acorn accepts *text*, as a module or a script; None if only names and the like may be wrong."""
    told = refusal("javascript", text)
    if told is None:
        return True
    return None if told.later or b"#" in text or b"yield" in text else False


def has_reserved_name(text: bytes) -> bool:
    """True if `await` or `yield` is a name in *text*, a script."""
    return _BY_FUNCTION.search(text) is not None and refusal("reserved-javascript", text) is not None


def has_reserved_name_in_jsx(text: bytes) -> bool:
    """As `has_reserved_name`, with JSX."""
    return _BY_FUNCTION.search(text) is not None and refusal("reserved-jsx", text) is not None
