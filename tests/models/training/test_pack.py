"""Releases become a pack of tokens, and its rows are examples as an editor cuts them."""

import json
import random
from zipfile import ZipFile

import pytest
from click.testing import CliRunner

from fimlsp.models.errors import ModelError
from fimlsp.models.training import building, examples, sources
from fimlsp.models.training.command import train
from fimlsp.models.training.corpus import SourceFile
from fimlsp.models.training.examples import (
    MIX,
    Examples,
    Parts,
    bound_below,
    bound_name,
    in_brackets,
    train_tokenizer,
)
from fimlsp.models.training.measure import HeldOut, with_suffix
from fimlsp.models.training.network import Transformer
from fimlsp.models.training.pack import faults_of, make_pack, read_pack, write_pack

from .test_training import OTHER, TEXTS, of_package

TOKENIZER = train_tokenizer(TEXTS, 400)
OLD = "import os\n\n\ndef first():\n    return 1\n\n\ndef last():\n    return os.sep\n"
NEW = OLD.replace("1", "2") + "\n\ndef added(é):\n    return é\n"


def text_of(ids):
    return TOKENIZER.decode(list(ids), skip_special_tokens=False)


def pack_of(*names, split="train", earlier=None):
    texts = dict(zip("abcdefgh", TEXTS, strict=True)) | {"new": NEW, "other": OTHER}
    files = [SourceFile("package", f"package/{name}.py", texts[name], split) for name in names]
    return make_pack(
        TOKENIZER, files, {f"package/{name}.py": text for name, text in (earlier or {}).items()}, {}
    )


def test_a_pack_is_read_as_it_was_written(tmp_path):
    pack = pack_of("a", "b", "new", earlier={"new": OLD})
    write_pack(pack, tmp_path)
    read = read_pack(tmp_path)
    assert [read.text(document) for document in read.documents] == [TEXTS[0], TEXTS[1], NEW, OLD]
    assert (read.documents, read.edits) == (pack.documents, pack.edits)
    assert [file.text for file in read.files("train")] == [TEXTS[0], TEXTS[1], NEW]
    assert not list(faults_of(read))


@pytest.mark.parametrize("name", ["tokens.xz", "documents.json.xz", "tokenizer.json", "manifest.json"])
def test_a_damaged_pack_is_refused(tmp_path, name):
    write_pack(pack_of("a"), tmp_path)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[:-9] + b"x" * 9)
    with pytest.raises(ModelError, match="Make it again with `fimlsp train pack`"):
        read_pack(tmp_path)


def test_hunks_lie_between_code_and_line_ends():
    pack = pack_of("new", earlier={"new": OLD})
    (edit,) = pack.edits
    new, old = (pack.documents[number] for number in (edit.new, edit.old))
    hunks = [
        (
            text_of(pack.tokens[new.start + start : new.start + stop]),
            text_of(pack.tokens[old.start + kept : old.stop]),
            text_of(pack.tokens[old.start + replaced : old.stop]),
        )
        for start, stop, kept, replaced in edit.hunks
    ]
    last = "\n\n\ndef last():\n    return os.sep\n"
    assert hunks == [("return 2", f"\n    return 1{last}", last), ("def added(é):\n    return é", "\n", "\n")]


@pytest.mark.parametrize("kind", [kind for kind in MIX if kind not in ("text", "edit")])
@pytest.mark.parametrize("seed", range(20))
def test_a_cut_joins_to_its_file(kind, seed):
    pack = pack_of("a")
    drawn = Examples(pack, random.Random(seed), kinds=(kind,))
    parts = drawn.cut(400, kind)
    joined = "".join(map(text_of, (parts.before, parts.middle, parts.after)))
    assert joined in TEXTS[0]
    assert len(joined) > len(TEXTS[0]) / 2 or TEXTS[0].endswith(joined)


@pytest.mark.parametrize("seed", range(30))
def test_an_edit_has_the_new_text_above_and_the_old_below(seed):
    pack = pack_of("new", earlier={"new": OLD})
    parts = Examples(pack, random.Random(seed), kinds=("edit",)).edit(400)
    above, middle, below = map(text_of, (parts.before, parts.middle, parts.after))
    assert NEW.startswith(above + middle)
    assert OLD.endswith(below)
    assert below.startswith("\n")


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("length", [200, 600])
def test_rows_have_their_length(seed, length):
    pack = pack_of(*"abcdefgh", "new", earlier={"new": OLD})
    drawn = Examples(pack, random.Random(seed))
    row = drawn.row(length)
    assert len(row) == length
    assert row.count(drawn.markers.pad) < length / 2


