import gzip
import json
import sysconfig
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from fimlsp.datasets.languages.json_and_toml import JSON
from fimlsp.datasets.languages.python import PYTHON
from fimlsp.datasets.sources import Excluded, Filters, Source, SourceEntry, SourceError, SourceFile

TEXTS = ["a = 1\n", "b = 'é'\r\n", ""]
ROWS = [{"content": text, "lang": "Python", "size": n} for n, text in enumerate(TEXTS)]


def write_parquet(path, rows=ROWS):
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), path)


def write_lines(path, rows=ROWS, pack=lambda data: data):
    path.write_bytes(pack("".join(json.dumps(row) + "\n" for row in rows).encode()))


def zstd(data):
    return pa.compress(data, "zstd", asbytes=True)


def contents(source):
    return [entry.content for entry in Source(str(source), PYTHON).files()]


def problems(source):
    return [
        (entry.name, entry.problem) for entry in Source(str(source), PYTHON).files() if entry.content is None
    ]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("shard.parquet", write_parquet),
        ("shard.jsonl", write_lines),
        ("shard.jsonl.gz", lambda path: write_lines(path, pack=gzip.compress)),
        ("shard.jsonl.zst", lambda path: write_lines(path, pack=zstd)),
    ],
)
def test_a_shard_is_read_row_by_row(tmp_path, name, write):
    write(tmp_path / name)
    entries = list(Source(str(tmp_path / name), PYTHON).files())
    assert [entry.content for entry in entries] == TEXTS
    assert [entry.name for entry in entries] == [f"{name}#{n}" for n in range(3)]
    assert {entry.language for entry in entries} == {"Python"}


def test_shards_of_several_frames_are_read_to_their_end(tmp_path):
    line = json.dumps(ROWS[0]).encode() + b"\n"
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(line) + gzip.compress(line))
    (tmp_path / "b.jsonl.zst").write_bytes(zstd(line) * 2)
    assert contents(tmp_path) == [TEXTS[0]] * 4


def test_a_folder_has_its_python_files_and_shards_by_name(tmp_path):
    for name in ["b/c.py", "a.py", "tests/d.py", "b/__pycache__/e.py", "f.txt"]:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(f"# {name}\n")
    write_parquet(tmp_path / "b" / "shard.parquet")
    names = [entry.name for entry in Source(str(tmp_path), PYTHON).files()]
    base = tmp_path.name
    assert names == [f"{base}/a.py", f"{base}/b/c.py", *(f"{base}/b/shard.parquet#{n}" for n in range(3))]
    assert Source(str(tmp_path), PYTHON).n_files() == 5
    write_lines(tmp_path / "more.jsonl")
    assert Source(str(tmp_path), PYTHON).n_files() is None


def test_a_folder_has_the_files_of_the_language_that_is_asked_for(tmp_path):
    for name in ["a.json", "b.ipynb", "c.py", "package.json.bak"]:
        (tmp_path / name).write_text("[1]")
    names = [entry.name for entry in Source(str(tmp_path), JSON).files()]
    assert names == [f"{tmp_path.name}/a.json", f"{tmp_path.name}/b.ipynb"]
    with pytest.raises(SourceError, match=r"neither a file \*\.json or \*\.ipynb nor"):
        Source(str(tmp_path / "c.py"), JSON).check()


def test_the_interpreter_is_a_source():
    names = [entry.name for entry in Source("stdlib/json", PYTHON).files()]
    assert "stdlib/json/decoder.py" in names
    assert not any("test" in name for name in names)
    assert contents("stdlib/json/__init__.py") == [
        Path(sysconfig.get_path("stdlib"), "json/__init__.py").read_text(encoding="utf-8")
    ]
    assert any(
        entry.name == "site-packages/click/core.py" for entry in Source("site-packages/click", PYTHON).files()
    )


