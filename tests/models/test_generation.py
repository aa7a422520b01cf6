"""Texts from left to right: reported as they are written, valid when they end."""

import ast
import json as json_module
from dataclasses import replace

import pytest

from fimlsp.languages.json import json
from fimlsp.languages.lua import lua
from fimlsp.languages.python import Python
from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.incremental.statements import begin
from fimlsp.languages.slua.interface import Interface
from fimlsp.models.completion import generate, generate_many
from fimlsp.models.decoding.healing import Healed, unread_part
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import load_model
from fimlsp.models.prompts.chat_template import ChatTemplate
from fimlsp.quotient.engine import Engine

from ..sampling import sampled


@pytest.fixture(scope="module")
def model():
    return load_model()


def start_behind(language, text):
    start = Engine(language).document(text).middle(len(text), len(text), relax=False).start
    assert start is not None
    return start


PYTHON = Python((3, 11), "compile")
LANGUAGES = {
    "python": (PYTHON, [b"", b"def f(a):\n", b"x = {'", b"class A:\n    async def g(self"], ast.parse),
    "json": (json, [b"", b'{"a": [1, '], json_module.loads),
    "lua": (lua, [b"", b"local function f(a)\n"], None),
}
SETTINGS = {
    "greedy": {},
    "drawn": {"temperature": 1.5, "seed": 3},
    "short": {"tokens": 2, "temperature": 3.0},
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("how", sampled(SETTINGS, 3))
def test_what_is_written_is_told_in_pieces_and_valid(model, language, how):
    language, beginnings, judge = LANGUAGES[language]
    for written in beginnings:
        start, pieces = start_behind(language, written), []
        settings = DecodeSettings(**({"tokens": 40} | SETTINGS[how]))
        result = generate(model, written, start, settings, on_text=pieces.append)
        assert b"".join(pieces) == result.text
        assert result.complete
        assert start.feed(result.text).complete
        if judge is not None:
            judge((written + result.text).decode())


def test_pieces_come_as_they_are_written(model):
    told = []
    stopped = generate(
        model, b"", start_behind(PYTHON, b""), should_stop=lambda: len(told) == 5, on_text=told.append
    )
    assert (stopped.stop_reason, len(told)) == ("cancelled", 5)
    assert stopped.text == b"".join(told)


def test_a_script_of_slua(model):
    result = generate(model, b"", begin(Interface()), DecodeSettings(tokens=30, temperature=1.0))
    assert result.complete
    assert not check_script(result.text.decode(), Interface()).faults


def test_several(model):
    start = start_behind(PYTHON, b"x = ")
    best = generate_many(model, b"x = ", start, DecodeSettings(tokens=8, candidates=3))
    assert len({result.text for result in best}) == len(best) > 1
    draws = DecodeSettings(tokens=8, candidates=4, temperature=1.0, independent=True)
    assert [middle.complete for middle in generate_many(model, b"x = ", start, draws)] == [True] * 4


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize(
    "written", [b"import collec", b"x = [1]\nfor item in x:\n    pri", b"caf\xc3\xa9 = 1\ncaf\xc3\xa9"]
)
def test_a_word_that_has_begun_goes_on(model, written, beams):
    start, pieces = start_behind(PYTHON, written), []
    settings = DecodeSettings(tokens=12, beams=beams)
    result = generate(model, written, start, settings, on_text=pieces.append)
    assert b"".join(pieces) == result.text
    assert start.feed(result.text).complete
    ast.parse((written + result.text).decode())


def test_healing_lets_the_usual_token_be_written(model):
    written = b"import collections\nimport json\n\nwords = collec"
    again = unread_part(model.vocabulary, written)
    assert written.endswith(again)
    assert unread_part(model.vocabulary, b"x =") == b""
    assert unread_part(model.vocabulary, b"x = ") == b" "
    healed = Healed(b"collec", start_behind(PYTHON, written))
    assert healed.feed(b"collections").feed(b".Counter()").complete
    assert healed.feed(b"col").feed(b"lec").feed(b"tions") is not None
    assert healed.feed(b"coll") is not None
    assert healed.feed(b"count") is None
    assert not healed.complete
    assert healed.shortest_completion.startswith(b"collec")
    vocabulary = model.network.mask_vocabulary
    allowed = healed.allowed_texts(vocabulary)
    wanted = [healed.feed(text) is not None for text in vocabulary.texts]
    assert allowed[:-1].tolist() == wanted
    assert any(wanted)


def test_context_is_read_and_is_no_part_of_the_text(model):
    settings, start = DecodeSettings(tokens=12), start_behind(PYTHON, b"")
    context = b"def gigantic_turnip(seeds):\n    return seeds\n\n\nprint(gigantic_turnip(3))\n" * 3
    alone = generate(model, b"", start, settings)
    told = []
    after = generate(model, b"", start, settings, on_text=told.append, context=context)
    assert b"".join(told) == after.text != alone.text
    assert after.complete
    many = generate_many(model, b"", start, settings, context=context)
    assert many[0].text == after.text


def test_instructions_need_a_chat_template(model):
    with pytest.raises(ModelError, match="it has no chat template"):
        generate(model, b"", start_behind(PYTHON, b""), instructions="Write a stack.")
    chat = ChatTemplate("{{ messages[0].content }}", "", "", model.vocabulary.encode)
    text = b"Write a stack.\n\nclass Stack"
    settings, start = DecodeSettings(tokens=12), start_behind(PYTHON, b"")
    asked = generate(
        replace(model, chat=chat), b"", start, settings, context=b"class Stack", instructions="Write a stack."
    )
    assert asked.text == generate(model, b"", start, settings, context=text).text
    with pytest.raises(ModelError, match="shorten the context and the instructions, or load"):
        generate(replace(model, chat=chat), b"", start, settings, instructions="a b " * 2000)


def test_too_many_tokens(model):
    with pytest.raises(ModelError, match="do not fit into a context"):
        generate(model, b"", start_behind(PYTHON, b""), DecodeSettings(tokens=1_000_000))
