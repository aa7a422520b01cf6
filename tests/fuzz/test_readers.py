"""Everything that reads text of strangers takes linear time, also for text made to be read slowly."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from fimlsp.languages.python.missing_names.import_table import ImportTable
from fimlsp.languages.python.names.code_state import state_at_end
from fimlsp.languages.python.names.symbol_tables import code_alone, leaves_open
from fimlsp.languages.python.versions import DEFAULT_VERSION
from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.interface import read_interface
from fimlsp.lsp_server.documents import LARGEST_CELL, LARGEST_DOCUMENT, OpenDocuments, TextChange
from fimlsp.lsp_server.notebook_cells import read_cell
from fimlsp.lsp_server.text_positions import Text
from fimlsp.lsp_server.worker.neighbour_texts import defined_names, imports_of, outline

from .growth import MOST, cpu_time, growth


def import_table(text):
    ImportTable.of({PurePath("a.py"): text})


def longest_line(text):
    Text(text).longest_line()


READERS = [
    read_cell,
    import_table,
    imports_of,
    code_alone,
    leaves_open,
    outline,
    defined_names,
    state_at_end,
    longest_line,
]
# what the text starts with, what is repeated, and its end
ATTACKS = [
    ("", " ", ""),
    ("", " ", "x"),
    ("x", " ", "y"),
    ("x[", " ", "%"),
    ("x.", "x.", "?x"),
    ("", "from a import(\n", ""),
    ("", "from a import(#\n", ""),
    ("", "from a import(a\n", ""),
    ("", "from . import a, (b\n", ""),
    ("from a import(", "#(\n", ""),
    ("from a import a", " ", "!"),
    ("from ", ".", " import"),
    ("x = f'''", '\\"""\n', "'''\n"),
    ("x = '''", '\\"""\n', ""),
    ("x = f'''\n", 'f"""\n', ""),
    ("", '\\"""', ""),
    ("", "\\'''", ""),
    ("", '"\\', ""),
    ("", "'\\'", "\\"),
    ('"', '\\"', "\\"),
    ("", "'\"", ""),
    ("", "f'{", ""),
    ("", "u", "'"),
    ("", "rb", ""),
    ("", "#", ""),
    ("", "(\n", ""),
    ("", "def f(", ""),
    ("", "def f\n", ""),
    ("class A:\n", " def f(\n", ""),
    ("class A:\n", " def f(\n  '\\'\n", ""),
    ("x", ":", "!"),
    ("", "x:", "!"),
    ("", "\r", ""),
    ("", "\n", ""),
    ("", "\\\n", ""),
    ("%", "%", ""),
    ("!", "?", "\\"),
    ("", "vars(", ""),
    ("vars(", " ", "!"),
    ("from a", " ", "import"),
]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_the_time_to_read_a_text_is_linear(reader):
    slow = {}
    for start, piece, end in ATTACKS:
        ratio = growth(reader, lambda n, parts=(start, piece, end): of_length(n, *parts), 30_000)
        if ratio > MOST:
            slow[start, piece, end] = ratio
    assert not slow


STATEMENTS = [
    "x = x + 1;\n",
    "if x > 0 then x = 2; end;\n",
    "do local y: number = x; end;\n",
    "while x < 0 do break; end;\n",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_time_to_check_a_script_is_linear(statement):
    interface = read_interface("", "none")
    check_script("", interface)  # the first one makes the parser

    def check(text):
        assert check_script(text, interface).faults == ()

    assert growth(check, lambda n: "local x: number = 1;\n" + statement * n, 30_000) < MOST


def of_length(n, start, piece, end):
    return f"{start}{piece * n}{end}".encode()


class EdgeOfLimits:
    """An open document of one client; `edit` types a character, whose processor time it returns."""

    def __init__(self, uri, text):
        self.documents = OpenDocuments(1, lambda _: None, lambda _: DEFAULT_VERSION)
        self.uri = uri
        self.documents.open(uri, "python", 1, text)

    def edit(self, place):
        change = TextChange((place, place), "a")
        return cpu_time(lambda changes: list(self.documents.change(self.uri, 2, changes)), [change])

    @property
    def refusal(self):
        return self.documents.find_open(self.uri).refusal


CELL, FILE = "vscode-notebook-cell:/a.ipynb#1", "file:///a.py"
# a document beyond the limits, and the reason that it gets nothing
REFUSED = [
    (CELL, " " * 300_000, "the cell is larger than 100,000 bytes"),
    (CELL, " " * 60_000, "line 1 of the cell is longer than 50,000 bytes"),
    (CELL, "x = !ls\n" * LARGEST_CELL, "the cell is larger than 100,000 bytes"),
    (FILE, " " * 60_000, "line 1 of the file is longer than 50,000 bytes"),
    (FILE, "x = 1\n" * (LARGEST_DOCUMENT // 5), "the file is larger than 8,000,000 bytes"),
]


@pytest.mark.parametrize(("uri", "text", "reason"), REFUSED)
def test_no_text_beyond_the_limits_is_read_on_the_event_loop(uri, text, reason):
    document = EdgeOfLimits(uri, text)
    assert document.edit((0, 0)) < 0.2
    assert min(document.edit((0, 1)) for _ in range(3)) < 0.02
    assert document.refusal == reason
