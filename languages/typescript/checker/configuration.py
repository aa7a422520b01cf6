"""The options of a project's `tsconfig.json` that decide about types, as a configuration of our own.

Only these options are taken, and only paths within the project. So no configuration makes the compiler read
another file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_SWITCHES = frozenset(
    (
        "allowJs",
        "exactOptionalPropertyTypes",
        "experimentalDecorators",
        "noImplicitAny",
        "noUncheckedIndexedAccess",
        "strict",
        "strictFunctionTypes",
        "strictNullChecks",
    )
)
_WORDS = frozenset(("jsx", "jsxFactory", "jsxFragmentFactory", "jsxImportSource"))
_LISTS = frozenset(("lib", "types"))
_FIXED = {
    "target": "esnext",
    "module": "esnext",
    "moduleResolution": "bundler",
    "allowImportingTsExtensions": True,
    "esModuleInterop": True,
    "noEmit": True,
    "resolveJsonModule": True,
    "skipLibCheck": True,
}
"""The laxest rules for imports: an import that some project permits is found."""

JAVASCRIPT_ENDINGS = frozenset((".js", ".jsx", ".mjs", ".cjs"))

_FOR_JAVASCRIPT = {"allowJs": True, "checkJs": True, "strict": False, "strictNullChecks": False}
"""The rules for a document without types; the strict ones ask for types."""

_MOST_EXTENDED = 8
_LARGEST = 200_000
_STRING = r'("(?:\\.|[^"\\])*+"?)'
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)


@dataclass(frozen=True)
class Configuration:
    """The options of the compiler, and the aliases of modules by their patterns.

    `javascript` is the document, if it is in JavaScript.
    """

    options: Mapping[str, object] = field(default_factory=dict, hash=False)
    paths: tuple[tuple[str, tuple[Path, ...]], ...] = ()
    root: Path = Path()
    javascript: Path | None = None

    @property
    def types(self) -> tuple[str, ...]:
        """The packages of types that are visible everywhere; none means all that are installed."""
        types = self.options.get("types")
        return tuple(one for one in types if isinstance(one, str)) if isinstance(types, list) else ()

    @property
    def implied(self) -> tuple[str, ...]:
        """The modules that every file with elements imports."""
        is_implied = str(self.options.get("jsx", "")).startswith("react-jsx")
        return (f"{self.options.get('jsxImportSource', 'react')}/jsx-runtime",) if is_implied else ()

    def aliases(self, name: str) -> Iterator[Path]:
        """The paths, without endings, for which a module *name* stands."""
        for pattern, targets in self.paths:
            before, star, after = pattern.partition("*")
            if name == pattern:
                yield from targets
            elif star and name.startswith(before) and name.endswith(after):
                part = name[len(before) : len(name) - len(after)]
                yield from (Path(os.path.normpath(str(target).replace("*", part))) for target in targets)

    def text(self) -> bytes:
        """As a `tsconfig.json` for the folder of copies."""
        paths = {
            pattern: [f"./{target.relative_to(self.root).as_posix()}" for target in targets]
            for pattern, targets in self.paths
        }
        fixed = _FIXED | _FOR_JAVASCRIPT if self.javascript else _FIXED
        options = {"types": ["*"], "jsx": "preserve", **self.options, **fixed, "paths": paths}
        configuration: dict[str, object] = {"compilerOptions": options}
        if self.javascript is not None:  # the file of the same name with types would hide it
            files = [self.javascript.relative_to(self.root).as_posix()]
            configuration |= {"files": files, "include": ["**/*"]}
        return json.dumps(configuration).encode()


def read_configuration(path: Path, root: Path, read: Callable[[Path], bytes | None]) -> Configuration:
    """The configuration for the file at *path* in the folder *root*, from the nearest `tsconfig.json`.

    For a file in JavaScript a `jsconfig.json` is as good.
    """
    options: dict[str, object] = {}
    paths: dict[str, tuple[Path, ...]] = {}
    javascript = path if path.suffix in JAVASCRIPT_ENDINGS else None
    names = ("jsconfig.json", "tsconfig.json") if javascript else ("tsconfig.json",)
    folders = (folder for folder in path.parents if folder.is_relative_to(root))
    nearest = (folder / name for folder in folders for name in names)
    found = next((one for one in nearest if read(one) is not None), None)
    for place, own in reversed([*_extended(found, read)] if found is not None else []):
        options |= {name: value for name, value in own.items() if _is_taken(name, value)}
        paths = _aliases(own, place.parent, root) or paths
    return Configuration(options, tuple(paths.items()), root, javascript)


def _extended(
    path: Path, read: Callable[[Path], bytes | None]
) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """The options in the file at *path*, and then those in the files that it extends."""
    waiting = [path]
    for _ in range(_MOST_EXTENDED):
        if not waiting:
            return
        path = waiting.pop(0)
        configuration = data_of(read(path) or b"")
        own = configuration.get("compilerOptions")
        yield path, own if isinstance(own, dict) else {}
        extended = configuration.get("extends")
        names = extended if isinstance(extended, list) else [extended]
        for name in reversed([one for one in names if isinstance(one, str)]):
            waiting += _file_of(name, path, read)


def _file_of(name: str, origin: Path, read: Callable[[Path], bytes | None]) -> Iterator[Path]:
    folders = [origin.parent] if name.startswith(".") else [one / "node_modules" for one in origin.parents]
    for folder in folders:
        path = Path(os.path.normpath(folder / name))
        for one in (path, path.with_name(path.name + ".json"), path / "tsconfig.json"):
            if one.suffix == ".json" and read(one) is not None:
                yield one
                return


def _is_taken(name: str, value: object) -> bool:
    if name in _SWITCHES:
        return isinstance(value, bool)
    if name in _LISTS:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    return name in _WORDS and isinstance(value, str)


def _aliases(options: Mapping[str, object], folder: Path, root: Path) -> dict[str, tuple[Path, ...]]:
    """The aliases of a file in *folder*, as paths within *root*."""
    base, paths = options.get("baseUrl"), options.get("paths")
    if isinstance(base, str):
        folder = folder / base
    if not isinstance(paths, dict):
        return {}
    aliases = {}
    for pattern, targets in paths.items():
        names = [name for name in targets if isinstance(name, str)] if isinstance(targets, list) else []
        inside = (Path(os.path.normpath(folder / name)) for name in names)
        aliases[pattern] = tuple(path for path in inside if path.is_relative_to(root))
    return aliases


def data_of(text: bytes) -> Mapping[str, object]:
    """The object in *text*, JSON with comments and last commas; empty if there is none. O(text)."""
    if len(text) > _LARGEST:
        return {}
    plain = text.decode("utf-8-sig", "replace")
    for needless in (_COMMENT, _LAST_COMMA):
        plain = needless.sub(lambda match: match[1] or "", plain)
    try:
        data = json.loads(plain)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
