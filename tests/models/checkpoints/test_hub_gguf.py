"""GGUF files of the hub: fetched by a name of the catalogue, or by repository and file."""

import pytest
from click.testing import CliRunner

from fimlsp.lsp_server.command_line.models_command import models
from fimlsp.models.catalogue import KNOWN_GGUF
from fimlsp.models.checkpoints.gguf import describe
from fimlsp.models.errors import ModelError
from fimlsp.models.gguf_stores import find_gguf

from .. import tiny_checkpoints as c
from ..gguf_files import QWEN, write_gguf
from .fake_hub import NAME

KNOWN = next(known for known in KNOWN_GGUF if known.name == "qwen2.5-coder-1.5b")
CODER = {"general__name": "Qwen2.5 Coder 1.5B"}


@pytest.fixture
def gguf_hub(hub, cache):  # noqa: ARG001 - it redirects requests to this hub
    """A hub with GGUF files alone: of a known model, one without markers, and one in two parts."""
    for path in hub.folder.iterdir():
        path.unlink()
    write_gguf(hub.folder / KNOWN.file, QWEN, "qwen2", **CODER)
    write_gguf(hub.folder / "chat-q8_0.gguf", ["<s>"], general__name="Some Chat")
    for part in (1, 2):
        write_gguf(hub.folder / f"large-0000{part}-of-00002.gguf", c.DEEPSEEK)
    hub.name = KNOWN.repository
    return hub


def run(*arguments):
    """`fimlsp models` with *arguments*; its exit status and output."""
    done = CliRunner().invoke(models, arguments, catch_exceptions=False)
    return done.exit_code, done.output


def fetched(hub):
    return [path.rpartition("/")[2] for verb, path in hub.asked if verb == "GET" and "resolve" in path]


def test_a_name_of_the_catalogue(gguf_hub, cache):
    with pytest.raises(ModelError, match=f"Run `fimlsp models pull {KNOWN.name}`"):
        find_gguf(KNOWN.name)
    status, output = run("pull", KNOWN.name)
    assert status == 0, output
    assert fetched(gguf_hub) == [KNOWN.file]
    assert f"{KNOWN.repository}: 0.0" in output
    assert "licence apache-2.0" in output
    assert f"use it with --model {KNOWN.name}" in output
    path = find_gguf(KNOWN.name)
    assert path.is_relative_to(cache)
    assert describe(path).fim.family == KNOWN.family
    n_asked = len(gguf_hub.asked)
    status, output = run("list")
    listed = [line for line in output.splitlines() if "yes, Qwen-Coder" in line]
    assert (status, len(listed), KNOWN.file.removesuffix(".gguf") in listed[0]) == (0, 1, True), output
    assert not any(line.split()[:1] == [KNOWN.name] for line in output.splitlines())
    assert len(gguf_hub.asked) == n_asked


def test_a_file_of_a_repository(gguf_hub):
    status, output = run("pull", f"{KNOWN.repository}/chat-q8_0.gguf")
    assert status == 0, output
    assert fetched(gguf_hub) == ["chat-q8_0.gguf"]
    assert "But it has no markers for filling in the middle; it was made for chat." in output
    assert find_gguf("chat-q8_0") is not None


def test_a_quantisation_of_a_repository(gguf_hub):
    status, output = run("pull", f"{KNOWN.repository}:q8_0")
    assert (status, fetched(gguf_hub)) == (1, [])
    assert f"Cannot download q8_0: {KNOWN.repository} has several files of this kind. Choose one: " in output
    (gguf_hub.folder / "chat-q8_0.gguf").unlink()
    status, output = run("pull", f"{KNOWN.repository}:q8_0")
    assert (status, fetched(gguf_hub)) == (0, [KNOWN.file])
    assert f"use it with --model {KNOWN.file.removesuffix('.gguf')}" in output


@pytest.mark.parametrize("quantisation", ["Q4_K_M", "8_0", "q8", ".*"])
def test_a_quantisation_that_is_not_there(quantisation, gguf_hub):
    status, output = run("pull", f"{KNOWN.repository}:{quantisation}")
    assert (status, fetched(gguf_hub)) == (1, [])
    assert f"has no GGUF file of this kind. Choose one: {KNOWN.repository}/" in output


def test_all_parts_of_a_file(gguf_hub):
    status, output = run("pull", f"{KNOWN.repository}/large-00001-of-00002.gguf")
    assert status == 0, output
    assert fetched(gguf_hub) == ["large-00001-of-00002.gguf", "large-00002-of-00002.gguf"]
    assert find_gguf("large").with_name("large-00002-of-00002.gguf").exists()


def test_after_an_interruption_it_goes_on_where_it_was(gguf_hub, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 100)
    gguf_hub.cut_at[KNOWN.file] = 1000
    status, output = run("pull", KNOWN.name)
    assert (status, "the download will be resumed" in output) == (1, True), output
    for log in (gguf_hub.cut_at, gguf_hub.asked, gguf_hub.ranges):
        log.clear()
    status, output = run("pull", KNOWN.name)
    assert status == 0, output
    assert gguf_hub.ranges == [(KNOWN.file, 1000)]


@pytest.mark.usefixtures("cache")
def test_a_damaged_file_is_dropped(gguf_hub):
    gguf_hub.lies = True
    status, output = run("pull", KNOWN.name)
    assert (status, f"Cannot use {KNOWN.file} of {KNOWN.repository}: checksum mismatch" in output) == (
        1,
        True,
    ), output
    with pytest.raises(ModelError):
        find_gguf(KNOWN.name)


REFUSED = {
    f"{KNOWN.repository}/none.gguf": f"Cannot download none.gguf: {KNOWN.repository} has no such file",
    KNOWN.repository: f"it has GGUF files only. Choose one: {KNOWN.repository}/chat-q8_0.gguf, ",
    f"{KNOWN.repository}/*.gguf": "Cannot download *.gguf: ",
    "nobody/nothing/file.gguf": "Cannot download nobody/nothing: the hub has no such model",
    "~/nothing/file.gguf": "Cannot find a model",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_there(name, gguf_hub):
    status, output = run("pull", name)
    assert (status, REFUSED[name] in output) == (1, True), output
    assert fetched(gguf_hub) == []


LICENCES = {
    "apache-2.0": ["license:apache-2.0"],
    "": ["code", 1, "license:", "license:\x1b[31m", "license:" + "x" * 100],
    "other": ["license:other", "license:mit"],
}


@pytest.mark.parametrize("licence", LICENCES)
def test_the_licence_is_told_if_it_is_one(licence, gguf_hub):
    gguf_hub.tags = LICENCES[licence]
    _, output = run("pull", KNOWN.name)
    assert (f"licence {licence}\n" if licence else "no licence on the hub\n") in output
    assert "\x1b" not in output


def test_checkpoints_are_announced_too(hub, cache):
    status, output = run("pull", NAME)
    assert (status, f"{NAME}: 0.0" in output, "licence apache-2.0" in output) == (0, True, True), output
    assert cache.exists()
    assert hub.folder.exists()


def test_every_entry_of_the_catalogue_names_a_page_of_its_repository():
    for known in KNOWN_GGUF:
        assert known.source.startswith(f"{known.repository}/tree/")
        assert known.file.endswith(".gguf")
        assert known.gigabytes < 2.2 * known.billions
    names = [known.name for known in KNOWN_GGUF]
    assert len(set(names)) == len(names)