def test_an_example_is_suffix_prefix_middle():
    drawn = Examples(pack_of("a"), random.Random(1))
    parts = Parts(drawn.encode("a = "), drawn.encode("b"), drawn.encode("\n"), drawn.documents[0])
    example = drawn.join(parts, 48)
    texts = [text_of([token]) for token in example.ids]
    assert texts == ["<|right|>", "\n", "<|left|>", "a", " =", " ", "b", "<|endoftext|>"]
    assert texts[example.middle] == "b"


def test_other_files_stand_before_the_prefix(monkeypatch):
    monkeypatch.setattr(examples, "FILES_RATE", 1.0)
    drawn = Examples(pack_of(*"abc"), random.Random(0), kinds=("hole",))
    (text,) = (text_of(drawn.example(600).ids) for _ in range(1))
    assert text.startswith("<|right|>")
    between = text.partition("<|left|>")[2]
    assert between.startswith("<|file|>package/")
    assert between.count("<|file|>") in (2, 3)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("    total = 0", "total"),
        ("def run(self):", "run"),
        ("class A:", "A"),
        ("for row in rows:", "row"),
        ("import json", "json"),
        ("from a import b", "b"),
        ("from a import b, c", None),
        ("a.b = 1", None),
        ("return", None),
        ("if x == 1:", None),
    ],
)
def test_bound_names(line, name):
    assert bound_name(line) == name


@pytest.mark.parametrize(
    ("text", "middle"),
    [
        ("x = 1\nif a:\n    total = 0\n\nprint(total)\nreturn x2\n", "total = 0"),
        ("total = 0\n\nprint(totals)\n", None),
        ("print(total)\ntotal = 0\n\nprint(total)\n", None),
    ],
)
def test_lines_that_the_text_below_decides(text, middle):
    span = bound_below(text, random.Random(0))
    assert (text[slice(*span)] if span else None) == middle


@pytest.mark.parametrize("seed", range(10))
def test_contents_of_brackets_reach_to_their_end(seed):
    text = "f(a, [b, c])\ng(\n    d,\n)\n)] x()"
    start, end = in_brackets(text, random.Random(seed))
    assert text[start:end].count("[") <= text[start:end].count("]") + 1
    assert text[end] in ")]"
    assert in_brackets("()] x", random.Random(seed)) is None


# Licences and lists


@pytest.mark.parametrize(
    ("licence", "permissive"),
    [
        ("MIT", True),
        ("BSD-3-Clause", True),
        ("Apache-2.0 AND MIT", True),
        ("MIT OR GPL-3.0-or-later", True),
        ("GPL-2.0 OR MPL-2.0", False),
        ("GNU LGPL, with parts under MIT", False),
        ("Mozilla Public License 2.0 (MPL 2.0)", False),
        ("License", False),
        ("unknown", False),
    ],
)
def test_licences(licence, permissive):
    assert sources.is_permissive(licence) is permissive


@pytest.mark.parametrize("line", ["name", "name>=1", "--index-url=x==1", "a==", "a b==1"])
def test_a_line_that_is_no_pin(tmp_path, line):
    (tmp_path / "list.txt").write_text(f"# a comment\n\na==1  # MIT\n{line}\n")
    with pytest.raises(ModelError, match=r"Cannot read line 4 .* Write `name==version"):
        sources.read_list(tmp_path / "list.txt")


