"""Languages by name, and the list of them that servers and editors share."""

import json as json_module
import re
from pathlib import Path

import pytest

from fimlsp.languages import IDENTIFIERS, LANGUAGES, UnknownLanguageError, language_named
from fimlsp.languages.json import json
from fimlsp.languages.python import python
from fimlsp.lsp_server.options import Settings

ROOT = Path(__file__).parents[2]


def test_languages_by_name():
    assert language_named("json") == json
    assert language_named("python") == python()


def test_an_unknown_language_is_refused_with_the_names_of_those_known():
    with pytest.raises(UnknownLanguageError, match=f"'cobol' is not one of {', '.join(LANGUAGES)}"):
        language_named("cobol")


def test_editors_call_no_two_languages_alike():
    identifiers = [name for known in LANGUAGES.values() for name in known.identifiers]
    patterns = [name for known in LANGUAGES.values() for name in known.patterns]
    assert len({*identifiers}) == len(identifiers)
    assert len({*patterns}) == len(patterns)


def test_editors_wake_up_for_the_documents_that_the_server_completes():
    package = json_module.loads((ROOT / "vscode-extension/package.json").read_text(encoding="utf-8"))
    client = (ROOT / "vscode-extension/src/settings.ts").read_text(encoding="utf-8")
    neovim = (ROOT / "editors/neovim/lua/fimlsp/config.lua").read_text(encoding="utf-8")
    assert Settings().languages == IDENTIFIERS
    activated_by = [*(f"onLanguage:{name}" for name in IDENTIFIERS), "onStartupFinished"]
    assert package["activationEvents"] == activated_by, "the last is for languages that settings name"
    assert listed(client, r"LANGUAGES: readonly string\[\] = \[(.*?)\]") == IDENTIFIERS
    assert listed(neovim, r"  filetypes = \{(.*?)\}") == IDENTIFIERS


def listed(source, pattern):
    match = re.search(pattern, source)
    assert match is not None
    return tuple(re.findall(r"[\"'](\w+)[\"']", match[1]))
