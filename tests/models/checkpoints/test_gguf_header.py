"""Headers of GGUF files: read as llama.cpp's own package reads them, and refused if they cannot be."""

import os
import struct
import tracemalloc

import pytest
from gguf import GGUFReader

from fimlsp.models.checkpoints.gguf import read_header
from fimlsp.models.errors import ModelError

from ..gguf_files import QWEN, write_gguf

VALUES = {
    "general__name": "Some é model",
    "general__file_type": 15,
    "general__tags": ["code", "fim"],
    "x__flag": True,
    "x__numbers": [1, 2, 3],
    "x__reals": [0.5, 2.0],
}


@pytest.fixture
def file(tmp_path):
    return write_gguf(tmp_path / "model.gguf", QWEN, "qwen2", **VALUES)


def test_it_is_read_as_by_the_package(file):
    header = read_header(file, "model")
    reader = GGUFReader(file)
    expected = {key: field.contents() for key, field in reader.fields.items() if key[:5] != "GGUF."}
    actual = {key: list(value) if isinstance(value, tuple) else value for key, value in header.values.items()}
    assert actual == expected
    assert header.size == file.stat().st_size
    assert header.n_parameters == sum(int(tensor.n_elements) for tensor in reader.tensors)


def test_values_of_other_kinds_are_not_there(file):
    header = read_header(file, "model")
    assert header.text("general.name") == "Some é model"
    assert (header.text("general.file_type"), header.text("none"), header.number("x.flag")) == ("", "", None)
    assert (header.texts("x.numbers"), header.numbers("general.tags")) == ((), ())
    assert (header.numbers("x.numbers"), header.texts("general.tags")) == ((1, 2, 3), ("code", "fim"))


def header_of(*parts, version=3, tensors=0, keys=1):
    """The bytes of a header: *keys* are announced, *parts* come."""
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys) + b"".join(parts)


def key(name, kind, data):
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + data


def array(kind, n, data=b""):
    return struct.pack("<IQ", kind, n) + data


HUGE = struct.pack("<Q", 1 << 62)
DAMAGED = {
    "empty": (b"", "cut short"),
    "other": (b"PK\3\4 and so on", "it is not a GGUF file"),
    "version 1": (header_of(version=1), "GGUF version 1 is unknown"),
    "the other byte order": (b"GGUF" + struct.pack(">I", 3), "byte order is big-endian"),
    "no keys": (header_of(), "cut short"),
    "many keys": (header_of(keys=1 << 40), "damaged"),
    "many tensors": (header_of(tensors=1 << 40, keys=0), "damaged"),
    "a long key": (header_of(HUGE), "damaged"),
    "a long string": (header_of(key(b"a", 8, HUGE)), "damaged"),
    "a string beyond the end": (header_of(key(b"a", 8, struct.pack("<Q", 1 << 20))), "cut short"),
    "a long array": (header_of(key(b"a", 9, array(4, 1 << 40))), "damaged"),
    "an array beyond the end": (header_of(key(b"a", 9, array(12, 1 << 20))), "cut short"),
    "strings beyond the end": (header_of(key(b"a", 9, array(8, 1 << 20))), "cut short"),
    "a string of strings beyond the end": (header_of(key(b"a", 9, array(8, 1, HUGE))), "cut short"),
    "arrays of arrays": (header_of(key(b"a", 9, array(9, 1))), "values of an unknown type"),
    "an unknown kind": (header_of(key(b"a", 99, b"")), "values of an unknown type"),
    "many dimensions": (header_of(struct.pack("<Q1sI", 1, b"t", 99), tensors=1, keys=0), "damaged"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_headers(case, tmp_path):
    data, words = DAMAGED[case]
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=words) as caught:
        read_header(path, "its name")
    assert "its name" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_whose_end_is_missing(file):
    os.truncate(file, file.stat().st_size - (len(QWEN) + 4) * 32 * 4)
    with pytest.raises(ModelError, match="its end is missing"):
        read_header(file, "model")


def test_what_is_no_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, "/dev/zero"):
        with pytest.raises(ModelError, match=r"not a regular file|Cannot read"):
            read_header(path, "model")
    with pytest.raises(ModelError, match="Cannot read"):
        read_header(tmp_path / "none", "model")


def test_a_large_file_of_nothing_takes_no_memory(tmp_path):
    """A header that announces four million strings, in a file of 16 GB."""
    path = tmp_path / "model.gguf"
    path.write_bytes(header_of(*[key(b"a", 9, array(8, 1 << 22))] * 2, keys=2))
    os.truncate(path, 1 << 34)
    tracemalloc.start()
    with pytest.raises(ModelError, match="damaged"):
        read_header(path, "model")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200 << 20
