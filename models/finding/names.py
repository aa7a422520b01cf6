"""From a name to the GGUF file on this machine that it stands for.

`qwen2.5-coder-1.5b-q8_0` is a file of that name, without its ending; `ollama:qwen2.5-coder:1.5b` what Ollama
knows by that name; `lmstudio:`, `llama.cpp:` and `hub:` say where a file is that other places have as well;
`qwen2.5-coder-1.5b` is a name of our catalogue, which `fimlsp models pull` takes too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from fimlsp.models.catalogue import known_gguf
from fimlsp.models.errors import ModelError
from fimlsp.models.finding.places import Store, stores_here
from fimlsp.models.finding.stored import ENDING, Stored, stored_in

NAME = re.compile(r"(?:[a-z.]+:)?[\w.+-]+(?:[/:][\w.+-]+)*")
LATEST = ":latest"


def find_file(name: str) -> Path | None:
    """The GGUF file on this machine that *name* stands for; None if there is none.

    Looks at names of files alone. A path, or a hub name such as `owner/name`, stands for none.

    Raises:
        ModelError: it is a name of the catalogue, and the file is not on this machine.
    """
    if not may_be_stored(name):
        return None
    known = known_gguf(name)
    wanted = (known.file if known else name).casefold().removesuffix(ENDING)
    found = (stored for stored in stored_here() if wanted in map(str.casefold, names_of(stored)))
    path = next((stored.path for stored in found), None)
    if path is None and known:
        raise ModelError(
            f"{known.name} is not on this machine; fetch it once with `fimlsp models pull {known.name}`."
        )
    return path


def may_be_stored(name: str) -> bool:
    """Whether *name* is written as one that `find_file` may know."""
    return NAME.fullmatch(name) is not None and ("/" not in name or ":" in name.partition("/")[0])


def stored_here() -> Iterator[Stored]:
    """All GGUF files of this machine's stores."""
    return _stored(stores_here())


def _stored(stores: Iterable[Store]) -> Iterator[Stored]:
    for store in stores:
        yield from stored_in(store)


def names_of(stored: Stored) -> list[str]:
    """The names that stand for a file, the shortest first."""
    full = stored.full_name
    if stored.store.has_manifests:
        return [full.removesuffix(LATEST), full] if full.endswith(LATEST) else [full]
    if stored.store.prefix == "llama.cpp":  # which puts owner and repository in front
        return [stored.name, full, *(stored.name[at + 1 :] for at in _underscores(stored.name))]
    return [stored.name, full]


def _underscores(text: str) -> list[int]:
    return [at for at, each in enumerate(text) if each == "_"]
