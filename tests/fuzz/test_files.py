"""Hostile files: configurations, files of a workspace, cached automata, checkpoints."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path, PurePosixPath

from fimlsp.languages.custom import LarkLanguage, compiling
from fimlsp.languages.custom.grammar_files import GrammarFiles
from fimlsp.lexing.automata.dfa import CompactDfa, Rule, Terminals, cached, compile_terminals
from fimlsp.lexing.automata.regex import many
from fimlsp.lsp_server.options import OPTIONS, Settings, load_of, resolve, unknown_names
from fimlsp.lsp_server.session.workspace_reads import version_of_workspace
from fimlsp.lsp_server.worker.neighbour_texts import neighbours_of
from fimlsp.lsp_server.workspace_files import LARGEST_FILE, exclusions, workspace_files
from fimlsp.models.checkpoints.gguf import describe_header, read_header, token_bytes
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import load_model
from fimlsp.processes.bounded import BoundedProcess, Bounds
from fimlsp.quotient.grammar.cfg import GrammarError

from ..models import gguf_files, tiny_checkpoints
from .campaign import for_some_seconds, run
from .nonsense import changed, damaged, put, value

GRAMMAR_FOLDER = Path(__file__).parents[1] / "languages" / "custom" / "grammars"
PIECES = ["*", "**", "/", "a", "?", "[a-z]", "[!", "]", "{a,b}", "{", "}", ",", "{1..9}", "\\", "é", "\n"]


def glob(rng):
    return "".join(rng.choice(PIECES) for _ in range(rng.choice([1, 3, 10, 60, 300])))


@for_some_seconds
def test_configuration(seconds):
    names = [option.name for option in OPTIONS]

    def case(rng):
        raw = {name: value(rng) for name in rng.sample(names, 4)} if rng.random() < 0.9 else value(rng)
        if isinstance(raw, dict) and rng.random() < 0.7:
            raw["exclude"] = [glob(rng) for _ in range(rng.choice([1, 5, 200]))]
        settings, problems = resolve(raw, Settings())
        assert all(len(sentence) < 500 for sentence in [*problems, *unknown_names(raw)[:1]])
        load_of(settings)
        excluded = exclusions(settings.exclude)
        for path in ("/a/b/c.py", "/" + "/".join("a" * 50 for _ in range(40)), "/" + "a" * 255):
            excluded.has(PurePosixPath(path))

    run("configuration", seconds, case)


SOURCE = b"from a import f\nfrom .b.c import g, h as i\nimport d\n\n\nclass A:\n    def f(self): ...\n" * 20
PLACES = [
    ".python-version",
    ".venv/pyvenv.cfg",
    "venv/pyvenv.cfg",
    "a.py",
    "b/__init__.py",
    "b/c.py",
    "d.pyi",
]


GRAMMARS = [path.read_bytes() for path in sorted(GRAMMAR_FOLDER.glob("*.lark"))]
SIGNS = ["a", "A", "_X", ":", "|", "?", "*", "+", "~3", "~0..9", "(", ")", "[", "]", '"a"', "->", "{x}", ".2"]
SIGNS += ["/a|b/", "/(a*)*/", "%import", "common.INT", "%ignore", "%declare", "!", "\\", "\n", "\n "]


def grammar(rng):
    if rng.random() < 0.5:
        return damaged(rng, rng.choice(GRAMMARS)).decode(errors="surrogateescape")
    return "start: " + "".join(rng.choice(SIGNS) + " " * rng.randint(0, 1) for _ in range(rng.randint(1, 60)))


@for_some_seconds
def test_grammars(seconds, monkeypatch):
    """Each is refused in a sentence, or has lexemes, rules and a policy for editors."""
    compiler = BoundedProcess(compiling.compile_files, Bounds(2.0))
    monkeypatch.setattr(compiling, "compiler", lambda: compiler)

    def case(rng):
        language = LarkLanguage(GrammarFiles((("a.lark", grammar(rng)),)))
        try:
            assert language.grammar()
            assert language.lexical_spec()
            assert language.editor
        except GrammarError as error:
            message = str(error)
        else:
            return
        assert "\n" not in message
        assert len(message) < 1000

    run("grammars", seconds, case)
    compiler.close()


@for_some_seconds
def test_workspace(seconds, tmp_path):
    def case(rng):
        root = Path(tempfile.mkdtemp(dir=tmp_path))
        for place in PLACES:
            (root / place).parent.mkdir(exist_ok=True)
            good = b"version = 3.12\n" if place.endswith(".cfg") else SOURCE
            put(rng, root / place, good)
        files = workspace_files((str(root),), (glob(rng),))
        assert version_of_workspace(root, {})[0] == 3
        for place in PLACES:
            assert len(files.read(root / place) or b"") <= LARGEST_FILE
        buffer = damaged(rng, SOURCE)
        for neighbour in neighbours_of(root / "b" / "open.py", buffer, [], files, 512):
            assert len(neighbour.text) <= 4 * 512
        shutil.rmtree(root)

    run("workspace", seconds, case)


SAMPLE = compile_terminals(Terminals({"main": (Rule("K", many("ab")), Rule("L", many("c")))}))


@for_some_seconds
def test_cached_automata(seconds, tmp_path, monkeypatch):
    """A damaged file is built again; one that was forged with a right digest is sound, or built again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = tmp_path / "fimlsp" / "key"
    cached("key", lambda: SAMPLE)
    good = file.read_bytes()
    end = 36 + int.from_bytes(good[32:36], "little")
    header = json.loads(good[36:end])

    def forged(rng):
        text = json.dumps(changed(rng, header, rng.randint(1, 3))).encode()
        body = len(text).to_bytes(4, "little") + text + rng.choice([good[end:], damaged(rng, good[end:])])
        return hashlib.sha256(body).digest() + body

    def case(rng):
        if file.is_dir() and not file.is_symlink():
            file.rmdir()
        file.unlink(missing_ok=True)
        if rng.random() < 0.5:
            file.write_bytes(forged(rng))
            found = cached("key", lambda: SAMPLE)
            assert isinstance(found, CompactDfa)
            for state in found.starts.values():
                found.expand().run(state, bytes(range(256)))
        else:
            put(rng, file, good)
            assert (file.is_file() and file.stat().st_size < 1 << 20 and file.read_bytes() == good) or (
                cached("key", lambda: SAMPLE) == SAMPLE
            )

    run("cached automata", seconds, case)


