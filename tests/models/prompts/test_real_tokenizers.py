"""Families and markers of real tokenizers, of which only the added tokens are here.

For some families no package has the tokenizer. Their tokens come from documentation, and have no numbers.
"""

import json
from pathlib import Path

import pytest
from gguf import TokenType
from tokenizers import AddedToken, Tokenizer

from fimlsp.models.checkpoints.checkpoint_files import end_tokens
from fimlsp.models.checkpoints.gguf import fim_format, read_header, token_bytes, user_defined_markers
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.fim_format import find_format
from fimlsp.models.prompts.vocabulary import is_marker, read_vocabulary

from ..gguf_files import write_gguf
from ..tiny_checkpoints import byte_tokenizer, gemma_tokenizer

FOLDER = Path(__file__).parent / "real_tokenizers"
REAL = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")}

FAMILIES = {  # family, texts that look like markers to the tokenizer, and tokens that are text all the same
    "qwen3": ("Qwen-Coder", ["<|fim_prefix|>", "<think>", "</tool_call>", "<|file_sep|>"], []),
    "deepseek_v3": ("DeepSeek-Coder", ["<｜fim▁hole｜>", "<｜User｜>"], []),
    "gemma3": (None, ["<unused0>", "<end_of_turn>", "[multimodal]"], ["<table>", "\n\n", "▁▁▁"]),
    "starcoder2": ("StarCoder2", ["<file_sep>", "<fim_pad>"], []),
    "deepseek_coder": ("DeepSeek-Coder", ["<|EOT|>", "<｜fim▁begin｜>"], []),
    "qwen2_5_coder": ("Qwen-Coder", ["<|fim_pad|>", "<|repo_name|>", "</tool_call>"], []),
    "granite4": ("Granite 4", ["<|fim_prefix|>", "<|filename|>", "<think>", "<documents>"], []),
    "glm4_5": ("GLM", ["<|code_middle|>", "[gMASK]", "<sop>", "<|observation|>"], []),
    "codegemma": ("CodeGemma", ["<|fim_middle|>", "<|file_separator|>"], []),
    "mistral_v3": ("Codestral", ["[SUFFIX]", "[PREFIX]", "[MIDDLE]", "[/INST]"], []),
    "granite3_3": ("StarCoder", ["<fim_middle>", "<|start_of_role|>", "<|end_of_text|>"], []),
    "codellama": ("CodeLlama", ["▁<PRE>", "▁<MID>", "▁<EOT>"], []),
    "seed_coder": ("Seed-Coder", ["<[fim-middle]>", "<[PAD▁TOKEN]>"], []),
    "mellum": ("Mellum", ["<fim_prefix>", "<filename>", "<|im_end|>"], []),
}

SHARED = [  # a family that shares its markers with another one, and the name of a model
    ("glm4_5", "codegeex4-all-9b", "CodeGeeX4"),
    ("granite4", "my-own-name", "Granite 4"),
    ("qwen2_5_coder", "my-own-name", "Qwen-Coder"),
    ("mellum", "my-own-name", "Mellum"),
    ("granite3_3", "my-own-name", "StarCoder"),
]


def tokenizer_of(name) -> Tokenizer:
    """A tokenizer of single bytes or letters with the real added tokens, marked as there."""
    row = REAL[name]
    tokenizer = byte_tokenizer([]) if row["kind"] == "byte-level" else gemma_tokenizer()
    for _, text, special in row["added"]:
        token = AddedToken(text, special=special, normalized=False)
        (tokenizer.add_special_tokens if special else tokenizer.add_tokens)([token])
    return tokenizer


def ids_of(name):
    """The numbers of the added tokens; where documentation has none, their places in the list."""
    added = REAL[name]["added"]
    return {text: place if number is None else number for place, (number, text, _) in enumerate(added)}


