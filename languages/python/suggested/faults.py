"""The first fault of a suggestion that can be found without reading the whole file."""

from __future__ import annotations

from fimlsp.languages.python.suggested.given_receivers import first_given_receiver
from fimlsp.languages.python.suggested.misplaced_keywords import first_misplaced_keyword
from fimlsp.languages.python.suggested.repeated_elements import first_repeated_element
from fimlsp.languages.python.suggested.repeated_imports import first_repeated_import
from fimlsp.languages.python.suggested.repeated_keys import first_repeated_key
from fimlsp.languages.python.suggested.repeated_rest import first_repeated_rest
from fimlsp.languages.python.suggested.unwanted_lines import first_unwanted_line


def first_fault(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text*, between *left* and *right*, up to which it may be shown; None if all may."""
    found = (
        first_unwanted_line(left, text, right),
        first_misplaced_keyword(left, text),
        first_repeated_key(left, text, right),
        first_repeated_element(left, text, right),
        first_repeated_import(left, text, right),
        first_given_receiver(left, text, right),
        first_repeated_rest(text, right),
    )
    return min((each for each in found if each is not None), default=None)