JSONS = ["config.json", "tokenizer.json", "generation_config.json"]


@for_some_seconds
def test_checkpoints(seconds, tmp_path):
    """A checkpoint is loaded, or refused in one sentence."""
    networks = [tiny_checkpoints.santacoder, tiny_checkpoints.llama]
    sources = [
        tiny_checkpoints.make(tmp_path / str(number), network, tiny_checkpoints.SANTACODER)
        for number, network in enumerate(networks)
    ]
    for source in sources:
        load_model(str(source))  # imports slow modules first

    def case(rng):
        folder = tmp_path / "checkpoint"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(rng.choice(sources), folder)
        name = rng.choice([*JSONS, "config.json", "model.safetensors", "model.safetensors.index.json"])
        file = folder / name
        good = file.read_bytes() if file.exists() else b'{"weight_map": {"a": "model.safetensors"}}'
        if name in JSONS and rng.random() < 0.7:
            file.write_text(json.dumps(changed(rng, json.loads(good), rng.randint(1, 3))))
        else:
            file.unlink(missing_ok=True)
            put(rng, file, good)
        try:
            load_model(str(folder))
        except ModelError as error:
            told = str(error)
        else:
            told = ""
        assert "\n" not in told

    run("checkpoints", seconds, case)


@for_some_seconds
def test_gguf(seconds, tmp_path):
    """A GGUF file is described in one line for each thing, or refused in one sentence."""
    values = {"general__name": "name", "general__tags": ["a", "b"], **gguf_files.markers_of(1, 2, 3)}
    path = gguf_files.write_gguf(tmp_path / "good.gguf", gguf_files.QWEN, "qwen2", **values)
    good, file = path.read_bytes(), tmp_path / "file.gguf"

    def case(rng):
        if file.is_dir() and not file.is_symlink():
            file.rmdir()
        file.unlink(missing_ok=True)
        put(rng, file, good)
        try:
            header = read_header(file, "file.gguf")
            model = describe_header(header, "file.gguf")
            token_bytes(header)
        except ModelError as error:
            told = [str(error)]
        else:
            told = [model.name, model.architecture, model.licence, model.quantisation, model.remark or ""]
            assert model.context >= 0
        assert not any("\n" in line or "\x1b" in line for line in told)

    run("gguf", seconds, case)