def wheel(folder, name, version, texts, licence="MIT"):
    with ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(
            f"{name}-{version}.dist-info/METADATA", f"Name: {name}\nLicense: {licence}\n\nText\n"
        )
        for path, text in texts.items():
            archive.writestr(path, text)


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder of wheels, and lists of them; pip finds nothing else."""
    monkeypatch.setattr(sources, "_download", lambda *_: False)
    monkeypatch.setattr(examples, "TOKENIZER_PASSAGES", 20)
    folder = tmp_path / "wheels"
    folder.mkdir()
    old = dict(zip([f"one/{name}.py" for name in "abcd"], map(of_one, TEXTS), strict=False))
    wheel(folder, "one", "1.9", old)
    new = {**old, "one/a.py": old["one/a.py"] + "\n\nadded_later = Circlea(1)\n", "../out.py": OTHER}
    wheel(folder, "one", "1.10", {**new, "one/fork.py": of_package("kept", TEXTS[0]), "one/run.py": "x ="})
    wheel(folder, "kept", "1", {"kept/a.py": of_package("kept", TEXTS[0])})
    wheel(folder, "closed", "1", {"closed/b.py": of_package("closed", TEXTS[1])}, "GPL-3.0")
    wheel(folder, "copyleft", "1", {"copyleft/b.py": of_package("copyleft", TEXTS[1])}, "GPL-3.0")
    wheel(folder, "copy", "1", {"copy/b.py": of_package("closed", TEXTS[1]) + "\nmine = 1\n"})
    (tmp_path / "list.txt").write_text("one==1.9\none==1.10\ncopyleft==1\ncopy==1\nabsent==3\n")
    (tmp_path / "held_out.txt").write_text("kept==1\nclosed==1\n")
    return tmp_path


def of_one(text):
    return of_package("one", text)


def packed(index, *more):
    options = ["--held-out", str(index / "held_out.txt"), "--downloads", str(index / "wheels")]
    command = [
        "pack",
        str(index / "list.txt"),
        "-o",
        str(index / "pack"),
        *options,
        "--vocabulary",
        "400",
        *more,
    ]
    return CliRunner().invoke(train, command)


def test_releases_become_a_pack(index):
    done = packed(index)
    assert done.exit_code == 0, done.output
    pack = read_pack(index / "pack")
    paths = {(document.path, document.split) for document in pack.documents}
    assert paths >= {("kept/a.py", "ood"), ("one/a.py", "train"), ("one/a.py", "earlier")}
    assert {path.partition("/")[0] for path, _ in paths} == {"kept", "one"}
    assert "one/fork.py" not in {path for path, _ in paths}
    (edit,) = pack.edits
    assert pack.documents[edit.new].path == "one/a.py"
    left_out = pack.manifest["left_out"]
    assert left_out["licence not known to be permissive"] == ["copyleft==1"]
    assert left_out["not on the index as a wheel"] == ["absent==3"]
    assert left_out["bytes of files"]["repeats held-out packages"] > 0
    assert {
        (source["name"], source["version"], source["licence"]) for source in pack.manifest["sources"]
    } == {
        ("one", "1.10", "MIT"),
        ("copy", "1", "MIT"),
    }
    assert not (index / "out.py").exists()


def test_a_pack_is_made_to_fit_and_checked(index):
    assert packed(index).exit_code == 0
    whole = sum(path.stat().st_size for path in (index / "pack").iterdir())
    assert packed(index, "--mib", str((whole - 100) / 2**20)).exit_code == 0
    assert sum(path.stat().st_size for path in (index / "pack").iterdir()) < whole
    checked = packed(index, "--check")
    assert checked.exit_code == 0, checked.output
    manifest = index / "pack" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["sources"][0]["licence"] = "GPL-3.0"
    manifest.write_text(json.dumps(content))
    checked = packed(index, "--check")
    assert (checked.exit_code, "not known to be permissive: GPL-3.0" in checked.output) == (1, True)


def test_a_check_finds_copies_and_tokens_of_another_tokenizer():
    shared = of_package("kept", TEXTS[0]).splitlines(keepends=True)
    files = [
        SourceFile("kept", "kept/a.py", of_package("kept", TEXTS[0]), "ood"),
        SourceFile("one", "one/copy.py", of_package("kept", TEXTS[0]), "train"),
        SourceFile("one", "one/line.py", max(shared, key=len), "train"),
    ]
    pack = make_pack(TOKENIZER, files, {}, {})
    assert list(faults_of(pack)) == ["one/copy.py repeats held-out packages."]
    other = type(pack)(pack.tokenizer, pack.tokens + 390, pack.documents, pack.edits)
    assert "The documents are not those of the tokens." in list(faults_of(other))


def test_large_packages_are_cut_to_one_size():
    files = [
        SourceFile(f"p{size}", f"p{size}/{n}.py", "x" * 10, "train")
        for size in (1, 3, 9)
        for n in range(size)
    ]
    size = building.package_max_of(files, 70)
    assert size == 30
    kept = building.cut_packages(files, size, {"p9/8.py": ""})
    assert [sum(file.package == name for file in kept) for name in ("p1", "p3", "p9")] == [1, 3, 3]
    assert "p9/8.py" in {file.name for file in kept}, "files that changed come first"


# Measures while training


def test_held_out_measures_of_a_network_that_knows_nothing():
    from fimlsp.models.training.checkpoint import Sizes, new

    pack = pack_of(*"abcd", "new", split="ood", earlier={"new": OLD})
    model = new(Sizes(width=64, layers=1), TOKENIZER)
    assert isinstance(model, Transformer)
    measures = HeldOut(pack, 128, 4).measure(model)
    assert set(measures) == {"text", "hole", "edit", "suffix"}
    assert 1 < measures["text"] < 9
    assert abs(measures["suffix"]) < 0.1, "a network that reads nothing does not read the suffix"
    assert HeldOut(pack_of("a"), 128, 4).measure(model) == {}


@pytest.mark.parametrize("seed", range(10))
def test_another_suffix_leaves_prefix_and_middle(seed):
    drawn = Examples(pack_of(*"abcdefgh"), random.Random(seed), kinds=("hole",))
    one, other = drawn.example(200), drawn.example(200)
    swapped = with_suffix(one, other, drawn.markers.left)
    own = one.ids.index(drawn.markers.left)
    assert swapped.ids[swapped.ids.index(drawn.markers.left) :] == one.ids[own:]
    assert swapped.ids[swapped.middle :] == one.ids[one.middle :]
    assert len(swapped.ids) <= len(one.ids)
