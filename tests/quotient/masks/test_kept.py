"""What is kept on disk of masks: the next process has the same masks from it, and damage does no harm."""

import logging
import os
import random

import numpy as np
import pytest

from fimlsp import Vocabulary
from fimlsp.quotient.masks import array_files, vocabulary
from fimlsp.quotient.masks.kept import kept_tables
from fimlsp.quotient.masks.texts.suffixes import Suffixes

from .sources import random_states, random_texts, source

LANGUAGES = ["python", "json", "lua", "go", "calculator"]
ARRAYS = {"some": np.arange(5, dtype=np.uint16), "none": np.zeros((0, 3), np.int32), "all": np.ones((2, 2))}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vocabulary, "_WORTH_KEEPING", 0)
    return tmp_path / "fimlsp" / "masks"


def refuse(*_):
    raise AssertionError("made although it was kept")


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_next_process_has_the_same_masks_without_making_anything(name, folder, monkeypatch):
    rng = random.Random(name)
    texts = [*random_texts(rng, source(name), 300), b"\xc3", b"f'", b"((", b"\n\t "]
    states = list(random_states(rng, name, texts, 60))
    first = Vocabulary(texts)
    expected = [state.mask(first) for state in states]
    kept = {path.name for path in folder.iterdir()}
    for to_arrays in ("split_arrays", "suffix_arrays"):
        monkeypatch.setattr(kept_tables, to_arrays, refuse)
    monkeypatch.setattr(Suffixes, "_numbered", refuse)
    again = Vocabulary(texts)
    for state, words in zip(states, expected, strict=True):
        assert np.array_equal(state.mask(again), words)
    assert {path.name for path in folder.iterdir()} == kept


def test_another_vocabulary_has_other_files(folder):
    Vocabulary([b"a", b"b"]).prepare()
    parts = len([*folder.iterdir()])
    others = (Vocabulary([b"a", b"c"]), Vocabulary([b"b", b"a"]), Vocabulary([b"a", b"b"], stops=[0]))
    for count, other in enumerate(others, 2):
        other.prepare()
        assert len([*folder.iterdir()]) == count * parts


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("compressed", [False, True])
def test_arrays_come_back_as_they_were(compressed):
    array_files.keep("name", ARRAYS, compressed=compressed)
    found = array_files.found("name", lambda arrays: arrays)
    assert found.keys() == ARRAYS.keys()
    for name, each in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (each.dtype, each.shape)
        assert np.array_equal(found[name], each)
    assert array_files.found("another", refuse) is None
    with pytest.raises(ValueError, match="read-only"):
        found["some"][0] = 1


DAMAGES = [
    lambda content: content[:-1],
    lambda content: content[:-1] + bytes((content[-1] ^ 1,)),
    lambda content: content[32:],
    lambda _: b"",
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_dropped_and_the_log_says_so(damage, folder, caplog):
    array_files.keep("name", ARRAYS)
    (folder / "name").write_bytes(damage((folder / "name").read_bytes()))
    with caplog.at_level(logging.WARNING, array_files.__name__):
        assert array_files.found("name", refuse) is None
    assert "is dropped" in caplog.text
    assert not (folder / "name").exists()


def test_what_its_reader_cannot_make_sense_of_is_dropped(folder):
    array_files.keep("name", ARRAYS)
    assert array_files.found("name", lambda arrays: arrays["missing"]) is None
    assert not (folder / "name").exists()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "fimlsp").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    array_files.keep("name", ARRAYS)
    assert array_files.found("name", refuse) is None


def test_what_was_not_read_for_longest_goes_first(folder, monkeypatch):
    for age, name in enumerate(("new", "old", "read")):
        array_files.keep(name, ARRAYS)
        os.utime(folder / name, (10 - age, 10 - age))
    assert array_files.found("read", lambda arrays: len(arrays)) == 3
    size = (folder / "new").stat().st_size
    monkeypatch.setattr(array_files, "MOST_BYTES", 3 * size)
    array_files.keep("newest", ARRAYS)
    assert {path.name for path in folder.iterdir()} == {"new", "read", "newest"}
