"""The description of each model on this machine, and how `fimlsp models list` shows it."""

import json

import pytest
from click.testing import CliRunner

from fimlsp.lsp_server.command_line.models_command import models
from fimlsp.models.learnt import Learnt, add_learnt, learnt_file, learnt_folder
from fimlsp.models.local_models import models_on_disk

from .. import tiny_checkpoints as c
from ..gguf_files import QWEN, write_gguf

CACHE = "Library/Caches/llama.cpp"
CODER = {"general__name": "Qwen2.5 Coder 1.5B", "general__file_type": 15, "general__license": "apache-2.0"}


@pytest.fixture
def models_of(home):
    """Writes GGUF files below the home, and lists the models of other programs."""

    def put(**files):
        for place, arguments in files.items():
            path = home / place.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            markers, values = arguments
            write_gguf(path.with_suffix(".gguf"), markers, **values)
        first, *others = models_on_disk()
        assert (first.name, first.program, first.family, first.fills_in) == (
            "",
            "fimlsp",
            "fimlsp with files",
            True,
        )
        return others

    return put


def test_files_of_other_programs(models_of):
    coder, plain = models_of(**{f"{CACHE}/coder": (QWEN, CODER), ".lmstudio/models/a/b/plain": (["<s>"], {})})
    assert (coder.name, coder.program, coder.family) == ("coder", "llama.cpp", "Qwen-Coder")
    assert (coder.precision, coder.context, coder.licence) == ("Q4_K_M", 2048, "apache-2.0")
    assert (coder.n_parameters, coder.fills_in, coder.remark) == ((len(QWEN) + 4) * 32, True, None)
    assert coder.size > coder.n_parameters
    assert (plain.name, plain.program, plain.family, plain.fills_in) == ("plain", "LM Studio", "", False)
    assert plain.remark == "it has no markers for filling in the middle"


def test_of_files_with_one_name_each_has_its_own(models_of, home):
    places = [f"{CACHE}/same", ".lmstudio/models/a/b/same", ".lmstudio/models/c/d/same"]
    names = [model.name for model in models_of(**dict.fromkeys(places, (c.DEEPSEEK, {})))]
    assert names == ["same", "lmstudio:same", str(home / f"{places[2]}.gguf")]


def test_parts_are_one_model(models_of):
    parts = {f"{CACHE}/large-0000{part}-of-00002": (c.DEEPSEEK, {}) for part in (1, 2)}
    (large,) = models_of(**parts)
    assert (large.name, large.n_parameters, large.fills_in) == ("large", 2 * (len(c.DEEPSEEK) + 4) * 32, True)


def test_what_cannot_be_used_says_why(home, models_of):
    folder = home / CACHE
    folder.mkdir(parents=True)
    (folder / "cut.gguf").write_bytes(b"GGUF\3\0\0")
    (folder / "gone.gguf").symlink_to("nowhere")
    cut, gone = models_of()
    assert (cut.fills_in, "Cannot use cut: it is cut short" in cut.remark) == (False, True)
    assert (gone.fills_in, gone.remark) == (False, "unreadable (No such file or directory)")


def test_checkpoints_of_the_hub(home):
    folder = home / "hub/models--a--b/snapshots" / ("c" * 40)
    folder.mkdir(parents=True)
    for name in ("refs", "blobs"):
        (home / "hub/models--a--b" / name).mkdir()
    (home / "hub/models--a--b/refs/main").write_text("c" * 40)
    c.make(folder, c.qwen, c.QWEN)
    _, model = models_on_disk()
    assert (model.name, model.program, model.family) == ("a/b", "the hub", "Qwen-Coder")
    assert (model.fills_in, model.remark[:34]) == (False, "its vocabulary has markers for fil")
    (folder / "config.json").unlink()
    _, model = models_on_disk()
    assert (model.fills_in, model.remark) == (
        False,
        "Cannot load a/b: it has no config.json. Give the folder of the whole checkpoint.",
    )


def run(*arguments):
    done = CliRunner().invoke(models, ["list", *arguments], catch_exceptions=False)
    return done.exit_code, done.output


def test_the_table(models_of):
    models_of(**{f"{CACHE}/coder": (QWEN, CODER), f"{CACHE}/chat": (["<s>"], {"general__name": "Chat"})})
    status, output = run()
    lines = {line.split()[0]: line for line in output.splitlines() if line.strip()}
    assert status == 0, output
    assert "yes, fimlsp" in lines["bundled"]
    assert "yes, Qwen-Coder" in lines["coder"]
    assert "no: it has no markers for filling in the middle; it was made for chat" in lines["chat"]
    assert "apache-2.0" in lines["qwen2.5-coder-0.5b"]


def test_as_json(models_of):
    models_of(**{f"{CACHE}/coder": (QWEN, CODER)})
    status, output = run("--json")
    bundled, coder = json.loads(output)["models"]
    assert (status, bundled["name"], coder["name"], coder["fills_in"]) == (0, "", "coder", True)


def test_a_name_changes_no_terminal(models_of):
    assert models_of(**{f"{CACHE}/\x1b[31mred": (QWEN, CODER)}) == []
    for arguments in ([], ["--json"]):
        assert "\x1b" not in run(*arguments)[1]


def test_counts_are_forgotten(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    add_learnt(learnt_file("key"), Learnt(places=1))
    told = [CliRunner().invoke(models, ["forget"]) for _ in range(2)]
    assert [result.exit_code for result in told] == [0, 0]
    assert "is deleted" in told[0].output
    assert "nothing was learnt" in told[1].output
    assert not learnt_folder().exists()


def test_counts_that_cannot_be_deleted_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    add_learnt(learnt_file("key"), Learnt(places=1))

    def refuse(_):
        raise PermissionError("no")

    monkeypatch.setattr("shutil.rmtree", refuse)
    result = CliRunner().invoke(models, ["forget"])
    assert result.exit_code == 1
    assert "Delete it by hand" in result.output