@pytest.mark.parametrize("source", ["nowhere", "stdlib/nothing_of_that_name", "notes.txt", "table.csv.gz"])
def test_what_is_no_source_is_refused(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("a")
    (tmp_path / "table.csv.gz").write_text("a")
    with pytest.raises(SourceError, match=r"\.$"):
        Source(source, PYTHON).check()


BAD_LINES = {
    "not JSON": (b"{content: 1}\n", "line is not JSON"),
    "not UTF-8": (b'{"content": "\xff"}\n', "not UTF-8"),
    "no such column": (b'{"text": "a"}\n', "no text in `content`"),
    "not a text": (b'{"content": 7}\n', "no text in `content`"),
    "not an object": (b"[1]\n", "no text in `content`"),
    "5 MB": (b'{"content": "' + b"a" * 5_000_000 + b'"}\n', "line too long"),
    "13 MB": (b'{"content": "' + b"a" * 13_000_000 + b'"}\n', "line too long"),
    "deep": (b"[" * 100_000 + b"\n", "line is not JSON"),
}


@pytest.mark.parametrize(("line", "reason"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_told_and_the_rest_is_read(tmp_path, line, reason):
    good = json.dumps(ROWS[0]).encode() + b"\n"
    (tmp_path / "a.jsonl").write_bytes(good + line + good)
    assert problems(tmp_path / "a.jsonl") == [("a.jsonl#1", reason)]
    assert contents(tmp_path / "a.jsonl") == [TEXTS[0], None, TEXTS[0]]


def damaged(folder):
    write_parquet(folder / "a.parquet")
    data = (folder / "a.parquet").read_bytes()
    (folder / "a.parquet").write_bytes(data[: len(data) // 2])


def other_columns(folder):
    write_parquet(folder / "a.parquet", [{"text": "a", "id": 1}])


def torn(folder):
    write_lines(folder / "a.jsonl.gz", pack=lambda data: gzip.compress(data)[:-12])


def not_packed(folder):
    write_lines(folder / "a.jsonl.zst")


def not_utf8(folder):
    (folder / "a.py").write_bytes(b"a = '\xff'\n")


def empty(folder):
    (folder / "a.parquet").write_bytes(b"")


def odd_column(folder):
    binary = pa.array([b"a = 1", b"\xff"], pa.binary())
    pyarrow.parquet.write_table(pa.table({"content": binary}), folder / "a.parquet")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (damaged, "shard cannot be read"),
        (empty, "shard cannot be read"),
        (torn, "shard cannot be read"),
        (not_packed, "shard cannot be read"),
        (other_columns, "no column `content`"),
        (odd_column, "no text in `content`"),
        (not_utf8, "not UTF-8"),
    ],
    ids=lambda part: getattr(part, "__name__", None),
)
def test_a_bad_file_is_told_and_the_rest_is_read(tmp_path, make, reason):
    make(tmp_path)
    (tmp_path / "z.py").write_text("z\n")
    assert {problem for _, problem in problems(tmp_path)} == {reason}
    assert contents(tmp_path)[-1] == "z\n"
    assert Source(str(tmp_path), PYTHON).n_files() in (None, 2, 3)


ENTRIES = {
    "another language": (SourceEntry("a", "a", language="Java"), "another language"),
    "too large": (SourceEntry("a", "é" * 51), "larger than 100 bytes"),
    "lone surrogate": (SourceEntry("a", "a = '\ud800'"), "not UTF-8"),
    "Python 2": (SourceEntry("a", "print 1", language="Python"), "does not parse"),
    "null": (SourceEntry("a", "a\0"), "does not parse"),
    "deep": (SourceEntry("a", "-" * 99 + "("), "does not parse"),
}


@pytest.mark.parametrize(("entry", "reason"), ENTRIES.values(), ids=ENTRIES)
def test_what_is_left_out_has_a_reason(entry, reason):
    file = Filters(bytes_max=100).identify(entry)
    excluded = Filters().check_valid(file) if isinstance(file, SourceFile) else file
    assert isinstance(excluded, Excluded)
    assert excluded.reason == reason
    assert excluded.detail


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (SourceEntry("a", "[1,]"), "does not parse"),
        (SourceEntry("a", "NaN", language="JSON"), "does not parse"),
        (SourceEntry("a", "1", language="Python"), "another language"),
        (SourceEntry("a", "[1]", language="JSON"), None),
    ],
)
def test_files_of_json_are_checked_as_json(entry, reason):
    filters = Filters(JSON)
    file = filters.identify(entry)
    checked = filters.check_valid(file) if isinstance(file, SourceFile) else file
    assert getattr(checked, "reason", None) == reason


@pytest.mark.parametrize("content", ["a", "", "'\\d'", "a = 1\r\nb", "def f(: pass" * 0 + "match = 1"])
def test_what_parses_is_taken(content):
    file = Filters().identify(SourceEntry("a", content, language="PYTHON"))
    assert Filters().check_valid(file) is file
    assert file.text == content.replace("\r\n", "\n") + "\n"
    assert file.content == file.text[:-1]


def test_a_row_is_named_after_the_file_it_came_from(tmp_path):
    row = {"content": "a", "max_stars_repo_path": "src/a.py"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    (entry,) = Source(str(tmp_path / "a.jsonl"), PYTHON).files()
    assert entry.name == "a.jsonl#0 src/a.py"


def test_a_shard_without_contents_is_refused_with_what_it_has(tmp_path):
    pyarrow.parquet.write_table(pa.table({"text": ["a"], "lang": ["x"]}), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text('{"text": "a"}\n')
    for name, columns in (("a.parquet", "text, lang"), ("b.jsonl", "text")):
        with pytest.raises(SourceError, match=f"no column `content`; it has {columns}"):
            Source(str(tmp_path / name), PYTHON).check()
    Source(str(tmp_path), PYTHON).check()
