"""Tables of masks on disk: the next process gets the same masks from them, and damaged files do no harm."""

import logging
import os
import random

import numpy as np
import pytest

from fimlsp import Vocabulary
from fimlsp.quotient.masks import disk_cache, suffixes, vocabulary
from fimlsp.quotient.masks.token_groups import LexedSuffixes, Split

from .sources import random_states, random_texts, source

LANGUAGES = ["python", "json", "lua", "go", "calculator", "places"]
ARRAYS = {"some": np.arange(5, dtype=np.uint16), "none": np.zeros((0, 3), np.int32), "all": np.ones((2, 2))}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vocabulary, "_LEAST_CACHED", 0)
    return tmp_path / "fimlsp" / "masks"


def refuse(*_):
    raise AssertionError("made although it was cached")


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_next_process_has_the_same_masks_without_making_anything(name, folder, monkeypatch):
    rng = random.Random(name)
    texts = [*random_texts(rng, source(name), 300), b"\xc3", b"f'", b"((", b"\n\t "]
    states = list(random_states(rng, name, texts, 60))
    first = Vocabulary(texts)
    expected = [state.mask(first) for state in states]
    cached = {path.name for path in folder.iterdir()}
    for table in (Split, LexedSuffixes):
        monkeypatch.setattr(table, "arrays", refuse)
    monkeypatch.setattr(suffixes, "numbered_suffixes", refuse)
    again = Vocabulary(texts)
    for state, words in zip(states, expected, strict=True):
        assert np.array_equal(state.mask(again), words)
    assert {path.name for path in folder.iterdir()} == cached


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
    disk_cache.save("name", ARRAYS, compressed=compressed)
    loaded = disk_cache.load("name", lambda arrays: arrays)
    assert loaded.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (loaded[name].dtype, loaded[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(loaded[name], array)
    assert disk_cache.load("another", refuse) is None
    with pytest.raises(ValueError, match="read-only"):
        loaded["some"][0] = 1


DAMAGES = [
    lambda content: content[:-1],
    lambda content: content[:-1] + bytes((content[-1] ^ 1,)),
    lambda content: content[32:],
    lambda _: b"",
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_deleted_and_the_log_says_so(damage, folder, caplog):
    disk_cache.save("name", ARRAYS)
    (folder / "name").write_bytes(damage((folder / "name").read_bytes()))
    with caplog.at_level(logging.WARNING, disk_cache.__name__):
        assert disk_cache.load("name", refuse) is None
    assert "was deleted" in caplog.text
    assert not (folder / "name").exists()


def test_a_file_that_its_reader_cannot_use_is_deleted(folder):
    disk_cache.save("name", ARRAYS)
    assert disk_cache.load("name", lambda arrays: arrays["missing"]) is None
    assert not (folder / "name").exists()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "fimlsp").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    disk_cache.save("name", ARRAYS)
    assert disk_cache.load("name", refuse) is None


def test_the_least_recently_read_file_is_deleted_first(folder, monkeypatch):
    for age, name in enumerate(("new", "old", "read")):
        disk_cache.save(name, ARRAYS)
        os.utime(folder / name, (10 - age, 10 - age))
    assert disk_cache.load("read", lambda arrays: len(arrays)) == 3
    size = (folder / "new").stat().st_size
    monkeypatch.setattr(disk_cache, "MOST_BYTES", 3 * size)
    disk_cache.save("newest", ARRAYS)
    assert {path.name for path in folder.iterdir()} == {"new", "read", "newest"}
