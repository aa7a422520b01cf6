"""Hostile answers of a hub: nothing is written outside the cache, and no more than was announced."""

from __future__ import annotations

import shutil

from fimlsp.models.checkpoints.hub import fetch
from fimlsp.models.errors import ModelError

from ..models.checkpoints.fake_hub import COMMIT, NAME, FakeHub, running
from .campaign import for_some_seconds, run
from .nonsense import WORDS, changed, value

FILES = {
    "config.json": b'{"model_type": "llama"}',
    "model.safetensors": b"\0" * 5000,
    "tokenizer.json": b"{}",
}
PATHS = [
    f"{word}{end}"
    for word in ("../../ESC", "/tmp/ESC", "a/../ESC", "ESC")
    for end in (".json", ".safetensors")
]


class LyingHub(FakeHub):
    """Changes its listing by the random numbers *rng*."""

    rng = None

    def listing(self):
        entries = [*super().listing()]
        for entry in entries:
            if self.rng.random() < 0.3:
                entry["path"] = self.rng.choice(PATHS)
        return changed(self.rng, entries, self.rng.randint(0, 2))


@for_some_seconds
def test_hub(seconds, tmp_path, monkeypatch):
    folder, cache = tmp_path / "hub", tmp_path / "deep" / "er" / "cache"
    folder.mkdir()
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with running(LyingHub(folder)) as hub:
        constants = "huggingface_hub.constants"
        monkeypatch.setattr(f"{constants}.ENDPOINT", hub.url)
        template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(f"{constants}.HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(f"{constants}.HF_HUB_CACHE", str(cache))

        def case(rng):
            shutil.rmtree(cache, ignore_errors=True)
            hub.rng = rng
            hub.asked.clear()
            hub.commit = rng.choice([COMMIT, COMMIT, COMMIT, rng.choice(WORDS[5:7]), "main", value(rng, 0)])
            hub.lies = rng.random() < 0.2
            hub.surplus = rng.choice([b"", b"", bytes(100_000)])
            hub.cut_at = rng.choice([{}, {}, {"model.safetensors": rng.randrange(5000)}])
            try:
                fetch(NAME, rng.choice([None, None, COMMIT, "../../ESC"]))
            except ModelError as error:
                told = str(error)
            else:
                told = ""
            assert "\n" not in told
            outside = [path for path in tmp_path.rglob("*ESC*") if not path.is_relative_to(cache)]
            assert not outside
            assert {path.name for path in tmp_path.iterdir()} <= {"hub", "deep"}
            written = [path for path in cache.rglob("*") if path.is_file() and not path.is_symlink()]
            assert sum(path.stat().st_size for path in written) < 50_000
            for path in cache.rglob("*"):
                assert path.resolve().is_relative_to(cache.resolve())

        run("hub", seconds, case)
