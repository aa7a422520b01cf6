"""Languages by name."""

import pytest
from fimlsp.languages import LANGUAGES, UnknownLanguageError, language_named
from fimlsp.languages.json import json
from fimlsp.languages.python import python


def test_languages_by_name():
    assert language_named("json") == json
    assert language_named("python") == python()


def test_an_unknown_language_is_refused_with_the_names_of_those_known():
    with pytest.raises(UnknownLanguageError, match="'cobol' is not one of python, json, lua, go"):
        language_named("cobol")


def test_editors_call_no_two_languages_alike():
    identifiers = [each for known in LANGUAGES.values() for each in known.identifiers]
    patterns = [each for known in LANGUAGES.values() for each in known.patterns]
    assert len({*identifiers}) == len(identifiers)
    assert len({*patterns}) == len(patterns)
