"""Cells of notebooks as Python of the same length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.lsp_server.notebook_cells import is_script, read_cell, read_script

# a cell, and the Python that is read
CELLS = [
    ("%matplotlib inline\nx = 1", "0#atplotlib inline\nx = 1"),
    ("%%time\nx = 1", "0#time\nx = 1"),
    ("x = !ls\nif a:\n    !\n", "x = 0#s\nif a:\n    0\n"),
    ("x = (a\n % b)\n", "x = (a\n % b)\n"),
    ("'''\n%x\n'''\n%y", "'''\n%x\n'''\n0#"),
    ("a \\\n%b\n", "a \\\n%b\n"),
    ("np.sum?\nfoo??\n?foo\n", "np.sum#\nfoo##\n0#oo\n"),
    ("x %= 3\ny != z\n'%'\n# %x", "x %= 3\ny != z\n'%'\n# %x"),
    ("!echo 'it''s'\nx = '''a", "0#cho 'it''s'\nx = '''a"),
    ("x = ']' # (\n%y\r\nz", "x = ']' # (\n0#\r\nz"),
    ("", ""),
]


@pytest.mark.parametrize(("cell", "python"), CELLS)
def test_commands_of_ipython_become_expressions_of_the_same_length(cell, python):
    assert read_cell(cell.encode()).data.decode() == python


def test_cells_in_other_languages():
    assert read_cell(b"\n%%bash -e\nls").language == "%%bash -e"
    assert read_cell(b"x\n%%bash").language is None


# a script of cells, and the Python that is read
SCRIPTS = [
    ("# %%\n%matplotlib inline\nx", "# %%\n0#atplotlib inline\nx"),
    ("# %% [markdown]\n# Text, 5 %.\n# %%\nx", "# %% [markdown]\n# Text, 5 %.\n# %%\nx"),
    ("#%%\n%%bash\n  ls\n\n-\n# %% more\nx?", "#%%\n0#bash\n0#ls\n\n0\n# %% more\nx#"),
    ("# %%\n# %matplotlib inline\n", "# %%\n# %matplotlib inline\n"),
    ("# In[1]:\n!ls\n", "# In[1]:\n0#s\n"),
    ("a = (\n# %%\n%b", "a = (\n# %%\n0#"),
]


@pytest.mark.parametrize(("script", "python"), SCRIPTS)
def test_scripts_of_cells(script, python):
    assert is_script(script.encode())
    assert read_script(script.encode()).data.decode() == python


@pytest.mark.parametrize("text", ["", "x %% y", "# 5 %% of", "# %%time\nx", "x # %%", "  # %%", "# In[a]"])
def test_other_files_are_no_scripts_of_cells(text):
    assert not is_script(text.encode())


@given(st.binary(max_size=30).map(lambda data: bytes(b"%!?x= ('\"\n\\"[byte % 11] for byte in data)))
def test_a_cell_keeps_its_length_and_its_lines(data):
    check_length_and_lines(read_cell(data), data)


@given(st.binary(max_size=40).map(lambda data: bytes(b"#%!?x= ('\"\n\n\\"[byte % 13] for byte in data)))
def test_a_script_of_cells_does_so_too(data):
    check_length_and_lines(read_script(data), data)


def check_length_and_lines(cell, data):
    assert (len(cell.data), cell.data.count(b"\n")) == (len(data), data.count(b"\n"))
    assert all(0 <= start < end <= len(data) for start, end in cell.commands)
