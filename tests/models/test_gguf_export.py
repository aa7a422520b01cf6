"""A model of our own as GGUF: llama.cpp loads it, computes the same, and reads our texts and markers."""

import gguf
import numpy as np
import pytest
from click.testing import CliRunner

from fimlsp.lsp_server.command_line.models_command import models
from fimlsp.models.gguf_export import export_gguf
from fimlsp.models.loading import BUNDLED, load_model

from ..sampling import sampled
from . import tiny_checkpoints as c
from .llama_cpp import candidates, serving

CLOSE = 0.02
TEXTS = [
    ("import os\n\n\ndef read(path):\n    with open(", ")\n        return file.read()\n"),
    ("class A:\n    def __init__(self, a):\n        ", "\n\n    def b(self):\n        return self.a\n"),
    ("x = [", "]\n"),
    ("", ""),
    ('"""é 中 🙂"""\nprint(12345, ', ")\n" * 80),
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A checkpoint as `fimlsp train` writes them: heads of their own width, and no padding token."""
    folder = tmp_path_factory.mktemp("trained")
    tokens = ["<|endoftext|>", "<|left|>", "<|right|>"]
    c.make(folder, lambda size: c.llama(size, head_dim=16, tie_word_embeddings=False), tokens)
    return folder


@pytest.fixture(scope="module", params=["bundled", "trained"])
def exported(request, tmp_path_factory, trained):
    """A model, and its GGUF file."""
    name = "bundled" if request.param == "bundled" else str(trained)
    path = tmp_path_factory.mktemp("exported") / "model.gguf"
    export_gguf(name, path)
    return load_model(None, dtype="float32") if name == "bundled" else load_model(name), path


@pytest.fixture(scope="module")
def server(exported):
    with serving(exported[1]) as ask:
        yield ask


@pytest.mark.parametrize(("left", "right"), sampled(TEXTS, 3))
def test_it_computes_what_we_do(left, right, exported, server):
    model, _ = exported
    tokens = model.fim.arrange(model.vocabulary.encode(left), model.vocabulary.encode(right))[:250]
    model.network.begin(tokens[:-1])
    logits = model.network.logits(tokens[-1:]).astype(np.float64)
    ours = logits - np.logaddexp.reduce(logits)
    (plain,) = model.vocabulary.encode("a")
    theirs = np.full(len(logits), np.nan)
    for candidate in candidates(server, tokens, len(logits), plain):
        theirs[candidate["id"]] = candidate["logprob"]
    assert np.abs(ours - theirs).max() < CLOSE
    assert ours.argmax() == theirs.argmax()


def test_its_tokens_have_our_bytes(exported, server):
    model, _ = exported
    size = len(model.vocabulary.token_bytes)
    (plain,) = model.vocabulary.encode("a")
    entries = candidates(server, [plain], size, plain)
    assert len(entries) == size
    for candidate in entries:
        assert bytes(candidate["bytes"]) == (model.vocabulary.token_bytes[candidate["id"]] or b"")


def test_llama_cpp_reads_texts_nearly_as_we_do(exported, server):
    model, _ = exported
    text = (BUNDLED.parent / "loading.py").read_text()
    tokens = server("/tokenize", content=text, add_special=True, parse_special=False)["tokens"]
    ours = model.vocabulary.encode(text)
    assert model.vocabulary.decode(tokens) == text.encode()
    assert abs(len(tokens) - len(ours)) < 0.02 * len(ours)


@pytest.mark.slow
def test_eight_bits_are_nearly_the_same(tmp_path):
    export_gguf("bundled", tmp_path / "model.gguf", 8)
    model = load_model(dtype="float32")
    tokens = model.vocabulary.encode("def area(radius):\n    return ")
    scores = model.network.log_probabilities(tokens)
    with serving(tmp_path / "model.gguf") as ask:
        found = candidates(ask, tokens, len(scores), model.vocabulary.encode("x")[0])
    assert (tmp_path / "model.gguf").stat().st_size < 50_000_000
    assert max(abs(scores[entry["id"]] - entry["logprob"]) for entry in found[:20]) < 0.1


def test_it_names_its_markers(exported):
    model, path = exported
    fields = gguf.GGUFReader(path).fields
    for key, marker in (("pre", "<|left|>"), ("suf", "<|right|>")):
        field = fields[f"tokenizer.ggml.fim_{key}_token_id"]
        assert field.contents() == model.fim.marker_ids[marker]
    assert fields["tokenizer.ggml.eos_token_id"].contents() in model.fim.stops
    assert fields["fimlsp.buffer_cache"].contents() == model.uses_buffer


def run(*arguments):
    done = CliRunner().invoke(models, arguments, catch_exceptions=False)
    return done.exit_code, done.output


def test_the_command(tmp_path):
    target = tmp_path / "own.gguf"
    status, output = run("export", "bundled", "--gguf", str(target))
    assert (status, output) == (0, f"{target} has 0.2 GB\n")
    status, output = run("export", "bundled", "--gguf", str(target))
    assert (status, "it already exists" in output) == (1, True)
    assert [path.name for path in tmp_path.iterdir()] == ["own.gguf"]


def foreign(folder):
    c.make(folder, c.llama, c.DEEPSEEK)
    return str(folder)


REFUSED = {
    "a family that is not ours": (foreign, "own.gguf", "only the bundled model and those of `fimlsp train`"),
    "no model": (lambda folder: str(folder / "none"), "own.gguf", "Cannot find a model"),
    "a folder that is not there": (lambda _: "bundled", "none/own.gguf", "Cannot write"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_exported(case, tmp_path):
    make, target, words = REFUSED[case]
    (tmp_path / "checkpoint").mkdir()
    status, output = run("export", make(tmp_path / "checkpoint"), "--gguf", str(tmp_path / target))
    assert (status, words in output, output.count("\n")) == (1, True, 1), output
    assert not list(tmp_path.glob("own*"))


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setattr("fimlsp.models.errors.missing_modules", lambda _: ["gguf"])
    status, output = run("export", "bundled", "--gguf", str(tmp_path / "own.gguf"))
    assert (status, "Install what is missing with: " in output) == (1, True), output
    assert not list(tmp_path.iterdir())
