"""Markers of no known family: those that the server itself would use, or that a file describes."""

import json
import shutil

import pytest

from fimlsp.languages.python import Python
from fimlsp.models.checkpoints.gguf import read_header
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import load_model
from fimlsp.models.prompts.families import FILES, HERE, LEFT, RIGHT
from fimlsp.models.remote.model_file import ModelFile
from fimlsp.quotient.engine import Engine

from .conftest import KEY, serve
from .random_models import byte_level, unknown_markers

OWN = {
    "name": "Mine",
    "spm": ["<OWN_AFTER>", "{right}", "<OWN_BEFORE>", "{left}", "<OWN_HERE>"],
    "stops": ["<|endoftext|>"],
}
NOT_NAMED = ["<|endoftext|>", "<OWN_BEFORE>", "<OWN_AFTER>", "<OWN_HERE>"]


@pytest.fixture(scope="module")
def unknown(tmp_path_factory):
    """A file that names its markers by number, and the address of a server for it."""
    path = unknown_markers(tmp_path_factory.mktemp("unknown") / "unknown.gguf")
    server = serve(path)
    return path, server.listening_address, server


@pytest.mark.usefixtures("place")
def test_unknown_markers_are_asked_of_the_server(unknown):
    path, address, _ = unknown
    there, here = load_model(address).fim, load_model(str(path)).fim
    assert there.prompt == (1, LEFT, 2, RIGHT, 3) == here.prompt
    assert there.stops == {0} <= here.stops
    assert there.markers == {0, 1, 2, 3}


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("at", [0, 1])
def test_a_family_of_ones_own_is_looked_for_on_the_server_and_in_the_file(at, unknown, tmp_path):
    family = tmp_path / "own.json"
    family.write_text(json.dumps(OWN))
    fim = load_model(str(unknown[at]), family=str(family)).fim
    assert (fim.family, fim.prompt) == ("Mine", (2, RIGHT, 1, LEFT, 3))


@pytest.mark.usefixtures("place")
def test_a_model_without_markers_reads_the_right_side_first(tmp_path):
    path = byte_level(tmp_path / "none.gguf", NOT_NAMED, 600, 6, "qwen2")
    server = serve(path, key=KEY)
    for model in (load_model(server.listening_address), load_model(str(path))):
        (start,) = model.fim.stops
        assert (model.fim.prompt, model.fim.is_trained) == ((RIGHT, start, FILES, HERE, LEFT), False)
        assert model.name.endswith(", not trained to fill in the middle)")
        settings = DecodeSettings(tokens=8)
        state = Engine(Python()).document(b"x = \n").middle(4, 4).start
        (middle,) = complete_many(model, b"x = ", b"\n", state, settings, lambda: False)
        assert middle.complete
    with pytest.raises(ModelError, match="leave the order out") as refused:
        load_model(server.listening_address, order="psm")
    assert "\n" not in str(refused.value)


REPORTED = {  # the path that a server reports, its tokens and its parameters; is that the file of its model?
    "its file": ({}, True),
    "no file": ({"path": "gone.gguf"}, False),
    "a file of something else": ({"path": "notes.gguf"}, False),
    "a model of another size": ({"parameters": 7}, False),
    "a model with other tokens": ({"size": 7}, False),
    "a server that does not report it": ({"parameters": None}, False),
}


@pytest.mark.parametrize("case", REPORTED)
def test_the_file_of_a_server_is_that_of_its_model(case, gguf, tmp_path):
    change, is_its = REPORTED[case]
    header = read_header(gguf("Qwen-Coder"), "a")
    shutil.copy(gguf("Qwen-Coder"), tmp_path / "model.gguf")
    (tmp_path / "notes.gguf").write_text("no model")
    told = {"path": "model.gguf", "size": 2000, "parameters": header.n_parameters} | change
    found = ModelFile.of_server(tmp_path / told["path"], told["size"], told["parameters"], None, None)
    assert (found is not None) is is_its


def test_the_model_of_a_file_on_this_machine_is_mixed_as_in_the_process(gguf, served):
    here, there = load_model(str(gguf("bundled"))), load_model(served("bundled"))
    assert here.uses_buffer == there.uses_buffer is True
    text = "for größe in self.areas[1]:\n    x_1 += 2"
    assert here.vocabulary.encode(text) == there.vocabulary.encode(text)
    assert there.name == "bundled.gguf (llama-server)"


@pytest.mark.usefixtures("place", "elsewhere")
@pytest.mark.parametrize("template", ["", "{{ messages[0].content }}!"])
def test_a_model_has_only_a_chat_template_of_its_own(template, tmp_path):
    own = {"chat_template": template} if template else {}
    path = byte_level(tmp_path / "chat.gguf", NOT_NAMED, 600, 7, "qwen2", **own)
    server = serve(path, key=KEY)
    for model in (load_model(server.listening_address), load_model(str(path))):
        assert (model.chat is not None) is bool(template), "llama.cpp has one for those without"
