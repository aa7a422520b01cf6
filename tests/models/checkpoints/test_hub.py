"""Hub models: found on this machine, listed, and fetched only when somebody asks."""

import fcntl
import os
import struct
import subprocess
import sys
import termios
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from fimlsp.lsp_server.command_line.models_command import models
from fimlsp.models.catalogue import KNOWN_GGUF
from fimlsp.models.checkpoints.hub import find_folder, find_on_command_line
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import load_model
from fimlsp.models.remote.completions import has_tokenizer

from .. import tiny_checkpoints as c
from .fake_hub import COMMIT, NAME

WANTED = ["config.json", "model.safetensors", "tokenizer.json"]


def run(*arguments):
    """`fimlsp models` with *arguments*; its exit status and output."""
    done = CliRunner().invoke(models, arguments, catch_exceptions=False)
    return done.exit_code, done.output


def fetched(hub):
    """Names of the files whose content was requested."""
    return [path.rpartition("/")[2] for verb, path in hub.asked if verb == "GET" and "resolve" in path]


def test_a_model_is_fetched_from_the_hub_that_the_environment_names(hub, tmp_path):
    settings = {
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_DISABLE_XET": "1",
    }
    command = [sys.executable, "-m", "fimlsp", "models", "pull", NAME]
    screen, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    environment = os.environ | settings
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=terminal, check=False)
    os.close(terminal)
    shown = os.read(screen, 100_000)
    os.close(screen)
    assert done.returncode == 0, shown
    assert b"100%" in shown
    assert COMMIT.encode() in done.stdout
    assert sorted(fetched(hub)) == WANTED, "neither pickles nor code"


def test_what_was_fetched_works_offline(hub, cache):
    status, output = run("pull", NAME)
    assert status == 0, output
    n_asked = len(hub.asked)
    status, output = run("list")
    assert (status, "bigcode/starcoder2-3b" in output) == (0, True), output
    assert any(NAME in line and "yes, SantaCoder" in line for line in output.splitlines())
    assert load_model(NAME).fim.family == "SantaCoder"
    assert len(hub.asked) == n_asked
    assert run("pull", NAME)[0] == 0
    assert sorted(fetched(hub)) == WANTED, "nothing twice"
    assert [path.name for path in cache.iterdir() if path.name.startswith("models--")] == [
        "models--someone--some-model"
    ]


@pytest.mark.usefixtures("cache")
def test_the_tokenizer_alone_is_fetched_for_a_server_elsewhere(hub):
    status, output = run("pull", "--tokenizer", NAME)
    assert status == 0, output
    assert sorted(fetched(hub)) == ["config.json", "tokenizer.json"]
    assert has_tokenizer({"id": "an-alias", "root": NAME})


def test_without_a_name_three_sizes_are_listed_and_nothing_is_fetched():
    status, output = run("pull")
    assert status == 0
    assert sum(any(file.name in line for file in KNOWN_GGUF) for line in output.splitlines()) == 3
    assert "qwen2.5-coder-0.5b" in output
    assert "apache-2.0" in output


@pytest.mark.usefixtures("cache")
def test_after_an_interruption_it_goes_on_where_it_was(hub, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1000)
    hub.cut_at["model.safetensors"] = 20_000
    status, output = run("pull", NAME)
    assert (status, f"Cannot download {NAME}" in output) == (1, True), output
    for log in (hub.cut_at, hub.asked, hub.ranges):
        log.clear()
    status, output = run("pull", NAME)
    assert status == 0, output
    assert fetched(hub) == ["model.safetensors", "tokenizer.json"], "the configuration was there already"
    assert hub.ranges == [("model.safetensors", 20_000)]
    assert load_model(NAME).fim.family == "SantaCoder"


LEFTOVERS = {"more than there is": 10_000_000, "all of it": None, "the beginning": 100}