@pytest.mark.parametrize("name", REAL)
def test_the_family_of_a_real_tokenizer(name):
    family, *_ = FAMILIES[name]
    if family is None:
        with pytest.raises(ModelError, match="no fill-in-the-middle markers"):
            find_format(ids_of(name), name)
    else:
        assert find_format(ids_of(name), name).family == family


@pytest.mark.parametrize(("name", "model", "family"), SHARED)
def test_the_family_of_a_model_with_the_markers_of_another(name, model, family):
    assert find_format(ids_of(name), model).family == family


@pytest.mark.parametrize("name", REAL)
def test_no_text_becomes_a_marker_and_no_marker_is_text(name):
    _, markers, texts = FAMILIES[name]
    tokenizer = tokenizer_of(name)
    vocabulary = read_vocabulary(tokenizer, ())
    numbers = {text: tokenizer.token_to_id(text) for text in (*markers, *texts)}
    assert [vocabulary.token_bytes[numbers[text]] for text in markers] == [None] * len(markers)
    assert None not in [vocabulary.token_bytes[numbers[text]] for text in texts]
    program = "x = '" + "' # ".join(markers) + "'\n\n   <table>\n"
    assert vocabulary.decode(vocabulary.encode(program)) == program.encode()
    assert not {numbers[text] for text in markers} & set(vocabulary.encode(program))
    long = program * 40
    assert vocabulary.decode(vocabulary.encode(long)) == long.encode()


@pytest.mark.parametrize("name", REAL)
def test_the_declared_end_is_a_stop_of_its_family(name):
    family, *_ = FAMILIES[name]
    if family is not None:
        ids = ids_of(name)
        assert ids[REAL[name]["end"]] in find_format(ids, name).stops


@pytest.mark.parametrize("name", REAL)
def test_tokens_without_numbers_are_from_documentation(name):
    row = REAL[name]
    has_numbers = [number is not None for number, *_ in row["added"]]
    assert all(has_numbers) is not row["source"].startswith("from documentation")
    assert any(has_numbers) is all(has_numbers)


@pytest.mark.parametrize("name", REAL)
def test_the_declared_end_stops(name, tmp_path):
    tokenizer, end = tokenizer_of(name), REAL[name]["end"]
    number = tokenizer.token_to_id(end)
    for file, content in {
        "tokenizer_config.json": {"eos_token": {"content": end}},
        "generation_config.json": {"eos_token_id": [number]},
        "config.json": {"eos_token_id": number},
    }.items():
        folder = tmp_path / file.removesuffix(".json")
        folder.mkdir()
        (folder / file).write_text(json.dumps(content))
        assert end_tokens(folder, tokenizer) == {number}
    assert end_tokens(tmp_path, tokenizer) == frozenset()


ENDS = [("eos", {3, 4}), ("eot", {3, 4}), ("eom", {3, 4}), ("bos", {3})]


@pytest.mark.parametrize(("key", "stops"), ENDS)
def test_ends_in_the_header_of_a_file_stop_in_every_family(key, stops, tmp_path):
    tokens = ["<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<|end_of_text|>", "<own_end>"]
    values = {f"tokenizer__ggml__{key}_token_id": 4}
    path = write_gguf(tmp_path / "granite.gguf", tokens, "granite", **values)
    assert fim_format(read_header(path, "granite"), "granite").stops == stops


def test_user_defined_markers_of_a_file_are_not_text(tmp_path):
    types = {"<think>": None, "<table>": b"<table>"}
    path = write_gguf(tmp_path / "a.gguf", list(types), marker_type=TokenType.USER_DEFINED)
    header = read_header(path, "a")
    assert token_bytes(header)[:2] == [*types.values()]
    assert user_defined_markers(header) == ["<think>"]


FORMS = {"<|im_end|>": True, "<[PAD▁TOKEN]>": True, "[MASK]": True, "<b>": False, "</h3>": False, "  ": False}


@pytest.mark.parametrize(("text", "expected"), FORMS.items())
def test_the_form_of_a_marker(text, expected):
    assert is_marker(text) is expected
