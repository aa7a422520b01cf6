"""The repository agrees with itself: documents with code, rooms with their rules."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fimlsp.lsp_server.options import MODEL_FIELDS, OPTIONS

from . import jupyter_schema
from .options_table import with_table
from .reference_page import PAGE, page

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def code_blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_the_table_of_options_is_that_of_the_code():
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    assert with_table(page) == page, "run python tests/architecture/options_table.py docs/options.md"


PACKAGE = json.loads((ROOT / "vscode-extension" / "package.json").read_text(encoding="utf-8"))
CONFIGURATION = PACKAGE["contributes"]["configuration"]["properties"]


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_vs_code_has_the_options_as_they_are(option):
    told = CONFIGURATION[f"fimlsp.{option.name}"]
    schema = option.schema()
    assert {name: told.get(name) for name in schema} == schema
    assert told.get("enum") == schema.get("enum")


def test_jupyter_has_the_options_as_they_are():
    page = ROOT / "editors" / "jupyter" / "schema" / "plugin.json"
    made = "python tests/architecture/jupyter_schema.py editors/jupyter/schema/plugin.json"
    assert page.read_text(encoding="utf-8") == jupyter_schema.text(), f"run {made}"


def test_a_workspace_that_is_not_trusted_chooses_no_model_and_no_globs():
    restricted = PACKAGE["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    chosen = {option.name for option in OPTIONS if option.field in (*MODEL_FIELDS, "exclude", "grammars")}
    assert {f"fimlsp.{name}" for name in chosen} <= set(restricted) <= CONFIGURATION.keys()


def test_the_python_example_says_what_happens():
    example = next(block for block in code_blocks("python") if "state.feed" in block)
    scope: dict[str, object] = {}
    for statement in ast.parse(example).body:
        source = ast.get_source_segment(example, statement)
        line = example.splitlines()[statement.lineno - 1]
        if isinstance(statement, ast.Expr):
            value = eval(source, scope)
            check_comment(line.partition("#")[2].strip(), value)
        else:
            exec(source, scope)


PAGES = [ROOT / "README.md", ROOT / "docs" / "library.md", ROOT / "docs" / "masks.md"]
EXAMPLES = [example for page in PAGES for example in code_blocks("python", page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda block: block.splitlines()[-1])
def test_examples_import_from_the_public_face_alone(example):
    imported = {node.module for node in ast.walk(ast.parse(example)) if isinstance(node, ast.ImportFrom)}
    others = {"transformers", *sys.stdlib_module_names}
    assert {module for module in imported if module.partition(".")[0] not in others} == {"fimlsp"}


GUIDES = [
    ROOT / "README.md",
    *(page for page in (ROOT / "editors").rglob("*.md") if "node_modules" not in page.parts),
    ROOT / "vscode-extension" / "README.md",
]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: str(path.relative_to(ROOT)))
def test_guides_start_the_server_without_the_modules_of_a_workspace(guide):
    assert not re.search(r"python[\d.]* -m fimlsp", guide.read_text(encoding="utf-8"))


def check_comment(comment: str, value: object) -> None:
    if comment.startswith("a new state"):
        assert value is not None
    elif comment.startswith("None"):
        assert value is None
    else:
        assert value == ast.literal_eval(comment)


def test_the_verify_example_says_what_happens():
    page = (ROOT / "docs" / "verify.md").read_text(encoding="utf-8")
    (command,), (expected,) = code_blocks("sh", page), code_blocks("json", page)
    case = re.search(r"echo '(.*)' \|", command)
    assert case is not None
    verdict = json.loads(
        subprocess.run(
            [sys.executable, "-m", "fimlsp", "verify"],
            input=case[1] + "\n",
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    times = {"setup_ms", "feed_ms"}
    assert {k: v for k, v in verdict.items() if k not in times} == {
        k: v for k, v in json.loads(expected).items() if k not in times
    }
    assert times <= verdict.keys()


def test_the_readme_fits_on_two_pages():
    assert len(README.split()) <= 900


LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")
DOCUMENTS = sorted(
    {*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *GUIDES, ROOT / "datasets" / "README.md"}
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    targets = LINK.findall(document.read_text(encoding="utf-8"))
    assert [target for target in targets if not (document.parent / target).exists()] == []


def test_the_index_of_the_documentation_names_every_page():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert pages <= set(LINK.findall(index))


def test_the_reference_is_that_of_the_code():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python tests/architecture/reference_page.py"


def test_verify_needs_no_model():
    code = "import sys, fimlsp.lsp_server.command_line.verify_command\n"
    code += "print('torch' in sys.modules, 'transformers' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "False"]
