"""The description of a GGUF file: its model, and the reason if it cannot fill in the middle."""

import pytest

from fimlsp.models.checkpoints.gguf import describe, fim_format, printable, read_header, token_bytes
from fimlsp.models.errors import ModelError
from fimlsp.models.gguf_export import export_gguf
from fimlsp.models.loading import load_model

from .. import tiny_checkpoints as c
from ..gguf_files import QWEN, markers_of, write_gguf

CODELLAMA = [*c.CODELLAMA, *c.CODELLAMA_PIECES]
NO_MARKERS = "it has no markers for filling in the middle"
NOT_TRAINED = "its vocabulary has markers for filling in the middle, but it was not trained with them"
FOR_CHAT = "tuned for chat: the base model fills in better"


def named(name, **others):
    return {"general__name": name} | {f"general__{key}": value for key, value in others.items()}


CASES = [  # markers, architecture, metadata; family, remark
    (c.SANTACODER, "starcoder", {}, "SantaCoder", None),
    (c.STARCODER, "starcoder", named("Granite 3B Code Base"), "StarCoder", None),
    (c.STARCODER, "stablelm", {}, "Stable-Code", None),
    (c.STARCODER2, "starcoder2", named("Starcoder2 3b"), "StarCoder2", None),
    (c.DEEPSEEK, "llama", named("Deepseek Coder 1.3b Base"), "DeepSeek-Coder", None),
    (c.DEEPSEEK, "llama", named("Deepseek Coder 6.7b Instruct"), "DeepSeek-Coder", FOR_CHAT),
    (c.GEMMA, "gemma", named("codegemma-2b"), "CodeGemma", None),
    (c.GEMMA, "gemma", named("codegemma-7b-it"), "CodeGemma", FOR_CHAT),
    (CODELLAMA, "llama", named("codellama_codellama-7b-hf"), "CodeLlama", None),
    (c.FIMLSP, "llama", {}, "fimlsp", None),
    (QWEN, "qwen2", named("Qwen2.5 Coder 1.5B"), "Qwen-Coder", None),
    (QWEN, "qwen2", named("Qwen2.5 Coder 1.5B Instruct"), "Qwen-Coder", FOR_CHAT),
    (QWEN, "qwen2", named("Zeta", base_model__0__name="Qwen2.5 Coder 7B"), "Qwen-Coder", None),
    (QWEN, "qwen2", named("Qwen2.5 7B Instruct"), None, NOT_TRAINED),
    (QWEN, "qwen2", named("DeepSeek R1 Distill Qwen 1.5B"), None, NOT_TRAINED),
    (c.STARCODER2, "llama", named("OpenCoder 8B Base"), None, NOT_TRAINED),
    (["<s>", "</s>"], "llama", named("Llama 2 7B"), None, NO_MARKERS),
    (["<s>", "</s>"], "llama", named("Llama 2 7B Chat"), None, f"{NO_MARKERS}; it was made for chat"),
    (["<s>", "</s>"], "gemma", named("Gemma 2b It"), None, f"{NO_MARKERS}; it was made for chat"),
    (["<s>", "</s>"], "gemma", named("What it is"), None, NO_MARKERS),
    (
        c.DEEPSEEK,
        "llama",
        named("x", type="adapter"),
        None,
        "it is part of a model, of the kind adapter",
    ),
    (["[P]", "[S]", "[M]"], "other", markers_of(0, 1, 2), "other", None),
    (["[P]", "[S]", "[M]"], "other", markers_of(0, 1, 99), None, NO_MARKERS),
    ([], "llama", {}, None, NO_MARKERS),
]


@pytest.mark.parametrize(("markers", "architecture", "values", "family", "remark"), CASES)
def test_whether_it_fills_in_the_middle(markers, architecture, values, family, remark, tmp_path):
    kind = "llama" if markers is CODELLAMA else "gpt2"
    model = describe(write_gguf(tmp_path / "file.gguf", markers, architecture, kind, **values))
    assert (model.fim and model.fim.family, model.remark) == (family, remark)
    assert model.architecture == architecture


def test_what_it_says_of_itself(tmp_path):
    values = named("A\x1b[31mB\nC", license="apache-2.0", file_type=15)
    path = write_gguf(tmp_path / "file.gguf", QWEN, "qwen2", **values, tokenizer__chat_template="{{ x }}")
    model = describe(path)
    assert (model.name, model.licence, model.quantisation) == ("A [31mB C", "apache-2.0", "Q4_K_M")
    assert (model.context, model.has_chat_template, model.size) == (2048, True, path.stat().st_size)
    assert model.n_parameters == (len(QWEN) + 4) * 32
    plain = describe(write_gguf(tmp_path / "plain.gguf", c.DEEPSEEK), "called")
    assert (plain.name, plain.licence, plain.quantisation) == ("called", "", "")
    assert not plain.has_chat_template


def test_names_are_one_short_line():
    assert printable("a\udc80\u2028b\x00" + "x" * 500) == "a  b " + "x" * 75


def test_the_bundled_model_describes_itself(tmp_path):
    export_gguf("bundled", tmp_path / "own.gguf")
    bundled, header = load_model(), read_header(tmp_path / "own.gguf", "own")
    model = describe(tmp_path / "own.gguf")
    assert (model.name, model.quantisation, model.context) == ("fimlsp bundled", "F32", 1024)
    assert model.fim == bundled.fim
    assert token_bytes(header) == list(bundled.vocabulary.token_bytes)


def test_the_markers_that_a_file_names_itself(tmp_path):
    ids = markers_of(1, 2, 3, tokenizer__ggml__eos_token_id=4, tokenizer__ggml__fim_pad_token_id=5)
    tokens = ["<bos>", "[P]", "[S]", "[M]", "<eos>", "<pad>"]
    begins = {"tokenizer__ggml__bos_token_id": 0, "tokenizer__ggml__add_bos_token": True}
    header = read_header(write_gguf(tmp_path / "a.gguf", tokens, "other", **ids, **begins), "a")
    fim = fim_format(header, "a")
    assert fim.arrange([10, 11], [12]) == [0, 1, 10, 11, 2, 12, 3]
    assert fim.stops == {4, 5}
    with pytest.raises(ModelError, match="no fill-in-the-middle markers"):
        fim_format(header, "a", order="spm")


def test_a_family_and_an_order_can_be_said(tmp_path):
    header = read_header(write_gguf(tmp_path / "a.gguf", c.SANTACODER, "starcoder"), "a")
    assert fim_format(header, "a", order="psm").arrange([10], [11]) == [1, 10, 3, 11, 2]
    assert fim_format(header, "a").arrange([10], [11]) == [1, 3, 11, 2, 10]
    with pytest.raises(ModelError, match="is not a Qwen-Coder model"):
        fim_format(header, "a", family="Qwen-Coder")


BYTES = {
    "gpt2": [None, b"a", b" x", b"\n", b"\xe9"],
    "llama": [None, b"\n", b" x", b"a"],
}


@pytest.mark.parametrize("kind", BYTES)
def test_bytes_of_tokens(kind, tmp_path):
    header = read_header(write_gguf(tmp_path / "a.gguf", ["<s>"], kind=kind), "a")
    assert token_bytes(header) == BYTES[kind]


def test_a_kind_of_vocabulary_that_is_not_known(tmp_path):
    header = read_header(write_gguf(tmp_path / "a.gguf", ["<s>"], kind="t5"), "a")
    with pytest.raises(ModelError, match="unknown kind 't5'"):
        token_bytes(header)
