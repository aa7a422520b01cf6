"""The files that imports mean, the options of a project, and the copies: without a compiler."""

from __future__ import annotations

import json
import os
import re

import pytest

from fimlsp.languages.typescript.checker import modules
from fimlsp.languages.typescript.checker.configuration import data_of, read_configuration
from fimlsp.languages.typescript.checker.modules import ModuleCopies
from fimlsp.languages.typescript.checker.resolution import Import, Resolution, imports_in

FILES = {
    "src/main.ts": "",
    "src/a.ts": "export * from './b'",
    "src/b.tsx": "",
    "src/c/index.ts": "",
    "src/d.d.ts": "",
    "src/e.mts": "",
    "src/data.json": "{}",
    "src/globals.d.ts": "declare const VERSION: string",
    "other/f.ts": "",
    "node_modules/plain/package.json": '{"main": "lib/main.js"}',
    "node_modules/plain/lib/main.d.ts": "export * from './more.js'",
    "node_modules/plain/lib/more.d.ts": "",
    "node_modules/plain/part.d.ts": "",
    "node_modules/typed/package.json": '{"types": "./types.d.ts"}',
    "node_modules/typed/types.d.ts": "",
    "node_modules/@a/mapped/package.json": json.dumps(
        {"exports": {".": {"import": {"types": "./i.d.mts"}}, "./x/*": {"types": "./x/*.d.ts"}}}
    ),
    "node_modules/@a/mapped/i.d.mts": "",
    "node_modules/@a/mapped/x/y.d.ts": "",
    "node_modules/untyped/package.json": "{}",
    "node_modules/@types/untyped/package.json": '{"types": "index.d.ts"}',
    "node_modules/@types/untyped/index.d.ts": "",
    "node_modules/@types/a__b/package.json": "no JSON",
    "node_modules/@types/a__b/index.d.ts": "",
}
"""The files of a workspace."""


@pytest.fixture
def workspace(tmp_path):
    write(tmp_path / "work", FILES)
    return tmp_path / "work"


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def read(path):
    return path.read_bytes() if path.is_file() else None


IMPORTS = [
    ("import a from './a'; import { b } from \"./b\"", ["./a", "./b"]),
    ("import './a'; export * from './b'; await import('./c'); require('./d')", ["./a", "./b", "./c", "./d"]),
    ("import type { A } from './a'; let a: import('./a').A; import a = require(\n  './e')", ["./a", "./e"]),
    ("from './a", []),
    ("important './a'", []),
    ("'./a'", []),
]


@pytest.mark.parametrize(("text", "names"), IMPORTS)
def test_imports(text, names):
    assert imports_in(text.encode()) == tuple(Import(name) for name in names)


def test_references():
    kinds = 'types="node"', 'path="a.d.ts" ', 'path="../b.d.ts"'
    text = "".join(f"/// <reference {kind}/>\n" for kind in kinds)
    assert imports_in(text.encode()) == (
        Import("node", are_types=True),
        Import("./a.d.ts"),
        Import("../b.d.ts"),
    )


RESOLVED = {
    "./a": ["src/a.ts", "src/b.tsx"],
    "./b": ["src/b.tsx"],
    "./b.jsx": ["src/b.tsx"],
    "./a.js": ["src/a.ts", "src/b.tsx"],
    "./e.mjs": ["src/e.mts"],
    "./c": ["src/c/index.ts"],
    "./d": ["src/d.d.ts"],
    "./data.json": ["src/data.json"],
    "../other/f": ["other/f.ts"],
    "~/f": ["other/f.ts"],
    "./nothing": [],
    "../../outside": [],
    "nothing": [],
    "plain": [
        "node_modules/plain/lib/main.d.ts",
        "node_modules/plain/lib/more.d.ts",
        "node_modules/plain/package.json",
    ],
    "plain/part": ["node_modules/plain/package.json", "node_modules/plain/part.d.ts"],
    "typed": ["node_modules/typed/package.json", "node_modules/typed/types.d.ts"],
    "@a/mapped": ["node_modules/@a/mapped/i.d.mts", "node_modules/@a/mapped/package.json"],
    "@a/mapped/x/y": ["node_modules/@a/mapped/package.json", "node_modules/@a/mapped/x/y.d.ts"],
    "untyped": ["node_modules/untyped/package.json"],
}
"""The files that the import of each name copies, besides the declarations for all files."""

