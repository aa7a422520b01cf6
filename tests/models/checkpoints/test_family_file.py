"""Families of one's own, described in a file."""

import json
import os

import pytest

from fimlsp.models.errors import ModelError
from fimlsp.models.loading import load_model
from fimlsp.models.prompts.families import chosen_family, read_family
from fimlsp.models.prompts.fim_format import find_format

from ..tiny_checkpoints import FAMILIES, make

OWN = {
    "name": "Mine",
    "psm": ["{files}", "{here}", "<PRE>", "{left}", "<SUF>", "{right}", "<MID>"],
    "stops": ["<EOT>"],
    "files": {"file": ["<FILE>", "{path}\n{text}"], "here": ["<FILE>", "{path}\n"]},
}
IDS = {text: number for number, text in enumerate(["<PRE>", "<SUF>", "<MID>", "<EOT>", "<FILE>"])}


def written(folder, description):
    path = folder / "fim.json"
    path.write_text(description if isinstance(description, str) else json.dumps(description))
    return path


def test_an_own_family_is_used(tmp_path):
    family = read_family(written(tmp_path, OWN))
    fim = find_format(IDS, "model", family=family)
    assert fim.family == "Mine"
    assert fim.arrange([10], [20], [30], [40]) == [30, 40, 0, 10, 1, 20, 2]
    assert fim.stops == {3}
    assert fim.marker_ids == {"<PRE>": 0, "<SUF>": 1, "<MID>": 2, "<FILE>": 4}
    assert chosen_family(str(tmp_path / "fim.json"), tmp_path / "elsewhere") == family
    assert chosen_family(None, tmp_path) == family
    assert chosen_family("StarCoder", tmp_path) == "StarCoder"
    assert chosen_family(None, tmp_path / "elsewhere") is None


def test_a_checkpoint_brings_its_family(tmp_path):
    folder = make(tmp_path, *FAMILIES["SantaCoder"])
    assert load_model(str(folder)).fim.family == "SantaCoder"
    own = {
        "name": "Other order",
        "spm": ["<fim-suffix>", "{right}", "<fim-prefix>", "{left}", "<fim-middle>"],
        "stops": ["<|endoftext|>"],
    }
    written(folder, own)
    model = load_model(str(folder))
    assert model.fim.family == "Other order"
    assert model.network.begin(model.fim.arrange([40], [41])).tokens


@pytest.mark.parametrize(
    ("description", "reason"),
    [
        ("{", "Expecting property name"),
        ("[]", "not a JSON object"),
        ({"stops": ["a"]}, "both psm and spm are missing"),
        (OWN | {"psm": ["<PRE>", "{left}"]}, "psm needs {right} once"),
        (OWN | {"psm": ["{left}", "{right}"]}, "psm has no marker"),
        (OWN | {"psm": ["{files}", "{files}", "<a>", "{left}", "{right}"]}, "duplicate placeholder in psm"),
        (OWN | {"psm": "<PRE>"}, "psm is not a list of texts"),
        (OWN | {"stops": []}, "stops is empty"),
        (OWN | {"stop": ["a"]}, "unknown key 'stop'; the keys are name, psm, spm, stops, files"),
        (OWN | {"files": {"first": []}}, "unknown key files.first; the keys are begin, file, end, here"),
        (OWN | {"name": 3}, "name is not a text"),
        ("[" * 100_000, "Cannot read a family"),
        ('"' + "a" * 70_000 + '"', "larger than"),
    ],
    ids=lambda case: str(case)[:40],
)
def test_what_is_no_description_says_why(description, reason, tmp_path):
    with pytest.raises(ModelError) as raised:
        read_family(written(tmp_path, description))
    assert reason in str(raised.value)
    assert "docs/models.md" in str(raised.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_no_description(tmp_path):
    os.mkfifo(tmp_path / "fim.json")
    with pytest.raises(ModelError, match="not a regular file"):
        chosen_family(None, tmp_path)
