"""What a recorded model is told of other files: those of its package, as a server would."""

from pathlib import Path

import pytest

from fimlsp.datasets.shown.cursors import EditedFile
from fimlsp.datasets.shown.recording import Projects
from fimlsp.datasets.sources.source_file import SourceFile

TEXTS = {
    "one/a.py": "alpha = first_name\n",
    "one/sub/b.py": "beta = second_name\n",
    "two/c.py": "gamma = third_name\n",
    "alone.py": "delta = fourth_name\n",
}
FILES = {name: EditedFile(SourceFile.of(name, text), Path("/nowhere") / name) for name, text in TEXTS.items()}

# a file, what is written in it, and what follows that in other files of its package
FOLLOWED = [
    ("one/a.py", "beta = ", ["second_name\n"]),
    ("one/sub/b.py", "alpha = ", ["first_name\n"]),
    ("one/a.py", "alpha = ", []),
    ("one/a.py", "gamma = ", []),
    ("two/c.py", "alpha = ", []),
    ("alone.py", "delta = ", []),
]


@pytest.mark.parametrize(("name", "written", "expected"), FOLLOWED)
def test_what_stands_elsewhere(name, written, expected):
    found = Projects(list(FILES.values())).elsewhere(FILES[name]).after(written.encode())
    assert [each.text.decode() for each in found if each.agreement == len(written)] == expected