AMBIENT = [
    "node_modules/@types/a__b/index.d.ts",
    "node_modules/@types/a__b/package.json",
    "node_modules/@types/untyped/index.d.ts",
    "node_modules/@types/untyped/package.json",
    "src/d.d.ts",
    "src/globals.d.ts",
    "src/main.ts",
    "tsconfig.json",
]


def copies_of(workspace, tmp_path):
    folder = tmp_path / "copies"
    folder.mkdir()
    return ModuleCopies(folder, Resolution(workspace, read))


def copied(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", RESOLVED)
def test_copies(workspace, tmp_path, name):
    write(workspace, {"tsconfig.json": '{"compilerOptions": {"paths": {"~/*": ["./other/*", "/etc/*"]}}}'})
    copies = copies_of(workspace, tmp_path)
    path, changes = copies.update(workspace / "src/main.ts", f"import a from '{name}'".encode())
    assert path == copies.folder / "src/main.ts"
    assert copied(copies.folder) == sorted({*RESOLVED[name], *AMBIENT})
    assert sorted(change.path for change in changes) == sorted(
        copies.folder / one for one in copied(copies.folder)
    )
    assert copies.are_whole


def test_only_changes_are_copied(workspace, tmp_path):
    copies, main = copies_of(workspace, tmp_path), workspace / "src/main.ts"
    text = b"import './a'\nimport './new'\n"
    copies.update(main, text)
    write(
        workspace, {"src/a.ts": "export const a = 1", "src/new.ts": "", "node_modules/typed/types.d.ts": "x"}
    )
    assert copies.update(main, text + b"a") == (copies.folder / "src/main.ts", [])
    copies.forget()
    kinds = {change.path.name: change.kind for change in copies.update(main, text)[1]}
    assert kinds == {"a.ts": "changed", "new.ts": "made"}
    assert (copies.folder / "src/a.ts").read_text() == "export const a = 1"


def test_a_document_without_a_file_or_elsewhere(workspace, tmp_path):
    copies = copies_of(workspace, tmp_path)
    for path in (None, tmp_path / "elsewhere.ts"):
        assert copies.update(path, b"import './src/a'")[0] == copies.folder / "untitled.ts"
    assert (copies.folder / "src/a.ts").exists()


@pytest.mark.parametrize("limit", ["MOST_FILES", "MOST_BYTES"])
def test_with_too_many_files_the_copies_are_not_whole(workspace, tmp_path, monkeypatch, limit):
    monkeypatch.setattr(modules, limit, 2)
    write(workspace, {f"many/m{n}.ts": f"export * from './m{n + 1}'" for n in range(20)})
    copies = copies_of(workspace, tmp_path)
    copies.update(workspace / "src/main.ts", b"import '../many/m0'")
    assert not copies.are_whole


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_packages_that_pnpm_links(workspace, tmp_path):
    store = "node_modules/.pnpm/one@1/node_modules"
    write(
        workspace,
        {
            f"{store}/one/package.json": "{}",
            f"{store}/one/index.d.ts": "export * from 'two'",
            f"{store}/two/package.json": "{}",
            f"{store}/two/index.d.ts": "export const two = 2",
        },
    )
    (workspace / "node_modules/one").symlink_to(workspace / store / "one", target_is_directory=True)
    copies = copies_of(workspace, tmp_path)
    copies.update(workspace / "src/main.ts", b"import { two } from 'one'")
    assert {"node_modules/one/index.d.ts", "node_modules/two/index.d.ts"} < {*copied(copies.folder)}


CONFIGURATIONS = [
    ('{"compilerOptions": {"strict": true}}', {"strict": True}),
    ('// a\n{"compilerOptions": {/* b */ "strict": true, // c\n },\n}', {"strict": True}),
    ('{"compilerOptions": {"jsxFactory": "a//b", "jsx": "react-jsx", "lib": ["es2020"]}}', None),
    ('{"compilerOptions": {"strict": 1, "lib": "es5", "types": [1], "plugins": [], "outDir": "/etc"}}', {}),
    ('{"compilerOptions": {"typeRoots": ["/etc"], "rootDirs": ["/"], "target": "es5"}}', {}),
    ('{"extends": "./base", "compilerOptions": {"jsx": "react"}}', {"strict": False, "jsx": "react"}),
    ('{"extends": ["./base.json", "shared"]}', {"strict": True}),
    ('{"extends": "./tsconfig.json", "compilerOptions": {"strict": true}}', {"strict": True}),
    ('{"extends": "./nothing"}', {}),
    ("no JSON", {}),
    ("[1]", {}),
    ('"' * 100, {}),
    ('{"compilerOptions": ' * 100_000, {}),
]


@pytest.mark.parametrize(("text", "options"), CONFIGURATIONS)
def test_options(workspace, text, options):
    write(
        workspace,
        {
            "tsconfig.json": text,
            "base.json": '{"compilerOptions": {"strict": false}}',
            "node_modules/shared/tsconfig.json": '{"compilerOptions": {"strict": true}}',
        },
    )
    found = read_configuration(workspace / "src/main.ts", workspace, read)
    assert found.options == (data_of(text.encode())["compilerOptions"] if options is None else options)
    written = json.loads(found.text())["compilerOptions"]
    assert written["moduleResolution"] == "bundler"
    assert not re.search("/etc|outDir|typeRoots|plugins", found.text().decode())


def test_aliases_stay_in_the_folder(workspace):
    paths = {"@/*": ["src/*", "/etc/*", "../../*"], "one": ["src/a.ts"]}
    write(
        workspace, {"app/tsconfig.json": json.dumps({"compilerOptions": {"baseUrl": "..", "paths": paths}})}
    )
    found = read_configuration(workspace / "app/main.ts", workspace, read)
    assert [*found.aliases("@/a/b")] == [workspace / "src/a/b"]
    assert [*found.aliases("one")] == [workspace / "src/a.ts"]
    assert [*found.aliases("two")] == []
    assert json.loads(found.text())["compilerOptions"]["paths"] == {"@/*": ["./src/*"], "one": ["./src/a.ts"]}


def test_elements_may_import_their_own_types(workspace):
    for options, implied in [
        ({}, ()),
        ({"jsx": "react"}, ()),
        ({"jsx": "react-jsx"}, ("react/jsx-runtime",)),
        ({"jsx": "react-jsxdev", "jsxImportSource": "preact"}, ("preact/jsx-runtime",)),
    ]:
        write(workspace, {"tsconfig.json": json.dumps({"compilerOptions": options})})
        assert read_configuration(workspace / "src/main.ts", workspace, read).implied == implied


def test_with_a_file_that_may_not_be_read_the_copies_are_not_whole(workspace, tmp_path):
    folder = tmp_path / "copies"
    folder.mkdir()
    hidden = workspace / "src/b.tsx"
    copies = ModuleCopies(folder, Resolution(workspace, lambda path: None if path == hidden else read(path)))
    for text, are_whole in [(b"import './c'", True), (b"import './a'", False), (b"import './c'", False)]:
        copies.update(workspace / "src/main.ts", text)
        assert copies.are_whole == are_whole
    copies.forget()
    copies.update(workspace / "src/main.ts", b"import './c'")
    assert copies.are_whole
