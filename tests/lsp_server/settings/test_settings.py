"""Settings from the values that a client sends."""

from __future__ import annotations

import dataclasses

import pytest

from fimlsp.lsp_server.messages import Load
from fimlsp.lsp_server.options import (
    OPTIONS,
    Settings,
    load_of,
    resolve,
    unknown_names,
    with_own_server,
)

RESOLVED = [
    (None, Settings(), 0),
    ({}, Settings(), 0),
    ({"model": "folder", "maxTokens": 5}, Settings(model="folder", max_tokens=5), 0),
    ({"model": "", "deadlineMs": None}, Settings(), 0),
    ({"oneLine": "always", "automatic": False}, Settings(one_line="always", automatic=False), 0),
    ({"interpreter": 3}, Settings(), 0),
    ({"maxTokens": 0, "deadlineMs": "fast", "oneLine": "maybe", "automatic": 1, "model": 7}, Settings(), 5),
    ({"maxTokens": True, "oneLine": []}, Settings(), 2),
    ({"exclude": ["a*"], "languages": []}, Settings(exclude=("a*",), languages=()), 0),
    ({"exclude": "a*", "languages": [1]}, Settings(), 2),
    ({"device": "cuda:1", "pythonVersion": "3.12"}, Settings(device="cuda:1", python_version="3.12"), 0),
    ({"device": "gpu", "pythonVersion": "3.7", "logLevel": 3}, Settings(), 3),
    ({"threads": 3, "precision": "int8"}, Settings(threads=3, precision="int8"), 0),
    ({"threads": -1, "precision": "int2", "family": 3, "order": "mps"}, Settings(), 4),
    ({"maxTokens": 5.0, "threads": 2.5}, Settings(max_tokens=5), 1),
    ({"maxTokens": float("nan"), "deadlineMs": float("inf"), "minLength": 10**400}, Settings(), 3),
    ({"confidence": 0.25}, Settings(confidence=0.25), 0),
    ({"confidence": 1}, Settings(confidence=1.0), 0),
    ({"confidence": 1.5}, Settings(), 1),
    ({"confidence": -1}, Settings(), 1),
    ({"confidence": True}, Settings(), 1),
    ({"exclude": ["a"] * 1001}, Settings(), 1),
    ({"model": ["x" * 100_000], "device": {}}, Settings(), 2),
    (["maxTokens"], Settings(), 1),
    (3, Settings(), 1),
]


@pytest.mark.parametrize(("raw", "settings", "problems"), RESOLVED, ids=lambda value: str(value)[:60])
def test_resolve(raw, settings, problems):
    resolved, sentences = resolve(raw, Settings())
    assert (resolved, len(sentences)) == (settings, problems)
    assert all(len(sentence) < 400 for sentence in sentences)


def test_configuration_wins_over_initial_options():
    initial, _ = resolve({"model": "a", "maxTokens": 5}, Settings())
    assert resolve({"maxTokens": 6}, initial) == (Settings(model="a", max_tokens=6), [])


UNDONE = [
    ({"model": ""}, Settings(device="cpu", revision="v1")),
    ({"model": "", "revision": ""}, Settings(device="cpu")),
    ({"model": None, "device": ""}, Settings(model="a", device="cpu", revision="v1")),
]


@pytest.mark.parametrize(("configuration", "settings"), UNDONE, ids=str)
def test_a_model_given_at_the_start_can_be_undone(configuration, settings):
    initial, _ = resolve({"model": "a", "device": "cpu", "revision": "v1"}, Settings())
    assert resolve(configuration, initial) == (settings, [])


def test_every_setting_is_an_option_with_a_default_that_is_allowed():
    assert [option.field for option in OPTIONS] == [field.name for field in dataclasses.fields(Settings)]
    for option in OPTIONS:
        assert option.values.allows(option.schema()["default"]), option.name


def test_unknown_names_are_told():
    assert len(unknown_names({"maxTokens": 1, "maxToken": 1, 3: 4})) == 2
    assert unknown_names(None) == []


LOADS = [
    (Settings(), Load()),
    (Settings(model="m", device="cuda:1", revision="v1"), Load("m", "cuda:1", "v1")),
    (Settings(precision="int4", family="StarCoder"), Load(precision="int4", family="StarCoder")),
    (Settings(order="psm", threads=2), Load(order="psm", threads=2)),
]


@pytest.mark.parametrize(("settings", "load"), LOADS)
def test_which_model_is_loaded(settings, load):
    assert load_of(settings) == load


@pytest.mark.parametrize("raw", [["x" * 10**6], {"model": ["x" * 10**6] * 10}, [[[["y"] * 10**5] * 9] * 9]])
def test_what_is_wrong_is_told_in_a_short_sentence(raw):
    _, problems = resolve(raw, Settings())
    assert [len(problem) < 500 for problem in problems] == [True]
    assert all(len(problem) < 2_000 for problem in unknown_names({"x" * 10**6: 1}))


HERE, ELSEWHERE = "http://127.0.0.1:8012", "https://models.example.org"
OWN = [
    (Settings(model=HERE), Settings(), Settings(model=HERE), 0),
    (Settings(model="./folder"), Settings(model=ELSEWHERE), Settings(model="./folder"), 0),
    (Settings(model=ELSEWHERE), Settings(), Settings(), 1),
    (Settings(model=ELSEWHERE), Settings(model=HERE), Settings(model=HERE), 1),
    (Settings(model=ELSEWHERE), Settings(model=ELSEWHERE), Settings(model=ELSEWHERE), 0),
    (Settings(model=ELSEWHERE + "#other"), Settings(model=ELSEWHERE), Settings(model=ELSEWHERE), 1),
    (Settings(model="http://me@127.0.0.1"), Settings(), Settings(), 1),
    (Settings(api_key_variable="HOME"), Settings(), Settings(), 1),
    (Settings(typescript="."), Settings(), Settings(), 1),
    (Settings(typescript="/a"), Settings(typescript="/a"), Settings(typescript="/a"), 0),
    (Settings(api_key_variable="KEY"), Settings(api_key_variable="KEY"), Settings(api_key_variable="KEY"), 0),
]


@pytest.mark.parametrize(("asked", "own", "used", "problems"), OWN)
def test_only_the_users_own_settings_send_code_or_keys_elsewhere_or_name_programs(asked, own, used, problems):
    found, told = with_own_server(asked, own)
    assert (found, len(told)) == (used, problems)
