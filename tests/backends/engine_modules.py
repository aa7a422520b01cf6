"""Modules of vLLM and SGLang that run here as they are, in a world that is made up around them.

Both need a GPU and gigabytes to install. The classes that a backend extends need neither, but their modules
import others. Those named as real are loaded from the folder that `prepare_engines.sh` filled. Any other
module of an engine is an empty one, in which every name is a class without content.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(os.environ.get("FIMLSP_ENGINES", Path.home() / ".cache" / "fimlsp-engines"))
ADAPTERS = ("fimlsp.backends.vllm", "fimlsp.backends.vllm_scheduler", "fimlsp.backends.sglang")


class MadeUp(ModuleType):
    """A module with every name; each is a class of that name, which takes any arguments."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {"__init__": lambda *_, **__: None})
        setattr(self, name, made)
        return made


class Engines(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of an engine: the *real* ones in the folder, others made up with *given* names."""

    def __init__(self, engine, real, given):
        self.engine, self.real, self.given = engine, real, given

    def find_spec(self, name, *_):
        if name.partition(".")[0] != self.engine:
            return None
        if name not in self.real:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        file = FOLDER.joinpath(*name.split("."))
        is_package = file.is_dir()
        file = file / "__init__.py" if is_package else file.with_suffix(".py")
        assert file.exists(), f"there is no {file}: run tests/backends/prepare_engines.sh"
        places = [str(file.parent)] if is_package else None
        return importlib.util.spec_from_file_location(name, file, submodule_search_locations=places)

    def create_module(self, spec):
        return MadeUp(spec.name)

    def exec_module(self, module):
        vars(module).update(self.given.get(module.__name__, {}))

    def __enter__(self):
        self._forget()
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *_):
        sys.meta_path.remove(self)
        self._forget()

    def _forget(self):
        for name in [*sys.modules]:
            if name.partition(".")[0] == self.engine or name in ADAPTERS:
                del sys.modules[name]
