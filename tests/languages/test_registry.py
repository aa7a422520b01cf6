"""Languages by name, and the list of them that servers and editors share."""

import json as json_module
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

from fimlsp.languages import (
    BUILT_IN,
    IDENTIFIERS,
    LANGUAGES,
    KnownLanguage,
    UnknownLanguageError,
    language_named,
    with_those_of_packages,
)
from fimlsp.languages.json import json
from fimlsp.languages.python import python
from fimlsp.lsp_server.options import Settings
from fimlsp.quotient.engine import Engine

ROOT = Path(__file__).parents[2]


def test_languages_by_name():
    assert language_named("json") == json
    assert language_named("python") == python()


def test_an_unknown_language_is_refused_with_the_names_of_those_known():
    with pytest.raises(UnknownLanguageError, match=f"'cobol' is not one of {', '.join(LANGUAGES)}"):
        language_named("cobol")


@pytest.mark.parametrize("name", [name for name in LANGUAGES if name != "python"])
def test_brackets_consist_of_lexemes_of_the_language(name):
    language = LANGUAGES[name].language()
    kinds = {*Engine(language).tables.lexical.kinds}
    assert kinds >= {*language.enclosures, *language.enclosures.values()}


def test_editors_call_no_two_languages_alike():
    identifiers = [name for known in LANGUAGES.values() for name in known.identifiers]
    patterns = [name for known in LANGUAGES.values() for name in known.patterns]
    assert len({*identifiers}) == len(identifiers)
    assert len({*patterns}) == len(patterns)


class Package(NamedTuple):
    """An entry point; its object is the value, or an error when it is loaded."""

    name: str
    value: object

    def load(self):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


TOY = KnownLanguage(("toy",), ("*.toy",), lambda: json)
REFUSALS = (
    (
        "toy",
        ImportError("no module named tools"),
        "its package fails with ImportError: no module named tools",
    ),
    ("toy", json, "it is no KnownLanguage"),
    ("json", TOY, "there is another language with this name"),
    ("toy", KnownLanguage(("toy", "lua"), ("*.toy",), lambda: json), "lua belongs to the language lua"),
    ("toy", KnownLanguage(("toy",), ("*.go",), lambda: json), "*.go belongs to the language go"),
)


def test_packages_add_languages():
    languages, refused = with_those_of_packages(BUILT_IN, [Package("toy", TOY)])
    assert [*languages] == [*BUILT_IN, "toy"]
    assert refused == {}


@pytest.mark.parametrize(("name", "value", "reason"), REFUSALS)
def test_a_language_of_a_package_that_cannot_be_used_is_refused_with_the_reason(name, value, reason):
    languages, refused = with_those_of_packages(BUILT_IN, [Package(name, value)])
    assert languages == BUILT_IN
    assert refused[name].startswith(f"Cannot use the language {name} of ")
    assert f": {reason}. Update" in refused[name]


PACKAGE = {
    "toy.py": """
        from dataclasses import dataclass
        from fimlsp.languages import KnownLanguage
        from fimlsp.languages.json import Json

        @dataclass(frozen=True)
        class Toy(Json):
            name = "Toy"

        KNOWN = KnownLanguage(("toy",), ("*.toy",), Toy)
        """,
    "toy-1.dist-info/METADATA": """
        Metadata-Version: 2.1
        Name: toy
        Version: 1
        """,
    "toy-1.dist-info/entry_points.txt": """
        [fimlsp.languages]
        toy = toy:KNOWN
        broken = toy:MISSING
        """,
}
ASKED = """
from pathlib import Path
from fimlsp.languages import IDENTIFIERS, language_named
from fimlsp.lsp_server.command_line.complete_command import name_of_language
from fimlsp.lsp_server.documents import CompletionRules, grammar_of
from fimlsp.lsp_server.options import Settings
assert language_named("toy").name == name_of_language(Path("a.toy")).title() == "Toy"
assert IDENTIFIERS[-1] == "toy" and Settings().languages == IDENTIFIERS
assert grammar_of("toy", None).name == "Toy"
rules = CompletionRules(("toy", "broken"))
assert rules.refusal("file:///a.toy", "toy") is None
print(rules.refusal("file:///a.broken", "broken"))
"""


@pytest.mark.parametrize("first", ["import toy", "import fimlsp.languages", ""])
def test_an_installed_package_reaches_commands_and_servers(tmp_path, first):
    for name, text in PACKAGE.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(dedent(text).lstrip(), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", f"{first}\n{ASKED}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "Cannot use the language broken of toy:MISSING: its package fails with Attr" in done.stdout


def test_editors_wake_up_for_the_documents_that_the_server_completes():
    package = json_module.loads((ROOT / "vscode-extension/package.json").read_text(encoding="utf-8"))
    client = (ROOT / "vscode-extension/src/settings.ts").read_text(encoding="utf-8")
    neovim = (ROOT / "editors/neovim/lua/fimlsp/config.lua").read_text(encoding="utf-8")
    assert Settings().languages == IDENTIFIERS
    activated_by = [*(f"onLanguage:{name}" for name in IDENTIFIERS), "onStartupFinished"]
    assert package["activationEvents"] == activated_by, "the last is for languages that settings name"
    assert listed(client, r"LANGUAGES: readonly string\[\] = \[(.*?)\]") == IDENTIFIERS
    assert listed(neovim, r"  filetypes = \{(.*?)\}") == IDENTIFIERS


LISTS_OF_IDENTIFIERS = (
    *("docs/options.md", "docs/languages.md", "editors/jupyter/schema/plugin.json"),
    *("editors/neovim/README.md", "editors/neovim/doc/fimlsp.txt"),
    *("vscode-extension/README.md", "vscode-extension/package.json"),
)
PLACES = {
    "docs/languages.md": "{title}",
    "docs/verify.md": "{name}`",
    "CHANGELOG.md": "{title}",
    "ARCHITECTURE.md": "`{room}`",
    "pyproject.toml": '"fimlsp.languages.{folder}"',
    "tests/datasets/languages/test_known.py": '("{name}", [',
}
"""The text that each place has of each language, beside the lists of identifiers."""


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name not in ("python", "slua")])
def test_every_place_has_every_language(name):
    known = BUILT_IN[name]
    language = known.language()
    title = "JSX" if name == "tsx" else language.name
    folder = type(language).__module__.split(".")[2]
    room = f"{folder}.py" if (ROOT / "languages" / f"{folder}.py").exists() else f"{folder}/"
    form = {"name": name, "title": title, "folder": folder, "room": room}
    missing = [place for place, text in PLACES.items() if text.format(**form) not in read(place)]
    lacking = [place for place in LISTS_OF_IDENTIFIERS if not set(known.identifiers) <= set(words(place))]
    conditions = re.findall(r"editorLangId =~ /(.*?)/", read("vscode-extension/package.json"))
    unreached = [each for each in conditions if not re.match(each, known.identifiers[0])]
    assert [*missing, *lacking, *unreached] == []


def read(place):
    return (ROOT / place).read_text(encoding="utf-8")


def words(place):
    return re.findall(r"[\"'`](\w+)[\"'`]", read(place))


def listed(source, pattern):
    match = re.search(pattern, source, re.DOTALL)
    assert match is not None
    return tuple(re.findall(r"[\"'](\w+)[\"']", match[1]))