@pytest.mark.parametrize("leftover", LEFTOVERS)
def test_whatever_is_left_of_an_earlier_attempt(leftover, hub, cache):
    weights = hub.folder / "model.safetensors"
    blobs = cache / "models--someone--some-model" / "blobs"
    blobs.mkdir(parents=True)
    size = LEFTOVERS[leftover]
    there = weights.read_bytes() if size is None else weights.read_bytes()[:100].ljust(size, b"x")
    (blobs / f"{hub.checksum(weights)}.partial").write_bytes(there)
    status, output = run("pull", NAME)
    assert status == 0, output
    assert load_model(NAME).fim.family == "SantaCoder"
    assert not list(blobs.glob("*.partial"))


@pytest.mark.usefixtures("cache")
def test_a_disk_that_is_too_small(hub, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    status, output = run("pull", NAME)
    assert (status, "needs 0.0 GiB on the disk" in output, "set HF_HOME" in output) == (1, True, True)
    assert fetched(hub) == []


@pytest.mark.usefixtures("cache")
def test_damaged_files_are_dropped(hub):
    hub.lies = True
    status, output = run("pull", NAME)
    assert (status, "Cannot use model.safetensors of someone/some-model: checksum mismatch" in output) == (
        1,
        True,
    ), output
    hub.lies = False
    assert run("pull", NAME)[0] == 0


ESCAPE = "../../../../ESC"
SHA256 = "a" * 64
NONSENSE = {
    "a checksum that is a path": {
        "announced": {"model.safetensors": {"lfs": {"oid": ESCAPE, "size": 9, "pointerSize": 9}}}
    },
    "a checksum that is a path at its end": {"announced": {"config.json": {"oid": f"{SHA256}/../../ESC"}}},
    "a checksum of a text that is a path": {"announced": {"config.json": {"oid": ESCAPE}}},
    "a checksum with another alphabet": {"announced": {"config.json": {"oid": "A" * 40}}},
    "no checksum": {"announced": {"config.json": {"oid": ""}}},
    "a path that leads out": {"announced": {"config.json": {"path": f"{ESCAPE}.safetensors"}}},
    "an absolute path": {"announced": {"config.json": {"path": "/tmp/ESC.safetensors"}}},
    "a path of Windows": {"announced": {"config.json": {"path": "..\\ESC.safetensors"}}},
    "an empty part of a path": {"announced": {"config.json": {"path": "a//b.safetensors"}}},
    "a negative size": {"announced": {"config.json": {"size": -1}}},
    "a configuration of 4 GB": {"announced": {"config.json": {"size": 4 << 30}}},
    "a commit that is a path": {"commit": ESCAPE},
    "a commit that is none": {"commit": "main"},
}


def everything_below(folder):
    return {path.relative_to(folder) for path in folder.rglob("*")}


@pytest.mark.parametrize("case", NONSENSE)
def test_a_hub_that_announces_what_cannot_be(case, hub, cache, tmp_path):
    for name, value in NONSENSE[case].items():
        setattr(hub, name, value)
    before = everything_below(tmp_path)
    status, output = run("pull", NAME)
    assert (status, "Error: Cannot download someone/some-model: the hub " in output) == (1, True), output
    assert output.count("\n") == 1
    assert not [path for path in everything_below(tmp_path) - before if path.parts[0] != "cache"]
    assert "ESC" not in str(everything_below(cache))
    assert fetched(hub) == []


@pytest.mark.usefixtures("cache")
def test_names_that_a_hub_gives_to_content_are_no_paths(hub, tmp_path):
    hub.etag = ESCAPE
    before = everything_below(tmp_path)
    status, output = run("pull", NAME)
    assert status == 0, output
    assert load_model(NAME).fim.family == "SantaCoder"
    new = everything_below(tmp_path) - before
    assert not [path for path in new if path.parts[0] != "cache" or "ESC" in str(path)]


def test_no_more_is_written_than_was_announced(hub, cache):
    hub.surplus = bytes(3_000_000)
    status, output = run("pull", NAME)
    assert (status, "more than the announced" in output) == (1, True), output
    sizes = {path.name: path.stat().st_size for path in cache.rglob("*") if path.is_file()}
    assert sum(sizes.values()) <= sum(path.stat().st_size for path in hub.folder.iterdir()), sizes


@pytest.mark.usefixtures("cache")
def test_a_revision_that_is_a_path(tmp_path):
    status, output = run("pull", NAME, "--revision", "../../ESC")
    assert status == 1, output
    assert "ESC" not in str(everything_below(tmp_path))


def test_a_file_that_was_damaged_on_the_disk_is_fetched_again(hub, cache):
    assert run("pull", NAME)[0] == 0
    (blob,) = cache.rglob(f"blobs/{hub.checksum(hub.folder / 'model.safetensors')}")
    blob.write_bytes(blob.read_bytes()[:-1] + b"x")
    hub.asked.clear()
    assert run("pull", NAME)[0] == 0
    assert fetched(hub) == ["model.safetensors"]


@pytest.mark.usefixtures("cache")
def test_a_revision_can_be_asked_for():
    assert run("pull", NAME, "--revision", COMMIT)[0] == 0
    status, output = run("pull", NAME, "--revision", "v9")
    assert (status, f"Cannot download {NAME}: it has no revision v9" in output) == (1, True)


MISTAKES = {
    "nobody/nothing": "Cannot download nobody/nothing: the hub has no such model",
    "no-name": "Cannot find a model",
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.usefixtures("cache")
def test_a_model_that_is_not_there(name):
    status, output = run("pull", name)
    assert (status, MISTAKES[name] in output) == (1, True), output


def test_a_hub_name_is_looked_up_on_this_machine_only(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="fimlsp models pull someone/some-model"):
        load_model(NAME)
    with pytest.raises(ModelError, match=r"at v1: it is not on this machine\. .*some-model --revision v1`"):
        load_model(NAME, revision="v1")
    cached = tmp_path / "models--someone--some-model"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text(COMMIT)
    (cached / "refs" / "v1").write_text(COMMIT)
    (cached / "snapshots").mkdir()
    folder = cached / "snapshots" / COMMIT
    folder.mkdir()
    c.make(folder, c.llama, c.DEEPSEEK)
    assert load_model(NAME).name == NAME
    assert load_model(NAME, revision="v1").name == NAME


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A hostile workspace, the working directory, with a checkpoint in a folder like a hub name."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "workspace" / NAME
    folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "workspace")
    return folder


def put_into_cache(cache):
    snapshot = cache / "models--someone--some-model" / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text(COMMIT)
    return snapshot


def test_a_folder_of_the_workspace_is_not_taken_for_a_model_of_the_hub(workspace, tmp_path):
    with pytest.raises(ModelError, match=rf"is not on this machine\. .*\./{NAME}"):
        find_folder(NAME)
    for path in (f"./{NAME}", str(workspace), f"../workspace/{NAME}"):
        assert find_folder(path).samefile(workspace)
    snapshot = put_into_cache(tmp_path / "cache")
    assert find_folder(NAME) == snapshot


@pytest.mark.usefixtures("workspace")
def test_on_the_command_line_a_folder_will_do_if_no_model_has_its_name(tmp_path):
    assert find_on_command_line(NAME) == f"./{NAME}"
    assert find_on_command_line("someone/nothing") == "someone/nothing"
    put_into_cache(tmp_path / "cache")
    assert find_on_command_line(NAME) == NAME


HOMELESS = ["~nosuch/x", "~nosuch", "a\0b", "x" * 5000]


@pytest.mark.parametrize("name", HOMELESS, ids=lambda name: name[:10])
def test_what_can_be_no_folder(name):
    with pytest.raises(ModelError, match="Cannot find a model"):
        find_folder(name)
