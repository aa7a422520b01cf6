"""GGUF files, each made once, and the real llama.cpp server for them."""

import pytest

xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp has no wheel here")

from fimlsp.models.gguf_export import export_gguf  # noqa: E402 - needs xllamacpp
from fimlsp.models.remote.model_file import ModelFile  # noqa: E402 - needs xllamacpp

from ..llama_cpp import SILENT  # noqa: E402 - needs xllamacpp
from .random_models import LARGE, MODELS  # noqa: E402 - needs xllamacpp

KEY = "open sesame"


@pytest.fixture(scope="session")
def gguf(tmp_path_factory):
    """A function from the name of a model to its file: `bundled`, or one of random weights."""
    folder, made = tmp_path_factory.mktemp("gguf"), {}

    def file(name):
        if name not in made:
            made[name] = folder / f"{name}.gguf"
            if name == "bundled":
                export_gguf("bundled", made[name])
            else:
                (MODELS | LARGE)[name](made[name])
        return made[name]

    return file


def serve(path, *, key=KEY, n_ctx=1024, slots=2):
    """A running server; it ends when it is forgotten."""
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_gpu_layers, params.verbosity, params.endpoint_metrics = 0, SILENT, True
    params.n_ctx, params.n_parallel, params.kv_unified = slots * n_ctx, slots, False
    params.api_keys = [key] if key else []
    return xllamacpp.Server(params)


@pytest.fixture(scope="session")
def served(gguf):
    """A function from the name of a model to the address of a server for it, which wants `KEY`."""
    running = {}

    def address(name):
        if name not in running:
            running[name] = serve(gguf(name))
        return running[name].listening_address

    yield address
    running.clear()


@pytest.fixture
def elsewhere(monkeypatch):
    """The files of models on servers are not on this machine, so that only the servers describe them."""
    monkeypatch.setattr(ModelFile, "of_server", lambda *_: None)


@pytest.fixture(params=["here", "elsewhere"])
def place(request):
    """Where the files of models on servers are."""
    if request.param == "elsewhere":
        request.getfixturevalue("elsewhere")
    return request.param


@pytest.fixture(autouse=True, scope="session")
def key():
    """The key in the environment."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("FIMLSP_API_KEY", KEY)
        yield
